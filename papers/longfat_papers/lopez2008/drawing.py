"""What the figures share: rates and windows over time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import Curve, Drawing, Mode, Panel, Runs, points, thinned
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008.reduction import Row

RATE_AXIS = "rate, Mbit/s"
TIME_AXIS = "time, s"
GREY, RED = 6, 1
"""Strokes of lines that are not measured."""
MOST_BINS = 500
"""Greatest number of points of a history in a figure; longer histories are averaged."""


def first(runs: Runs, **coordinates: Any) -> Row:
    """Returns the first repeat at some coordinates."""
    return Row(runs.where(**coordinates).first() if coordinates else runs.first())


def shown(runs: Runs) -> str:
    """Says in a caption which repeat a history shows."""
    return " First of several repeats." if len(runs.distinct("repeat")) > 1 else ""


def history(label: str, row: Row, prefix: str = "", stroke: int = 0, bin_s: float = 0.0) -> Curve:
    """Returns the rate over time of all flows with this prefix, averaged if there are too many samples."""
    rate = row.summed_mbps(prefix)
    stride = max(1, round(bin_s / row.bin_s), -(-rate.size // MOST_BINS))
    whole = rate.size // stride * stride
    means = rate[:whole].reshape(-1, stride).mean(axis=1)
    times = row.bin_s * stride * (np.arange(means.size) + 0.5)
    return line(label, times.tolist(), means.round(3).tolist(), stroke)


def each(row: Row, label: Callable[[str], str] = str, bin_s: float = 0.0) -> list[Curve]:
    """Returns the rate over time of each flow; ``label`` turns its name into the curve's."""
    return [history(label(name), row, name, number, bin_s) for number, name in enumerate(row.names)]


def line(label: str, x: Any, y: Any, stroke: int = 0, most: int | None = None) -> Curve:
    """Returns a measured line, of about ``most`` points if that is given."""
    x, y = thinned(x, y, most) if most else (x, y)
    return Curve(label, tuple(x), tuple(y), None, None, "line", stroke)


def dashed(label: str, x: Sequence[float], y: Sequence[float], stroke: int = GREY) -> Curve:
    """Returns a line that is not measured."""
    return Curve(label, tuple(x), tuple(y), None, None, "theory", stroke)


def available(variation: lp.Variation, end_s: float) -> Curve:
    """Returns the available capacity as a line."""
    spans = list(pairwise(np.arange(0.0, end_s + 0.25, 0.25).tolist()))
    values = [lp.available_mbps(variation, span) for span in spans]
    return dashed("available", [at for span in spans for at in span], [x for x in values for _ in (0, 1)])


def cwnd(row: Row, label: str = "cwnd", stroke: int = 0, flow: int = 0) -> Curve:
    """Returns the cwnd history of a flow, which is given by its position."""
    return line(label, row.edges_s(), row.row["cwnd"][flow], stroke, MOST_BINS)


def rates(title: str, curves: Iterable[Curve], end_s: float, most: float | None = None) -> Panel:
    """Returns a panel of rates over time."""
    limits = None if most is None else (0.0, 1.1 * most)
    return Panel(title, TIME_AXIS, RATE_AXIS, tuple(curves), x_range=(0.0, end_s), y_range=limits)


def windows(title: str, curves: Iterable[Curve], span_s: tuple[float, float] | None = None) -> Panel:
    """Returns a panel of windows over time."""
    return Panel(title, TIME_AXIS, "cwnd, segments", tuple(curves), x_range=span_s)


def senders(before: str, after: str = "", *, title: str = "") -> Callable[[Runs, Mode], Drawing]:
    """Draws the rates of all flows of one run; ``before`` and ``after`` make the caption."""

    def draw(runs: Runs, mode: Mode) -> Drawing:
        row = first(runs)
        panels = (rates("", each(row), row.end_s),)
        return Drawing(before + shown(runs) + after, panels, columns=1, title=title)

    return draw


def over(
    label: str, runs: Runs, coordinate: str, estimate: Callable[[Row], float], stroke: int, scale: float = 1.0
) -> Curve:
    """Returns the curve of an estimate over a coordinate, with errors over repeats."""
    samples = []
    for value in runs.distinct(coordinate):
        values = [estimate(Row(row)) for row in runs.where(**{coordinate: value})]
        samples.append((scale * float(value), metrics.mean_stderr(values)))
    return points(label, samples, None, stroke)
