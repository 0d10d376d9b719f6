"""The fuzz targets of the front: what users write and what disks damage. `run.py` runs them for a while.

    python fuzz/front.py TARGET SECONDS CORPUS FINDINGS

Whatever a target gives to Longfat, a command ends with 0, or with 1 or 2 and lines on stderr that begin with
"error: ". Any other end is a finding: a traceback, or a table that differs from the one that was stored.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from longfat import sweep
from longfat.cli.app import end_code
from longfat.scenario.model import Scenario

ROOT = Path(__file__).parent.parent
LONGEST_S = 5
"""A command that takes longer is interrupted as by Ctrl-C, which has to work."""
MEMORY_BYTES = 6 << 30
STOPPED = 130
SCRATCH = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where folders are made: in memory if possible, where nothing waits for a disk."""
SMALL = """duration = "0.3 s"
[bottleneck]
rate = "5 Mbit/s"
buffer = "50 % BDP"
loss = 0.01
[[flow]]
algorithm = "reno"
rtt = "20 ms"
"""
SWEEP = """base = "base.toml"
[axes]
"bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s"]
seed = [1, 2]
[[figure]]
kind = "lines"
x = "bottleneck.rate"
y = "bottleneck_utilization"
"""

VALUES = """
""|0|-1|1e999|nan|[]|{}|true|"0 s"|"1e300 s"|"-1 ms"|"100 %"|"auto"|"1 Gbit/s"|"/dev/null"|"\\u0000"|"ü"
[[1]]|"reno"|"htcp"|"rack"|1e-9|{ from = 1, to = 2, points = 3 }|"a" "b"|{ uniform = ["1 ms", "2 ms"] }
{ name = "udt", variant = "draft" }|{ sine = { max = "1 Gbit/s", min = "1 Mbit/s", period = "1 s" } }
999999999999999999999999999999
"""
JUNK = st.sampled_from([value for line in VALUES.split("\n") for value in line.split("|") if value])
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["drop", "double", "value", "key", "insert", "cut", "swap"]),
        st.integers(0, 400),
        JUNK,
        st.text(max_size=8),
    ),
    min_size=1,
    max_size=4,
)
"""Changes of a text: what, at which line, a value, and any text."""


class Finding(AssertionError):  # noqa: N818 - what fuzzers call it
    """Longfat did what it must not do."""


