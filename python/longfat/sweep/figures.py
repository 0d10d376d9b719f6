"""Figures of a sweep: any column over two axes as a heat map, or over one axis with error bars.

Both can be grids of panels: a row of panels for each value of one axis, a column for each value of another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from longfat.errors import InputError
from longfat.figure import quantities, scales
from longfat.figure.data import Figure, Panel, points
from longfat.runs import metrics
from longfat.sweep import words
from longfat.sweep.axes import are_numbers, in_table
from longfat.sweep.grid import Sweep
from longfat.sweep.handle import Swept
from longfat.sweep.layout import MOST_LINES, MOST_PANELS, Layout
from longfat.units import in_si

METRICS = ("throughput_ratio", "jain", "bottleneck_utilization", "bottleneck_loss_ratio")
"""What the page shows when the sweep file asks for no figures."""
WRAPPED = 3
"""Panels side by side where no axis gives rows."""
DRAWN = ("x", "y", "lines", "columns", "rows")
"""The axes of a layout, in the order of the groups' keys."""
MARGIN = 0.05
"""Margin of an axis beyond its first and last value."""
HEADROOM = 1.05
LOG_ROOM = 1.3

Groups = Mapping[tuple[Any, ...], list[float]]
"""The runs' values, grouped by the values of the drawn axes."""


@dataclass(frozen=True)
class Found:
    """What a figure shows: values, how many runs there are, and how many have no value."""

    groups: Groups
    runs: int
    missing: int

    def levels(self, part: str, *, valued: bool = False) -> set[Any]:
        """The values of a drawn axis, over all runs or over those with a value."""
        number = DRAWN.index(part)
        return {key[number] for key, values in self.groups.items() if values or not valued}


def page(swept: Swept) -> list[Figure]:
    """The figures on the page: those of the sweep file, else `METRICS` over the axes that vary."""
    layouts = [Layout(**layout) for layout in swept.document.get("figures", [])] or _fitting(swept)
    return [draw(swept, layout, f"{number:02d}-") for number, layout in enumerate(layouts, start=1)]


@dataclass(frozen=True)
class _Expected:
    """What the layouts of a page follow from: the axes, and values of some runs."""

    document: Mapping[str, Any]
    runs: pa.Table


def sizes(sweep: Sweep, runs: pa.Table) -> list[int]:
    """Returns the number of panels of each figure that the page of a sweep will have.

    Args:
        sweep: what would run.
        runs: the columns of some of its runs.
    """
    axes = [{"keys": list(axis.keys), "values": axis.steps} for axis in sweep.axes]
    expected: Any = _Expected({"axes": axes, "repeats": sweep.repeats}, runs)
    layouts = list(sweep.figures) or _fitting(expected)
    return [
        math.prod(len(_values(expected, layout, key)) for key in (layout.columns, layout.rows) if key)
        for layout in layouts
    ]


def heat_map(
    swept: Swept,
    metric: str,
    x: str,
    y: str,
    *,
    columns: str | None = None,
    rows: str | None = None,
    where: Mapping[str, Sequence[Any]] | None = None,
) -> Figure:
    """Draws a column over two axes, as the mean over all other axes and repeats; two more axes give panels.

    Raises:
        InputError: there is no such column.
    """
    return draw(swept, Layout("heat", metric, x, y, rows=rows, columns=columns, where=where or {}))


def lines(
    swept: Swept,
    metric: str,
    x: str,
    by: str | None = None,
    *,
    columns: str | None = None,
    rows: str | None = None,
    where: Mapping[str, Sequence[Any]] | None = None,
) -> Figure:
    """Draws mean and standard error of a column along an axis: a curve for each value of `by`.

    Raises:
        InputError: there is no such column.
    """
    return draw(swept, Layout("lines", metric, x, lines=by, rows=rows, columns=columns, where=where or {}))


