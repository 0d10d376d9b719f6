"""HA's figures as data: each metric without and with background, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from longfat.figure.data import Curve, Figure, Panel, points
from longfat.words import Mode
from longfat_papers.ha2006.settings import (
    BACKGROUNDS,
    HISTORIES,
    HISTORY_RTT_MS,
    LONG_RTT_MS,
    MEASURED,
    NO_RATE,
    TITLES,
    WITH,
)
from longfat_papers.kit.curves import by_algorithm, repeats_text
from longfat_papers.kit.suite import Runs

PANELS = {"without": "Without background", "with": "With background"}
RATE_SPAN_S = 2.0
"""Rates of the histories are means over this time."""

Estimate = Callable[[Runs], tuple[float, float]]
"""The mean and standard error over the repeats at one point."""


def utilization(runs: Runs, mode: Mode) -> Figure:
    """Draws the link utilization by all traffic."""
    return _metric(
        "utilization",
        "Link Utilization",
        "Use of the link by all traffic",
        "Share of the capacity that all traffic used while both flows ran, for each RTT of the pair. The "
        f"background used {_background(runs)} of it. The slides: better with background, good for most.",
        runs,
        "share of the capacity",
        _mean_of("utilization"),
        y_range=(0.0, 1.05),
    )


def stability(runs: Runs, mode: Mode) -> Figure:
    """Draws the coefficient of variation of the flows' rates."""
    return _metric(
        "stability",
        "Stability",
        "Variation of the rates",
        "Coefficient of variation of each flow's rate over seconds, mean of the two flows. The slides: high "
        "without background; lower with it, for FAST slightly higher.",
        runs,
        "CoV of the rate",
        _mean_of("cov"),
    )


def loss(runs: Runs, mode: Mode) -> Figure:
    """Draws the loss ratios of the flows and of all traffic."""
    ours = _panels(runs, "lost / sent", _mean_of("loss_ratio"), of="the two flows", y_log=True)
    both = _panels(runs, "lost / sent", _mean_of("link_loss_ratio"), of="all traffic", y_log=True)
    return Figure(
        "loss",
        "Packet loss rate",
        "Losses of the flows and of all traffic",
        "Packets lost over packets sent while both flows ran; a point is missing where none was lost. The "
        "slides: STCP has "
        "the highest in both; background adds little. " + NO_RATE + _repeats(runs),
        (*ours, *both),
    )


def rtt_fairness(runs: Runs, mode: Mode) -> Figure:
    """Draws the ratio of the throughputs of two flows with different RTTs."""
    panels = tuple(
        Panel(
            PANELS[background],
            "RTT of the second flow, ms",
            "least / greatest throughput",
            by_algorithm(runs.where(background=background), "rtt_ms", "ratio", TITLES),
            y_range=(0.0, 1.05),
        )
        for background in BACKGROUNDS
    )
    return Figure(
        "rtt",
        "RTT Fairness",
        "Pairs with different RTTs",
        f"Two flows of one protocol, the first at {LONG_RTT_MS} ms. The slides: FAST nearly perfect without "
        "background, the lowest with it. " + NO_RATE + _repeats(runs),
        panels,
    )


def friendliness(runs: Runs, mode: Mode) -> Figure:
    """Draws Jain's index of a protocol and TCP SACK."""
    return _metric(
        "friendly",
        "TCP Friendliness",
        "Beside TCP SACK",
        "Jain's index of the throughputs of TCP SACK and of a flow that joins it, for each RTT. The slides: "
        "better with background for all but STCP.",
        runs,
        "Jain's index",
        _mean_of("jain"),
        y_range=(0.45, 1.02),
    )


def intra(runs: Runs, mode: Mode) -> Figure:
    """Draws Jain's index of two flows of one protocol."""
    return _metric(
        "intra",
        "Intra-Protocol Fairness",
        "Pairs of one protocol",
        "Jain's index of the throughputs of two flows of one protocol, for each RTT. The slides: HSTCP, TCP "
        "SACK and STCP low without background, better with it; FAST falls.",
        runs,
        "Jain's index",
        _mean_of("jain"),
        y_range=(0.45, 1.02),
    )


