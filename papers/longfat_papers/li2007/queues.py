"""Efficiency and queue provisioning (Fig. 12)."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure.data import theory as theory_curve
from longfat.runs import theory
from longfat_papers.kit import (
    Check,
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Panel,
    Runs,
    at_least,
    between,
    by_algorithm,
    geometric_mean,
    held,
    listed,
    percent,
)
from longfat_papers.li2007 import common as lls

WHERE = "two like flows, 100 Mbit/s, 82 ms (BDP 683 packets), queue 1..100 % BDP"
RTT_MS = 82
WELL_PROVISIONED_PERCENT = 10
"""The new protocols are compared with standard TCP from this queue on, % BDP."""
FULL_USE_WITHIN = 0.005
"""How close to the capacity, as a share of it, full use is; at full use no flow can win."""
COLLAPSED = 0.8
"""Share of the throughput at the usual queue, below which throughput has collapsed."""
COLLAPSING_PERCENT = (1.0, 3.0)
"""Largest queue at which throughput collapses, % BDP."""
FAST_COLLAPSING_PERCENT = 8.0
SMALLEST_PERCENT = 1
LOSS_RISE = 30.0
"""Loss at the smallest queue over that at the usual one."""
PRINTED_LOSS_RISE = 100.0
"""V-D: around two orders of magnitude."""


@lls.PAPER.experiment(
    "F12",
    "Fig. 12",
    "Efficiency and queue provisioning",
    grid={
        "algorithm": tuple(lls.ALGORITHMS),
        "queue_percent": {
            "quick": (1, 2, 3, 5, 8, 10, 20, 50, 100),
            "full": (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 70, 100),
        },
        "rate_mbps": (100,),
        "repeat": lls.REPEATS,
    },
)
def queues(mode: Mode, algorithm: str, queue_percent: int, rate_mbps: int, repeat: int) -> dict[str, Any]:
    return lls.pair(mode, rate_mbps, (algorithm, RTT_MS), (algorithm, RTT_MS), queue_percent)


@queues.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    axis = "queue, % BDP"
    shares = [float(queue) for queue in runs.distinct("queue_percent")]
    predicted = [100.0 * theory.sawtooth_utilization(queue / 100.0) for queue in shares]
    rates = by_algorithm(runs, "queue_percent", "aggregate_bps", lls.TITLES, scale=1e-6)
    sawtooth = theory_curve("Standard TCP, theory", shares, predicted, "reno")
    losses = by_algorithm(runs, "queue_percent", "loss_ratio", lls.TITLES)
    return Drawing(
        f"Two like flows, 100 Mbit/s, 82 ms (BDP 683 packets), no web traffic.{lls.repeated(runs)} The "
        "paper: above 10 % BDP every new protocol beats standard TCP; below about 3 % (FAST-TCP 8 %) "
        "throughput collapses and loss rises about a hundredfold. Broken line: a sawtooth of standard TCP "
        "whose flows back off together.",
        (
            Panel(
                "Throughput of both flows",
                axis,
                "Mbit/s",
                (*rates, sawtooth),
                x_log=True,
                y_range=(0.0, 105.0),
            ),
            Panel("Packet loss", axis, "lost / sent", losses, x_log=True, y_log=True),
        ),
    )


@queues.claim(
    "F12a",
    WHERE,
    published="above 10 % BDP every new protocol beats standard TCP",
    bounds=(
        f"Where both are within {percent(FULL_USE_WITHIN)} % of the capacity, no protocol can win, and the "
        "check holds. Tolerance chosen here."
    ),
)
def new_protocols_beat_standard_tcp(runs: Runs) -> Checks:
    checks = []
    for queue in runs.distinct("queue_percent"):
        if queue < WELL_PROVISIONED_PERCENT:
            continue
        rates = runs.where(queue_percent=queue).means("algorithm", "aggregate_bps")
        standard = rates["reno"]
        for name in lls.NEW:
            rate = rates[name]
            full = min(rate, standard) >= (1.0 - FULL_USE_WITHIN) * 100e6
            text = f"{lls.TITLES[name]} at {queue} % BDP: throughput above standard TCP's"
            measured = f"{rate / 1e6:.1f} against {standard / 1e6:.1f} Mbit/s"
            checks.append(Check(text, rate > standard or full, measured))
    yield from checks
    losers = sorted(check.text.split(":")[0] for check in checks if not check.passed)
    return Evidence(
        f"{held(checks)} of {len(checks)} points" + (f"; not: {', '.join(losers)}" if losers else ""),
        figure=lls.share("share of points above standard TCP", checks),
    )


@queues.claim(
    "F12b",
    WHERE,
    published="below ~3 % BDP (FAST-TCP ~8 %) throughput collapses and the loss rate rises ~100-fold",
    bounds=(
        f"Throughput has collapsed if it is below {percent(COLLAPSED)} % of that at {lls.QUEUE_PERCENT} % "
        f"BDP. {lls.CHOSEN}"
    ),
)
def small_queues_collapse(runs: Runs) -> Checks:
    usual, smallest = lls.QUEUE_PERCENT, SMALLEST_PERCENT
    collapse, rise = {}, {}
    for name in lls.ALGORITHMS:
        at = runs.where(algorithm=name)
        rates, loss = (at.means("queue_percent", quantity) for quantity in ("aggregate_bps", "loss_ratio"))
        least = COLLAPSED * rates[usual]
        collapse[name] = max(
            (float(queue) for queue, rate in rates.items() if queue < usual and rate < least), default=0.0
        )
        rise[name] = _ratio(loss[smallest], loss[usual])
    others = {name: queue for name, queue in collapse.items() if name != "fast"}
    for name, queue in others.items():
        yield between(f"{lls.TITLES[name]}: largest collapsing queue, % BDP", queue, *COLLAPSING_PERCENT)
    most, fast = FAST_COLLAPSING_PERCENT, collapse["fast"]
    yield Check(
        f"FAST-TCP: largest collapsing queue above the others', at most {most:g} % BDP",
        max(others.values()) < fast <= most,
        f"{fast:g} % against {max(others.values()):g} %",
    )
    for name, factor in rise.items():
        yield at_least(f"{lls.TITLES[name]}: loss at {smallest} % over {usual} % BDP", factor, LOSS_RISE)
    return Evidence(
        f"largest collapsing queue, % BDP: {listed(collapse, lls.TITLES, 0)}; loss rises by a factor of "
        f"{listed(rise, lls.TITLES, 0)}",
        {"collapse_percent": collapse, "loss_rise": rise},
        figure=Measured(
            "rise of the loss at the smallest queue, mean over protocols",
            geometric_mean(rise.values()),
            published=PRINTED_LOSS_RISE,
            log=True,
        ),
    )


def _ratio(above: float, below: float) -> float:
    if below > 0.0:
        return above / below
    return math.inf if above > 0.0 else math.nan
