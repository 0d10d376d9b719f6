"""Curves, panels and captions that the figures of several suites share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from longfat.figure.data import Curve, Panel, points
from longfat_papers.kit.suite import Runs

MeanOfRuns = Callable[[Runs], tuple[float, float]]
"""Returns a mean over the repeats at one point, and its standard error."""

MOST_SAMPLES = 1500
"""Samples of a history: as many as a figure can show and a page can hold."""


def mean_of(quantity: str) -> MeanOfRuns:
    """Returns what gives the mean of a quantity over runs."""
    return lambda at: at.mean_stderr(quantity)


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
    """Returns a curve for each algorithm of ``titles``: a quantity over a coordinate, see `samples`."""
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
    """Yields the points of a curve: at each value of a coordinate a quantity's mean and standard error.

    Args:
        runs: the runs of one curve.
        x: the coordinate.
        y: the quantity.
        scale: multiplies the mean and the error.
        least: raises lesser means to this value, before they are scaled.
        reached: leaves out repeats that did not reach the quantity (`Runs.mean_stderr_reached`).
    """
    for value in runs.distinct(x):
        at = runs.where(**{x: value})
        mean, error = at.mean_stderr_reached(y) if reached else at.mean_stderr(y)
        if least is not None:
            mean = max(mean, least)
        yield float(value), (mean * scale, error * scale)


def cwnd_panel(title: str, run: Mapping[str, Any], labels: Iterable[tuple[str, str]] | None = None) -> Panel:
    """Returns the cwnd histories of a run; ``labels`` are (label, algorithm) where flows differ."""
    names = list(labels or ())
    curves = []
    for number, history in enumerate(run["series"], start=1):
        label, algorithm = names[number - 1] if names else (f"flow {number}", run["algorithm"])
        curves.append(
            Curve(label, *thinned(history["time_s"], history["cwnd"]), None, algorithm, "line", number - 1)
        )
    return Panel(title, "time, s", "cwnd, packets", tuple(curves))


def thinned(time: Any, values: Any, most: int = MOST_SAMPLES) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Returns about ``most`` samples of a history at most."""
    stride = max(1, math.ceil(len(time) / most))
    return tuple(float(t) for t in time[::stride]), tuple(round(float(v), 3) for v in values[::stride])


def repeats_text(counts: Mapping[Any, int]) -> str:
    """Says in a caption how many runs a point stands for; ``counts`` is by group, such as "at 10 Mbit/s"."""
    if len(set(counts.values())) == 1:
        count = next(iter(counts.values()))
        return (
            " One run for each point."
            if count == 1
            else f" Mean and standard error of {count} runs for each point."
        )
    return " Runs for each point: " + ", ".join(f"{count} {group}" for group, count in counts.items()) + "."


def repeats(runs: Runs) -> str:
    """Says in a caption how many runs a point stands for, where the number is the same for all points."""
    return repeats_text({None: len(runs.distinct("repeat")) if "repeat" in runs.quantities else 1})
