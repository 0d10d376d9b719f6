"""Estimates the cost of a sweep: a few shortened runs show the cost of a packet and of a run here."""

from __future__ import annotations

import itertools
import json
import math
import time
from typing import Any

from rich.console import Console
from rich.table import Table

from longfat.errors import InputError
from longfat.report import columns
from longfat.runs import pool, simulate
from longfat.scenario.distributions import least
from longfat.scenario.model import Scenario
from longfat.store.identity import run_key
from longfat.sweep.grid import Sweep
from longfat.sweep.reduction import reduce_run
from longfat.units import PACKET_BITS, TIME

MOST_RUNS = 100_000
"""The limit without --yes."""
SAMPLED = 5
"""Runs that are tried out to estimate the cost."""
SAMPLE_PACKETS = 2e5
"""Packets of each such run, roughly."""
START_S = 1.0
"""Time to start the workers."""
COMPRESSION = 8.0
"""How much smaller a row is in a segment than as text."""
SAMPLE_BYTES = 60.0
"""Size of a row of samples in Parquet."""


def refuse_large(sweep: Sweep, accepted: bool) -> None:
    """Raises InputError for a sweep of more than `MOST_RUNS` runs, unless `accepted`."""
    if sweep.most > MOST_RUNS and not accepted and (number := sweep.count()) > MOST_RUNS:
        raise InputError(
            f"{sweep.source}: {number} runs; "
            f"accepted: up to {MOST_RUNS}, or any number with --yes (--dry-run prints an estimate)"
        )


def estimate(sweep: Sweep, jobs: int | None = None) -> dict[str, Any]:
    """Estimates the number of runs, and the time and disk space that they take on this machine.

    Args:
        sweep: a few of its points are run for some packets.
        jobs: worker processes; one for each core if None.
    """
    runs = sweep.count()
    number = pool.cores() if jobs is None else jobs
    stride = max(1, runs // SAMPLED)
    costs, sizes = [], []
    for point in itertools.islice(sweep.points(), 0, None, stride):
        try:
            scenario = sweep.scenario(point)
        except InputError:
            continue  # will be a failure of the sweep, which costs nothing
        seconds, row_bytes = _cost(scenario)
        costs.append(seconds)
        kept = row_bytes / COMPRESSION
        if sweep.keep == "series":
            flows, links = len(scenario.flow_names()), 2
            samples = flows / scenario.sample.cwnd + links / scenario.sample.queue
            kept += scenario.duration * samples * SAMPLE_BYTES
        sizes.append(kept)
    mean_s = math.fsum(costs) / len(costs) if costs else 0.0
    return {
        "runs": runs,
        "axes": [{"keys": list(axis.keys), "values": axis.size} for axis in sweep.axes],
        "repeats": sweep.repeats,
        "keep": sweep.keep,
        "jobs": number,
        "cpu_s": mean_s * runs,
        "wall_s": START_S + mean_s * runs / number,
        "disk_bytes": math.fsum(sizes) / len(sizes) * runs if sizes else 0.0,
    }


def _cost(scenario: Scenario) -> tuple[float, int]:
    """Seconds that a run takes, extrapolated from a shorter one, and the size of its row."""
    rate_bps = float(scenario.bottleneck.rate)
    packets = rate_bps * scenario.duration / PACKET_BITS
    latest = max((least(flow.start) for flow in scenario.flow), default=0.0)
    duration = min(scenario.duration, max(2.0 * latest, scenario.duration * SAMPLE_PACKETS / packets))
    short = scenario.model_copy(update={"duration": duration, "window": None})
    begin = time.perf_counter()
    run_key(scenario)
    result = simulate.run(short)
    row = json.dumps(reduce_run(result))
    taken = time.perf_counter() - begin
    overhead = taken - result.wall_s
    return overhead + result.wall_s * scenario.duration / duration, len(row)


def show(expected: dict[str, Any], console: Console) -> None:
    """Prints the estimate."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("axis")
    table.add_column("values", justify="right")
    for axis in expected["axes"]:
        table.add_row(" & ".join(axis["keys"]), str(axis["values"]))
    if expected["repeats"] > 1:
        table.add_row("repeats", str(expected["repeats"]))
    console.print(table)
    size = columns.number(expected["disk_bytes"] / 1e6, 2)
    console.print(
        f"{expected['runs']} runs, about {_span(expected['wall_s'])} on {expected['jobs']} processors "
        f"and {size} MB"
    )


def _span(seconds: float) -> str:
    if seconds < 120.0:
        return TIME.write(float(f"{seconds:.2g}"))
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
