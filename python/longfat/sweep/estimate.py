"""Estimates the cost of a sweep: a few shortened runs show the cost of a packet and of a run here."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from longfat import system
from longfat.errors import InputError
from longfat.figure import matplotlib
from longfat.figure.data import Figure, Panel, points
from longfat.report import columns
from longfat.runs import cost
from longfat.runs.cost import packets
from longfat.scenario.model import Scenario
from longfat.store.identity import run_key
from longfat.study.rows import table
from longfat.sweep import figures
from longfat.sweep.grid import Sweep
from longfat.sweep.reduction import reduce_run
from longfat.sweep.tables import run_columns
from longfat.units import TIME

MOST_RUNS = 100_000
"""The limit without --yes."""
SAMPLED = 7
"""Runs that are tried out to estimate the cost."""
COUNTED = 400
"""Runs whose packets are counted for it."""
GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)
CURVES = 4
"""Curves of a panel that is tried out."""
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
    """Estimates the number of runs, and the time and disk space that they and the page take on this machine.

    A few points are tried out. What a packet of theirs costs, and the packets of many more points, give the
    cost of all.

    Args:
        sweep: what would run.
        jobs: worker processes; one for each core if None.
    """
    runs = sweep.count()
    number = system.cores() if jobs is None else jobs
    tried = _spread(runs, SAMPLED)
    counted = set(_spread(runs, COUNTED)) | set(tried)
    cores_s, besides_s, sizes, rows = [], [], [], []
    work = tried_work = 0.0
    known = 0
    for place, point in enumerate(sweep.points()):
        if place not in counted:
            continue
        try:
            scenario = sweep.scenario(point)
        except InputError:
            continue  # will be a failure of the sweep, which costs nothing
        known += 1
        work += packets(scenario)
        if place not in tried:
            continue
        beside_s, core_s, row = _cost(scenario)
        tried_work += packets(scenario)
        cores_s.append(core_s)
        besides_s.append(beside_s)
        rows.append(row)
        kept = len(json.dumps(row)) / COMPRESSION
        if sweep.keep == "series":
            flows, links = len(scenario.flow_names()), 2
            samples = flows / scenario.sample.cwnd + links / scenario.sample.queue
            kept += scenario.duration * samples * SAMPLE_BYTES
        sizes.append(kept)
    cpu_s = 0.0
    if cores_s:
        there = runs * known / len(counted)  # the others are refused
        by_packet = math.fsum(cores_s) / max(tried_work, 1.0)
        cpu_s = there * (by_packet * work / known + math.fsum(besides_s) / len(besides_s))
    page_s = _page_s(sweep, rows)
    return {
        "runs": runs,
        "axes": [{"keys": list(axis.keys), "values": axis.size} for axis in sweep.axes],
        "repeats": sweep.repeats,
        "keep": sweep.keep,
        "jobs": number,
        "cpu_s": cpu_s,
        "page_s": page_s,
        "wall_s": START_S + cpu_s / min(number, system.cores()) + page_s,
        "disk_bytes": math.fsum(sizes) / len(sizes) * runs if sizes else 0.0,
    }


def _spread(runs: int, number: int) -> list[int]:
    """Places spread over all runs, in no step that an axis could have too."""
    if runs <= number:
        return list(range(runs))
    return sorted({int(runs * ((i + 0.5) * GOLDEN % 1.0)) for i in range(number)})


def _page_s(sweep: Sweep, rows: Sequence[Mapping[str, Any]]) -> float:
    """Seconds that the page's figures take: two figures show what a figure and a panel cost here."""
    if not rows:
        return 0.0
    sizes = figures.sizes(sweep.figures, sweep.axes, table(map(run_columns, rows)))
    if not sizes:
        return 0.0
    with tempfile.TemporaryDirectory(prefix="longfat-") as folder:
        one_s, four_s = (_drawn_s(panels, Path(folder)) for panels in (1, 4))
    panel_s = max(0.0, four_s - one_s) / 3.0
    return math.fsum(one_s + (panels - 1) * panel_s for panels in sizes)


def _drawn_s(panels: int, folder: Path) -> float:
    curves = tuple(
        points(f"{i}", [(float(x), (float(x), 0.1)) for x in range(1, 6)], None, i) for i in range(CURVES)
    )
    figure = Figure("tried", "", "", "", (Panel("tried", "x", "y", curves),) * panels)
    begin = time.perf_counter()
    matplotlib.save(figure, folder)
    return time.perf_counter() - begin


def _cost(scenario: Scenario) -> tuple[float, float, dict[str, Any]]:
    """Returns the seconds beside a run, those of the run itself, and its row."""
    begin = time.perf_counter()
    run_key(scenario)
    beside_s = time.perf_counter() - begin
    piece, core_s = cost.tried(scenario)
    begin = time.perf_counter()
    row = reduce_run(piece)
    json.dumps(row)
    return beside_s + time.perf_counter() - begin, core_s, row


def show(expected: dict[str, Any], console: Console) -> None:
    """Prints the estimate."""
    axes = Table(box=None, header_style="dim", pad_edge=False)
    axes.add_column("axis")
    axes.add_column("values", justify="right")
    for axis in expected["axes"]:
        axes.add_row(" & ".join(axis["keys"]), str(axis["values"]))
    if expected["repeats"] > 1:
        axes.add_row("repeats", str(expected["repeats"]))
    console.print(axes)
    size = columns.number(expected["disk_bytes"] / 1e6, 2)
    console.print(
        f"{expected['runs']} runs, about {_span(expected['wall_s'])} on {expected['jobs']} processors "
        f"with the page, and {size} MB"
    )


def _span(seconds: float) -> str:
    if seconds < 120.0:
        return TIME.write(float(f"{seconds:.2g}"))
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"
