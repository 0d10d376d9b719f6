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
from longfat.runs.result import Result
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
        beside_s, core_s, row_bytes = _cost(scenario)
        costs.append(beside_s + core_s)
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


def packets(scenario: Scenario) -> float:
    """Returns about how many packets a run carries: as many as fill its bottleneck, or its fastest link."""
    rate_bps = max((float(link.rate) for link in scenario.link), default=0.0)
    return (rate_bps or float(scenario.bottleneck.rate)) * scenario.duration / PACKET_BITS


def run_s(scenario: Scenario) -> float:
    """Returns about how many seconds the core takes for a run."""
    return _cost(scenario)[1]


def _cost(scenario: Scenario) -> tuple[float, float, int]:
    """Seconds beside a run, those of the run itself, and the size of its row.

    Two pieces of the run from its start show what its beginning costs and what each second after it does.
    """
    latest = max((least(flow.start) for flow in scenario.flow), default=0.0)
    share = SAMPLE_PACKETS / max(packets(scenario), 1.0)
    piece_s = min(scenario.duration, max(2.0 * latest, share * scenario.duration))
    begin = time.perf_counter()
    run_key(scenario)
    longer = _piece(scenario, piece_s)
    row = json.dumps(reduce_run(longer))
    beside_s = time.perf_counter() - begin - longer.wall_s
    if piece_s >= scenario.duration:
        return beside_s, longer.wall_s, len(row)
    half_s = _piece(scenario, 0.5 * piece_s).wall_s
    slope = (longer.wall_s - half_s) / (0.5 * piece_s)
    if slope <= 0.0:
        slope = longer.wall_s / piece_s
    return beside_s, longer.wall_s + slope * (scenario.duration - piece_s), len(row)


def _piece(scenario: Scenario, duration_s: float) -> Result:
    return simulate.run(scenario.model_copy(update={"duration": duration_s, "window": None}))


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
