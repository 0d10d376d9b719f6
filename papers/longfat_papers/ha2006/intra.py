"""Fairness of pairs of one protocol (HA-6)."""

from __future__ import annotations

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Runs, above, at_least, below, mean_of

LOW_INDEX = 0.9
FALLS_BY = 0.05
UNFAIR = ("hstcp", "reno", "stcp")

pairs = ha.like_pairs("intra", "Intra-Protocol Fairness", "Pairs of one protocol")


@pairs.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return ha.metric(
        "Jain's index of the throughputs of two flows of one protocol, for each RTT. The slides: HSTCP, TCP "
        "SACK and STCP low without background, better with it; FAST falls.",
        runs,
        "Jain's index",
        mean_of("jain"),
        y_range=(0.45, 1.02),
    )


@pairs.claim(
    "6",
    "intra-protocol fairness: two like flows (Jain's index)",
    published=(
        "HSTCP, SACK TCP, STCP low without background, better with it; FAST falls significantly with it"
    ),
    bounds=ha.NUMBERS,
)
def background_helps_the_unfair(runs: Runs) -> Checks:
    jain = ha.both(runs, "jain")
    for name in UNFAIR:
        before, after = jain[name]
        yield below(f"{ha.TITLES[name]} without background", before, LOW_INDEX)
        yield above(f"{ha.TITLES[name]}: with background", after, before, than="without")
    before, after = jain["fast"]
    yield at_least("FAST: without background less with", before - after, FALLS_BY)
    label = "Jain's index with background less without, mean of HSTCP, SACK and STCP"
    return Evidence(ha.listed(jain), {"jain": jain}, figure=ha.added(label, runs, "jain", UNFAIR))
