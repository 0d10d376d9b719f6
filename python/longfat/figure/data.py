"""What a figure shows, as data: panels of curves. `figure.style` decides how it looks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from longfat.numbers import finite
from longfat.words import shown

Kind = Literal["points", "line", "theory", "bars", "boxes", "steps", "cloud"]
"""Measured points with error bars, joined by a line; a history over time; a theoretical curve;
bars and boxes over categories; a distribution; points that are not joined."""

Range = tuple[float, float] | None

LONGEST_NAME = 200
"""Bytes of a figure's name; most file systems have room for 255, with what is added to it."""
FORMATS = ("pdf", "svg", "png")
"""Files that a figure is saved as."""


@dataclass(frozen=True)
class Band:
    """A span around a curve, such as that between two quantiles: its ends at each x."""

    label: str
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """One curve. ``algorithm`` gives its colour, ``stroke`` its dash (flow 1, flow 2, …); NaN leaves a gap.

    ``error`` is half of the interval around each y; the caption names the interval (a confidence interval, or
    a standard error both ways). It is a bar, or a band around a line or steps. ``samples`` are the values of
    each box, ``x_error`` is half of the interval along x. ``bands`` are around a line, the widest first.
    ``flow`` is the flow that the curve belongs to: a page shows and hides its curves together.
    """

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    error: tuple[float, ...] | None = None
    algorithm: str | None = None
    kind: Kind = "points"
    stroke: int = 0
    samples: tuple[tuple[float, ...], ...] = ()
    x_error: tuple[float, ...] | None = None
    bands: tuple[Band, ...] = ()
    flow: str = ""


@dataclass(frozen=True)
class Panel:
    """One pair of axes. A range of None is chosen from the data.

    With ``categories``, x counts them from 0 and points are not joined. With ``radar``, the categories stand
    around a circle, y is the distance from its centre, and curves are closed; such a figure has one panel.
    With ``sideways``, the categories of points stand below each other, and x and y change places on paper.
    With ``cells`` the panel is a heat map: a row of cells for each of ``levels``, from below, with a cell for
    each of ``categories``. ``marked`` is a span of x that is shaded. A linear axis of y begins at 0 where no
    value is negative, unless ``from_zero`` is false.
    """

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    x_log: bool = False
    y_log: bool = False
    x_range: Range = None
    y_range: Range = None
    categories: tuple[str, ...] = ()
    radar: bool = False
    levels: tuple[str, ...] = ()
    cells: tuple[tuple[float, ...], ...] = ()
    marked: Range = None
    sideways: bool = False
    from_zero: bool = True


@dataclass(frozen=True)
class Ticks:
    """Where something happened along x, such as losses; ``flow`` is the flow that it happened to, or ""."""

    label: str
    x: tuple[float, ...]
    flow: str = ""


@dataclass(frozen=True)
class History(Panel):
    """Quantities over time. A page adds ``ticks``, and ``details``: each of many flows, and thresholds."""

    details: tuple[Curve, ...] = ()
    ticks: tuple[Ticks, ...] = ()


@dataclass(frozen=True)
class Bar:
    """One case of a tornado: its name, its value (NaN if it has none), and the group that colours it."""

    label: str
    value: float
    group: str


@dataclass(frozen=True)
class Tornado(Panel):
    """Bars from the value of a base to that of each case, the first on top; such a figure has one panel.

    ``reference`` is a value to compare with, ``reference_label`` its name. The axis of x shows the values,
    and ``marked`` the span in which a case does not differ from the base.
    """

    bars: tuple[Bar, ...] = ()
    base: float = math.nan
    reference: float | None = None
    reference_label: str = ""


