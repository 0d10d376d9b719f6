"""What `longfat run --out DIR` writes, whole or not at all."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _core
from longfat.errors import InputError
from longfat.figure.data import FORMATS as FIGURE_FORMATS
from longfat.runs.result import Result

if TYPE_CHECKING:
    import pyarrow

FORMAT = 1
"""Of the folder; counts up when a reader would have to know."""

TABLES = ("flows", "links", "events", "transfers")


RUN_FILES = frozenset(
    {"summary.json", "scenario.toml", "provenance.json"} | {f"{name}.parquet" for name in TABLES}
)
REPORT_FILES = frozenset({"index.html", "figures"})
"""What `longfat report` adds, in the folder of a run or of a suite."""
STORE_FILES = frozenset({"store.json", "segments", "series", "damaged"})
"""Runs that are kept by what they are, in the folder of a suite, a screen or a sweep."""
SUITE_FILES = frozenset({"suite.json", "claims.json", "experiments"})
SCREEN_FILES = frozenset({"screen.json", "runs.parquet"})
SWEEP_FILES = frozenset({"sweep.json", "tables"})
COMPARE_FILES = frozenset({"compare.json"})
KINDS = {
    "the results of a run": RUN_FILES,
    "a suite's results": SUITE_FILES,
    "a screen's": SCREEN_FILES,
    "a sweep's": SWEEP_FILES,
    "a comparison's": COMPARE_FILES,
}


def refuse_foreign(path: Path, own: frozenset[str], marks: frozenset[str]) -> None:
    """InputError if a folder holds anything but `own` files, with one of `marks` among them, and a report.

    What begins with a dot is nobody's result, and stays. A folder that is not there, or is empty, is fine.
    """
    held = (
        {entry.name for entry in path.iterdir() if not entry.name.startswith(".")} if path.is_dir() else set()
    )
    accepted = "accepted: a new or empty folder, or one that holds nothing but such results"
    for kind, files in KINDS.items():
        if not files <= own and held & files:
            raise InputError(f"--out {path}: holds {kind} ({min(held & files)}); {accepted}")
    strange = held - own - REPORT_FILES - (frozenset() if own is RUN_FILES else STORE_FILES)
    if (path / "figures").is_dir():
        strange |= {
            f"figures/{entry.name}"
            for entry in (path / "figures").iterdir()
            if entry.suffix.removeprefix(".") not in FIGURE_FORMATS
        }
    if held and not held & marks:
        strange = strange or held
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise InputError(f"--out {path}: holds {min(strange)}{more}, which Longfat did not write; {accepted}")


@contextmanager
def folder(
    path: Path, own: frozenset[str] = RUN_FILES, marks: frozenset[str] = frozenset({"provenance.json"})
) -> Iterator[Path]:
    """An empty folder whose files become those of `path` when the block ends well, and else vanish.

    What an earlier command of the same kind left in `path` (`own` files, one of `marks` among them) goes as a
    whole. InputError at once, before anything is run, if `path` cannot be written or holds something else.
    """
    if path.exists() and not path.is_dir():
        raise InputError(f"--out {path}: is a file; accepted: a folder, made if it is not there")
    made = [parent for parent in (path, *path.parents) if not parent.exists()]
    draft: Path | None = None
    try:
        try:
            path.mkdir(parents=True, exist_ok=True)
            refuse_foreign(path, own, marks)
            draft = Path(tempfile.mkdtemp(prefix=".longfat-", dir=path))
        except OSError as error:
            raise InputError(
                f"--out {path}: {error.strerror}; accepted: a folder that can be written"
            ) from None
        yield draft
        _exchange(draft, path, own)
        shutil.rmtree(draft, ignore_errors=True)
    except BaseException:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        with suppress(OSError):
            for parent in made:
                parent.rmdir()
        raise


def _exchange(draft: Path, path: Path, own: frozenset[str]) -> None:
    """Moves an earlier command's files out of `path` into the draft, and the draft's in; all or nothing."""
    new = sorted(draft.iterdir())
    earlier = draft / "earlier"
    earlier.mkdir()
    old = [path / name for name in sorted(own | REPORT_FILES) if (path / name).exists()]
    moves = [(file, earlier / file.name) for file in old] + [(file, path / file.name) for file in new]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            os.replace(source, target)
            done.append((source, target))
    except BaseException:
        for source, target in reversed(done):
            os.replace(target, source)
        raise


def write(results: Sequence[Result], summary: dict[str, Any], command: Sequence[str], into: Path) -> None:
    """The files of one run, or of repeats that differ by seed; their tables then have a column `seed`."""
    (into / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    (into / "scenario.toml").write_text(results[0].scenario.filled().to_toml())
    (into / "provenance.json").write_text(json.dumps(provenance(command), indent=1) + "\n")
    events = ["events"] if results[0].scenario.sample.events else []
    transfers = ["transfers"] if results[0].scenario.background else []
    for name in ["flows", "links", *events, *transfers]:
        _write_parquet(
            [(result.scenario.seed, getattr(result, name)) for result in results], into / f"{name}.parquet"
        )


def _write_parquet(tables: list[tuple[int, pyarrow.Table]], path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    if len(tables) == 1:
        whole = tables[0][1]
    else:
        whole = pyarrow.concat_tables(
            table.add_column(0, "seed", pyarrow.array([seed] * table.num_rows, pyarrow.int64()))
            for seed, table in tables
        )
    parquet.write_table(whole, path, compression="zstd")


def provenance(command: Sequence[str]) -> dict[str, Any]:
    """Where a result comes from: version, commit, host, kernel, command."""
    return {
        "format": FORMAT,
        "version": _core.version(),
        "commit": commit(),
        "command": list(command),
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "kernel": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
    }


def commit() -> str | None:
    """The commit of the checkout that this package runs from, None outside of one."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return None
    try:
        asked = subprocess.run(
            ["git", "-C", str(checkout), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return asked.stdout.strip()
