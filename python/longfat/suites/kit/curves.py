"""Curves and panels that the figures of several suites are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from longfat.figure.data import Curve, Panel, points
from longfat.suites.kit.suite import Runs

MOST_SAMPLES = 1500
"""Of a history: as many as a figure can show, and a page can hold."""


def by_algorithm(
    runs: Runs,
    x: str,
    y: str,
    titles: Mapping[str, str],
    *,
    scale: float = 1.0,
    least: float | None = None,
    reached: bool = False,
) -> tuple[Curve, ...]:
    """A figure over a coordinate, with errors over repeats: a curve for each algorithm of ``titles``."""
    return tuple(
        points(
            titles[name],
            samples(runs.where(algorithm=name), x, y, scale=scale, least=least, reached=reached),
            name,
        )
        for name in titles
        if runs.has(algorithm=name)
    )


def samples(
    runs: Runs, x: str, y: str, *, scale: float = 1.0, least: float | None = None, reached: bool = False
) -> Iterable[tuple[float, tuple[float, float]]]:
    """The points of a curve: at each value of a coordinate the mean of a figure and its standard error.

    Args:
        runs: the runs of one curve.
        x: the coordinate.
        y: the figure.
        scale: both are multiplied by it.
        least: means are drawn down to here, before they are scaled.
        reached: whether repeats that did not reach the figure are left out (`Runs.mean_stderr_reached`).
    """
    for value in runs.distinct(x):
        at = runs.where(**{x: value})
        mean, error = at.mean_stderr_reached(y) if reached else at.mean_stderr(y)
        if least is not None:
            mean = max(mean, least)
        yield float(value), (mean * scale, error * scale)


def cwnd_panel(title: str, run: Mapping[str, Any], labels: Iterable[tuple[str, str]] | None = None) -> Panel:
    """The histories of cwnd of a run; ``labels`` are (label, algorithm) of flows that are unlike."""
    names = list(labels or ())
    curves = []
    for number, history in enumerate(run["series"], start=1):
        label, algorithm = names[number - 1] if names else (f"flow {number}", run["algorithm"])
        curves.append(
            Curve(label, *thinned(history["time_s"], history["cwnd"]), None, algorithm, "line", number - 1)
        )
    return Panel(title, "time, s", "cwnd, packets", tuple(curves))


def thinned(time: Any, values: Any, most: int = MOST_SAMPLES) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """At most about ``most`` samples of a history."""
    stride = max(1, math.ceil(len(time) / most))
    return tuple(float(t) for t in time[::stride]), tuple(round(float(v), 3) for v in values[::stride])


def repeats_text(counts: Mapping[Any, int]) -> str:
    """How many runs a point stands for, in a caption; ``counts`` of each group of points."""
    if len(set(counts.values())) == 1:
        count = next(iter(counts.values()))
        return " One run a point." if count == 1 else f" Mean and standard error of {count} runs a point."
    return " Runs a point: " + ", ".join(f"{count} at {group}" for group, count in counts.items()) + "."


def repeats(runs: Runs) -> str:
    """How many runs a point stands for, in a caption, where it is the same number for all."""
    return repeats_text({None: len(runs.distinct("repeat"))})
