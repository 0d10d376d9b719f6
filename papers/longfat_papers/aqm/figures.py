"""The figures of the comparison of queues: data and captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from longfat.figure.data import Curve, Figure, Panel, points, theory
from longfat.words import Mode
from longfat_papers.aqm.settings import (
    BOUND_OFFERED,
    BUFFER_PACKETS,
    CHANGE_S,
    CHOKE_BOUND,
    DROPS,
    FAR_MS,
    FAST,
    FEW,
    FLOWS,
    HIGH_MBPS,
    LONG_BUFFER_PACKETS,
    LOW_MBPS,
    MARKS,
    MORE,
    NEAR_MS,
    RATE_MBPS,
    RESPONSIVE,
    RTT_MS,
    SLOW,
    TITLES,
)
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.suite import Runs

SIGNALS = {DROPS: "Drops", MARKS: "Marks (ECN)"}
DELAY_AXIS = "queueing delay, ms"
PHASES = (f"{FEW} flows", f"{FEW + MORE} flows", f"{FEW} again")
SETTING = f"{RATE_MBPS} Mbit/s, buffer of {BUFFER_PACKETS} packets, {RTT_MS} ms unless stated otherwise."
CORNERS = 48


def tradeoff(runs: Runs, mode: Mode) -> Figure:
    """Draws goodput against queueing delay, with 1-sigma ellipses."""
    return Figure(
        "tradeoff",
        "RFC 7928, 2.7",
        "Goodput against queueing delay",
        f"{FLOWS} like flows. {SETTING} The ellipses show one standard deviation of the two-dimensional "
        "normal distribution fitted to means over half a second (ten RTTs), of all repeats; points are their "
        f"centres. Upper left is better. Runs for each queue: {len(runs.distinct('repeat'))}.",
        tuple(
            Panel(
                SIGNALS[signal],
                DELAY_AXIS,
                "goodput / capacity",
                tuple(
                    curve
                    for name in TITLES
                    if at.has(queue=name)
                    for curve in cloud(name, at.where(queue=name))
                ),
                y_range=(0.5, 1.02),
            )
            for signal in SIGNALS
            for at in [runs.where(signal=signal)]
        ),
    )


def load(runs: Runs, mode: Mode) -> Figure:
    """Draws delay and drops in each third of the run, and the histories of the delay."""
    phases = {str(number): phase for number, phase in enumerate(PHASES, start=1)}
    return Figure(
        "load",
        "RFC 7928, 8.2.5; thesis 2.5.1.5",
        "Changing load",
        f"{FEW} flows, {MORE} more in the second third of the run. {SETTING} Means over each third; without "
        "drops there is no point. Below: histories with drops, means over half a second, first repeat. The "
        "capacity "
        "does not change here." + repeats(runs),
        (*_spans(runs, phases), *_histories(runs.where(signal=DROPS))),
    )


def capacity(runs: Runs, mode: Mode) -> Figure:
    """Draws delay and drops at either capacity, for slow and for fast changes, and histories of the delay."""
    slow, fast = runs.where(change=SLOW), runs.where(change=FAST)
    levels = {"high": f"{HIGH_MBPS} Mbit/s", "low": f"{LOW_MBPS} Mbit/s"}
    quick = [
        Panel(
            f"Every {CHANGE_S[FAST]:g} s. {SIGNALS[signal]}",
            "",
            label,
            (points(text, over_queues(fast.where(signal=signal), lambda at, key=key: at.mean_stderr(key))),),  # type: ignore[misc]
            y_range=limits,
            categories=queue_titles(fast.where(signal=signal)),
        )
        for key, text, label, limits in (
            ("wait_ms", "mean wait", "mean wait, ms", None),
            ("goodput_share", "all flows", "goodput / mean capacity", (0.0, 1.02)),
        )
        for signal in SIGNALS
    ]
    return Figure(
        "capacity",
        "RFC 7928, 8.2.6; thesis 2.5.1.5",
        "Changing capacity",
        f"{FLOWS} like flows on a capacity of {HIGH_MBPS} and {LOW_MBPS} Mbit/s, alternating every "
        f"{CHANGE_S[SLOW]:g} s (above) and every {CHANGE_S[FAST]:g} s (below). {SETTING} Delays are the "
        "backlog over the current capacity, waits the mean backlog over the carried rate. RED's and CHOKe's "
        "thresholds are in packets and do not follow the capacity; Adaptive RED assumes the higher one. "
        "Without drops there is no point. Last: histories with slow changes and drops, means over half a "
        "second, first repeat." + repeats(runs),
        (*_spans(slow, levels, log=True), *quick, *_histories(slow.where(signal=DROPS))),
    )


def _spans(runs: Runs, spans: Mapping[str, str], *, log: bool = False) -> list[Panel]:
    """Draws delay and drops of each queue in spans of the run; the spans' keys end the names of columns."""
    return [
        Panel(
            SIGNALS[signal],
            "",
            label,
            tuple(
                points(
                    text,
                    over_queues(
                        runs.where(signal=signal),
                        lambda at, key=f"{quantity}_{span}": at.mean_stderr(key),  # type: ignore[misc]
                    ),
                    stroke=number,
                )
                for number, (span, text) in enumerate(spans.items(), start=1)
            ),
            y_log=y_log,
            categories=queue_titles(runs.where(signal=signal)),
        )
        for quantity, label, y_log in (
            ("delay_ms", DELAY_AXIS, log),
            ("drop_ratio", "dropped / arrived", True),
        )
        for signal in SIGNALS
    ]


