"""Changes single bits of stored results, anywhere, and reads them: no wrong table may come with exit code 0.

    python fuzz/flips.py NUMBER [SEED]

The results are those of a sweep, a run, and the ledger of a suite. Each change is of one bit, in a file drawn
by its size. Then the commands that read the folder run, and a sweep is run again. Prints how many changes
were told, how many left everything as it was, and how many gave something else. Another seed draws other
bits.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from front import SCRATCH, SMALL, SWEEP, longfat

from longfat import sweep
from longfat.errors import LongfatError
from longfat.store.whole import write_list

LONGEST_S = 300
DRAWN = frozenset({"index.html", "figures"})
"""What reports draw: nothing reads it again."""


@dataclass
class Kind:
    """Results of one kind.

    Attributes:
        folder: where whole ones are.
        read: the arguments of the commands that read a folder of them.
        again: makes them again in a folder, if that repairs them.
    """

    folder: Path
    read: Callable[[Path], list[list[str]]]
    again: Callable[[Path], Any] | None = None


def kinds(folder: Path) -> dict[str, Kind]:
    """Makes results of each kind below a folder."""
    base, file = folder / "base.toml", folder / "sweep.toml"
    base.write_text(SMALL, encoding="utf-8")
    file.write_text('keep = "series"\n' + SWEEP, encoding="utf-8")
    _made("sweep", str(file), "--out", str(folder / "sweep"))
    _made("run", str(base), "--out", str(folder / "run"))
    ledger = folder / "suite"
    ledger.mkdir()
    claims = [
        {"id": f"F{number}", "suite": "s", "verdict": "partly", "note": "n" * 50} for number in range(5)
    ]
    (ledger / "claims.json").write_text(json.dumps({"suite": "s", "claims": claims}), encoding="utf-8")
    write_list(ledger, ["claims.json"])
    queries = ["SELECT * FROM flows ORDER BY ALL", "SELECT * FROM runs ORDER BY ALL"]
    return {
        "sweep": Kind(
            folder / "sweep",
            lambda hit: [["results", str(hit), "--sql", query, "--json"] for query in queries],
            lambda hit: sweep.run(sweep.load(file), hit),
        ),
        "run": Kind(folder / "run", lambda hit: [["report", str(hit)]]),
        "suite": Kind(ledger, lambda hit: [["claims", str(hit), "--json"]]),
    }


def _made(*command: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "longfat", *command], capture_output=True, text=True, check=False
    )
    if ended.returncode:
        sys.exit(f"longfat {' '.join(command)}: {ended.stderr}")


def _answers(kind: Kind, hit: Path) -> list[tuple[int, str]]:
    """Runs the commands that read; a page counts by its text."""
    found = []
    for command in kind.read(hit):
        code, printed = longfat(*command, seconds=LONGEST_S)
        page = hit / "index.html"
        if command[0] == "report" and code == 0:
            printed = page.read_text(encoding="utf-8").replace(str(hit), "")
        found.append((code, printed))
    if kind.again is not None:
        try:
            found.append((0, str(sweep.open_sweep(hit).series(1).to_pydict())))
        except LongfatError as error:
            found.append((error.exit_code, str(error)))
    return found


def flip(folder: Path, random: np.random.Generator) -> str:
    """Changes one bit below a folder; returns the name of its file and the bit's number."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and not DRAWN & {*path.relative_to(folder).parts}
    )
    bits = [8 * path.stat().st_size for path in files]
    position = int(random.integers(sum(bits)))
    for path, own in zip(files, bits, strict=True):
        if position < own:
            content = bytearray(path.read_bytes())
            content[position // 8] ^= 1 << (position % 8)
            path.write_bytes(bytes(content))
            return f"{path.relative_to(folder)}, bit {position}"
        position -= own
    raise AssertionError("the bits have a sum")


def wrong(expected: list[tuple[int, str]], found: list[tuple[int, str]]) -> bool:
    """Whether a command ended with 0 and gave something else."""
    return any(
        code == 0 and (code, text) != right for right, (code, text) in zip(expected, found, strict=True)
    )


def main(number: int, seed: int) -> int:
    """Returns 1 if a change gave a wrong result."""
    random = np.random.default_rng(seed)
    counts: Counter[str] = Counter()
    bad = []
    with tempfile.TemporaryDirectory(dir=SCRATCH) as made:
        os.chdir(made)
        root = Path(made)
        prepared = kinds(root)
        expected = {name: _answers(kind, kind.folder) for name, kind in prepared.items()}
        # a page takes a second and more, so runs get fewer of the changes
        shares = {"sweep": 0.8, "suite": 0.15, "run": 0.05}
        for name, kind in prepared.items():
            for _ in range(round(number * shares[name])):
                hit = root / "hit"
                shutil.rmtree(hit, ignore_errors=True)
                shutil.copytree(kind.folder, hit)
                where = flip(hit, random)
                found = _answers(kind, hit)
                if wrong(expected[name], found):
                    bad.append(f"{name}: {where}: another result with exit code 0")
                counts[f"{name}, {'told' if any(code for code, _ in found) else 'the same'}"] += 1
                if kind.again is not None:
                    try:
                        kind.again(hit)
                    except LongfatError:
                        counts[f"{name}, refused by the repair"] += 1
                        continue
                    after = _answers(kind, hit)
                    if after[:-1] != expected[name][:-1] or wrong(expected[name], after):  # samples come last
                        bad.append(f"{name}: {where}: another result after the repair")
                    counts[f"{name}, right after the repair"] += 1
        os.chdir("/")
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    print(f"wrong: {len(bad)}")
    print("\n".join(bad))
    return int(bool(bad))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("number", type=int, help="of changes")
    parser.add_argument("seed", type=int, nargs="?", default=0)
    asked = parser.parse_args()
    sys.exit(main(asked.number, asked.seed))
