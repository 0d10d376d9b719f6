"""Efficiency over the length of the experiment (Fig. 8), with and without slow-start."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from longfat_papers.kit import (
    Checks,
    Declaration,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    at_least,
    at_most,
    below,
    between,
    listed,
    points,
    repeats,
)
from longfat_papers.yeah2007 import common as yh
from longfat_papers.yeah2007.reduction import EFFICIENCY_S

ALIKE_EFFICIENCY = 0.02
FIRST_EFFICIENCY = (0.15, 0.25)
LAST_EFFICIENCY = (0.85, 0.9)
SEPARATE_EFFICIENCY = 0.2

RTT_MS = 480
DURATION_S = {"quick": 600.0, "full": 1800.0}
ESTIMATOR = "Mean over repeats of the throughput up to that length, divided by the capacity."


def over_lengths(part: str, title: str, ssthresh: float | str, beginning: str, published: str) -> Declaration:
    """Declares a part of the figure: how flows begin, and what the paper shows."""

    @yh.over(f"F8{part}", f"Fig. 8({part})", title)
    def declared(mode: Mode, algorithm: str, repeat: int) -> dict[str, Any]:
        return yh.scenario([(algorithm, RTT_MS)] * 2, DURATION_S[mode], ssthresh=ssthresh)

    @declared.drawing
    def drawing(runs: Runs, mode: Mode) -> Drawing:
        curves = tuple(
            points(
                yh.TITLES[name],
                [(float(s), at.mean_stderr(f"efficiency_{s}")) for s in _lengths_s(runs)],
                name,
            )
            for name in yh.TITLES
            for at in [runs.where(algorithm=name)]
        )
        return Drawing(
            f"Two like flows, {RTT_MS} ms, buffer of one BDP ({yh.bdp_packets(RTT_MS):.0f} packets), "
            f"{beginning}; shorter experiments are the beginnings of the longest.{repeats(runs)} The paper: "
            f"{published}.",
            (Panel("", "length, s", "efficiency", curves, y_range=(0.0, 1.05)),),
            columns=1,
            title="Efficiency over the length of the experiment",
        )

    return declared


slow_start = over_lengths(
    "a",
    "Length of the experiment",
    "infinite",
    "limited slow-start",
    "all alike, from 0.2 at 100 s to just under 0.9 at 1800 s",
)
avoidance = over_lengths(
    "b",
    "Length of the experiment, no slow-start",
    2.0,
    "an initial ssthresh of 2 packets",
    "the algorithms separate",
)


@slow_start.claim(
    "F8a",
    "480 ms, queue 20000, ssthresh infinite, limited slow-start, no loss, 100..1800 s",
    published=(
        "all are identical (footnote: H-TCP falls somewhat behind beyond 1200 s): efficiency .2 at 100 s to "
        "just under .9 at 1800 s"
    ),
    estimator=ESTIMATOR,
    bounds=f"H-TCP counts only up to {yh.HTCP_ALIKE_UP_TO_S} s in the differences. {yh.CHOSEN}",
    values={"efficiency_100": 0.2, "efficiency_1800": 0.9},
)
def slow_start_makes_all_alike(runs: Runs) -> Checks:
    used = _efficiencies(runs)
    checks = []
    for length in used["reno"]:
        at = yh.others(yh.column(used, length), *(["htcp"] if length > yh.HTCP_ALIKE_UP_TO_S else []))
        text = f"{length} s: greatest less least efficiency"
        checks.append(at_most(text, max(at) - min(at), ALIKE_EFFICIENCY))
    for length, bounds in ((100, FIRST_EFFICIENCY), (1800, LAST_EFFICIENCY)):
        mean = float(np.mean([row.get(length, math.nan) for row in used.values()]))
        checks.append(between(f"{length} s: mean efficiency", mean, *bounds))
    yield from checks
    lengths = ", ".join(f"{length} s {yh.span(yh.column(used, length))}" for length in used["reno"])
    return Evidence(
        f"{yh.held_text(checks)}; efficiency: {lengths}",
        {"efficiency": used},
        figure=Measured(
            "mean efficiency at 100 s",
            *runs.over_repeats(lambda rows: rows.mean("efficiency_100")),
            published=0.2,
        ),
    )


@avoidance.claim(
    "F8b", "the same, ssthresh 2", published="the algorithms separate", estimator=ESTIMATOR, bounds=yh.CHOSEN
)
def without_slow_start_they_separate(runs: Runs) -> Checks:
    used = _efficiencies(runs)
    longest = max(used["reno"])
    at = yh.column(used, longest)
    apart = "greatest less least efficiency"
    yield at_least(f"{longest} s: {apart}", max(at.values()) - min(at.values()), SEPARATE_EFFICIENCY)
    others = min(yh.others(at, "reno"))
    yield below(f"{longest} s: Reno's efficiency", at["reno"], others, than="all others'")
    return Evidence(
        f"efficiency at {longest} s: {listed(at, yh.TITLES)}",
        {"efficiency": used},
        figure=Measured(
            f"{apart} at {longest} s",
            *runs.over_repeats(lambda rows: float(np.ptp(rows.values(f"efficiency_{longest}")))),
        ),
    )


def _lengths_s(runs: Runs) -> list[int]:
    """Returns the lengths that the runs reach."""
    return [s for s in EFFICIENCY_S if all(f"efficiency_{s}" in row for row in runs)]


def _efficiencies(runs: Runs) -> yh.Rows:
    lengths = _lengths_s(runs)
    return {
        name: {s: at.mean(f"efficiency_{s}") for s in lengths}
        for name in yh.ALGORITHMS
        for at in [runs.where(algorithm=name)]
    }
