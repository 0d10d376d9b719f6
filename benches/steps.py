"""Measures what a step of a simulation costs beyond its packets, and what threads bring to many environments.

A step's cost is the processor time of a run in steps, less that of the same run as a whole, per step. The
runs alternate, so that a machine that others use as well gives a fair difference; the least of each counts.
Environments are measured by the clock, since they use several processors.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import longfat
import longfat.units
from longfat import _core
from longfat.env import ORCA, VectorEnv

STEP_GOAL_US = 20.0
SPEED_UP_GOAL = 1.8
"""The bars of the design: beyond its packets, and with two threads on two processors."""

MEAN_RTT_S = 0.04
"""The flows of the environments begin with a window that fills the path at this round-trip time."""
STEPS = ("1 ms", "10 ms", "100 ms")
PAIR = longfat.Scenario.from_dict(
    {
        "duration": "20 s",
        "bottleneck": {"rate": "100 Mbit/s", "buffer": "100 packets"},
        "flow": [{"algorithm": "cubic", "rtt": "42 ms"}, {"algorithm": "reno", "rtt": "42 ms"}],
    }
)
IDLE = PAIR.with_values({"flow.0.start": "19.9 s", "flow.1.start": "19.9 s"})


def cpu_s(act: Callable[[], Any]) -> float:
    """Returns the processor time that something takes."""
    begin = time.process_time()
    act()
    return time.process_time() - begin


def in_steps(sim: longfat.Simulation, span: str) -> None:
    """Steps to the end."""
    while not sim.done:
        sim.step(span)


def step_costs(repeats: int) -> list[tuple[str, str, int, float]]:
    """Returns for each case its name, the step, the number of steps, and the cost of one, microseconds."""
    rows = []
    for name, scenario, rates in (
        ("no packets", IDLE, False),
        ("two flows at 100 Mbit/s", PAIR, False),
        ("the same, rates=True", PAIR, True),
    ):
        for span in STEPS:
            spent: dict[str, list[float]] = {"whole": [], "steps": []}
            for _ in range(repeats):
                whole, stepped = (longfat.Simulation(scenario, rates=rates) for _ in range(2))
                spent["whole"].append(cpu_s(lambda sim=whole: sim.run_until("20 s")))  # type: ignore[misc]
                spent["steps"].append(cpu_s(lambda sim=stepped, span=span: in_steps(sim, span)))  # type: ignore[misc]
            steps = round(20.0 / longfat.units.TIME.parse(span))
            cost = (min(spent["steps"]) - min(spent["whole"])) / steps
            rows.append((name, span, steps, 1e6 * cost))
    return rows


def packets_per_s(env: VectorEnv, steps: int) -> float:
    """Returns how many packets the environments carry in a second of the clock."""
    still = np.zeros((env.num_envs, 1), dtype=np.float32)
    before, begin = env.packets, time.perf_counter()
    for _ in range(steps):
        env.step(still)
    return (env.packets - before) / (time.perf_counter() - begin)


def shared_share(env: VectorEnv, steps: int) -> float:
    """Returns the share of the processor time that passes outside of the threads, in Python.

    It limits what threads can bring, however busy the machine is.
    """
    still = np.zeros((env.num_envs, 1), dtype=np.float32)
    advance, within = _core.advance_all, 0.0

    def timed(*given: Any) -> bytes:
        nonlocal within
        begin = time.process_time()
        found = advance(*given)
        within += time.process_time() - begin
        return found

    try:
        _core.advance_all = timed
        whole = cpu_s(lambda: [env.step(still) for _ in range(steps)])
    finally:
        _core.advance_all = advance
    return 1.0 - within / whole


def speeds(
    number: int, rate: str, threads: int, steps: int, repeats: int
) -> tuple[list[float], list[float], float]:
    """Returns the packets per second with one thread and with several, in turn, and what limits the ratio."""
    window = longfat.units.RATE.parse(rate) * MEAN_RTT_S / 12_000.0
    scenario = {
        "duration": "1000 s",
        "bottleneck": {"rate": rate, "buffer": "100 % BDP"},
        "flow": [
            {
                "algorithm": "cubic",
                "rtt": {"uniform": ["20 ms", "60 ms"]},
                "initial_window": window,
                "initial_ssthresh": 2,
            }
        ],
    }
    envs = [VectorEnv(scenario, ORCA, number, threads=count) for count in (1, threads)]
    for env in envs:
        env.reset(seed=1)
        packets_per_s(env, 50)  # past the first burst
    found: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for env, speed in zip(envs, found, strict=True):
            speed.append(packets_per_s(env, steps))
    shared = min(shared_share(envs[0], steps) for _ in range(repeats))
    return *found, 1.0 / (shared + (1.0 - shared) / threads)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--environments", type=int, default=64)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=20, help="steps of all environments in each measurement")
    parser.add_argument("--rates", nargs="*", default=["100 Mbit/s", "1 Gbit/s"])
    given = parser.parse_args()
    console = Console()
    table = Table(
        "run", "step", "steps", "us a step", title=f"A step beyond its packets, at most {STEP_GOAL_US:g} us"
    )
    for name, span, steps, cost in step_costs(given.repeats):
        table.add_row(name, span, str(steps), f"{cost:.2f}")
    console.print(table)
    title = f"{given.environments} environments, at least {SPEED_UP_GOAL:g} times as fast with two threads"
    table = Table(
        "paths", "1 thread, packets/s", f"{given.threads} threads", "best", "median", "limit", title=title
    )
    for rate in given.rates:
        one, several, limit = speeds(given.environments, rate, given.threads, given.steps, given.repeats)
        ratios = [b / a for a, b in zip(one, several, strict=True)]
        cells = [f"{max(one):.3g}", f"{max(several):.3g}", f"{max(several) / max(one):.2f}"]
        table.add_row(rate, *cells, f"{statistics.median(ratios):.2f}", f"{limit:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
