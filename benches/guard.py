"""Guards the speed with instruction counts, which do not depend on how busy the machine is.

Short runs of the reference work under valgrind's callgrind; instructions per packet are compared with
those in guard.json, with 5 % either way: more is a failure, fewer should be recorded with --update. A
different compiler makes different code, so its counts are only reported. Instruction counts say nothing
about cache misses; `make bench` does.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import measure
from measure import BenchError, Row

STORED = Path(__file__).resolve().parent / "guard.json"
TOLERANCE = 0.05
CASES = {"w1": 20.0, "w3": 3.0}
"""Simulated seconds: set-up hardly counts, and callgrind, 50 times slower, still finishes soon."""


def count(binary: Path, case: str, seconds: float) -> Row:
    """Returns the instructions of one run, set-up included, and its packets."""
    run = [str(binary), case, "--seconds", str(seconds)]
    # callgrind changes the mode of the file that it writes: /dev/null would be closed to others
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", *run]
        done = subprocess.run(command, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        reason = (done.stderr.strip().splitlines() or ["printed nothing"])[-1]
        raise BenchError(f"{' '.join(command)}: exit {done.returncode}: {reason}")
    instructions, packets = int(found[1]), json.loads(done.stdout)["packets"]
    return {
        "seconds": seconds,
        "packets": packets,
        "instructions": instructions,
        "instructions_per_packet": round(instructions / packets, 2),
    }


def judge(case: str, now: Row, stored: Row) -> bool:
    """Prints how the count compares; returns whether it is accepted."""
    here, there = now["instructions_per_packet"], stored["instructions_per_packet"]
    change = float(here / there - 1)
    verdict = "as recorded"
    if change > TOLERANCE:
        verdict = f"more than {100 * TOLERANCE:.0f} % above the record"
    elif change < -TOLERANCE:
        verdict = "fewer than recorded: record it with --update"
    print(
        f"{case}: {here:.1f} instructions a packet, recorded {there:.1f} ({100 * change:+.1f} %): {verdict}"
    )
    if now["packets"] != stored["packets"]:
        print(f"{case}: {now['packets']} packets instead of {stored['packets']}: the model has changed")
    return change <= TOLERANCE


def recorded() -> Row | None:
    """Reads guard.json; it must cover every case."""
    try:
        stored: Row = json.loads(STORED.read_text())
    except FileNotFoundError:
        return None
    return stored if set(CASES) <= set(stored.get("cases", {})) else None


def main(arguments: list[str] | None = None) -> int:
    """Counts instructions, then compares or records them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true", help="record the counts in guard.json")
    asked = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is missing; on Debian: apt install valgrind")
        return 1 if asked.update else 0
    try:
        binary = measure.build()
        with ThreadPoolExecutor() as pool:  # how busy the machine is does not matter
            counts = dict(zip(CASES, pool.map(partial(count, binary), CASES, CASES.values()), strict=True))
    except BenchError as error:
        print(error, file=sys.stderr)
        return 1
    if asked.update:
        record = {"rustc": measure.rustc(), "cases": counts}
        STORED.write_text(json.dumps(record, indent=1) + "\n")
        for case, now in counts.items():
            print(f"{case}: {now['instructions_per_packet']:.1f} instructions a packet, recorded")
        return 0
    stored = recorded()
    if stored is None:
        print(f"{STORED.name} is missing or lacks a case; record the counts with --update", file=sys.stderr)
        return 1
    sound = [judge(case, now, stored["cases"][case]) for case, now in counts.items()]
    if stored["rustc"] != measure.rustc():
        print(f"recorded with {stored['rustc']}, this is {measure.rustc()}: reported, not judged")
        return 0
    return 0 if all(sound) else 1


if __name__ == "__main__":
    sys.exit(main())