def convergence(runs: Runs, mode: Mode) -> Figure:
    """Draws the time until the second flow has 80 % of the first one's rate."""
    return _metric(
        "convergence",
        "Convergence",
        "Time until the second flow has 80 %",
        "Time from its start until the second flow runs at 80 % of the first one's rate, mean of the repeats "
        "that reached it; a point is missing where most did not. The slides: HSTCP very slow without "
        "background, better with it; FAST much slower with it.",
        runs,
        "time, s",
        lambda at: at.mean_stderr_reached("convergence_80_s"),
    )


def histories(runs: Runs, mode: Mode) -> Figure:
    """Draws the throughput of pairs at 82 ms."""
    panels = tuple(
        _history(f"{TITLES[name]}, {background} background", run)
        for name in HISTORIES
        for background in BACKGROUNDS
        for run in [runs.where(algorithm=name, background=background).first()]
    )
    return Figure(
        "histories",
        "Backup slides",
        f"Throughput of pairs at {HISTORY_RTT_MS} ms",
        f"Means over {RATE_SPAN_S:g} s, first repeat. The slides: with background all protocols adapt "
        "their windows more often, which helps all but FAST to converge. " + NO_RATE,
        panels,
    )


def _metric(
    name: str,
    slide: str,
    title: str,
    text: str,
    runs: Runs,
    y_label: str,
    estimate: Estimate,
    y_range: tuple[float, float] | None = None,
) -> Figure:
    panels = _panels(runs, y_label, estimate, y_range=y_range)
    return Figure(name, slide, title, f"{text} {NO_RATE}{_repeats(runs)}", panels)


def _panels(
    runs: Runs,
    y_label: str,
    estimate: Estimate,
    *,
    of: str = "",
    y_range: tuple[float, float] | None = None,
    y_log: bool = False,
) -> tuple[Panel, ...]:
    """Draws a metric over the protocols, without and with background on the same scale."""
    names = [name for name in TITLES if runs.has(algorithm=name)]
    curves = {
        background: tuple(
            points(
                f"{rtt} ms",
                [
                    (float(index), estimate(runs.where(algorithm=name, background=background, rtt_ms=rtt)))
                    for index, name in enumerate(names)
                ],
                stroke=stroke,
            )
            for stroke, rtt in enumerate(runs.distinct("rtt_ms"))
        )
        for background in BACKGROUNDS
    }
    return tuple(
        Panel(
            PANELS[background] + (f", {of}" if of else ""),
            "",
            y_label,
            curves[background],
            y_log=y_log,
            y_range=y_range or _common(curves, y_log),
            categories=tuple(TITLES[name] for name in names),
        )
        for background in BACKGROUNDS
    )


def _common(curves: Mapping[str, tuple[Curve, ...]], log: bool) -> tuple[float, float] | None:
    """Returns one scale for panels that are compared with each other."""
    found = [y for group in curves.values() for curve in group for y in curve.y if math.isfinite(y)]
    shown = [y for y in found if y > 0.0]
    if not shown:
        return None
    return (0.5 * min(shown), 2.0 * max(shown)) if log else (0.0, 1.1 * max(shown))


def _history(title: str, run: Mapping[str, Any]) -> Panel:
    curves = []
    for number, history in enumerate(run["series"]):
        time, received = np.asarray(history["time_s"]), np.asarray(history["received_bytes"])
        edges = np.arange(float(time[0]), float(time[-1]), RATE_SPAN_S)
        rates = np.diff(np.interp(edges, time, received)) * 8e-6 / RATE_SPAN_S
        middles = tuple(float(edge) + 0.5 * RATE_SPAN_S for edge in edges[:-1])
        values = tuple(round(float(rate), 3) for rate in rates)
        curves.append(Curve(f"flow {number + 1}", middles, values, None, None, "line", number))
    return Panel(title, "time, s", "Mbit/s", tuple(curves), y_range=(0.0, 420.0))


def _background(runs: Runs) -> str:
    shares = runs.where(background=WITH).values("background_share")
    return f"{100.0 * shares.min():.0f} to {100.0 * shares.max():.0f} %"


def _mean_of(quantity: str) -> Estimate:
    return lambda at: at.mean_stderr(quantity)


def _repeats(runs: Runs) -> str:
    seen: dict[str, set[Any]] = {}
    for row in runs:
        shown = row["algorithm"] in MEASURED
        group = "for protocols with results on the slides" if shown else "for others"
        seen.setdefault(group, set()).add(row["repeat"])
    return repeats_text({group: len(numbers) for group, numbers in sorted(seen.items(), reverse=True)})
