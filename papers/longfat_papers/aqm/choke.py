"""Unresponsive datagrams beside TCP (AQM-3), and CHOKe's bound and its thresholds (AQM-7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from longfat.figure.data import Curve, Panel, points, theory
from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, for_each_queue
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import at_most, below
from longfat_papers.kit.curves import mean_of, repeats, samples

BOUND = 1.0 / (1.0 + math.e)
"""The greatest share of the capacity that CHOKe leaves datagrams (Tang, Wang, Low 2004)."""
THRESHOLDS = {f"{least} and {most}": (least, most) for least, most in (aq.AROUND_PIE, aq.ABOVE_BURSTS)}
"""By the coordinate `thresholds`."""

TANG = "Tang, Wang, Low: Understanding CHOKe, IEEE/ACM ToN 12(4), 2004; thesis, section 2.5.1.2"
PUBLISHED = "at most 1 / (1 + e) = 26.9 % of the capacity, whatever they offer"
SHARES = f"The datagrams offer and get shares of the capacity; 0.269 is 1 / (1 + e). {aq.NUMBERS}"


def beside_tcp(flows: int, offered: float) -> list[aq.Table]:
    rate = offered * aq.RATE_MBPS
    return [aq.SACK | {"name": "TCP", "count": flows}, {"name": "datagrams", "algorithm": aq.cbr(rate)}]


@aq.PAPER.experiment(
    "unresponsive",
    "RFC 7928, 5.3; thesis 2.5.1.2",
    "Unresponsive datagrams",
    grid={"flows": (aq.FEW, aq.MANY), "queue": tuple(aq.QUEUES), "offered": (0.5, 1.0, 2.0), **aq.DROPPING},
)
def unresponsive(mode: Mode, **at: Any) -> aq.Table | None:
    return aq.scenario(mode, at, beside_tcp(at["flows"], at["offered"]))


@aq.PAPER.experiment(
    "bound",
    "thesis 2.5.1.2",
    "CHOKe's bound and its thresholds",
    grid={
        "thresholds": tuple(THRESHOLDS),
        "offered": (0.5, 1.0, 2.0, 4.0),
        **aq.DROPPING,
        "queue": ("choke",),
    },
)
def above_and_around_the_thresholds(mode: Mode, **at: Any) -> aq.Table | None:
    least, most = THRESHOLDS[at["thresholds"]]
    queue = {"kind": "choke", "min": f"{least} packets", "max": f"{most} packets"}
    bottleneck = {"buffer": f"{aq.LONG_BUFFER_PACKETS} packets", "queue": queue}
    return aq.scenario(mode, at, beside_tcp(aq.MANY, at["offered"]), bottleneck)


@unresponsive.drawing
def beside_few_and_many(runs: Runs, mode: Mode) -> Drawing:
    offers = {x: x for x in runs.distinct("offered")}
    return Drawing(
        f"One source at a constant rate beside flows of TCP. {SETTING} CHOKe is meant to "
        "hold such sources back; its bound is proven for many flows." + repeats(runs),
        tuple(
            _panel(
                f"Beside {number} flows",
                "the source's share of the capacity",
                *for_each_queue(runs.where(flows=number), "offered", offers, mean_of("last_share")),
                theory("an even share", list(offers), [1.0 / (number + 1)] * len(offers)),
                replace(_bound(list(offers)), stroke=1),
            )
            for number in runs.distinct("flows")
        ),
    )


@above_and_around_the_thresholds.drawing
def with_two_pairs_of_thresholds(runs: Runs, mode: Mode) -> Drawing:
    shares, times = (
        [
            points(f"{text} packets", samples(runs.where(thresholds=text), "offered", key), stroke=stroke)
            for stroke, text in enumerate(runs.distinct("thresholds"))
        ]
        for key in ("last_share", "below_min")
    )
    bound = _bound(runs.distinct("offered"))
    return Drawing(
        f"One source at a constant rate beside {aq.MANY} flows of TCP, behind CHOKe with two pairs "
        f"of thresholds and {aq.LONG_BUFFER_PACKETS} packets of room. {SETTING} While the average queue is "
        "below the lower threshold CHOKe compares nothing, and the bound's proof does not hold."
        + repeats(runs),
        (
            _panel("What the source gets", "share of the capacity", *shares, bound),
            _panel("Queue below the lower threshold", "share of the time", *times),
        ),
    )


def _panel(title: str, label: str, *curves: Curve) -> Panel:
    return Panel(title, "offered / capacity", label, curves, y_range=(0.0, 1.02))


def _bound(offers: Sequence[float]) -> Curve:
    return theory("CHOKe's bound, 1 / (1 + e)", offers, [BOUND] * len(offers))


@unresponsive.claim(
    "3",
    "datagrams at a constant rate beside many flows of TCP, behind CHOKe",
    PUBLISHED,
    paper=TANG,
    settings=(
        Setting(
            "flows of TCP",
            f"{aq.MANY}; {aq.FEW} for comparison",
            CHOSEN_HERE + f": a first measurement had only {aq.FEW}, but the proof needs many",
        ),
    ),
    bounds=SHARES,
    values={"greatest_share": 0.269},
)
def choke_holds_datagrams_back(runs: Runs) -> Checks:
    few, many = (
        {name: runs.where(flows=flows, queue=name).means("offered", "last_share") for name in aq.TITLES}
        for flows in (aq.FEW, aq.MANY)
    )
    for offered, share in many["choke"].items():
        where = f"{offered:g} of the capacity: "
        yield at_most(f"{where}with CHOKe", share, BOUND)
        yield below(f"{where}with CHOKe", share, many["red"][offered], than="that with RED")
    told, note = (
        aq.told({name: list(row.values()) for name, row in found.items()}, "{:.3f} / {:.3f} / {:.3f}")
        for found in (many, few)
    )
    return Evidence(
        f"beside {aq.MANY} flows: {told}",
        {name: {str(offered): share for offered, share in row.items()} for name, row in many.items()},
        f"Beside {aq.FEW} flows: {note}.",
        _greatest_share(runs.where(flows=aq.MANY, queue="choke")),
    )


@above_and_around_the_thresholds.claim(
    "7",
    "datagrams beside many flows of TCP, behind CHOKe with room above its thresholds",
    PUBLISHED,
    paper=TANG,
    settings=(
        Setting("flows of TCP", f"{aq.MANY}", CHOSEN_HERE),
        Setting(
            "thresholds, buffer",
            f"{aq.ABOVE_BURSTS[0]} and {aq.ABOVE_BURSTS[1]} packets, {aq.LONG_BUFFER_PACKETS} of room",
            CHOSEN_HERE
            + ": written after AQM-3 was found to fail, to show why; CHOKe compares nothing while "
            "the average queue is below its lower threshold",
        ),
    ),
    bounds=SHARES,
    values={"greatest_share": 0.269},
)
def the_bound_holds_above_bursts(runs: Runs) -> Checks:
    shares, times = (
        {text: runs.where(thresholds=text).means("offered", key) for text in THRESHOLDS}
        for key in ("last_share", "below_min")
    )
    near, far = shares
    for offered, share in shares[far].items():
        text = f"{offered:g} of the capacity: with thresholds {far}"
        yield at_most(text, share, BOUND)
        yield below(text, share, shares[near][offered], than=f"that with {near}")
    told = []
    for text, (least, _) in THRESHOLDS.items():
        seen, time = (
            " / ".join(f"{value:.{digits}f}" for value in found[text].values())
            for found, digits in ((shares, 3), (times, 2))
        )
        told.append(f"{text} packets: {seen}, below {least} packets {time} of the time")
    return Evidence(
        "; ".join(told),
        {text: {str(x): [shares[text][x], times[text][x]] for x in shares[text]} for text in THRESHOLDS},
        figure=_greatest_share(runs.where(thresholds=far)),
    )


def _greatest_share(runs: Runs) -> Measured:
    shares = [runs.where(offered=rate).mean_stderr("last_share") for rate in runs.distinct("offered")]
    return Measured("greatest share of the datagrams behind CHOKe", *max(shares), published=BOUND)
