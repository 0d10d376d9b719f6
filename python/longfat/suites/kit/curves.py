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
    runs: Runs, x: str, y: str, titles: Mapping[str, str], *, scale: float = 1.0
) -> tuple[Curve, ...]:
    """A figure over a coordinate, with errors over repeats: a curve for each algorithm of ``titles``."""
    return tuple(
        points(titles[name], _samples(runs.where(algorithm=name), x, y, scale), name)
        for name in titles
        if runs.has(algorithm=name)
    )


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


def _samples(runs: Runs, x: str, y: str, scale: float) -> Iterable[tuple[float, tuple[float, float]]]:
    for place in runs.distinct(x):
        mean, error = runs.where(**{x: place}).mean_stderr(y)
        yield float(place), (mean * scale, error * scale)
