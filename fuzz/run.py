"""Fuzzes Longfat for a while: goes on from earlier corpora, prints a line per target, and keeps the sums.

    python fuzz/run.py MINUTES [--only TARGET ...] [--quick]

The time is that of all targets together; as many run at once as there are processors. The sums count
processor time, so that a busy machine does not count as one that worked. Targets of the core are
in `fuzz_targets` and use libFuzzer; those of the front are in `front.py` and use Hypothesis. Corpora are kept
in `fuzz/corpus`, inputs that fail in `fuzz/findings`; git ignores both. The sums of all runs are in
`totals.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parent
CORPUS, FINDINGS, TOTALS = HERE / "corpus", HERE / "findings", HERE / "totals.json"
PAGE = ROOT / "docs" / "reliability.md"
MARKS = ("<!-- fuzz: begin, `make fuzz` writes this -->", "<!-- fuzz: end -->")

CORE = {
    "plan": "plans as JSON: no panic, and both drivers give the same bytes",
    "packet": "bytes off a wire: no panic, and a changed packet keeps length, ports and checksums",
    "queue": "queues under any parameters and arrivals: every packet comes out once or is dropped once",
    "capacity": "traces, steps and sines: transmissions end in order, and carry no more than the capacity",
    "capture": "captures: each gives its connections, or an error of one line; no panic",
    "reader": "scenario texts: refused with an offer, or a plan; read the same when written; no panic",
    "ebpf": "objects with a kernel's eBPF congestion control: refused or ended with one line, no panic",
}
FRONT = {
    "scenario": "scenario files: each gives a result, or errors that say what is accepted",
    "trace": "Mahimahi traces: each gives times in order, or an error of one line",
    "sweep": "sweep files: each gives a plan of runs, or errors that say what is accepted",
    "store": "damaged sweeps: the same tables, or an error of one line; the next sweep repairs them",
    "report": "folders of results, damaged or foreign: each gives a page, or one line that says why not",
}
LONGEST_INPUT = {"plan": 1 << 15, "reader": 1 << 13, "capture": 1 << 14, "ebpf": 1 << 16}
"""Bytes; 4096 by default, as libFuzzer has it."""
LONGEST_UNIT_S = 60
SLOW = ("timeout-", "slow-unit-")
"""How libFuzzer names the files of inputs that took long."""
MOST_MEMORY_MB = 4096
# What cargo-fuzz passes on a stable toolchain: counters at each edge, and the operands of comparisons
INSTRUMENTED = (
    "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 "
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table "
    "-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"
)
PANICKED = re.compile(r"panicked at .*\n(.*)")
EXECUTED = re.compile(r"stat::number_of_executed_units:\s+(\d+)")


@dataclass
class Outcome:
    """What a target did: inputs tried, the processor time that it took, and inputs that failed."""

    executions: int
    seconds: float
    findings: int
    why: str = ""


def build(targets: list[str]) -> Path | str:
    """Builds these targets of the core; returns the folder of the programs, or why they cannot be built."""
    for needed, package in (("cargo", "Rust: https://rustup.rs"), ("c++", "on Debian: apt install g++")):
        if shutil.which(needed) is None:
            return f"{needed} is missing; {package}"
    about = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    host = about.partition("host: ")[2].split()[0]
    # with --target the flags are those of the targets alone, and not of build scripts
    command = ["cargo", "build", "--release", "--quiet", "--locked", "--target", host]
    command += [part for target in targets for part in ("--bin", target)]
    made = subprocess.run(
        [*command, "--manifest-path", str(HERE / "Cargo.toml")],
        env={**os.environ, "RUSTFLAGS": INSTRUMENTED},
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        return " ".join(made.stderr.split())[-300:]
    return HERE / "target" / host / "release"


def measured(process: subprocess.Popen[bytes]) -> tuple[int, float]:
    """Waits for a process; returns its exit code and the seconds of processor time that it took."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def told(log: str) -> str:
    """Returns what the first panic in a log says, as the end of a line of at most 302 characters."""
    panicked = PANICKED.search(log)
    return f": {panicked.group(1)[:300]}" if panicked else ""


def is_slow(program: Path, unit: Path) -> bool:
    """Whether an input by itself takes long; libFuzzer's clock also runs while others have the processor."""
    command = [str(program), str(unit), f"-timeout={100 * LONGEST_UNIT_S}"]
    ended = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    returncode, spent_s = measured(ended)
    return returncode != 0 or spent_s > LONGEST_UNIT_S