def fairness(runs: Runs, mode: Mode) -> Figure:
    """Draws Jain's index for each mix of flows."""
    texts = {
        "like": f"{FLOWS} like flows",
        "RTTs": f"RTTs of {NEAR_MS} and {FAR_MS} ms",
        "aggressive": "half of them Scalable TCP",
    }
    return Figure(
        "fairness",
        "RFC 7928, 5.2 and 6; thesis 2.5.1.5",
        "Fairness among TCP flows",
        f"Jain's index of the goodputs of {FLOWS} flows: like flows; half at {NEAR_MS} ms and half at "
        f"{FAR_MS} ms; half standard and half Scalable TCP. {SETTING}" + repeats(runs),
        tuple(
            Panel(
                SIGNALS[signal],
                "",
                "Jain's index",
                tuple(
                    points(
                        texts[mix],
                        over_queues(at.where(mix=mix), lambda group: group.mean_stderr("jain")),
                        stroke=stroke,
                    )
                    for stroke, mix in enumerate(texts)
                ),
                y_range=(0.3, 1.02),
                categories=queue_titles(at),
            )
            for signal in SIGNALS
            for at in [runs.where(signal=signal)]
        ),
    )


def unresponsive(runs: Runs, mode: Mode) -> Figure:
    """Draws the share of the capacity that unresponsive datagrams get."""
    return Figure(
        "unresponsive",
        "RFC 7928, 5.3; thesis 2.5.1.2",
        "Unresponsive datagrams",
        f"One source at a constant rate beside flows of TCP. {SETTING} CHOKe is meant to "
        "hold such sources back; its bound is proven for many flows." + repeats(runs),
        tuple(
            Panel(
                f"Beside {number} flows",
                "offered / capacity",
                "the source's share of the capacity",
                _shares(runs.where(flows=number), number),
                y_range=(0.0, 1.02),
            )
            for number in runs.distinct("flows")
        ),
    )


def _shares(runs: Runs, number: int) -> tuple[Curve, ...]:
    offers = runs.distinct("offered")
    measured = tuple(
        points(
            TITLES[name],
            [(x, runs.where(queue=name, offered=x).mean_stderr("last_share")) for x in offers],
            name,
        )
        for name in TITLES
        if runs.has(queue=name)
    )
    lines = (
        theory("an even share", offers, [1.0 / (number + 1)] * len(offers)),
        replace(theory("CHOKe's bound, 1 / (1 + e)", offers, [CHOKE_BOUND] * len(offers)), stroke=1),
    )
    return (*measured, *lines)


