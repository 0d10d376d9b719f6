"""What a sweep costs around its runs: the driver's CPU time and memory, and what a second worker gains.

python benches/sweeps.py drive 10000      runs of 0.1 simulated seconds
python benches/sweeps.py scale 1000 20    runs of 20 simulated seconds, by one worker and by two
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from typing import Any

from longfat import sweep


def asked(runs: int, seconds: float, rate: str) -> sweep.Sweep:
    """Two flows over one path, with so many seeds."""
    base: dict[str, Any] = {
        "duration": f"{seconds} s",
        "bottleneck": {"rate": rate, "buffer": "20 packets"},
        "flow": [{"algorithm": "sack", "rtt": "10 ms", "count": 2}],
    }
    axes = {"seed": {"from": 1, "to": runs, "points": runs}}
    return sweep.from_dict({"base": base, "axes": axes, "keep": "summary"})


def run(planned: sweep.Sweep, jobs: int | None) -> tuple[float, float]:
    """Wall and own CPU seconds of a sweep into an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        wall, own = time.perf_counter(), time.process_time()
        sweep.run(planned, folder, jobs=jobs)
        return time.perf_counter() - wall, time.process_time() - own


def main() -> None:
    """Reads the command line, measures, prints a line a measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["drive", "scale"])
    parser.add_argument("runs", type=int)
    parser.add_argument("seconds", type=float, nargs="?", default=0.1)
    given = parser.parse_args()
    if given.what == "drive":
        wall_s, own_s = run(asked(given.runs, given.seconds, "1 Mbit/s"), None)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        each_ms = 1e3 * own_s / given.runs
        print(f"{given.runs} runs in {wall_s:.1f} s, driver {each_ms:.2f} ms each, peak {peak:.0f} MiB")
        return
    one_s, two_s = (run(asked(given.runs, given.seconds, "50 Mbit/s"), jobs)[0] for jobs in (1, 2))
    print(f"{given.runs} runs: one worker {one_s:.1f} s, two {two_s:.1f} s, ratio {one_s / two_s:.2f}")


if __name__ == "__main__":
    main()
