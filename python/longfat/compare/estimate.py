"""Turns the runs of a comparison into its table: means over points, intervals over repeats, crossings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.compare.columns import COLUMNS, Column
from longfat.intervals import half_width_95
from longfat.study.stats import Estimate, with_half_width

Row = Mapping[str, Any]
Point = tuple[float, float, str | None]
"""Rate in bit/s, RTT in s, buffer (None where the trial does not vary it)."""


@dataclass(frozen=True)
class Value:
    """A value at one point in one repeat; `bound` "<" or ">" means beyond what was run or observed."""

    value: float
    bound: str = ""


def to_json(column: Column, found: Estimate | None) -> dict[str, Any] | None:
    """Returns an estimate in the column's unit, with None for NaN."""
    return None if found is None else {**found.to_json(column.scale), "bound": found.bound}


def values(column: Column, rows: Iterable[Row]) -> dict[tuple[str, Point, int], Value]:
    """Returns the column's values by algorithm, point and repeat."""
    grouped: dict[tuple[str, Point, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row["trial"] == column.trial.name:
            point = (row["rate_bps"], row["rtt_s"], row["buffer"])
            grouped[row["algorithm"], point, row["repeat"]].append(row)
    return {key: _value(column, found) for key, found in grouped.items()}


def _value(column: Column, rows: Sequence[Row]) -> Value:
    if column.threshold is not None:
        ordered = sorted(rows, key=lambda row: float(row["level"]))
        levels = [float(row["level"]) for row in ordered]
        figures = [number(row[column.figure]) for row in ordered]
        if column.trial.varied == "loss":
            return falls_below(levels, figures, column.threshold)
        share = rises_above(levels, figures, column.threshold)
        return Value(share.value / 100.0, share.bound)
    (row,) = rows
    figure = row[column.figure]
    if figure is None and column.over_points == "median":
        return Value(row["watched_s"], ">")
    return Value(number(figure))


def falls_below(levels: Sequence[float], figures: Sequence[float], threshold: float) -> Value:
    """Returns the level where a value first falls below the threshold, interpolated logarithmically."""
    for position, figure in enumerate(figures):
        if math.isnan(figure):
            return Value(math.nan)
        if figure < threshold:
            return _between(levels, figures, position, threshold)
    return Value(levels[-1], ">")


def rises_above(levels: Sequence[float], figures: Sequence[float], threshold: float) -> Value:
    """Returns the level from which a value stays at or above the threshold, interpolated likewise."""
    if any(map(math.isnan, figures)):
        return Value(math.nan)
    below = [position for position, figure in enumerate(figures) if figure < threshold]
    return _between(levels, figures, below[-1] + 1 if below else 0, threshold)


def _between(levels: Sequence[float], figures: Sequence[float], position: int, threshold: float) -> Value:
    """Returns the crossing just before a position; a bound at either end."""
    if position in (0, len(levels)):
        return Value(levels[0], "<") if position == 0 else Value(levels[-1], ">")
    low, high = math.log(levels[position - 1]), math.log(levels[position])
    way = (threshold - figures[position - 1]) / (figures[position] - figures[position - 1])
    return Value(math.exp(low + way * (high - low)))


def overall(column: Column, found: Mapping[tuple[str, Point, int], Value], algorithm: str) -> Estimate | None:
    """Returns a cell: mean over repeats of the mean over points, with its interval; None without runs."""
    repeats = _grouped(found, algorithm, 2)
    return (
        over_repeats(column, [_over_points(column, each) for each in repeats.values()]) if repeats else None
    )


def at_points(
    column: Column, found: Mapping[tuple[str, Point, int], Value], algorithm: str
) -> dict[Point, Estimate]:
    """Returns the estimate at each point of the grid."""
    return {point: over_repeats(column, each) for point, each in _grouped(found, algorithm, 1).items()}


def _grouped(
    found: Mapping[tuple[str, Point, int], Value], algorithm: str, by: int
) -> dict[Any, list[Value]]:
    groups: dict[Any, list[Value]] = defaultdict(list)
    for key, value in found.items():
        if key[0] == algorithm:
            groups[key[by]].append(value)
    return groups


def _over_points(column: Column, points: Sequence[Value]) -> Value:
    numbers = np.array([point.value for point in points])
    match column.over_points:
        case "mean":
            return Value(float(numbers.mean()))
        case "geometric":
            return Value(float(np.exp(np.log(numbers).mean())), _bound(points))
        case "median":
            # a bound counts as longer than every measured time
            order = sorted(points, key=lambda point: (point.bound == ">", point.value))
            lower, upper = order[(len(order) - 1) // 2], order[len(order) // 2]
            return upper if upper.bound else Value(0.5 * (lower.value + upper.value))


def over_repeats(column: Column, repeats: Sequence[Value]) -> Estimate:
    """Returns the mean of the repeats' values, or of their logarithms for such columns, with its interval."""
    numbers = np.array([repeat.value for repeat in repeats])
    match column.over_points:
        case "geometric":
            logs = np.log(numbers)
            mean = math.exp(logs.mean())
            # the interval of the logarithm, carried over to the value
            return Estimate(mean, mean * float(half_width_95(logs)), _bound(repeats))
        case "median":
            reached = [repeat.value for repeat in repeats if not repeat.bound and math.isfinite(repeat.value)]
            if reached and 2 * len(reached) >= len(repeats):
                return with_half_width(reached)
            watched = [repeat.value for repeat in repeats if repeat.bound]
            return Estimate(min(watched), math.nan, ">") if watched else Estimate(math.nan)
        case "mean":
            return Estimate(float(numbers.mean()), float(half_width_95(numbers)))


def table(rows: Sequence[Row], algorithms: Sequence[str]) -> dict[str, dict[str, Estimate | None]]:
    """Returns the cells by algorithm and column, None for columns whose trial was not run."""
    found = {column.key: values(column, rows) for column in COLUMNS}
    return {
        name: {column.key: overall(column, found[column.key], name) for column in COLUMNS}
        for name in algorithms
    }


def _bound(values: Iterable[Value]) -> str:
    bounds = {value.bound for value in values if value.bound}
    return bounds.pop() if len(bounds) == 1 else "~" if bounds else ""


def number(value: Any) -> float:
    """Returns a stored number; NaN for None."""
    return math.nan if value is None else float(value)
