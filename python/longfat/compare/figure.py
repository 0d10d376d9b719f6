"""The figure of a comparison: a panel for each column over the BDP, and two that show the bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from longfat.compare import estimate
from longfat.compare.columns import COLLAPSE, COLUMNS, HALF, LOSSY, SMALL, Column, Trial
from longfat.compare.estimate import Row
from longfat.compare.grid import Grid
from longfat.figure.data import Curve, Figure, Panel, points
from longfat.figure.style import LIMIT_STROKE
from longfat.study.stats import Estimate, with_half_width

BDP_AXIS = "BDP, packets"
LOGARITHMIC = frozenset(
    {"loss_ratio", "queueing_delay_ms", "convergence_s", "loss_tolerance", "buffer_needed"}
)
SHARES = frozenset({"utilization", "jain", "jain_unlike", "share_reno", "share_cubic"})
"""Columns whose axis goes from 0 to 1."""
NAME = "compare"


def figure(grid: Grid, rows: Sequence[Row]) -> Figure:
    """Returns the page's figure; columns whose trial was not run have no panel."""
    run = {trial.name for trial in grid.trials}
    panels = [_panel(grid, column, rows) for column in COLUMNS if column.trial.name in run]
    panels += [
        _levels(grid, LOSSY, rows, "loss probability", HALF, 1.0),
        _levels(grid, SMALL, rows, "buffer, share of BDP", COLLAPSE, 0.01),
    ]
    buffers = f" Line styles are buffers: {', '.join(grid.buffers)}." if len(grid.buffers) > 1 else ""
    return Figure(
        NAME,
        NAME,
        "Congestion controls side by side",
        "Over the bandwidth-delay product of the grid's rates and RTTs; mean and 95 % confidence interval of "
        f"{grid.repeats} run{'' if grid.repeats == 1 else 's'} for each point.{buffers} The last two panels: "
        "utilisation against random loss and against the buffer, mean over the grid, with the bounds that "
        "`tolerates loss` and `needs buffer` look for. Where a time or a bound lies beyond what was run, "
        "its curve has a gap. Each point is one rate and one RTT, so neighbours can differ in RTT.",
        tuple(panels),
        columns=3,
    )


def _panel(grid: Grid, column: Column, rows: Sequence[Row]) -> Panel:
    return Panel(
        column.heading,
        BDP_AXIS,
        column.heading,
        tuple(_curves(grid, column, rows)),
        x_log=len({path.bdp_packets for path in grid.paths}) > 1,
        y_log=column.key in LOGARITHMIC,
        y_range=(0.0, 1.05) if column.key in SHARES else None,
    )


def _curves(grid: Grid, column: Column, rows: Sequence[Row]) -> Iterator[Curve]:
    found = estimate.values(column, rows)
    buffers: Sequence[str | None] = grid.buffers if column.trial.varied == "buffer" else (None,)
    bdp = {(path.rate_bps, path.rtt_s): path.bdp_packets for path in grid.paths}
    for contender in grid.contenders:
        at = estimate.at_points(column, found, contender.label)
        for stroke, buffer in enumerate(buffers):
            samples = [
                (bdp[rate, rtt], _shown(cell, column.scale))
                for (rate, rtt, of_point), cell in at.items()
                if of_point == buffer
            ]
            yield points(contender.label, samples, contender.label, stroke)


def _levels(grid: Grid, trial: Trial, rows: Sequence[Row], axis: str, bound: float, scale: float) -> Panel:
    """Returns utilisation as a function of the varied value, averaged over paths in each repeat."""
    levels = sorted({row["level"] for row in rows if row["trial"] == trial.name})
    curves = [
        points(
            contender.label,
            [(level * scale, _shown(_utilization(rows, trial, contender.label, level))) for level in levels],
            contender.label,
        )
        for contender in grid.contenders
    ]
    ends = (levels[0] * scale, levels[-1] * scale)
    curves.append(Curve("bound", ends, (bound, bound), None, None, "theory", LIMIT_STROKE))
    return Panel("utilisation", axis, "utilisation", tuple(curves), x_log=True, y_range=(0.0, 1.05))


def _utilization(rows: Sequence[Row], trial: Trial, algorithm: str, level: float) -> Estimate:
    by_repeat: dict[int, list[float]] = {}
    for row in rows:
        if (row["trial"], row["algorithm"], row["level"]) == (trial.name, algorithm, level):
            by_repeat.setdefault(row["repeat"], []).append(row["utilization"])
    return with_half_width(float(np.mean(paths)) for paths in by_repeat.values())


def _shown(cell: Estimate, scale: float = 1.0) -> tuple[float, float]:
    return (math.nan, math.nan) if cell.bound else (cell.mean * scale, cell.half_width * scale)