def edited(text: str, edits: list[tuple[str, int, str, str]]) -> str:
    """Returns a TOML text with changes."""
    lines = text.splitlines() or [""]
    for what, number, value, any_text in edits:
        at = number % len(lines)
        key, _, _ = lines[at].partition("=")
        match what:
            case "drop":
                lines[at] = ""
            case "double":
                lines.insert(at, lines[at])
            case "value":
                lines[at] = f"{key}= {value}"
            case "key":
                lines[at] = lines[at].replace(key.strip() or "=", any_text or "x", 1)
            case "insert":
                lines.insert(at, f"{any_text} = {value}")
            case "cut":
                lines[at] = lines[at][: len(lines[at]) // 2]
            case "swap":
                other = (number // 7) % len(lines)
                lines[at], lines[other] = lines[other], lines[at]
    return "\n".join(lines) + "\n"


@contextmanager
def _limited(seconds: int = LONGEST_S) -> Iterator[None]:
    """Interrupts what takes too long."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    earlier = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, earlier)


def longfat(*arguments: str | Path, seconds: int = LONGEST_S) -> tuple[int, str]:
    """Runs a command; returns its exit code and what it printed. Raises Finding if it ended as none may."""
    out, err = io.StringIO(), io.StringIO()
    before = sys.argv
    sys.argv = ["longfat", *map(str, arguments)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _limited(seconds):
            code = end_code()
    except KeyboardInterrupt:
        code = STOPPED
    finally:
        sys.argv = before
    told = err.getvalue()
    # an interrupt that comes while Hypothesis collects garbage is printed there
    if code not in (0, 1, 2, STOPPED) or ("Traceback" in told and "gc_callback" not in told):
        raise Finding(f"exit code {code}: {told}")
    if code in (1, 2) and not any(line.startswith(("error: ", "failed: ")) for line in _lines(told, out)):
        raise Finding(f"exit code {code} without an error: {told}")
    return code, out.getvalue()


def _lines(told: str, out: io.StringIO) -> list[str]:
    return [*told.splitlines(), *out.getvalue().splitlines()]


def scenario(folder: Path) -> Callable[..., None]:
    """Scenario files of the repository and a small one, changed."""
    texts = [
        SMALL,
        *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "scenarios").glob("*.toml"))),
    ]
    file = folder / "scenario.toml"

    @given(st.sampled_from(range(len(texts))), EDITS, st.booleans())
    def check(number: int, edits: list[Any], runs: bool) -> None:
        file.write_text(edited(texts[number], edits), encoding="utf-8")
        code, _ = longfat("run", file, "--set", "duration=0.2 s", "--json")
        if code == 0 and runs:
            # what is accepted has a plan that the core reads, and so does the file that Longfat writes of it
            asked = Scenario.load(file, overrides={"duration": "0.2 s"})
            planned = json.dumps(asked.plan)
            asked.core.results_version()
            again = folder / "again.toml"
            again.write_text(asked.filled().to_toml(), encoding="utf-8")
            if json.dumps(Scenario.load(again).plan) != planned:
                raise Finding("the filled scenario has another plan")

    return check


def read_trace(file: Path) -> list[float]:
    """Returns the times of a trace of a rate, ms. Raises ValueError."""
    bottleneck = {"rate": {"trace": str(file)}, "buffer": "50 packets"}
    read = Scenario({"duration": "1 s", "bottleneck": bottleneck, "flow": [{"rtt": "10 ms"}]})
    times: list[float] = read.plan["links"][0]["capacity"]["trace_ms"]
    return times


def trace(folder: Path) -> Callable[..., None]:
    """Files of delivery times, as bytes and as lines of numbers."""
    file = folder / "link.trace"
    numbers = st.lists(st.one_of(st.integers(0, 50), st.integers(-5, 10**12)), max_size=40)
    content = st.one_of(
        st.binary(max_size=200),
        numbers.map(lambda found: "\n".join(map(str, found)).encode()),
        st.lists(st.integers(0, 20), max_size=40).map(lambda gaps: _times(gaps).encode()),
    )

    @given(content)
    def check(data: bytes) -> None:
        file.write_bytes(data)
        try:
            times = read_trace(file)
        except ValueError as error:
            if len(str(error).splitlines()) != 1:
                raise Finding(f"not one line: {error}") from None
            return
        if times != sorted(times) or times[-1] <= 0 or times[0] < 0:
            raise Finding(f"times that no link has: {times}")
        # other files may be packed, or have comments, names of columns and fractions
        if all(line.isdigit() for line in data.split()) and [int(line) for line in data.split()] != times:
            raise Finding(f"not what the file says: {times}")

    return check


def _times(gaps: list[int]) -> str:
    times = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    return "\n".join(map(str, times))


def sweep_file(folder: Path) -> Callable[..., None]:
    """Sweep files, changed; what they would run is asked for and not run."""
    (folder / "base.toml").write_text(SMALL, encoding="utf-8")
    texts = [SWEEP, *(path.read_text(encoding="utf-8") for path in sorted((ROOT / "sweeps").glob("*.toml")))]
    for path in (ROOT / "sweeps").glob("*-base.toml"):
        shutil.copy(path, folder)
    file = folder / "sweep.toml"

    @given(st.sampled_from(range(len(texts))), EDITS)
    def check(number: int, edits: list[Any]) -> None:
        file.write_text(edited(texts[number], edits), encoding="utf-8")
        try:
            with _limited():
                asked = sweep.load(file)
                count = asked.count()
                found = sum(1 for _, _ in zip(asked.points(), range(2000), strict=False))
        except KeyboardInterrupt:
            return
        except sweep_errors() as error:
            if error.exit_code != 2 or not error.lines():
                raise Finding(f"no line: {error}") from None
            return
        if found != min(count, 2000):
            raise Finding(f"{count} runs are said and {found} made")

    return check


def sweep_errors() -> Any:
    """The errors that a sweep file may raise."""
    from longfat.errors import LongfatError

    return LongfatError


DAMAGE = st.lists(
    st.tuples(
        st.sampled_from(["flip", "flip", "cut", "junk", "empty", "remove", "foreign", "swap"]),
        st.integers(0, 10**6),
        st.integers(0, 10**9),
        st.binary(max_size=20),
    ),
    min_size=1,
    max_size=2,
)
FOREIGN = [
    b"[]",
    b"{}",
    b"null",
    b'{"format": 1}',
    b'{"format": 99}',
    b"[" * 3000,
    b'{"claims": [1]}',
    b"PAR1",
]


def damaged(files: list[Path], damage: list[Any]) -> None:
    """Damages some of these files."""
    for what, number, position, data in damage:
        file = files[number % len(files)]
        content = bytearray(file.read_bytes()) if file.exists() else bytearray()
        at = position % (8 * len(content) or 1)
        if what == "remove":
            file.unlink(missing_ok=True)
        elif what == "swap":
            other = files[position % len(files)]
            file.write_bytes(other.read_bytes() if other.exists() else b"")
        elif what == "foreign":
            file.write_bytes(FOREIGN[position % len(FOREIGN)])
        elif what == "empty":
            file.write_bytes(b"")
        elif content:
            if what == "flip":
                content[at // 8] ^= 1 << (at % 8)
            elif what == "cut":
                del content[at // 8 :]
            else:
                content[at // 8 : at // 8 + len(data)] = data
            file.write_bytes(bytes(content))


def stored_sweep(folder: Path) -> tuple[Path, Path]:
    """Runs a small sweep with samples; returns its file and its folder."""
    (folder / "base.toml").write_text(SMALL, encoding="utf-8")
    file = folder / "sweep.toml"
    file.write_text('keep = "series"\n' + SWEEP, encoding="utf-8")
    whole = folder / "whole"
    if not whole.exists():
        sweep.run(sweep.load(file), whole)
    return file, whole


TABLES = ("runs", "flows", "failures")


def store(folder: Path) -> Callable[..., None]:
    """A stored sweep, damaged: what is read is right or refused, and another sweep makes all of it anew."""
    file, whole = stored_sweep(folder)
    expected = {name: sweep.open_sweep(whole).table(name) for name in TABLES}
    right = longfat("results", whole, "--json", seconds=60)

    @given(DAMAGE, st.integers(0, 9))
    def check(damage: list[Any], turn: int) -> None:
        hit = folder / "hit"
        shutil.rmtree(hit, ignore_errors=True)
        shutil.copytree(whole, hit)
        damaged(sorted(path for path in hit.rglob("*") if path.is_file()), damage)
        code, printed = longfat("results", hit, "--json")
        if code == 0 and (code, printed) != right:
            raise Finding(f"another table with exit code 0: {printed[:400]}")
        _series(hit, whole)
        if turn == 0:
            try:
                again = sweep.run(sweep.load(file), hit)
            except sweep_errors():
                return
            if again["failed"] or {name: sweep.open_sweep(hit).table(name) for name in TABLES} != expected:
                raise Finding("the next sweep gives another table")

    return check


def _series(hit: Path, whole: Path) -> None:
    try:
        found = sweep.open_sweep(hit).series(1)
    except sweep_errors():
        return
    # as texts: a value that is not a number equals nothing, itself included
    if str(found.to_pydict()) != str(sweep.open_sweep(whole).series(1).to_pydict()):
        raise Finding("other samples without an error")


def report(folder: Path) -> Callable[..., None]:
    """Folders of runs and of suites, damaged, with and without the list of their digests."""
    from longfat.store.whole import write_list

    base = folder / "scenario.toml"
    base.write_text(SMALL, encoding="utf-8")
    whole = folder / "run"
    if longfat("run", base, "--out", whole, seconds=60)[0] != 0:
        raise Finding("a sound scenario does not run")
    ledger = folder / "suite"
    ledger.mkdir(exist_ok=True)
    claims = [{"id": "F1", "suite": "s", "verdict": "reproduced", "experiments": [], "note": ""}]
    (ledger / "claims.json").write_text(json.dumps({"suite": "s", "claims": claims}), encoding="utf-8")
    write_list(ledger, ["claims.json"])
    told = longfat("claims", ledger, "--json", seconds=60)

    @given(DAMAGE, st.booleans(), st.integers(0, 19))
    def check(damage: list[Any], listed: bool, turn: int) -> None:
        hit = folder / "hit"
        for source, command in ((ledger, "claims"), (whole, "report")):
            if command == "report" and turn > 0:
                continue  # drawing takes a second
            shutil.rmtree(hit, ignore_errors=True)
            shutil.copytree(source, hit)
            files = sorted(path for path in hit.iterdir() if path.is_file() and path.name != "SHA256SUMS")
            damaged(files, damage)
            if not listed:
                (hit / "SHA256SUMS").unlink(missing_ok=True)
            if command == "claims":
                code, printed = longfat("claims", hit, "--json")
                if listed and code == 0 and (code, printed) != told:
                    raise Finding(f"other claims with exit code 0: {printed}")
            else:
                longfat("report", hit, seconds=60)

    return check


TARGETS: dict[str, Callable[[Path], Callable[..., None]]] = {
    "scenario": scenario,
    "trace": trace,
    "sweep": sweep_file,
    "store": store,
    "report": report,
}
A_ROUND = 100
"""Inputs between two looks at the clock."""


def campaign(target: str, seconds: float, corpus: Path, findings: Path) -> dict[str, Any]:
    """Tries inputs until the time is over or one fails; goes on with the seeds after earlier ones."""
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    place = corpus / "next-seed"
    following = int(place.read_text()) if place.exists() else 0
    began = time.monotonic()
    executions = 0
    why = ""
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        check = TARGETS[target](Path(folder))
        inner = check.hypothesis.inner_test  # type: ignore[attr-defined]

        def counted(*arguments: Any, **keys: Any) -> None:
            nonlocal executions
            executions += 1
            if time.monotonic() - began < seconds:
                inner(*arguments, **keys)

        check.hypothesis.inner_test = counted  # type: ignore[attr-defined]
        tried = settings(
            max_examples=A_ROUND,
            deadline=None,
            database=DirectoryBasedExampleDatabase(corpus / "examples"),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )(check)
        while time.monotonic() - began < seconds and not why:
            try:
                seed(following)(tried)()
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, SystemExit)):
                    raise
                file = findings / f"seed-{following}.txt"
                file.write_text(traceback.format_exc(), encoding="utf-8")
                why = f"see {file}"
            following += 1
            place.write_text(str(following))
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    spent = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return {"executions": executions, "seconds": spent, "findings": int(bool(why)), "why": why}


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, resource.RLIM_INFINITY))
    said = campaign(sys.argv[1], float(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
    print(json.dumps(said))
