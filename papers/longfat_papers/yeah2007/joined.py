"""YeAH joined by YeAH and by Reno (Fig. 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from longfat_papers.kit import (
    CHOSEN_HERE,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    Setting,
    at_least,
    at_most,
    between,
    cwnd_panel,
    seconds,
)
from longfat_papers.yeah2007 import common as yh

STEEP_S = 60.0
JOINED_RATIO = 0.8
YIELDED = 0.75
"""Share of YeAH's cwnd that is left once it has yielded."""
RENO_BACKOFF = (0.4, 0.6)
"""The share of Reno's window that remains after a loss, on average."""
RENO_RATIO = 0.5

RTT_MS = 80
DURATION_S = 600.0
"""Duration from IV; also in quick mode, because Reno's epochs last two minutes here."""


@yh.PAPER.experiment(
    "F1",
    "Fig. 1",
    "YeAH joined by YeAH and by Reno",
    grid={"algorithm": ("yeah",), "partner": ("yeah", "reno"), "repeat": yh.REPEATS},
    keeps_series=True,
)
def joined(algorithm: str, partner: str, repeat: int) -> dict[str, Any]:
    flows = [(algorithm, RTT_MS), (partner, RTT_MS)]
    return yh.scenario(flows, DURATION_S, starts=["0 s", f"{yh.JOIN_S:g} s"], sample={"events": True})


@joined.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    panels = tuple(
        cwnd_panel(
            f"joined by {yh.TITLES[partner]}",
            runs.where(partner=partner).first(),
            [("YeAH", "yeah"), (f"{yh.TITLES[partner]}, later", partner)],
        )
        for partner in ("yeah", "reno")
    )
    return Drawing(
        f"cwnd, {RTT_MS} ms, buffer of one BDP; first repeat, sampled every half second. The paper: steep "
        "convergence with YeAH; with Reno, YeAH yields until it has detected Reno, then both share as Reno "
        "does.",
        panels,
        columns=1,
    )


@joined.claim(
    "F1",
    "YeAH joined by YeAH; YeAH joined by Reno",
    published="steep convergence; YeAH yields until cwnd < count_reno, then shares as Reno",
    estimator=(
        "Mean over repeats; later half of the time that both flows run; cwnd sampled every half second."
    ),
    bounds=(
        f"The time is the median over repeats. YeAH's cwnd before is its mean over {yh.BEFORE_S:g} s; late "
        "losses are those of the later half, what they leave is a mean, and Reno's leave half. " + yh.CHOSEN
    ),
    settings=(
        Setting("RTT", f"{RTT_MS} ms", CHOSEN_HERE + ": Fig. 1 names none; the RTT of Fig. 6"),
        Setting(
            "second flow",
            f"starts at {yh.JOIN_S:g} s of {DURATION_S:g} s",
            "IV (600 s); start " + CHOSEN_HERE,
        ),
    ),
)
def yeah_yields_to_reno(runs: Runs) -> Checks:
    like, reno = runs.where(partner="yeah"), runs.where(partner="reno")
    times = like.values("convergence_80_s")
    steep = float(np.median(np.where(np.isnan(times), math.inf, times)))
    left = float(np.mean([_left_by_yielding(row) for row in reno]))
    factors = reno.values("late_loss_factor_1")
    factors = factors[~np.isnan(factors)]
    factor = float(np.mean(factors)) if factors.size else math.nan
    like_ratio, ratio = like.mean("late_ratio"), reno.mean("late_ratio")
    yield at_most("YeAH joined by YeAH: time to 80 %, s", steep, STEEP_S)
    yield at_least("YeAH joined by YeAH: ratio of the later half", like_ratio, JOINED_RATIO)
    yield at_most("joined by Reno: YeAH's least cwnd over that before", left, YIELDED)
    yield between("joined by Reno: what late losses leave of YeAH's window", factor, *RENO_BACKOFF)
    yield at_least("joined by Reno: ratio of the later half", ratio, RENO_RATIO)
    return Evidence(
        f"joined by YeAH: 80 % after {seconds(steep)}, later ratio {like_ratio:.2f}; joined by Reno: YeAH "
        f"goes down to {left:.2f} of its window, backs off to {factor:.2f}, later ratio {ratio:.2f}",
        {
            "convergence_80_s": steep,
            "left": left,
            "late_loss_factor": factor,
            "late_ratio": ratio,
        },
        figure=Measured("YeAH joined by Reno: ratio of the later half", *reno.mean_stderr("late_ratio")),
    )


def _left_by_yielding(row: Mapping[str, Any]) -> float:
    """Returns YeAH's least cwnd after another flow has joined over its mean in the half minute before."""
    history = row["series"][0]
    time, cwnd = np.asarray(history["time_s"]), np.asarray(history["cwnd"])
    before = cwnd[(time >= yh.JOIN_S - yh.BEFORE_S) & (time < yh.JOIN_S)]
    return float(cwnd[time >= yh.JOIN_S].min() / before.mean())
