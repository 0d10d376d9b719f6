"""Kills commands at random instants many times, and checks what they leave.

    make kills KILLS=200

The commands are sweeps (with summaries, and with samples), a suite and `run --repeats`. Each is killed a few
times by SIGKILL (the command or a process below it), then runs to its end; it has to write what an
undisturbed one writes, and leave no process and no temporary file. The exit code is 1 if anything is not so.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import kills  # noqa: E402

AT_A_TIME = 5
"""Kills of a command before it may end."""


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=200, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="draws the instants and the victims")
    asked = parser.parse_args()
    draws = random.Random(asked.seed)
    counts: Counter[str] = Counter()
    found: list[str] = []
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cases = kills.cases(folder, (signal.SIGKILL,))
        turn = 0
        try:
            while kills.number(counts) < asked.kills:
                case = cases[turn % len(cases)]
                turn += 1
                number = min(AT_A_TIME, asked.kills - kills.number(counts))
                problems, kinds = kills.attack(case, folder / "work", draws, number)
                counts += kinds
                for line in problems:
                    print(line, flush=True)
                found += problems
                print(f"{kills.number(counts)} of {asked.kills}: {case.name}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
    told = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
    print(f"{kills.number(counts)} kills in {time.monotonic() - begun:.0f} s ({told}): {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
