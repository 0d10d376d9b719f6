"""Makes the figure of a request: values by group, with 95 % confidence intervals of their means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from longfat.errors import InputError
from longfat.figure import scales
from longfat.figure.axes import (
    MOST_GROUPS,
    Axis,
    axes_of,
    is_bare,
    limits_in_unit,
    measured_axis,
    named,
    ordered,
    refuse_many,
    short,
    titled,
    writer,
)
from longfat.figure.curves import at, curves_of, mean
from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.matplotlib import WIDTHS
from longfat.figure.request import Checked, Look
from longfat.figure.rows import rows_of
from longfat.figure.tables import Source

MOST_NAME = 120
"""Characters of a file's name."""
USUAL = Look()
PANEL_INCHES = 1.7
"""Panels side by side get no narrower."""
ROOM = 0.05
"""Room beyond the values of several panels, as a share of their range."""


def figure(
    asked: Checked,
    source: Source,
    look: Look = USUAL,
    width_in: float = WIDTHS["column"],
    *,
    most: int | None = MOST_GROUPS,
) -> Figure:
    """Returns the figure; its caption says what a point is.

    Args:
        asked: what it shows.
        source: the results.
        look: its axes.
        width_in: how wide it will be, which decides how many panels stand side by side.
        most: how many groups, panels or categories it may have; any number if None.

    Raises:
        NoValuesError: no row that is left has a value.
        InputError: there are too many groups, or a value of `look` does not suit the axis.
    """
    found = rows_of(asked, source)
    rows = found.rows
    measured = measured_axis(asked, source, rows.value)
    places = itertools.chain(rows.x, (place for place, *_ in found.gaps))
    along, up = axes_of(asked, source, places, rows.along, measured, most)
    x_factor = along.factor if asked.kind == "scatter" else 1.0
    rows = replace(rows, value=measured.factor * rows.value, along=x_factor * rows.along)
    # a level of a map is shown even if no cell of it has a value
    levels = (level for _, level, *_ in found.gaps) if asked.kind == "heat" else ()
    keys = ordered(asked.by, itertools.chain(rows.by, levels), source) if asked.by else [None]
    refuse_many(keys, named(asked.by, source), most)
    write = writer(asked.by, source)
    labels = ["" if key is None else write(key) for key in keys]
    across = ordered(asked.panels, rows.panel, source) if asked.panels else [None]
    down = ordered(asked.rows, rows.row, source) if asked.rows else [None]
    steps = list(itertools.product(down, across))
    what = " and ".join(named(name, source) for name in (asked.panels, asked.rows) if name)
    refuse_many(steps, what, most)
    titles = titled(asked.panels, source), titled(asked.rows, source)
    first = _first_panel(asked, look, along, up, measured)
    groups = dict(zip(keys, labels, strict=True))
    panels = []
    for row, column in steps:
        part = rows.of(rows.panel, column)
        part = part.of(part.row, row)
        texts = [write(step) for write, step in zip(titles, (column, row), strict=True) if step is not None]
        panel = replace(first, title=", ".join(texts) or first.title)
        if asked.kind == "heat":
            each = (part.of(part.by, key) for key in keys)
            cells = tuple(tuple(mean(own)[0] for own in at(group, along.places)) for group in each)
            panels.append(replace(panel, levels=tuple(map(short, labels)), cells=cells))
        else:
            gaps = {(x, by) for x, by, *at_panel in found.gaps if at_panel == [column, row]}
            curves = tuple(curves_of(asked, part, along, groups, found.algorithms, gaps))
            panels.append(replace(panel, curves=curves, x_range=panel.x_range or _lasting(asked, curves)))
    if asked.kind == "timeline" and not any(curve.x for panel in panels for curve in panel.curves):
        raise InputError(
            f"{source.folder}: {asked.asked} has no value over time, since no run is as long as a full bin; "
            "accepted: longer runs, or more samples of them"
        )
    chosen = [f"{column}-{value}" for column, values in asked.chosen.items() for value in values]
    parts = (asked.asked, asked.x, asked.by, asked.panels, asked.rows, *chosen)
    name = "-".join(filter(None, (asked.kind, *map(_slug, parts))))[:MOST_NAME]
    legend = named(asked.by, source) if all(map(is_bare, labels)) else ""
    rows_down = len(down) if asked.rows else math.ceil(len(panels) / max(1, int(width_in / PANEL_INCHES)))
    columns = math.ceil(len(panels) / rows_down)
    shown = tuple(scales.trimmed(list(_ranged(panels)), columns)) if len(panels) > 1 else tuple(panels)
    return Figure(name, "", look.title, " ".join(found.notes), shown, columns=columns, legend=legend)


