"""Measures what a sweep costs around its runs: CPU time, memory, and the gain of a second worker.

python benches/sweeps.py drive 10000      runs of 0.1 simulated seconds
python benches/sweeps.py scale 1000 20    runs of 20 simulated seconds with one worker and with two; the
                                          same in bare processes shows what the machine can do
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any
from unittest import mock

from longfat import sweep
from longfat.runs import simulate
from longfat.sweep import tables
from longfat.sweep.reduction import reduce_run

PAIRS = 3
"""Interleaved measurements; the shortest time of each counts."""
SCALE_RATE = "50 Mbit/s"
REPEATS = 10
POINTS = 100
"""Values of the axes of buffers and of round-trip times."""
MIB = 1 << 20


def asked(runs: int, seconds: float, rate: str, repeats: int) -> sweep.Sweep:
    """Returns a sweep of two flows over ten buffers, ten round-trip times, and enough starts."""
    base: dict[str, Any] = {
        "duration": f"{seconds} s",
        "bottleneck": {"rate": rate, "buffer": "20 packets"},
        "flow": [{"algorithm": "reno", "rtt": "10 ms", "count": 2}],
    }
    axes = {
        "bottleneck.buffer": [f"{n} packets" for n in range(11, 21)],
        "flow.0.rtt": [f"{n} ms" for n in range(1, 11)],
        "flow.0.start": [f"{n} us" for n in range(runs // (POINTS * repeats))],
    }
    return sweep.from_dict({"base": base, "axes": axes, "repeats": repeats, "keep": "summary"})


def run(planned: sweep.Sweep, jobs: int | None) -> tuple[float, float, str]:
    """Returns wall and own CPU seconds of a sweep into an empty folder, and the parts of the former."""
    with tempfile.TemporaryDirectory() as folder:
        wall, own = time.perf_counter(), time.process_time()
        document = sweep.run(planned, folder, jobs=jobs)
        wall, own = time.perf_counter() - wall, time.process_time() - own
    first, tables = (document["performance"][key] for key in ("first_s", "tables_s"))
    runs = wall - first - tables
    return wall, own, f"{first:.2f} s to the first result, {runs:.2f} s on, {tables:.2f} s for tables"


def drive(runs: int, seconds: float, repeats: int) -> None:
    """Prints the driver's CPU time per run, its memory after the last run, and its peak with tables."""
    resident: list[float] = []
    write = tables.write

    def watched(*given: Any) -> None:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        resident.append(pages * resource.getpagesize() / MIB)
        write(*given)

    with mock.patch.object(tables, "write", watched):
        wall_s, own_s, _ = run(asked(runs, seconds, "1 Mbit/s", repeats), None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    each_ms = 1e3 * own_s / runs
    print(f"{runs} runs in {wall_s:.1f} s, driver {each_ms:.2f} ms each")
    print(f"  {resident[0]:.0f} MiB when the last run was in, peak {peak:.0f} MiB")


def bare(
    runs: int, seconds: float, repeats: int, first: int, stride: int, begin: Barrier, end: Barrier
) -> None:
    """Runs this process's share of the runs between two barriers, with nothing around them."""
    planned = asked(runs, seconds, SCALE_RATE, repeats)
    points = list(planned.points())[first::stride]
    begin.wait()
    for point in points:
        reduce_run(simulate.run(planned.scenario(point)))
    end.wait()


def alone(runs: int, seconds: float, repeats: int, processes: int) -> float:
    """Returns wall seconds of the same runs in bare processes that are ready when the clock starts."""
    context = multiprocessing.get_context("spawn")
    begin, end = context.Barrier(processes + 1), context.Barrier(processes + 1)
    started = [
        context.Process(target=bare, args=(runs, seconds, repeats, first, processes, begin, end))
        for first in range(processes)
    ]
    for process in started:
        process.start()
    begin.wait()
    wall = time.perf_counter()
    end.wait()
    wall = time.perf_counter() - wall
    for process in started:
        process.join()
    return wall


def scale(runs: int, seconds: float, repeats: int) -> None:
    """Prints the gain from one worker to two, for the sweep and for the machine, and their ratio."""
    swept: dict[int, tuple[float, float, str]] = {}
    machine: dict[int, float] = {}
    for _ in range(PAIRS):
        for number in (1, 2):
            taken = alone(runs, seconds, repeats, number)
            machine[number] = min(taken, machine.get(number, taken))
            whole = run(asked(runs, seconds, SCALE_RATE, repeats), number)
            swept[number] = min(whole, swept.get(number, whole))
    of_sweep, of_machine = swept[1][0] / swept[2][0], machine[1] / machine[2]
    print(f"{runs} runs: one worker {swept[1][0]:.1f} s, two {swept[2][0]:.1f} s, ratio {of_sweep:.2f}")
    for number, (*_, divided) in swept.items():
        print(f"  of {number}: {divided}")
    print(f"bare: one process {machine[1]:.1f} s, two {machine[2]:.1f} s, ratio {of_machine:.2f}")
    print(f"the sweep's ratio is {of_sweep / of_machine:.2f} of the machine's")


def main() -> None:
    """Reads the command line, measures, and prints a line for each measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["drive", "scale"])
    parser.add_argument("runs", type=int, help="a multiple of 100 times the repeats")
    parser.add_argument("seconds", type=float, nargs="?", default=0.1)
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each point")
    given = parser.parse_args()
    if given.repeats < 1 or given.runs < 1 or given.runs % (POINTS * given.repeats):
        parser.error(f"{given.runs} runs are no multiple of {POINTS} times {given.repeats} repeats")
    {"drive": drive, "scale": scale}[given.what](given.runs, given.seconds, given.repeats)


if __name__ == "__main__":
    main()