def bound(runs: Runs, mode: Mode) -> Figure:
    """Draws the share that CHOKe leaves datagrams, and how long its queue is too short for comparisons."""
    panels = tuple(
        Panel(
            title,
            "offered / capacity",
            label,
            (
                *(
                    points(
                        f"{thresholds} packets",
                        [
                            (x, runs.where(thresholds=thresholds, offered=x).mean_stderr(key))
                            for x in BOUND_OFFERED
                        ],
                        stroke=stroke,
                    )
                    for stroke, thresholds in enumerate(runs.distinct("thresholds"))
                ),
                *extra,
            ),
            y_range=(0.0, 1.02),
        )
        for title, label, key, extra in (
            (
                "What the source gets",
                "share of the capacity",
                "last_share",
                (theory("CHOKe's bound, 1 / (1 + e)", BOUND_OFFERED, [CHOKE_BOUND] * len(BOUND_OFFERED)),),
            ),
            ("Queue below the lower threshold", "share of the time", "below_min", ()),
        )
    )
    return Figure(
        "bound",
        "thesis 2.5.1.2",
        "CHOKe's bound and its thresholds",
        f"One source at a constant rate beside {RESPONSIVE[-1]} flows of TCP, behind CHOKe with two pairs of "
        f"thresholds and {LONG_BUFFER_PACKETS} packets of room. {SETTING} While the average queue is below "
        "the lower threshold CHOKe compares nothing, and the bound's proof does not hold." + repeats(runs),
        panels,
    )


def flows(runs: Runs, mode: Mode) -> Figure:
    """Draws SRED's estimate over the true number of flows."""
    true = [float(number) for number in runs.distinct("flows")]
    estimates = [(n, runs.where(flows=n).mean_stderr("flows_estimated")) for n in true]
    effective = [runs.where(flows=n).mean("flows_effective") for n in true]
    return Figure(
        "flows",
        "thesis 2.5.1.4",
        "The number of flows that SRED estimates",
        f"Like flows of TCP. {SETTING} Mean of 1 / P over the run. The effective number is 1 / sum of "
        "squared shares, from products of the shares in 0.1 s and in the 4000 packets that the list "
        "remembers." + repeats(runs),
        (
            Panel(
                "",
                "flows",
                "flows estimated",
                (
                    points(TITLES["sred"], estimates, "sred"),
                    theory("as many as there are", true, true),
                    replace(theory("effective number", true, effective), stroke=1),
                ),
                x_log=True,
                y_log=True,
            ),
        ),
        columns=1,
    )


def ellipse(
    center: tuple[float, float], variances: tuple[float, float], covariance: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns the contour of one standard deviation of a two-dimensional normal distribution."""
    values, vectors = np.linalg.eigh(np.array([[variances[0], covariance], [covariance, variances[1]]]))
    turn = np.linspace(0.0, 2.0 * math.pi, CORNERS + 1)
    circle = np.vstack((np.cos(turn), np.sin(turn)))
    contour = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    x, y = contour + np.array(center)[:, None]
    return tuple(float(value) for value in x), tuple(float(value) for value in y)


def cloud(name: str, runs: Runs) -> tuple[Curve, Curve]:
    """Returns the ellipse over all repeats, which have equally many spans, and its centre."""
    delays, goodputs = runs.values("span_delay_ms"), runs.values("goodput_share")
    center = (float(delays.mean()), float(goodputs.mean()))
    between = np.cov(np.vstack((delays, goodputs)), bias=True)
    variances = (
        runs.mean("delay_var") + float(between[0, 0]),
        runs.mean("goodput_var") + float(between[1, 1]),
    )
    x, y = ellipse(center, variances, runs.mean("covariance") + float(between[0, 1]))
    return (
        Curve(TITLES[name], x, y, None, name, "line"),
        Curve(TITLES[name], (center[0],), (center[1],), None, name),
    )


def _histories(runs: Runs) -> Iterable[Panel]:
    shown = [name for name in TITLES if runs.has(queue=name)]
    most = max(max(runs.where(queue=name).first()["history_ms"]) for name in shown)
    for name in shown:
        row = runs.where(queue=name).first()
        curve = Curve(TITLES[name], tuple(row["history_s"]), tuple(row["history_ms"]), None, name, "line")
        yield Panel(TITLES[name], "time, s", DELAY_AXIS, (curve,), y_range=(0.0, 1.05 * most))


def over_queues(
    runs: Runs, estimate: Callable[[Runs], tuple[float, float]]
) -> list[tuple[float, tuple[float, float]]]:
    """Returns an estimate for each queue, with the position of its category."""
    names = [name for name in TITLES if runs.has(queue=name)]
    return [(float(index), estimate(runs.where(queue=name))) for index, name in enumerate(names)]


def queue_titles(runs: Runs) -> tuple[str, ...]:
    """Returns the titles of the queues that were run, as categories."""
    return tuple(title for name, title in TITLES.items() if runs.has(queue=name))