def _first_panel(asked: Checked, look: Look, along: Axis, up: Axis, measured: Axis) -> Panel:
    """The panel without its values: labels, scales and ranges."""
    heat = asked.kind == "heat"
    for option, given, axis in (("x_limits", look.x_limits, along), ("log_x", look.log_x, along)):
        if given and axis.categories:
            raise InputError(f"{option}: {axis.name or asked.x} has categories; accepted: an axis of numbers")
    if heat and look.log_y:
        raise InputError("log_y: a heat map has categories along both axes; accepted: another kind")
    log_x = along.log if look.log_x is None else look.log_x
    limits = limits_in_unit("y_limits", look.y_limits, measured if heat else up, look.log_y)
    return Panel(
        measured.label if heat else "",
        along.label if look.x_label is None else look.x_label,
        up.label if look.y_label is None else look.y_label,
        (),
        x_log=log_x,
        y_log=look.log_y,
        x_range=limits_in_unit("x_limits", look.x_limits, along, log_x),
        y_range=(0.0, 1.0) if limits is None and asked.kind == "cdf" and not look.log_y else limits,
        categories=along.categories,
    )


def _lasting(asked: Checked, curves: Iterable[Curve]) -> tuple[float, float] | None:
    """The span of a timeline's curves."""
    ends = [x for curve in curves for x in (*curve.x[:1], *curve.x[-1:])] if asked.kind == "timeline" else []
    return (min(ends), max(ends)) if len(set(ends)) > 1 else None


def _ranged(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Gives all panels the same ranges, so that they can be compared."""
    first = panels[0]
    curves = [curve for panel in panels for curve in panel.curves]
    cells = [value for panel in panels for row in panel.cells for value in row if math.isfinite(value)]
    values = [y for curve in curves for row in (curve.y, *curve.samples) for y in row]
    up = values + [end for curve in curves for end in _ends(curve.y, curve.error, first.y_log)]
    across = [end for curve in curves for end in _ends(curve.x, curve.x_error, first.x_log)]
    y_range = first.y_range or ((min(cells), max(cells)) if cells else _span(up, first.y_log))
    if y_range and not cells and not first.y_log and not first.y_range and not any(y < 0.0 for y in values):
        y_range = (0.0, y_range[1])
    x_range = first.x_range or (None if first.categories else _span(across, first.x_log))
    return (replace(panel, x_range=x_range, y_range=y_range) for panel in panels)


def _ends(values: Sequence[float], halves: Sequence[float] | None, log: bool) -> Iterator[float]:
    """The values and the ends of their intervals, as far as a range has to show them."""
    yield from values
    if halves and not log:
        yield from (
            value + sign * half for value, half in zip(values, halves, strict=True) for sign in (-1, 1)
        )


def _span(values: Sequence[float], log: bool) -> tuple[float, float] | None:
    """The ends of the values with some room; None where they do not differ."""
    known = [value for value in values if math.isfinite(value) and (value > 0.0 or not log)]
    if not known or min(known) == max(known):
        return None
    low, high = min(known), max(known)
    room = (high / low) ** ROOM if log else ROOM * (high - low)
    return (low / room, high * room) if log else (low - room, high + room)


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace("/", "over")).strip("-")
