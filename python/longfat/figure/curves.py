"""The curves of a figure: means over units, distributions and histories, with 95 % confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.figure.axes import Axis
from longfat.figure.data import Curve, Kind
from longfat.figure.histories import binned, round_bin
from longfat.figure.request import RATE, Checked
from longfat.figure.rows import Rows
from longfat.intervals import half_width_95

Array = NDArray[np.float64]

STEPS = 400
"""Points of a curve that is a mean over several runs, or a distribution."""
MOST_SAMPLES = 4000
"""Points of the samples of one run."""


def curves_of(
    asked: Checked,
    rows: Rows,
    along: Axis,
    labels: Mapping[Any, str],
    algorithms: Mapping[Any, str],
    gaps: Set[tuple[Any, Any]],
) -> Iterator[Curve]:
    """Yields the curve of each group, which looks the same in every panel.

    Args:
        asked: what the figure shows.
        rows: those of the panel.
        along: the axis along it.
        labels: the text of each group.
        algorithms: what colours a group.
        gaps: places and groups that have rows without a value; a line that has no other there is interrupted.
    """
    met: dict[str | None, int] = {}
    for number, (key, label) in enumerate(labels.items()):
        algorithm, group = algorithms.get(key), rows.of(rows.by, key)
        again = met[algorithm] = met.get(algorithm, -1) + 1
        if group.value.size:
            stroke = number if algorithm is None or asked.kind == "cdf" else again
            blank = {place for place, of in gaps if of == key}
            yield _curve(asked, group, along, blank, Curve(label, (), (), None, algorithm, stroke=stroke))


def _curve(asked: Checked, rows: Rows, along: Axis, gaps: Set[Any], empty: Curve) -> Curve:
    """A group's curve."""
    spread: Array | None = None
    samples: tuple[tuple[float, ...], ...] = ()
    kind: Kind = "points"
    if asked.kind == "cdf":
        kind, (x, y, half) = "steps", _distribution(rows)
    elif asked.kind == "timeline":
        kind, (x, y, half) = "line", _over_time(rows, asked.asked == RATE)
    elif asked.kind == "scatter":
        kind, (x, y, half, spread) = "cloud", _cloud(rows)
    else:
        kind = "bars" if asked.kind == "bars" else "boxes" if asked.kind == "box" else "points"
        steps = zip(along.places.items(), at(rows, along.places), strict=True)
        is_joined = kind == "points" and not along.categories
        found = [
            (place, own) for (step, place), own in steps if own.value.size or (is_joined and step in gaps)
        ]
        x = np.array([place for place, _ in found])
        y, half = np.array([mean(own) for _, own in found]).T
        samples = tuple(tuple(own.value.tolist()) for _, own in found) if kind == "boxes" else ()

    def error(halves: Array | None) -> tuple[float, ...] | None:
        return None if halves is None or not np.isfinite(halves).any() else tuple(halves.tolist())

    xs, ys = tuple(x.tolist()), tuple(y.tolist())
    return replace(empty, x=xs, y=ys, kind=kind, error=error(half), x_error=error(spread), samples=samples)


def at(rows: Rows, places: Mapping[Any, float]) -> Iterable[Rows]:
    """The rows at each place of the axis."""
    return (rows.of(rows.x, step) for step in places)


def mean(rows: Rows) -> tuple[float, float]:
    """The mean over units of their means, and half of its 95 % interval; NaN for one unit, or without any."""
    if not rows.value.size:
        return math.nan, math.nan
    means = np.array([values.mean() for values in rows.by_unit(rows.value)])
    return float(means.mean()), float(half_width_95(means))


def _cloud(rows: Rows) -> tuple[Array, Array, Array, Array]:
    """Points of a scatter: x and y, and half of the interval of each."""
    found = []
    for point in dict.fromkeys(rows.x):
        own = rows.of(rows.x, point)
        (y, half), (x, spread) = mean(own), mean(replace(own, value=own.along))
        found.append((x, y, half, spread))
    x, y, half, spread = np.array(found).T
    return x, y, half, spread


def _distribution(rows: Rows) -> tuple[Array, Array, Array]:
    """The share of the values up to x: the mean over units, with its interval."""
    parts = [np.sort(values) for values in rows.by_unit(rows.value)]
    pooled = np.sort(np.concatenate(parts))
    x = pooled if pooled.size <= STEPS else np.quantile(pooled, np.linspace(0.0, 1.0, STEPS))
    shares = np.array([np.searchsorted(part, x, side="right") / part.size for part in parts])
    sampled = min(part.size for part in parts) > 1
    return x, shares.mean(axis=0), half_width_95(shares) if sampled else np.full(x.size, np.nan)


def _over_time(rows: Rows, as_rate: bool) -> tuple[Array, Array, Array]:
    """The mean of a quantity over time, over units and what is alike in each; with its interval."""
    parts = []
    for times_s, values in zip(rows.by_unit(rows.along), rows.by_unit(rows.value), strict=True):
        time_s, first = np.unique(times_s, return_inverse=True)
        parts.append((time_s, np.bincount(first, weights=values) / np.bincount(first)))
    if as_rate:
        period_s = max(float(np.median(np.diff(time_s))) if time_s.size > 1 else 0.0 for time_s, _ in parts)
        bin_s = round_bin(float(rows.along.max(initial=0.0)), period_s)
        rates = [binned((time_s.tolist(), values.tolist()), bin_s) for time_s, values in parts]
        parts = [(np.array(time_s), 1e6 * np.array(values)) for time_s, values in rates if time_s]
        if not parts:  # no bin is full
            return np.empty(0), np.empty(0), np.empty(0)
    if len(parts) == 1:
        time_s, values = parts[0]
        stride = max(1, math.ceil(time_s.size / MOST_SAMPLES))
        return time_s[::stride], values[::stride], np.full(values[::stride].size, np.nan)
    low, high = max(part[0][0] for part in parts), min(part[0][-1] for part in parts)
    grid = np.linspace(low, high, min(STEPS, max(part[0].size for part in parts)))
    found = np.array([np.interp(grid, time_s, values) for time_s, values in parts])
    return grid, found.mean(axis=0), half_width_95(found)