def draw(swept: Swept, layout: Layout, prefix: str = "") -> Figure:
    """Returns the figure of a layout, with `prefix` before its name; errors as in `heat_map` and `lines`."""
    found = _found(swept, layout)
    if not found.groups:
        layout = layout._replace(lines=None, columns=None, rows=None)  # one panel is enough to say so
    across, down = (_levels(swept, layout, found, part) for part in ("columns", "rows"))
    panels = []
    for row, column in itertools.product(down, across):
        title = ", ".join(
            words.named(_name(swept, key), step)
            for key, step in ((layout.columns, column), (layout.rows, row))
            if key is not None
        )
        at = (_stored(swept, layout.columns, column), _stored(swept, layout.rows, row))
        make = _heat if layout.kind == "heat" else _lines
        panels.append(make(swept, layout, found, at, title))
    columns = len(across) if layout.rows is not None else min(len(across), WRAPPED)
    name, _, _ = quantities.quotient(layout.parts)
    title = layout.title or f"{name} {'over' if layout.kind == 'heat' else 'along'} " + _and(
        [_name(swept, key) for key in (layout.x, layout.y) if key]
    )
    slug = "-".join(part.replace("_", "-") for part in layout.parts)
    return Figure(
        f"{prefix}{slug}-{'map' if layout.kind == 'heat' else 'lines'}",
        "",
        title[:1].upper() + title[1:],
        _caption(swept, layout, found),
        tuple(scales.trimmed(_ranged(panels, layout), columns)),
        columns=columns,
    )


def _lines(swept: Swept, layout: Layout, found: Found, at: tuple[Any, Any], title: str) -> Panel:
    _, _, factor = quantities.quotient(layout.parts)
    steps = _values(swept, layout, layout.x)
    numeric = _is_number(swept, layout.x)
    unit, scale = words.unit_of(steps) if numeric else ("", 1.0)
    places = [scale * float(in_si(step)) if numeric else float(i) for i, step in enumerate(steps)]
    curves = []
    met: dict[str, int] = {}
    valued = found.levels("lines", valued=True)
    for number, level in enumerate(_levels(swept, layout, found, "lines")):
        samples = []
        for step, place in zip(steps, places, strict=True):
            key = (_stored(swept, layout.x, step), None, _stored(swept, layout.lines, level), *at)
            values = [factor * value for value in found.groups.get(key, ())]
            samples.append((place, _mean_stderr(values)))
        algorithm = _algorithm(layout.lines, level)
        met[algorithm or ""] = met.get(algorithm or "", -1) + 1
        label = (
            words.named(_name(swept, layout.lines), level)
            if layout.lines
            else quantities.quotient(layout.parts)[0]
        )
        if layout.lines and _stored(swept, layout.lines, level) not in valued:
            label = f"{label} (no values)"
        curves.append(points(label, samples, algorithm, met[algorithm] if algorithm else number))
    log, x_range = _x_scale(places) if numeric else (False, None)
    return Panel(
        title,
        quantities.labelled(_name(swept, layout.x), unit),
        quantities.labelled(*quantities.quotient(layout.parts)[:2]),
        tuple(curves),
        x_log=log,
        x_range=x_range,
        y_log=layout.y_scale == "log",
        categories=() if numeric else tuple(map(words.value, steps)),
    )


def _heat(swept: Swept, layout: Layout, found: Found, at: tuple[Any, Any], title: str) -> Panel:
    name, unit, factor = quantities.quotient(layout.parts)
    xs, ys = (_values(swept, layout, key) for key in (layout.x, layout.y))
    across, up = (
        [_stored(swept, key, step) for step in steps] for key, steps in ((layout.x, xs), (layout.y, ys))
    )
    cells = tuple(tuple(factor * _mean(found.groups.get((x, y, None, *at))) for x in across) for y in up)
    return Panel(
        title or quantities.labelled(name, unit),
        _name(swept, layout.x),
        _name(swept, layout.y),
        (),
        categories=tuple(map(words.value, xs)),
        levels=tuple(map(words.value, ys)),
        cells=cells,
    )


