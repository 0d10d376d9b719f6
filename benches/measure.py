"""What every benchmark here needs: the built example, one run of it, statistics, where it ran."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "out"
Row = dict[str, Any]


class BenchError(Exception):
    """A benchmark cannot go on; the message is one line."""


def build() -> Path:
    """Builds the example `reference` as released and answers where it lies."""
    command = ["cargo", "build", "--release", "--quiet", "--message-format=json-render-diagnostics"]
    try:
        done = subprocess.run(
            [*command, "-p", "longfat-sim", "--example", "reference"],
            cwd=ROOT,
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


def run(command: list[str | Path]) -> Row:
    """Runs a simulator once: the JSON it prints, with the CPU seconds of the whole process added.

    `process_user_s` and `process_system_s` are the child's, set-up included.
    """
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    # what these programs write is far below a pipe's capacity, so they never wait for a reader
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
    """The cases that the example knows: name and title."""
    text = subprocess.run([binary, "--list"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in text.splitlines()]


def spread(values: list[float]) -> Row:
    """Median, least and greatest, and (greatest - least) / median."""
    median = statistics.median(values)
    least, greatest = min(values), max(values)
    return {
        "median": median,
        "min": least,
        "max": greatest,
        "spread": (greatest - least) / median if median else 0.0,
    }


def host() -> Row:
    """Where and with what this was measured."""

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
    """The compiler, as it names itself."""
    return subprocess.run(["rustc", "--version"], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def warn_if_busy() -> None:
    """Others' work takes caches and memory bandwidth: CPU time grows with it."""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > 0.5 * cores:
        print(f"load {load:.1f} on {cores} cores: numbers will be too high and scatter", file=sys.stderr)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
