"""Fairness over the ratio of the RTTs (Fig. 7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from longfat_papers.kit import (
    Check,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    at_least,
    below,
    listed,
    repeats,
)
from longfat_papers.yeah2007 import common as yh

FIRST_RTT_MS = 25
FAIR = 0.95
"""Least index at ratio 1."""
STAYS_FAIR = 0.9
"""Index above ratio 1."""
EVEN = ("htcp", "yeah")
"""The protocols that stay fair."""


@yh.over("F7", "Fig. 7", "Fairness and RTT ratio", rtt_ratio={"quick": (1, 4), "full": (1, 2, 3, 4, 6, 8)})
def over_ratios(mode: Mode, algorithm: str, rtt_ratio: int, repeat: int) -> dict[str, Any]:
    flows = [(algorithm, FIRST_RTT_MS), (algorithm, FIRST_RTT_MS * rtt_ratio)]
    return yh.scenario(flows, yh.DURATION_S[mode])


@over_ratios.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Two flows of one algorithm, RTT 1 = {FIRST_RTT_MS} ms, buffer one BDP of RTT 1.{repeats(runs)} The "
        "paper: at ratio 1 all are fair, CUBIC not perfectly; above 1 only H-TCP and YeAH.",
        (yh.panel(runs, "rtt_ratio", "RTT 2 / RTT 1", "jain"),),
        columns=1,
        title="Fairness over the ratio of the RTTs",
    )


@over_ratios.claim(
    "F7",
    f"RTT1 {FIRST_RTT_MS} ms, different ratios RTT2/RTT1, queue = BDP",
    published="all are fair at ratio 1, CUBIC slightly less; above 1 only H-TCP and YeAH stay fair (Jain)",
    estimator="Mean over repeats of Jain's index of throughputs over the whole run.",
    bounds=yh.CHOSEN,
)
def two_stay_fair(runs: Runs) -> Checks:
    index = yh.means(runs, "rtt_ratio", "jain")
    ratios = [ratio for ratio in index["yeah"] if ratio > 1]
    greatest = ratios[-1]
    fair = {name: row[1] for name, row in index.items() if name != "cubic"}

    def index_at(kind: Callable[..., Check], name: str, ratio: int, bound: float) -> Check:
        return kind(f"{yh.TITLES[name]} at ratio {ratio}: index", index[name][ratio], bound)

    checks = [
        *(index_at(at_least, name, 1, FAIR) for name in fair),
        below("CUBIC at ratio 1", index["cubic"][1], min(fair.values()), than="all others"),
        *(index_at(at_least, name, ratio, STAYS_FAIR) for name in EVEN for ratio in ratios),
        *(index_at(below, name, greatest, STAYS_FAIR) for name in index if name not in EVEN),
    ]
    yield from checks
    return Evidence(
        f"{yh.held_text(checks)}; Jain's index at ratio 1: {listed(yh.column(index, 1), yh.TITLES, 3)}; at "
        f"{greatest}: {listed(yh.column(index, greatest), yh.TITLES)}",
        {"jain": index},
        figure=Measured(
            f"Jain's index of H-TCP at ratio {greatest}",
            *runs.where(algorithm="htcp", rtt_ratio=greatest).mean_stderr("jain"),
        ),
    )
