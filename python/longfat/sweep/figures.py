"""The figures on the page of a sweep: those that its file asks for, or usual ones over the axes that vary.

Each is drawn as `longfat plot` would draw it, with any number of groups: its runs are done.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from longfat.figure import quantities
from longfat.figure.data import Figure, Panel
from longfat.figure.grouping import PANEL_INCHES, figure
from longfat.figure.request import Look, Request, check
from longfat.figure.rows import NoValuesError
from longfat.figure.tables import Source
from longfat.study.grid import Axis
from longfat.sweep.axes import are_numbers, from_json
from longfat.sweep.handle import Swept
from longfat.sweep.layout import MOST_LINES, MOST_PANELS, Layout
from longfat.sweep.source import of_sweep

METRICS = ("throughput_ratio", "jain", "bottleneck_utilization", "bottleneck_loss_ratio")
"""What the page shows when the sweep file asks for no figures."""
WRAPPED = 3
"""Panels side by side where no axis gives rows."""


def page(swept: Swept) -> list[Figure]:
    """Returns the figures on the page; none before a run has finished."""
    if not swept.runs.num_rows:
        return []
    source = of_sweep(swept)
    asked = [Layout(**layout) for layout in swept.document.get("figures", [])]
    layouts = asked or _usual(from_json(swept.document["axes"]), swept.runs)
    return [draw(source, layout, f"{number:02d}-") for number, layout in enumerate(layouts, start=1)]


def sizes(asked: Sequence[Layout], axes: Sequence[Axis], runs: pa.Table) -> list[int]:
    """Returns the number of panels of each figure that the page of a sweep will have.

    Args:
        asked: the figures of its file.
        axes: its axes.
        runs: the columns of some of its runs.
    """
    values = _values(axes)

    def panels(layout: Layout, key: str | None) -> int:
        return 1 if key is None else len(layout.where.get(key, values[key]))

    return [
        panels(layout, layout.columns) * panels(layout, layout.rows) for layout in asked or _usual(axes, runs)
    ]


def draw(source: Source, layout: Layout, prefix: str = "") -> Figure:
    """Returns the figure of a layout, with `prefix` before its name.

    Raises:
        InputError: there is no such column.
    """
    name, unit, _ = quantities.quotient(layout.parts)
    is_heat = layout.kind == "heat"
    along = " and ".join(source.names[key] for key in (layout.x, layout.y) if key)
    title = layout.title or f"{name} {'over' if is_heat else 'along'} {along}"
    title = title[:1].upper() + title[1:]
    by = (layout.y if is_heat else layout.lines) or ""
    request = Request(
        layout.kind, layout.figure, layout.x, by, layout.columns or "", layout.rows or "", layout.where
    )
    own = replace(source, defaults={})  # what the file leaves out is not drawn
    look = Look(log_y=layout.y_scale == "log", title=title)
    try:
        drawn = figure(check(request, own), own, look, WRAPPED * PANEL_INCHES, most=None)
    except NoValuesError as error:
        nothing = Panel("", source.names[layout.x], quantities.labelled(name, unit), ())
        drawn = Figure("", "", title, f"{error}.", (nothing,))
    slug = "-".join(part.replace("_", "-") for part in layout.parts)
    return replace(drawn, name=f"{prefix}{slug}-{'map' if is_heat else 'lines'}")


def _values(axes: Sequence[Axis]) -> dict[str, list[object]]:
    return {key: axis.values(key) for axis in axes for key in axis.keys}


def _usual(axes: Sequence[Axis], runs: pa.Table) -> list[Layout]:
    """Lays out maps and lines over the axes that vary: numbers along x, words as lines, others as panels."""
    values = _values(axes)
    varied = [axis.keys[0] for axis in axes if axis.size > 1]
    shown = [name for name in METRICS if name in runs.column_names and _varies(runs[name])]
    are_words = {key: not are_numbers(values[key]) for key in varied}
    numbers = sorted((key for key in varied if not are_words[key]), key=lambda key: -len(values[key]))
    found = []
    for name in shown:
        if varied:
            x = (numbers or varied)[0]
            others = sorted((key for key in varied if key != x), key=lambda key: not are_words[key])
            by = next((key for key in others if len(values[key]) <= MOST_LINES), None)
            columns, rows = _panels(values, [key for key in others if key != by])
            found.append(Layout("lines", name, x, lines=by, columns=columns, rows=rows))
        if len(varied) > 1:
            across, up = sorted(varied, key=are_words.__getitem__)[:2]
            columns, rows = _panels(values, [key for key in varied if key not in (across, up)])
            found.append(Layout("heat", name, across, up, columns=columns, rows=rows))
    return found


def _varies(column: pa.ChunkedArray) -> bool:
    return len(column.drop_null().unique()) > 1


def _panels(values: dict[str, list[object]], keys: Sequence[str]) -> tuple[str | None, str | None]:
    """Returns up to two axes that together give an allowed number of panels."""
    chosen: list[str] = []
    for key in sorted(keys, key=lambda key: len(values[key])):
        if len(chosen) < 2 and math.prod(len(values[other]) for other in (*chosen, key)) <= MOST_PANELS:
            chosen.append(key)
    chosen.sort(key=lambda key: -len(values[key]))
    columns, rows = (*chosen, None, None)[:2]
    return columns, rows
