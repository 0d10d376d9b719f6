"""Figures of results, for scripts; the code is in `longfat.figure`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.grouping import figure
from longfat.figure.matplotlib import draw, inches, save
from longfat.figure.request import Look, Request, check, usual_kind
from longfat.figure.tables import Source
from longfat.runs.repeats import Results
from longfat.runs.result import Result
from longfat.sources import of_results, open_folders
from longfat.sweep.handle import Swept
from longfat.sweep.source import of_sweep
from longfat.words import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


__all__ = [
    "Curve",
    "Figure",
    "Panel",
    "draw",
    "plot",
    "plot_cwnd",
    "save",
]


def plot_cwnd(result: Result, *, names: Sequence[str] | None = None) -> Drawing:
    """Draws cwnd over time of a Result's flows (all, or those named), as a matplotlib figure."""
    drawn: Drawing = result.plot_cwnd(names=names)
    return drawn


def plot(
    results: Any,
    kind: str | None = None,
    *,
    x: str = "",
    y: str = "",
    by: str = "",
    panels: str = "",
    rows: str = "",
    where: Mapping[str, Any] | None = None,
    log_x: bool | None = None,
    log_y: bool = False,
    x_limits: tuple[str | float, str | float] | None = None,
    y_limits: tuple[str | float, str | float] | None = None,
    x_label: str | None = None,
    y_label: str | None = None,
    title: str = "",
    width: str = "",
    style: str | Sequence[str] = (),
) -> Drawing:
    """Draws any column of results over any other, as `longfat plot` does.

    Means have 95 % confidence intervals over the repeats (Student's t).

    Args:
        results: a Result, the Results of repeats, an opened sweep, or a folder of a run, a sweep or a
            comparison, or several folders.
        kind: "lines", "bars", "heat", "cdf", "box", "timeline" or "scatter"; bars where x has words, else
            lines.
        x: what is along the axis.
        y: what is measured, or "a / b".
        by: what curves or bars are told apart by; of a heat map, the axis that points up.
        panels: a column whose values have panels of their own.
        rows: a column whose values have rows of panels of their own.
        where: a value, or a list of values, of a column that the figure is restricted to.
        log_x: whether the axis along the figure is logarithmic; the values decide it if None.
        log_y: whether the axis up is.
        x_limits: the ends of the axis along the figure, such as ("0 ms", "80 ms"); numbers are in SI units.
        y_limits: the ends of the axis up.
        x_label: the name of the axis along the figure.
        y_label: the name of the axis up.
        title: stands above the figure.
        width: "column" for one column of a page (the usual one), "page" for all of it, or a length: "8 cm".
        style: matplotlib style files, or names of its own styles.

    Raises:
        InputError: there is no such folder, column, value or style, which it names with the nearest; or
            arguments contradict each other.
    """
    restriction: Any = where
    if not isinstance(restriction, Mapping | None):
        accepted = 'accepted: columns with their values, such as {"title": "far"}'
        raise InputError(f"where = {shown(restriction)}: this is no restriction; {accepted}")
    look = Look(log_x, log_y, x_limits, y_limits, x_label, y_label, title)
    source = _source(results)
    kept = {
        key: list(value) if isinstance(value, list | tuple) else [value]
        for key, value in (where or {}).items()
    }
    chosen: Any = kind or usual_kind(source, x, by, kept)
    asked = check(Request(chosen, y, x, by, panels, rows, kept), source)
    styles = [style] if isinstance(style, str) else style
    width_in = inches(width, styles)
    return draw(figure(asked, source, look, width_in), width_in=width_in, styles=styles)


def _source(results: Any) -> Source:
    if isinstance(results, Swept):
        return of_sweep(results)
    if isinstance(results, Result | Results):
        return of_results(results)
    folders = [results] if isinstance(results, str | os.PathLike) else results
    try:
        paths = [Path(folder) for folder in folders]
    except TypeError:
        accepted = "accepted: a Result, Results, an opened sweep, a folder, or a list of folders"
        raise InputError(f"results = {shown(results)}: nothing of it can be drawn; {accepted}") from None
    return open_folders(paths)
