"""Pairs with different RTTs (HA-4)."""

from __future__ import annotations

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import (
    Checks,
    Drawing,
    Evidence,
    Mode,
    Panel,
    Run,
    Runs,
    at_least,
    below,
    by_algorithm,
)

NEARLY_PERFECT = 0.9
"""Ratio of throughputs."""


@ha.PAPER.experiment("rtt", "RTT Fairness", "Pairs with different RTTs")
def unlike_rtts(mode: Mode) -> list[Run]:
    """Two flows of one protocol, the first at 162 ms."""
    rtts_ms = ha.SHORT_RTTS_MS[mode]
    return ha.pairs(mode, ha.shown(mode), rtts_ms, lambda name, rtt: ((name, ha.LONG_RTT_MS), (name, rtt)))


@unlike_rtts.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = tuple(
        Panel(
            ha.PANELS[background],
            "RTT of the second flow, ms",
            "least / greatest throughput",
            by_algorithm(runs.where(background=background), "rtt_ms", "ratio", ha.TITLES),
            y_range=(0.0, 1.05),
        )
        for background in ha.BACKGROUNDS
    )
    return Drawing(
        f"Two flows of one protocol, the first at {ha.LONG_RTT_MS} ms. The slides: FAST nearly perfect "
        "without background, the lowest with it. " + ha.NO_RATE + ha.repeated(runs),
        panels,
    )


@unlike_rtts.claim(
    "4",
    "RTT fairness: a flow at 162 ms, one at 16 to 162 ms",
    published="FAST nearly perfect without background, lowest with it",
    bounds="Ratios are least over greatest throughput. " + ha.NUMBERS,
)
def fast_turns_from_best_to_worst(runs: Runs) -> Checks:
    for rtt in runs.distinct("rtt_ms"):
        at = runs.where(algorithm="fast", background=ha.WITHOUT, rtt_ms=rtt)
        ratio, error = at.mean_stderr("ratio")
        yield at_least(f"FAST without background, {rtt} ms", ratio, NEARLY_PERFECT, error)
    ratios = ha.both(runs, "ratio")
    others = min(after for name, (_, after) in ratios.items() if name != "fast")
    yield below("FAST with background, all others'", ratios["fast"][1], others, than="the least of them")
    return Evidence(
        "mean ratios: " + ha.listed(ratios),
        {"ratio": ratios},
        figure=ha.added("FAST's ratio with background less without", runs, "ratio", ("fast",)),
    )
