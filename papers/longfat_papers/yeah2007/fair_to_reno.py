"""Reno flows beside another protocol (V-D)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from longfat_papers.kit import (
    CHOSEN_HERE,
    Check,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    Setting,
    between,
    points,
    repeats,
)
from longfat_papers.yeah2007 import common as yh

RTT_MS = 80
LOSS_BASED_RATIO = (4.0, 8.4)
"""5 to 7, give or take a fifth."""
MANY_RENO_RATIO = 2.0
FRIENDLY_RATIO = (0.7, 1.4)


@yh.over("FR", "V-D", "Fair to Reno", reno_flows={"quick": (1, 4), "full": (1, 2, 4, 8, 16)})
def against_reno(mode: Mode, algorithm: str, reno_flows: int, repeat: int) -> dict[str, Any]:
    """Reno flows against one flow of each algorithm, which is the last flow."""
    return yh.scenario([*[("reno", RTT_MS)] * reno_flows, (algorithm, RTT_MS)], yh.DURATION_S[mode])


@against_reno.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    curves = tuple(
        points(
            yh.TITLES[name],
            [(float(n), (_ratio(runs, name, n), math.nan)) for n in runs.distinct("reno_flows")],
            name,
        )
        for name in yh.TITLES
    )
    return Drawing(
        "Goodput of n Reno flows beside one more Reno flow, over their goodput beside one flow of another "
        f"algorithm; {RTT_MS} ms, buffer of one BDP.{repeats(runs)} The paper, in words: 5 to 7 for "
        "loss-based protocols at n = 1, towards 1 as n grows; 1 for Africa, Compound and YeAH.",
        (Panel("", "Reno flows", "fair-to-Reno ratio", curves, x_log=True),),
        columns=1,
    )


@against_reno.claim(
    "FR",
    "n Reno flows against one other",
    published=(
        "fair-to-Reno ratio 5..7 at n = 1 for loss-based protocols, towards 1 as n grows; ~1 for Africa, "
        "Compound, YeAH at every n"
    ),
    estimator=(
        "Goodput of the n Reno flows beside one more Reno flow, divided by their goodput beside the other "
        "algorithm; means over repeats."
    ),
    bounds="The bounds at n = 1 are 5 to 7, give or take a fifth. " + yh.CHOSEN,
    settings=(
        Setting("RTT", f"{RTT_MS} ms", CHOSEN_HERE + ": V-D names none; the RTT of Fig. 6"),
        Setting("n", "1, 2, 4, 8, 16", CHOSEN_HERE),
    ),
    values={"least": 5.0, "greatest": 7.0},
)
def loss_based_protocols_take_from_reno(runs: Runs) -> Checks:
    numbers = runs.distinct("reno_flows")
    most = numbers[-1]
    names = [name for name in yh.ALGORITHMS if name != "reno"]
    ratio = {name: {n: _ratio(runs, name, n) for n in numbers} for name in names}

    def within(name: str, n: int, least: float, greatest: float) -> Check:
        return between(f"{yh.TITLES[name]} at n = {n}: ratio", ratio[name][n], least, greatest)

    checks = [within(name, 1, *LOSS_BASED_RATIO) for name in yh.LOSS_BASED]
    for name in yh.LOSS_BASED:
        one, many = ratio[name][1], ratio[name][most]
        text = f"{yh.TITLES[name]}: nearer to 1 at n = {most} than at n = 1, and at most {MANY_RENO_RATIO:g}"
        good = abs(many - 1.0) < abs(one - 1.0) and many <= MANY_RENO_RATIO
        checks.append(Check(text, good, f"{one:.2f}, then {many:.2f}"))
    checks += [within(name, n, *FRIENDLY_RATIO) for name in (*yh.HYBRID, "yeah") for n in numbers]
    yield from checks
    return Evidence(
        f"{yh.held_text(checks)}; at n = {' / '.join(map(str, numbers))}: {yh.slashed(ratio, '.2f')}",
        {"fair_to_reno": ratio},
        figure=Measured(
            "fair-to-Reno ratio at n = 1, mean of the loss-based protocols",
            *runs.over_repeats(
                lambda rows: float(np.mean([_ratio(rows, name, 1) for name in yh.LOSS_BASED]))
            ),
            published=6.0,
        ),
    )


def _ratio(runs: Runs, algorithm: str, reno_flows: int) -> float:
    """Returns goodput of the n Reno flows beside Reno over that beside an algorithm."""
    at = runs.where(reno_flows=reno_flows)
    beside_reno, beside = (
        at.where(algorithm=name).mean("others_goodput_bps") for name in ("reno", algorithm)
    )
    return beside_reno / beside if beside > 0.0 else math.inf