def run_core(target: str, programs: Path, seconds: int) -> Outcome:
    """Runs a target of the core."""
    own = FINDINGS / target
    own.mkdir(parents=True, exist_ok=True)
    (CORPUS / target).mkdir(parents=True, exist_ok=True)
    before = set(own.iterdir())
    command = [
        str(programs / target),
        str(CORPUS / target),
        f"-artifact_prefix={own}/",
        "-print_final_stats=1",
    ]
    command += [f"-max_total_time={seconds}", f"-timeout={LONGEST_UNIT_S}", f"-rss_limit_mb={MOST_MEMORY_MB}"]
    command.append(f"-max_len={LONGEST_INPUT.get(target, 4096)}")
    log = own.with_suffix(".log")
    with log.open("w", encoding="utf-8", errors="replace") as out:
        returncode, spent_s = measured(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT))
    text = log.read_text(encoding="utf-8", errors="replace")
    executed = EXECUTED.search(text)
    new = set(own.iterdir()) - before
    quick = {path for path in new if path.name.startswith(SLOW) and not is_slow(programs / target, path)}
    for path in quick:
        path.unlink()
    found = len(new - quick) or int(returncode != 0 and not quick)
    why = f"see {log.relative_to(ROOT)}{told(text)}" if found else ""
    return Outcome(int(executed.group(1)) if executed else 0, spent_s, found, why)


def run_front(target: str, seconds: int) -> Outcome:
    """Runs a target of the front."""
    own = FINDINGS / target
    own.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(HERE / "front.py"), target, str(seconds), str(CORPUS / target), str(own)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        told = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        (own / "died.txt").write_text(ended.stdout + ended.stderr, encoding="utf-8")
        return Outcome(0, 0.0, 1, f"see {(own / 'died.txt').relative_to(ROOT)}")
    return Outcome(**told)


def run_all(targets: list[str], seconds: float) -> Iterator[tuple[str, Outcome | str]]:
    """Divides the time among targets. Yields what each did as it ends, or why it could not run."""
    skipped: dict[str, str] = {}
    programs: Path | str = ""
    of_core = [target for target in targets if target in CORE]
    if of_core:
        programs = build(of_core)
        if isinstance(programs, str):
            skipped = dict.fromkeys(of_core, programs)
        else:
            subprocess.run([sys.executable, str(HERE / "seeds.py"), str(CORPUS)], check=True)
    workers = len(os.sched_getaffinity(0))
    able = [target for target in targets if target not in skipped]
    own = max(1, int(seconds * min(workers, len(able)) / max(1, len(able))))

    def one(target: str) -> Outcome:
        return run_core(target, Path(programs), own) if target in CORE else run_front(target, own)

    yield from skipped.items()
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(one, target): target for target in able}
        for ended in as_completed(running):
            yield running[ended], ended.result()


def totals() -> dict[str, Any]:
    """Returns the sums of all runs so far, by target."""
    return json.loads(TOTALS.read_text(encoding="utf-8")) if TOTALS.exists() else {}


def added(sums: dict[str, Any], done: dict[str, Outcome]) -> dict[str, Any]:
    """Returns the sums with those of a run."""
    result = {}
    for target in (*CORE, *FRONT):
        own = dict(sums.get(target, {"executions": 0, "seconds": 0, "findings": 0}))
        if target in done:
            outcome = done[target]
            own["executions"] += outcome.executions
            own["seconds"] = round(own["seconds"] + outcome.seconds)
            own["findings"] += outcome.findings
        result[target] = own
    return result


def table(sums: dict[str, Any]) -> str:
    """Returns the table of docs/reliability.md."""
    lines = [
        "| target | input, and what has to hold | inputs | processor hours | found and fixed |",
        "|---|---|--:|--:|--:|",
    ]
    for target, meaning in (CORE | FRONT).items():
        own = sums.get(target, {"executions": 0, "seconds": 0, "findings": 0})
        hours = own["seconds"] / 3600
        lines.append(f"| `{target}` | {meaning} | {own['executions']:,} | {hours:.2f} | {own['findings']} |")
    return "\n".join(lines) + "\n"


def write_page(text: str) -> None:
    """Replaces what stands between the marks."""
    head, begin, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    _, end, tail = rest.partition(MARKS[1])
    if not begin or not end:
        sys.exit(f"{PAGE.relative_to(ROOT)}: the marks {MARKS[0]} are missing")
    PAGE.write_text(head + begin + "\n" + text + end + tail, encoding="utf-8")


def main() -> int:
    """Returns 1 if a target found something, else 0."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", type=float, help="for all targets together; 0 only builds")
    parser.add_argument("--only", nargs="+", metavar="TARGET", choices=[*CORE, *FRONT])
    parser.add_argument("--quick", action="store_true", help="leave totals.json and the page as they are")
    asked = parser.parse_args()
    if asked.minutes == 0:
        built = build([target for target in asked.only or CORE if target in CORE])
        print(f"not built: {built}" if isinstance(built, str) else built)
        return 0
    found = 0
    for target, outcome in run_all(asked.only or [*CORE, *FRONT], 60 * asked.minutes):
        if isinstance(outcome, str):
            print(f"{target}: skipped: {outcome}")
            continue
        told = f"{outcome.executions} inputs in {outcome.seconds:.0f} s, {outcome.findings} found"
        print(f"{target}: {told}{'; ' + outcome.why if outcome.why else ''}", flush=True)
        found += outcome.findings
        if not asked.quick:  # at once, so that a call that is ended counts what had been done
            sums = added(totals(), {target: outcome})
            TOTALS.write_text(json.dumps(sums, indent=1) + "\n", encoding="utf-8")
            write_page(table(sums))
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