@dataclass(frozen=True)
class Table:
    """Numbers that belong to a figure, as texts; the page shows them below the figure."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A figure: its experiment's name, the paper's figure that it mirrors, its panels in reading order.

    If it mirrors no figure of a paper, ``mirrors`` is the name again, or "". ``legend`` is above the legend.
    """

    name: str
    mirrors: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 2
    table: Table | None = None
    legend: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns the figure as JSON values; NaN becomes null."""
        document: dict[str, Any] = finite(asdict(self))
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Figure:
        """Reads a figure that `to_json` wrote. Raises ValueError if its name is not one of a file."""
        plain_name(document["name"])
        panels = tuple(_panel(panel) for panel in document["panels"])
        table = document.get("table")
        if table is not None:
            table = Table(tuple(table["headings"]), tuple(map(tuple, table["rows"])))
        return cls(**{**document, "panels": panels, "table": table})


def joined(figures: Sequence[Figure], title: str = "") -> Figure:
    """Returns one figure with the panels of several below each other.

    Args:
        figures: at least one.
        title: stands above all panels; that of a single figure by default.
    """
    if len(figures) == 1:
        return replace(figures[0], title=title or figures[0].title)
    panels = [
        replace(panel, title=panel.title or figure.title) for figure in figures for panel in figure.panels
    ]
    return Figure("joined", "", title, "", tuple(panels), columns=1)


def plain_name(name: object) -> str:
    """Returns a name that is read from a folder, if it can be that of a file in it.

    Raises:
        ValueError: it has parts of a path, or is hidden, empty or too long.
    """
    if (
        not isinstance(name, str)
        or not 0 < len(name.encode(errors="replace")) <= LONGEST_NAME
        or name.startswith(".")
        or not name.isprintable()
        or any(separator in name for separator in "/\\")
    ):
        raise ValueError(f"{shown(name)} is not the name of a file; accepted: a name without a folder")
    return name


def points(
    label: str,
    samples: Iterable[tuple[float, tuple[float, float]]],
    algorithm: str | None = None,
    stroke: int = 0,
) -> Curve:
    """Returns a measured curve from (x, (mean, half of its interval)), in the order of x."""
    ordered = sorted(samples, key=lambda sample: sample[0])
    return Curve(
        label,
        tuple(x for x, _ in ordered),
        tuple(mean for _, (mean, _) in ordered),
        tuple(error for _, (_, error) in ordered),
        algorithm,
        "points",
        stroke,
    )


def theory(label: str, x: Sequence[float], y: Sequence[float], algorithm: str | None = None) -> Curve:
    """Returns a theoretical curve."""
    return Curve(label, tuple(x), tuple(y), None, algorithm, "theory")


def _panel(document: dict[str, Any]) -> Panel:
    curves = tuple(_curve(curve) for curve in document["curves"])
    given = {key: document.get(key) for key in ("x_range", "y_range", "marked")}
    ranges = {key: None if ends is None else tuple(ends) for key, ends in given.items()}
    words = {key: tuple(document.get(key, ())) for key in ("categories", "levels")}
    cells = tuple(_floats(row) for row in document.get("cells", ()))
    values = {**document, **ranges, **words, "curves": curves, "cells": cells}
    if "bars" not in document:
        return Panel(**values)
    bars = tuple(Bar(**{**bar, "value": _floats([bar["value"]])[0]}) for bar in document["bars"])
    return Tornado(**{**values, "bars": bars, "base": _floats([document["base"]])[0]})


def _curve(document: dict[str, Any]) -> Curve:
    given = {key: document.get(key) for key in ("error", "x_error")}
    errors = {key: None if half is None else _floats(half) for key, half in given.items()}
    return Curve(
        **{
            **document,
            "x": _floats(document["x"]),
            "y": _floats(document["y"]),
            **errors,
            "samples": tuple(map(_floats, document.get("samples", ()))),
            "bands": tuple(
                Band(band["label"], _floats(band["low"]), _floats(band["high"]))
                for band in document.get("bands", ())
            ),
        }
    )


def _floats(values: Iterable[float | None]) -> tuple[float, ...]:
    return tuple(math.nan if value is None else float(value) for value in values)
