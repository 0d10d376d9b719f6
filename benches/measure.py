"""What every benchmark here needs: the built example, one run of it, statistics, and the machine."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pgo

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
PR_SET_CHILD_SUBREAPER = 36
"""From linux/prctl.h."""
Row = dict[str, Any]


class BenchError(Exception):
    """A benchmark cannot continue; the message is one line."""


def build(profile: Path | None = None) -> Path:
    """Builds the example `reference` in release mode, by a record of pgo.py if given; returns its path."""
    command = ["cargo", "build", "--release", "--quiet", "--message-format=json-render-diagnostics"]
    environment = dict(os.environ)
    if profile is not None:
        command += ["--target-dir", str(profile.parent / "core")]
        environment["RUSTFLAGS"] = f"-Cprofile-use={profile}"
    try:
        done = subprocess.run(
            [*command, "-p", "longfat-sim", "--example", "reference"],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
    except FileNotFoundError:
        raise BenchError("cargo is missing; install Rust: https://rustup.rs") from None
    for line in done.stdout.splitlines() if done.returncode == 0 else []:
        message = json.loads(line)
        if message.get("target", {}).get("name") == "reference" and message.get("executable"):
            return Path(message["executable"])
    raise BenchError("cargo could not build the example `reference`")


def build_as_released() -> Path:
    """Builds the example `reference` as `make wheel` builds the core: by a record, where one can be made."""
    if pgo.PROFILE.exists():
        print(f"built by the record {pgo.PROFILE.relative_to(ROOT)}, as a wheel is", file=sys.stderr)
        return build(pgo.PROFILE)
    print("built without a record, unlike a wheel: rustup component add llvm-tools", file=sys.stderr)
    return build()


def run(command: list[str | Path]) -> Row:
    """Runs a simulator once; returns the JSON it prints, plus the CPU seconds of the whole process.

    `process_user_s` and `process_system_s` are the child's and include set-up.
    """
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # these programs write far less than a pipe holds, so they never wait for a reader
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        lines = [line for line in process.stdout if line.startswith("{")]
        errors = process.stderr.read().strip().splitlines()
    if process.returncode != 0 or not lines:
        reason = errors[-1] if errors else "printed nothing"
        raise BenchError(f"{' '.join(map(str, command))}: exit {process.returncode}: {reason}")
    row: Row = json.loads(lines[-1])
    return {**row, "process_user_s": usage.ru_utime, "process_system_s": usage.ru_stime}


def listing(binary: Path) -> list[Row]:
    """Returns the cases that the example knows: name and title."""
    text = subprocess.run([binary, "--list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def cpu_of_all(command: list[str | Path]) -> Row:
    """Returns wall and CPU seconds of a command and of everything it started, orphans included.

    The workers' parent outlives the command for a moment; this process inherits it as a subreaper.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise BenchError(f"prctl: {os.strerror(ctypes.get_errno())}")
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall_s = time.perf_counter() - begin
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["said nothing"])[-1]
        raise BenchError(f"{' '.join(map(str, command))}: exit {done.returncode}: {reason}")
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user_s, system_s = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    cores = len(os.sched_getaffinity(0))
    busy = (user_s + system_s) / (wall_s * cores)
    return {"wall_s": wall_s, "user_s": user_s, "system_s": system_s, "cores": cores, "busy": busy}


def spread(values: list[float]) -> Row:
    """Returns median, minimum, maximum, and (maximum - minimum) / median."""
    median = statistics.median(values)
    least, greatest = min(values), max(values)
    return {
        "median": median,
        "min": least,
        "max": greatest,
        "spread": (greatest - least) / median if median else 0.0,
    }


def host() -> Row:
    """Returns where and with what this was measured."""

    def answer(*command: str) -> str | None:
        try:
            return subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, check=True
            ).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return None

    model = next(
        (line.split(":", 1)[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        None,
    )
    return {
        "cpu": model or platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "kernel": platform.release(),
        "rustc": rustc(),
        "commit": answer("git", "rev-parse", "--short", "HEAD"),
        "uncommitted": bool(answer("git", "status", "--porcelain", "--untracked-files=no")),
        "load_at_start": os.getloadavg()[0],
    }


def rustc() -> str:
    """Returns the compiler's own version line."""
    return subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def warn_if_busy() -> None:
    """Warns about other work: it takes caches and memory bandwidth, so CPU time grows."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > 0.5 * cores:
        print(f"load {load:.1f} on {cores} cores: numbers will be too high and scatter", file=sys.stderr)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
