"""Runs scenarios from Python: `longfat.run`, in the simulator or live, and `longfat.run_many`."""

from __future__ import annotations

import os
from typing import Literal

from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.runs.simulate import Source, load, run_many

__all__ = ["run", "run_many"]


def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    backend: Literal["sim", "live"] = "sim",
    traffic: str = "longfat",
) -> Result:
    """Runs a scenario in the simulator, or live. It releases the GIL, and Ctrl-C ends the run.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        backend: "sim", or "live" for this machine's own TCP in real time (docs/live.md).
        traffic: what carries live flows over TCP: "longfat", its own traffic, or "iperf3".

    Raises:
        InputError: the scenario is refused.
        AlgorithmError: a user's own algorithm failed.
        LongfatError: a live run ended early.
    """
    scenario = load(source, seed=seed, window=window)
    if backend == "live":
        from longfat.live import programs
        from longfat.live import run as live

        named = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "scenario"
        return live.run(scenario, named, traffic, user=programs.user())
    if traffic != "longfat":
        from longfat.live import traffic as traffics

        traffics.refuse_unknown(traffic, backend)
    return simulate.run(scenario)
