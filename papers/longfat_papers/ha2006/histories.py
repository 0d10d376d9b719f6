"""Throughput of pairs at 82 ms, as the backup slides show it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Curve, Drawing, Mode, Panel, Run, Runs

RATE_SPAN_S = 2.0
"""Rates are means over this time."""


@ha.PAPER.experiment("histories", "Backup slides", "Throughput of pairs at 82 ms", keeps_series=True)
def first_repeats(mode: Mode) -> list[Run]:
    found = ha.pairs(mode, ha.HISTORIES, (ha.HISTORY_RTT_MS,))
    return [pair for pair in found if pair.coordinates["repeat"] == 0]


@first_repeats.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = tuple(
        _history(f"{ha.TITLES[name]}, {background} background", run)
        for name in ha.HISTORIES
        for background in ha.BACKGROUNDS
        for run in [runs.where(algorithm=name, background=background).first()]
    )
    return Drawing(
        f"Means over {RATE_SPAN_S:g} s, first repeat. The slides: with background all protocols adapt "
        "their windows more often, which helps all but FAST to converge. " + ha.NO_RATE,
        panels,
    )


def _history(title: str, run: Mapping[str, Any]) -> Panel:
    curves = []
    for number, history in enumerate(run["series"]):
        time, received = np.asarray(history["time_s"]), np.asarray(history["received_bytes"])
        edges = np.arange(float(time[0]), float(time[-1]), RATE_SPAN_S)
        rates = np.diff(np.interp(edges, time, received)) * 8e-6 / RATE_SPAN_S
        middles = tuple(float(edge) + 0.5 * RATE_SPAN_S for edge in edges[:-1])
        values = tuple(round(float(rate), 3) for rate in rates)
        curves.append(Curve(f"flow {number + 1}", middles, values, None, None, "line", number))
    return Panel(title, "time, s", "Mbit/s", tuple(curves), y_range=(0.0, 420.0))
