"""Figures of results, for scripts; the code is in `longfat.figure`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.histories import cwnd_figure, queue_figure, rate_figure
from longfat.figure.matplotlib import draw, inches, save
from longfat.runs.result import Result
from longfat.sweep.handle import Swept

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


__all__ = [
    "Curve",
    "Figure",
    "Panel",
    "cwnd_figure",
    "draw",
    "plot",
    "plot_cwnd",
    "queue_figure",
    "rate_figure",
    "save",
]


def plot_cwnd(result: Result, *, names: Sequence[str] | None = None) -> Drawing:
    """Draws cwnd over time of a Result's flows (all, or those named), as a matplotlib figure."""
    drawn: Drawing = result.plot_cwnd(names=names)
    return drawn


def plot(
    results: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Swept,
    kind: str | None = None,
    *,
    x: str = "",
    y: str = "",
    by: str = "",
    where: Mapping[str, Any] | None = None,
    width: str = "column",
    style: str | Sequence[str] = (),
) -> Drawing:
    """Draws any column of stored results over any other, as `longfat plot` does.

    Means have 95 % confidence intervals over the repeats (Student's t).

    Args:
        results: a folder of a run, a sweep or a comparison, or several, or an opened sweep.
        kind: "lines", "bars", "heat", "cdf", "box" or "timeline"; bars where x has words, else lines.
        x: what is along the axis.
        y: what is measured, or "a / b".
        by: what curves or bars are told apart by; of a heat map, the axis that points up.
        where: a value, or a list of values, of a column that the figure is restricted to.
        width: "column" for one column of a page, "page" for all of it.
        style: matplotlib style files, or names of its own styles.

    Raises:
        InputError: there is no such folder, column, value or style; it names the nearest.
    """
    from longfat.figure.grouping import figure
    from longfat.figure.request import Request, check, usual_kind
    from longfat.sources import of_sweep, open_folders

    if isinstance(results, Swept):
        source = of_sweep(results)
    else:
        folders = [results] if isinstance(results, str | os.PathLike) else results
        source = open_folders([Path(folder) for folder in folders])
    kept = {
        key: list(value) if isinstance(value, list | tuple) else [value]
        for key, value in (where or {}).items()
    }
    chosen: Any = kind or usual_kind(source, x, by)
    asked = check(Request(chosen, y, x, by, kept), source)
    styles = [style] if isinstance(style, str) else style
    return draw(figure(asked, source), width_in=inches(width), styles=styles)
