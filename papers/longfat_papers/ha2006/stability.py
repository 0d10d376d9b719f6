"""Variation of the rates (HA-2)."""

from __future__ import annotations

import numpy as np

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Runs, above, at_least, below, mean_of

HIGH_COV = 0.2
NOT_FAST = tuple(name for name in ha.MEASURED if name != "fast")

pairs = ha.like_pairs("stability", "Stability", "Variation of the rates")


@pairs.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return ha.metric(
        "Coefficient of variation of each flow's rate over seconds, mean of the two flows. The slides: high "
        "without background; lower with it, for FAST slightly higher.",
        runs,
        "CoV of the rate",
        mean_of("cov"),
    )


@pairs.claim(
    "2",
    "stability: CoV of the rates of two like flows",
    published="high without background, lower with it, except FAST slightly higher",
    estimator=ha.MEANS + " The CoV is that of each flow's goodput over seconds.",
    bounds=ha.NUMBERS,
)
def background_steadies_all_but_fast(runs: Runs) -> Checks:
    covs = ha.both(runs, "cov")
    for name in NOT_FAST:
        before, after = covs[name]
        yield below(f"{ha.TITLES[name]}: with background", after, before, than="without")
    yield above("FAST: with background", covs["fast"][1], covs["fast"][0], than="without")
    typical = float(np.median([covs[name][0] for name in NOT_FAST]))
    yield at_least("median of the others without background", typical, HIGH_COV)
    label = "CoV with background less without, mean of all but FAST"
    return Evidence(ha.listed(covs), {"cov": covs}, figure=ha.added(label, runs, "cov", NOT_FAST))
