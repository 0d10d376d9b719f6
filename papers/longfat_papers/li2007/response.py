"""Throughput of one flow over random loss (Fig. 13)."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure.data import theory as theory_curve
from longfat.runs import theory
from longfat_papers.kit import (
    CHOSEN_HERE,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    Setting,
    by_algorithm,
    held,
    mean_factor,
    percent,
    repeats,
    within_factor,
)
from longfat_papers.li2007 import common as lls

FILLED_BELOW = 0.8
"""Share of the BDP up to which theory's window is compared."""
SWITCH_FACTOR = 3.0
"""Distance from the mode switch from which it is compared."""
THEORY_FACTOR = 1.5


@lls.PAPER.experiment(
    "F13",
    "Fig. 13",
    "Response functions",
    grid={
        "algorithm": tuple(lls.ALGORITHMS),
        "loss": {
            "quick": (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7),
            "full": (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7),
        },
        "repeat": lls.REPEATS,
    },
)
def random_loss(mode: Mode, algorithm: str, loss: float, repeat: int) -> dict[str, Any]:
    """One flow under random loss; standard TCP for `EPOCHS` losses, within the limits."""
    epoch_s = lls.LONG_RTT_MS / 1000.0 / (loss * theory.standard_window(loss))
    return {
        "title": f"{algorithm} under a loss of {loss:g}",
        "duration": lls.duration(mode, (algorithm,), epoch_s),
        "bottleneck": {**lls.link(lls.HIGH_MBPS), "loss": loss},
        "flow": [lls.flow(algorithm, lls.LONG_RTT_MS, lls.SINGLE_START)],
    }


@random_loss.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    least = min(float(loss) for loss in runs.distinct("loss"))
    grid = [10.0 ** (0.05 * step) for step in range(round(20 * math.log10(least)), -39)]
    curves = [*by_algorithm(runs, "loss", "settled_throughput_1_bps", lls.TITLES, scale=1e-6)]
    for name, window in theory.RESPONSE_FUNCTIONS.items():
        rates = [theory.throughput_bps(window(loss), lls.LONG_RTT_MS / 1000.0) / 1e6 for loss in grid]
        shown = [(loss, rate) for loss, rate in zip(grid, rates, strict=True) if rate <= lls.HIGH_MBPS]
        losses, rates = ([point[axis] for point in shown] for axis in (0, 1))
        curves.append(theory_curve(f"{lls.TITLES[name]}, theory", losses, rates, name))
    return Drawing(
        "One flow, 250 Mbit/s, 162 ms, random loss of data packets; without the first 100 s. Broken lines: "
        f"theory.{repeats(runs)} The paper: fairly good agreement away from the mode switch.",
        (Panel("250 Mbit/s, 162 ms", "loss probability", "Mbit/s", tuple(curves), x_log=True, y_log=True),),
        columns=1,
    )


@random_loss.claim(
    "F13",
    "one flow, 250 Mbit/s, 162 ms, random loss",
    published=(
        "standard TCP, Scalable-TCP and HS-TCP follow their theoretical response functions away from the "
        "mode switch"
    ),
    estimator=(
        "Mean over repeats of the throughput without the first 100 s, compared with window x 1500 bytes / "
        "162 ms."
    ),
    bounds=(
        f"The points are those whose theoretical window is below {percent(FILLED_BELOW)} % of the BDP and "
        f"not within a factor {SWITCH_FACTOR:g} of Low_Window. Numbers chosen here; the paper says that the "
        "agreement is fairly good."
    ),
    settings=(
        Setting("losses", "1e-2 to 1e-7, data packets, independent", "III-F; points " + CHOSEN_HERE),
        Setting("duration", "600 s; standard TCP 20 losses, at most 3600 s", CHOSEN_HERE),
    ),
)
def follows_theory(runs: Runs) -> Checks:
    rtt_s = lls.LONG_RTT_MS / 1000.0
    limit = FILLED_BELOW * lls.bdp_packets(lls.HIGH_MBPS * 1e6, rtt_s)
    checks, ratios = [], {}
    for name in ("reno", "stcp", "hstcp"):
        switch = lls.ALGORITHMS[name].get("low_window", 0.0)
        for loss, rate in runs.where(algorithm=name).means("loss", "settled_throughput_1_bps").items():
            window = theory.RESPONSE_FUNCTIONS[name](loss)
            if window > limit or switch / SWITCH_FACTOR <= window <= switch * SWITCH_FACTOR:
                continue
            expected = theory.throughput_bps(window, rtt_s)
            ratios[f"{name} at {loss:g}"] = rate / expected
            text = f"{lls.TITLES[name]}, loss {loss:g}: Mbit/s"
            checks.append(within_factor(text, rate / 1e6, expected / 1e6, THEORY_FACTOR, than="theory"))
    yield from checks
    spread = f"{min(ratios.values()):.2f}..{max(ratios.values()):.2f}" if ratios else "none"
    return Evidence(
        f"{held(checks)} of {len(checks)} points within a factor {THEORY_FACTOR:g}; measured / theory "
        + spread,
        {"measured_over_theory": ratios},
        figure=Measured(
            "factor between measurement and theory, mean over points",
            mean_factor(ratios.values()),
            published=1.0,
            log=True,
        ),
    )
