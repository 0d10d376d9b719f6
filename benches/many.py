"""The case of many runs: what Longfat costs around the core when runs are tiny."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from longfat import _core, system
from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.scenario.model import Scenario

TINY = {
    "title": "A tiny run",
    "duration": "10 s",
    "seed": 1,
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 packets"},
    "flow": [{"algorithm": "newreno", "rtt": "50 ms"}],
}


def reduced(result: Result) -> tuple[int, float, Any]:
    """Returns the worker, its CPU seconds so far, and one number, as a sweep does."""
    figure = result.summary["links"][0]["utilization"]
    return os.getpid(), time.process_time(), figure


def whole(result: Result) -> tuple[int, float, Any]:
    """Returns the worker, its CPU seconds so far, and the whole result with its series."""
    return os.getpid(), time.process_time(), result


def overhead(
    runs: int, jobs: int | None, reduce: Callable[[Result], tuple[int, float, Any]]
) -> dict[str, Any]:
    """Runs a tiny scenario with that many seeds through run_many.

    `overhead_ms` is the CPU time of this process and its workers per run, less the core's own time for such
    a run. `wall_overhead_ms` is the same from wall time and the number of workers, and includes their start.
    """
    base = Scenario.from_dict(TINY)
    core = []
    for _ in range(20):
        begin = time.process_time()
        _core.simulate(base.core, {})
        core.append(time.process_time() - begin)
    core_s = statistics.median(core)
    workers = system.cores() if jobs is None else jobs
    scenarios = (base.with_values({"seed": seed}) for seed in range(1, runs + 1))
    busy: dict[int, float] = {}
    wall, own = time.perf_counter(), time.process_time()
    for worker, cpu_s, _ in simulate.run_many(scenarios, jobs=jobs, reduce=reduce):
        busy[worker] = max(cpu_s, busy.get(worker, 0.0))
    wall_s, own_s = time.perf_counter() - wall, time.process_time() - own
    cpu_s = own_s + sum(s for worker, s in busy.items() if worker != os.getpid())
    return {
        "runs": runs,
        "jobs": workers,
        "brought_home": reduce.__name__,
        "core_ms": 1e3 * core_s,
        "overhead_ms": 1e3 * (cpu_s / runs - core_s),
        "wall_overhead_ms": 1e3 * (wall_s * workers / runs - core_s),
        "runs_per_s": runs / wall_s,
    }
