"""Panels that several figures of the comparisons share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longfat_papers.aqm import common as aq
from longfat_papers.kit import Curve, MeanOfRuns, Panel, Runs, points

SIGNALS = {aq.DROPS: "Drops", aq.MARKS: "Marks (ECN)"}
DELAY_AXIS = "queueing delay, ms"
DROPS_AXIS = "dropped / arrived"
SETTING = (
    f"{aq.RATE_MBPS} Mbit/s, buffer of {aq.BUFFER_PACKETS} packets, {aq.RTT_MS} ms unless stated otherwise."
)
"""Part of every caption."""
CORNERS = 48


def over_queues(
    label: str,
    curves: Sequence[tuple[str, Runs, str]],
    title: str = "",
    *,
    log: bool = False,
    y_range: tuple[float, float] | None = None,
    stroke: int = 0,
) -> Panel:
    """Returns a panel with the queues side by side; each curve is a text, its runs and a quantity.

    ``stroke`` is that of the first curve.
    """
    names = [name for name in aq.TITLES if curves[0][1].has(queue=name)]
    return Panel(
        title,
        "",
        label,
        tuple(
            points(
                text,
                [(float(index), runs.where(queue=name).mean_stderr(key)) for index, name in enumerate(names)],
                stroke=number,
            )
            for number, (text, runs, key) in enumerate(curves, start=stroke)
        ),
        y_log=log,
        y_range=y_range,
        categories=tuple(aq.TITLES[name] for name in names),
    )


def for_each_queue(
    runs: Runs, coordinate: str, positions: Mapping[Any, float], mean: MeanOfRuns
) -> tuple[Curve, ...]:
    """Returns a curve for each queue over a coordinate; ``positions`` are x at the coordinate's values."""
    return tuple(
        points(
            aq.TITLES[name],
            [(x, mean(runs.where(queue=name, **{coordinate: value}))) for value, x in positions.items()],
            name,
        )
        for name in aq.TITLES
        if runs.has(queue=name)
    )


def clouds(title: str, runs: Runs, y_range: tuple[float, float]) -> Panel:
    """Returns goodput against delay: for each queue the ellipse of one deviation, and its centre.

    The ellipse is that over all repeats, which have equally many spans.
    """
    curves = []
    for name, label in aq.TITLES.items():
        if runs.has(queue=name):
            at = runs.where(queue=name)
            delays, goodputs = at.values("span_delay_ms"), at.values("goodput_share")
            center = (float(delays.mean()), float(goodputs.mean()))
            between = np.cov(np.vstack((delays, goodputs)), bias=True)
            variances = (
                at.mean("delay_var") + float(between[0, 0]),
                at.mean("goodput_var") + float(between[1, 1]),
            )
            x, y = ellipse(center, variances, at.mean("covariance") + float(between[0, 1]))
            curves.append(Curve(label, x, y, None, name, "line"))
            curves.append(Curve(label, (center[0],), (center[1],), None, name))
    return Panel(title, DELAY_AXIS, "goodput / capacity", tuple(curves), y_range=y_range)


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
