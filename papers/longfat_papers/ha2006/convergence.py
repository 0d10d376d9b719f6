"""Time until the second flow has 80 % of the first one's rate (HA-7)."""

from __future__ import annotations

import math

import numpy as np

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import (
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    above,
    at_least,
    below,
    multiple,
    seconds,
)

SLOW_S = 200.0
MUCH_SLOWER = 2.0
NEVER_S = float(ha.DURATION_S["full"] - ha.SECOND_S)
"""The tornado figure shows a convergence that was never reached at the end of the run."""

pairs = ha.like_pairs("convergence", "Convergence", "Time until the second flow has 80 %")


@pairs.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return ha.metric(
        "Time from its start until the second flow runs at 80 % of the first one's rate, mean of the repeats "
        "that reached it; a point is missing where most did not. The slides: HSTCP very slow without "
        "background, better with it; FAST much slower with it.",
        runs,
        "time, s",
        lambda at: at.mean_stderr_reached("convergence_80_s"),
    )


@pairs.claim(
    "7",
    "convergence: the second flow at 80 % of the first one's rate",
    published="HSTCP very slow without background, better with it; FAST much slower with it",
    estimator=(
        "Median over RTTs and repeats, where a time that is never reached counts as infinite; averages by "
        "LLS eq. (2)."
    ),
    bounds=ha.NUMBERS,
)
def background_helps_hstcp_and_slows_fast(runs: Runs) -> Checks:
    times = {
        name: (_typical(runs, name, ha.WITHOUT), _typical(runs, name, ha.WITH))
        for name in ha.MEASURED
        if runs.has(algorithm=name)
    }
    (slow, better), (fast, worse) = times["hstcp"], times["fast"]
    yield at_least("HSTCP without background, s", slow, SLOW_S)
    yield below("HSTCP: with background, s", better, slow, than="without")
    text = f"FAST: with background, over {multiple(MUCH_SLOWER)} without, s"
    yield above(text, worse, MUCH_SLOWER * fast, than="that")
    hstcp = runs.where(algorithm="hstcp")
    return Evidence(
        ", ".join(
            f"{ha.TITLES[k]} {seconds(a, '.0f')} to {seconds(b, '.0f')}" for k, (a, b) in times.items()
        ),
        {"convergence_80_s": times},
        figure=Measured(
            "HSTCP's convergence without background, s, median over RTTs",
            *hstcp.over_repeats(lambda rows: min(_typical(rows, "hstcp", ha.WITHOUT), NEVER_S)),
            log=True,
        ),
    )


def _typical(runs: Runs, name: str, background: str) -> float:
    """Returns the median over RTTs and repeats; a time that was never reached counts as infinite."""
    times = runs.where(algorithm=name, background=background).values("convergence_80_s")
    return float(np.median(np.where(np.isnan(times), math.inf, times)))