def _mean_stderr(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard error where there are values; a point without any is a gap in its curve."""
    if len(values) > 1:
        return metrics.mean_stderr(values)
    return (values[0] if values else math.nan), math.nan


def _x_scale(values: Sequence[float]) -> tuple[bool, tuple[float, float]]:
    """Whether an axis is logarithmic, and its limits: the same in all panels."""
    low, high = min(values), max(values)
    if scales.is_log(values):
        room = (high / low) ** MARGIN
        return True, (low / room, high * room)
    margin = MARGIN * (high - low) or abs(high) or 1.0
    return False, (low - margin, high + margin)


def _ranged(panels: Sequence[Panel], layout: Layout) -> list[Panel]:
    """Gives all panels one scale, so that they can be compared."""
    cells = [value for panel in panels for row in panel.cells for value in row]
    ends = [
        y + sign * (0.0 if math.isnan(error) else error)
        for panel in panels
        for curve in panel.curves
        for y, error in zip(curve.y, curve.error or (), strict=True)
        for sign in (-1.0, 1.0)
    ]
    known = [value for value in (*cells, *ends) if math.isfinite(value)]
    if layout.y_scale == "log":
        means = [y for panel in panels for curve in panel.curves for y in curve.y if y > 0.0]
        scale = (min(means) / LOG_ROOM, max(*means, *known) * LOG_ROOM) if means else None
    elif layout.kind == "lines":
        scale = (min(0.0, *known), HEADROOM * max(known)) if known and max(known) > 0.0 else None
    else:
        scale = (min(known), max(known)) if known else None
    return [replace(panel, y_range=scale) for panel in panels]


def _found(swept: Swept, layout: Layout) -> Found:
    """Returns the values of the runs that `where` keeps."""
    table = swept.with_flows() if any(_of_flow(swept, part) for part in layout.parts) else swept.runs
    for key in (*layout.parts, *layout.axes, *layout.where):
        if key not in table.column_names:
            known = ", ".join(table.column_names)
            raise InputError(f"{key}: the sweep has no such column; accepted: {known}")
    kept = {key: {_stored(swept, key, value) for value in values} for key, values in layout.where.items()}
    drawn = [getattr(layout, part) for part in DRAWN]
    groups: dict[tuple[Any, ...], list[float]] = {}
    runs = missing = 0
    wanted = dict.fromkeys([*layout.parts, *layout.axes, *layout.where])
    for row in table.select(list(wanted)).to_pylist():
        if not all(row[key] in values for key, values in kept.items()):
            continue
        runs += 1
        values = groups.setdefault(tuple(row[key] if key else None for key in drawn), [])
        value = _quotient([row[part] for part in layout.parts])
        if value is None:
            missing += 1
        else:
            values.append(value)
    return Found(groups, runs, missing)


def _of_flow(swept: Swept, column: str) -> bool:
    return column.startswith("flow_") and column not in swept.runs.column_names


def _quotient(values: Sequence[float | None]) -> float | None:
    above, *below = values
    if above is None or not below:
        return above
    return None if not below[0] else above / below[0]


def _mean(values: Sequence[float] | None) -> float:
    return float(np.mean(values)) if values else math.nan


def _fitting(swept: Swept) -> list[Layout]:
    """Lays out maps and lines over the axes that vary: numbers along x, words as lines, others as panels."""
    varied = [axis["keys"][0] for axis in swept.document["axes"] if len(axis["values"]) > 1]
    shown = [name for name in METRICS if name in swept.runs.column_names and _varies(swept, name)]
    numbers = sorted((key for key in varied if _is_number(swept, key)), key=lambda key: -_size(swept, key))
    found = []
    for name in shown:
        if varied:
            x = (numbers or varied)[0]
            others = [key for key in varied if key != x]
            others.sort(key=lambda key: _is_number(swept, key))
            by = next((key for key in others if _size(swept, key) <= MOST_LINES), None)
            columns, rows = _panels(swept, [key for key in others if key != by])
            found.append(Layout("lines", name, x, lines=by, columns=columns, rows=rows))
        if len(varied) > 1:
            across, up = sorted(varied, key=lambda key: not _is_number(swept, key))[:2]
            columns, rows = _panels(swept, [key for key in varied if key not in (across, up)])
            found.append(Layout("heat", name, across, up, columns=columns, rows=rows))
    return found


def _panels(swept: Swept, keys: Sequence[str]) -> tuple[str | None, str | None]:
    """Returns up to two axes that together give an allowed number of panels."""
    chosen: list[str] = []
    for key in sorted(keys, key=lambda key: _size(swept, key)):
        if len(chosen) < 2 and math.prod(_size(swept, other) for other in (*chosen, key)) <= MOST_PANELS:
            chosen.append(key)
    chosen.sort(key=lambda key: -_size(swept, key))
    columns, rows = (*chosen, None, None)[:2]
    return columns, rows


def _size(swept: Swept, key: str) -> int:
    return len(_all_values(swept, key))


def _all_values(swept: Swept, key: str) -> list[Any]:
    """Returns the values of an axis, in the order of the file."""
    keys = _axis_keys(swept, key)
    axis = next(axis for axis in swept.document["axes"] if list(axis["keys"]) == keys)
    number = keys.index(key)
    return list({repr(step[number]): step[number] for step in axis["values"]}.values())


def _values(swept: Swept, layout: Layout, key: str | None) -> list[Any]:
    """Returns the values that are drawn; a single None where there is no axis."""
    if key is None:
        return [None]
    kept = layout.where.get(key)
    return [
        value
        for value in _all_values(swept, key)
        if kept is None or any(in_si(value) == in_si(other) for other in kept)
    ]


def _levels(swept: Swept, layout: Layout, found: Found, part: str) -> list[Any]:
    """Returns the drawn values of an axis for which some run gave a result."""
    key = getattr(layout, part)
    there = found.levels(part)
    values = _values(swept, layout, key)
    return values if key is None else [value for value in values if _stored(swept, key, value) in there]


def _stored(swept: Swept, key: str | None, value: Any) -> Any:
    """Returns a value as the tables store it."""
    if key is None:
        return None
    return in_table(value, _is_number(swept, key))


def _axis_keys(swept: Swept, key: str) -> list[str]:
    for axis in swept.document["axes"]:
        if key in axis["keys"]:
            return list(axis["keys"])
    raise InputError(f"{key}: this is not an axis of the sweep; accepted: {', '.join(swept.keys)}")


def _name(swept: Swept, key: str | None) -> str:
    return "" if key is None else words.axis(_axis_keys(swept, key), key)


def _is_number(swept: Swept, key: str) -> bool:
    return are_numbers(_all_values(swept, key))


def _varies(swept: Swept, metric: str) -> bool:
    values = [value for value in swept.runs[metric].to_pylist() if value is not None]
    return len(set(values)) > 1


def _algorithm(key: str | None, level: Any) -> str | None:
    """The algorithm that gives a curve its colour, if the axis is one of algorithms."""
    if key is None or key.rpartition(".")[2] != "algorithm":
        return None
    return str(level["name"] if isinstance(level, Mapping) and "name" in level else level)


def _caption(swept: Swept, layout: Layout, found: Found) -> str:
    """Returns a text on the meaning of panels, bars and points, and on missing values."""
    told = []
    for key, what in ((layout.columns, "columns"), (layout.rows, "rows")):
        if key and layout.rows:
            told.append(f"{what}: {_name(swept, key)}")
    only = [
        f"{_name(swept, key)} {' or '.join(map(words.value, values))}" for key, values in layout.where.items()
    ]
    held = {key for key, values in layout.where.items() if len(values) == 1} | set(layout.axes)
    over = [
        words.axis(axis["keys"])
        for axis in swept.document["axes"]
        if len(axis["values"]) > 1 and not held & set(axis["keys"])
    ]
    over += ["repeats"] if swept.document["repeats"] > 1 else []
    bars = "Means and standard errors" if layout.kind == "lines" else "Means"
    text = f"{bars} over {_and(over)}." if over else "One run for each point."
    return " ".join(
        [
            *([f"Panels: {', '.join(told)}."] if told else []),
            *([f"Only {_and(only)}."] if only else []),
            text,
            *_lacking(swept, layout, found, means=bool(over)),
        ]
    )


def _lacking(swept: Swept, layout: Layout, found: Found, *, means: bool) -> Iterator[str]:
    if 0 < found.missing < found.runs:
        others = "; means are over the others" if means else ""
        yield f"No value in {found.missing:,} of {found.runs:,} runs{others}."
    elif found.runs == found.missing:
        yield f"No value in any of {found.runs:,} runs." if found.runs else "No run gave a result."
    without = []
    for part in ("lines", "columns", "rows"):
        key, there = getattr(layout, part), _levels(swept, layout, found, part)
        absent = [level for level in _values(swept, layout, key) if level not in there]
        without += [words.named(_name(swept, key), level) for level in absent]
    if without:
        yield f"Without a result: {_and(without)}."


def _and(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
