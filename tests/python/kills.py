"""Kills commands at random instants, and says what is not as it has to be afterwards.

A `Case` is a command with what it writes. `attack` runs it a few times, kills it or one of its workers each
time, then runs it to its end, and compares what it wrote with what the same command writes undisturbed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from longfat.store import sums

VOLATILE = {"created", "performance", "provenance", sums.OWN}
"""What differs between two runs of the same command: times, the command line, and the digest over both."""
OTHERWISE = {"segments", "figures", "provenance.json"}
"""Files that may differ, as pages do, which say when they were made: segments are written as runs end, and
tables hold the same rows in order."""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
BELOW = 0.4
"""How often a worker or its server is killed in place of the command."""
ENDED_BEFORE = "ended before it was killed"
ENDS_WITHIN_S = 20.0
"""How long processes may outlive the one that was killed."""
LONGEST_S = 900.0
TERMINATED = {signal.SIGKILL: {-9}, signal.SIGTERM: {143, -15, 0}, signal.SIGINT: {130, 0}}
"""The exit codes of a command that gets a signal: 0 where it had done its work, and -15, which shells show as
143 too, where Python had not yet begun with it."""

BEGUN = re.compile(r'longfat/__main__\.py", line \d+, in main')
"""In a traceback: the command had begun."""


@dataclass(frozen=True)
class Case:
    """A command of `longfat`, without `--out`, and which signals it gets."""

    name: str
    arguments: Sequence[str]
    signals: Sequence[signal.Signals] = (signal.SIGKILL,)


def attack(case: Case, folder: Path, draws: random.Random, kills: int) -> tuple[list[str], Counter[str]]:
    """Kills a command this often, lets it end, and compares what it wrote with an undisturbed one's.

    Args:
        case: what to run.
        folder: a folder of its own, where everything is written.
        draws: chooses instants, victims and signals.
        kills: how often it is killed before it may end.

    Returns:
        A line for each thing that is not as it has to be, and how many kills there were of each kind;
        `ENDED_BEFORE` is none.

    Raises:
        subprocess.TimeoutExpired: a command does not end.
    """
    calm, hit, temporary = folder / "calm", folder / "hit", folder / "temporary"
    for path in (calm, hit, temporary):
        shutil.rmtree(path, ignore_errors=True)
    temporary.mkdir(parents=True)
    begun = time.monotonic()
    found = _finish(case, calm, temporary)
    whole_s = time.monotonic() - begun
    counts: Counter[str] = Counter()
    for _ in range(kills):
        problems, kind = _kill(case, hit, temporary, draws, whole_s)
        found += problems
        counts[kind] += 1
        if problems:
            break
    found += _finish(case, hit, temporary)
    found += _differences(written(calm), written(hit))
    found += [f"left in the result: {path.relative_to(hit)}" for path in sorted(hit.rglob(".*"))]
    return [f"{case.name}: {line}" for line in found], counts


def number(counts: Counter[str]) -> int:
    """Returns how many of the attempts that `attack` counted were kills."""
    return counts.total() - counts[ENDED_BEFORE]


@contextmanager
def _started(case: Case, out: Path, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """Starts the command in a session of its own, and ends all of it if the block raises."""
    running = subprocess.Popen(
        [sys.executable, "-m", "longfat", *case.arguments, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )
    try:
        yield running
    except BaseException:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        raise


def _finish(case: Case, out: Path, temporary: Path) -> list[str]:
    with _started(case, out, temporary) as running:
        _, said = running.communicate(timeout=LONGEST_S)
    problems = [] if running.returncode == 0 else [f"exit code {running.returncode}: {said.strip()[-300:]}"]
    return problems + _remains(running.pid, temporary)


def _kill(
    case: Case, out: Path, temporary: Path, draws: random.Random, whole_s: float
) -> tuple[list[str], str]:
    """Starts the command and kills it, or a process below it, at a random instant; says which."""
    sent = draws.choice(list(case.signals))
    is_below = draws.random() < BELOW
    kind, codes = ENDED_BEFORE, {0}
    with _started(case, out, temporary) as running:
        try:
            running.wait(draws.uniform(0.0, whole_s))
        except subprocess.TimeoutExpired:
            below = [process for process in group(running.pid) if process != running.pid] if is_below else []
            with suppress(ProcessLookupError):
                os.kill(draws.choice(below) if below else running.pid, sent)
                kind = f"{sent.name} of {'a process below' if below else 'the command'}"
                codes = {0, 1} if below else TERMINATED[sent]
        _, said = running.communicate(timeout=LONGEST_S)
    if codes == TERMINATED[signal.SIGKILL] and running.returncode == 0:
        kind, codes = ENDED_BEFORE, {0}  # the signal met a process that had ended and was not yet reaped
    problems = []
    if kind == "SIGINT of the command" and _is_of_python(running.returncode, said):
        return _remains(running.pid, temporary), f"{kind} before its first line"
    if running.returncode not in codes:
        problems.append(f"exit code {running.returncode} after {kind}: {said.strip()[-300:]}")
    if "Traceback" in said:
        problems.append(f"a traceback after {kind}: {said.strip()[-300:]}")
    return problems + _remains(running.pid, temporary), kind


def _is_of_python(code: int, said: str) -> bool:
    """Whether SIGINT ended Python on its way to the command, which cannot answer yet."""
    if not said:
        return code == -2
    return code in {-2, 1} and said.endswith("KeyboardInterrupt\n") and not BEGUN.search(said)


def _remains(session: int, temporary: Path) -> list[str]:
    """Returns what a command that has ended left, after waiting for its processes; removes all of it."""
    until = time.monotonic() + ENDS_WITHIN_S
    while (left := group(session)) and time.monotonic() < until:
        time.sleep(0.02)
    for process in left:
        os.kill(process, signal.SIGKILL)
    files = sorted(path.name for path in temporary.iterdir())
    for path in temporary.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    found = [f"{len(left)} processes left"] if left else []
    return found + [f"left in the temporary folder: {name}" for name in files]


def group(leader: int) -> list[int]:
    """Returns the processes that are alive in a process group."""
    alive = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            state, _, own, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(own) == leader and state != "Z":
            alive.append(int(entry.name))
    return alive


def written(folder: Path) -> dict[str, str]:
    """Returns the digest of each result in a folder, without what differs from run to run."""
    return dict(sorted(_digests(folder)))


def _digests(folder: Path) -> Iterator[tuple[str, str]]:
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        if not path.is_file() or name.parts[0] in OTHERWISE or name.name.startswith("."):
            continue
        if name.name == sums.SUMS_FILE or path.suffix == ".html":  # with times in them
            continue
        data = path.read_bytes()
        if path.suffix == ".json":
            data = json.dumps(_steady(json.loads(data)), sort_keys=True).encode()
        yield str(name), hashlib.sha256(data).hexdigest()


def _steady(value: object) -> object:
    if isinstance(value, dict):
        return {key: _steady(item) for key, item in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [_steady(item) for item in value]
    return value


def _differences(calm: dict[str, str], hit: dict[str, str]) -> list[str]:
    names = sorted(name for name in calm.keys() | hit.keys() if calm.get(name) != hit.get(name))
    return [f"differs from an undisturbed one: {name}" for name in names]


BASE = """title = "small"
duration = "2 s"
[bottleneck]
rate = "5 Mbit/s"
buffer = "50 % BDP"
loss = 0.01
[[flow]]
algorithm = "reno"
rtt = "20 ms"
[[flow]]
algorithm = "cubic"
rtt = "40 ms"
"""
SWEEP = """base = "base.toml"
repeats = {repeats}
keep = "{keep}"
[axes]
"bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s", "4 Mbit/s", "8 Mbit/s"]
"flow.0.rtt" = {{ from = "10 ms", to = "50 ms", points = 5 }}
"""
RECIPE = Path(__file__).parents[2] / "docs" / "recipes" / "add-a-suite.md"


def cases(folder: Path, signals: Sequence[signal.Signals] = SIGNALS) -> list[Case]:
    """Writes the files of some commands into a folder, and returns the commands: sweeps, a suite, repeats."""
    (folder / "base.toml").write_text(BASE)
    found = [Case("run", ["run", str(folder / "base.toml"), "--repeats", "8"], signals)]
    for keep, repeats in (("summary", 6), ("series", 2)):
        file = folder / f"{keep}.toml"
        file.write_text(SWEEP.format(repeats=repeats, keep=keep))
        found.append(Case(f"sweep, {keep}", ["sweep", str(file), "--jobs", "2"], signals))
    suite = folder / "example2026.py"
    code = re.search(r"```python\n(.*?)```", RECIPE.read_text(), re.DOTALL)
    assert code is not None
    suite.write_text(textwrap.dedent("    " + code[1]).replace("RATE_MBPS = 100", "RATE_MBPS = 10"))
    found.append(Case("suite", ["suite", str(suite), "--quick", "--jobs", "2"], signals))
    return found
