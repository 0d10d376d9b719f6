"""Makes the figure of a request: values by group, with 95 % confidence intervals of their means."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from longfat.errors import InputError
from longfat.figure import quantities, scales
from longfat.figure.data import Curve, Figure, Kind, Panel
from longfat.figure.histories import binned, round_bin
from longfat.figure.matplotlib import WIDTHS
from longfat.figure.request import COUNTER, RATE, TIME, Checked, Limits, Look, restricted
from longfat.figure.tables import IDENTITY, Source
from longfat.intervals import half_width_95
from longfat.units import dimension_of, in_si, split

Array = NDArray[np.float64]
Objects = NDArray[np.object_]

MOST_GROUPS = 60
"""Groups or places along an axis; more could not be read."""
STEPS = 400
"""Points of a curve that is a mean over several runs, or a distribution."""
MOST_SAMPLES = 4000
"""Points of the samples of one run."""
MOST_NAME = 120
"""Characters of a file's name."""
USUAL = Look()
PANEL_INCHES = 1.7
"""Panels side by side get no narrower."""
ROOM = 0.05
"""Room beyond the values of several panels, as a share of their range."""
MOST_NAMES = 4
"""Flows or links that the caption names."""
COLOURED = ("algorithm", "queue")
"""The columns whose values have colours of their own."""


@dataclass(frozen=True)
class _Rows:
    """The rows of a figure by column: what tells them apart, and the values.

    `x` is the place along an axis, or of a scatter what has a point; `along` is the time or a scatter's x.
    """

    x: Objects
    by: Objects
    panel: Objects
    unit: Objects
    value: Array
    along: Array

    def of(self, column: Objects, key: Any) -> _Rows:
        """The rows whose value in a column is this one; all rows if it is None."""
        if key is None:
            return self
        kept = (column == key).astype(bool)
        return _Rows(*(getattr(self, field.name)[kept] for field in fields(self)))

    def by_unit(self, values: Array) -> Iterable[Array]:
        """The values of each unit."""
        _, numbers = np.unique(self.unit, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        return np.split(values[order], np.cumsum(np.bincount(numbers))[:-1])


@dataclass(frozen=True)
class _Axis:
    """One axis: its name, its unit and the factor into it, and the places of its values if they are steps."""

    name: str
    unit: str = ""
    factor: float = 1.0
    places: Mapping[Any, float] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    log: bool = False

    @property
    def label(self) -> str:
        return quantities.labelled(self.name, self.unit)


def figure(asked: Checked, source: Source, look: Look = USUAL, width_in: float = WIDTHS["column"]) -> Figure:
    """Returns the figure; its caption says what a point is.

    Args:
        asked: what it shows.
        source: the results.
        look: its axes.
        width_in: how wide it will be, which decides how many panels stand side by side.

    Raises:
        InputError: no row is left, there are too many groups, or a value of `look` does not suit the axis.
    """
    rows, algorithms, notes = _rows(asked, source)
    measured = _measured(asked, source, rows)
    along, up = _axes(asked, source, rows, measured)
    x_factor = along.factor if asked.kind == "scatter" else 1.0
    rows = replace(rows, value=measured.factor * rows.value, along=x_factor * rows.along)
    keys = _ordered(asked.by, rows.by, source) if asked.by else [None]
    _refuse_many(keys, _named(asked.by, source))
    write = _writer(asked.by, source)
    labels = ["" if key is None else write(key) for key in keys]
    steps = _ordered(asked.panels, rows.panel, source) if asked.panels else [None]
    _refuse_many(steps, _named(asked.panels, source))
    titled = _writer(asked.panels, source)
    first = _first_panel(asked, look, along, up, measured)
    panels = []
    for step in steps:
        part = rows.of(rows.panel, step)
        named = replace(first, title=first.title if step is None else _short(titled(step)))
        if asked.kind == "heat":
            groups = (part.of(part.by, key) for key in keys)
            cells = tuple(tuple(_mean(own)[0] for own in _at(group, along.places)) for group in groups)
            panels.append(replace(named, levels=tuple(map(_short, labels)), cells=cells))
        else:
            curves = tuple(_curves(asked, part, along, dict(zip(keys, labels, strict=True)), algorithms))
            panels.append(replace(named, curves=curves, x_range=named.x_range or _lasting(asked, curves)))
    if asked.kind == "timeline" and not any(curve.x for panel in panels for curve in panel.curves):
        raise InputError(
            f"{source.folder}: {asked.asked} has no value over time, since no run is as long as a full bin; "
            "accepted: longer runs, or more samples of them"
        )
    chosen = [f"{column}-{value}" for column, values in asked.chosen.items() for value in values]
    parts = (asked.asked, asked.x, asked.by, asked.panels, *chosen)
    name = "-".join(filter(None, (asked.kind, *map(_slug, parts))))[:MOST_NAME]
    legend = _named(asked.by, source) if all(text.replace(".", "", 1).isdigit() for text in labels) else ""
    rows_down = math.ceil(len(panels) / max(1, int(width_in / PANEL_INCHES)))
    columns = math.ceil(len(panels) / rows_down)
    shown = tuple(scales.trimmed(list(_ranged(panels)), columns)) if len(panels) > 1 else tuple(panels)
    return Figure(name, "", look.title, " ".join(notes), shown, columns=columns, legend=legend)


def _first_panel(asked: Checked, look: Look, along: _Axis, up: _Axis, measured: _Axis) -> Panel:
    """The panel without its values: labels, scales and ranges."""
    heat = asked.kind == "heat"
    for option, given, axis in (("x_limits", look.x_limits, along), ("log_x", look.log_x, along)):
        if given and axis.categories:
            raise InputError(f"{option}: {axis.name or asked.x} has categories; accepted: an axis of numbers")
    if heat and look.log_y:
        raise InputError("log_y: a heat map has categories along both axes; accepted: another kind")
    log_x = along.log if look.log_x is None else look.log_x
    limits = _limits("y_limits", look.y_limits, measured if heat else up, look.log_y)
    return Panel(
        measured.label if heat else "",
        along.label if look.x_label is None else look.x_label,
        up.label if look.y_label is None else look.y_label,
        (),
        x_log=log_x,
        y_log=look.log_y,
        x_range=_limits("x_limits", look.x_limits, along, log_x),
        y_range=(0.0, 1.0) if limits is None and asked.kind == "cdf" and not look.log_y else limits,
        categories=along.categories,
    )


def _limits(option: str, given: Limits | None, axis: _Axis, log: bool) -> tuple[float, float] | None:
    """The ends of an axis in its unit."""
    if given is None:
        return None
    ends = []
    for end in given:
        dimension = dimension_of(f"1 {axis.unit}")
        value: Any = end
        if isinstance(end, str):
            try:
                value = dimension.parse(end, f"1 {axis.unit}") if dimension else in_si(end)
            except ValueError as error:
                raise InputError(f"{option} {end}: {error}") from None
            if not isinstance(value, float) or (not dimension and _unit(end) not in ("", axis.unit)):
                what = f"a number of {axis.unit}" if axis.unit else "a number without a unit"
                raise InputError(f"{option} {end}: this is no end of {axis.label}; accepted: {what}")
        ends.append(axis.factor * value)
    low, high = ends
    if not low < high or (log and low <= 0.0) or not (math.isfinite(low) and math.isfinite(high)):
        above = " above 0, since the axis is logarithmic" if log else ""
        wanted = f"accepted: the lower end, then the higher one{above}"
        raise InputError(f"{option} {given[0]} {given[1]}: these are no ends; {wanted}")
    return low, high


def _unit(text: str) -> str:
    found = split(text)
    return found[1] if found else ""


def _lasting(asked: Checked, curves: Iterable[Curve]) -> tuple[float, float] | None:
    """The span of a timeline's curves."""
    ends = [x for curve in curves for x in (*curve.x[:1], *curve.x[-1:])] if asked.kind == "timeline" else []
    return (min(ends), max(ends)) if len(set(ends)) > 1 else None


def _curves(
    asked: Checked, rows: _Rows, along: _Axis, labels: Mapping[Any, str], algorithms: Mapping[Any, str]
) -> Iterator[Curve]:
    """The curve of each group, which looks the same in every panel."""
    met: dict[str | None, int] = {}
    for number, (key, label) in enumerate(labels.items()):
        algorithm, group = algorithms.get(key), rows.of(rows.by, key)
        again = met[algorithm] = met.get(algorithm, -1) + 1
        if group.value.size:
            stroke = number if algorithm is None or asked.kind == "cdf" else again
            yield _curve(asked, group, along, Curve(label, (), (), None, algorithm, stroke=stroke))


def _curve(asked: Checked, rows: _Rows, along: _Axis, empty: Curve) -> Curve:
    """A group's curve."""
    spread: Array | None = None
    samples: tuple[tuple[float, ...], ...] = ()
    kind: Kind = "points"
    if asked.kind == "cdf":
        kind, (x, y, half) = "steps", _distribution(rows)
    elif asked.kind == "timeline":
        kind, (x, y, half) = "line", _over_time(rows, asked.asked == RATE)
    elif asked.kind == "scatter":
        kind, (x, y, half, spread) = "cloud", _cloud(rows)
    else:
        kind = "bars" if asked.kind == "bars" else "boxes" if asked.kind == "box" else "points"
        found = [
            (place, own) for place, own in zip(along.places.values(), _at(rows, along.places), strict=True)
        ]
        found = [(place, own) for place, own in found if own.value.size]
        x = np.array([place for place, _ in found])
        y, half = np.array([_mean(own) for _, own in found]).T
        samples = tuple(tuple(own.value.tolist()) for _, own in found) if kind == "boxes" else ()

    def error(halves: Array | None) -> tuple[float, ...] | None:
        return None if halves is None or not np.isfinite(halves).any() else tuple(halves.tolist())

    xs, ys = tuple(x.tolist()), tuple(y.tolist())
    return replace(empty, x=xs, y=ys, kind=kind, error=error(half), x_error=error(spread), samples=samples)


def _ranged(panels: Sequence[Panel]) -> Iterator[Panel]:
    """Gives all panels the same ranges, so that they can be compared."""
    first = panels[0]
    curves = [curve for panel in panels for curve in panel.curves]
    values = [value for panel in panels for row in panel.cells for value in row]
    values += [y for curve in curves for row in (curve.y, *curve.samples) for y in row]
    up = values + [end for curve in curves for end in _ends(curve.y, curve.error, first.y_log)]
    across = [end for curve in curves for end in _ends(curve.x, curve.x_error, first.x_log)]
    y_range = first.y_range or _span(up, first.y_log)
    if y_range and not first.cells and not first.y_log and not first.y_range and min(values) >= 0.0:
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


def _rows(asked: Checked, source: Source) -> tuple[_Rows, dict[Any, str], list[str]]:
    """The rows, the algorithm or queue that colours each group, and sentences for the caption."""
    table = asked.table.read(asked.where)
    if TIME not in table.column_names and asked.table.sampled:
        table = pa.table({name: pa.array([], pa.float64()) for name in asked.table.columns})
    table, where = restricted(table, asked.where)
    asked = replace(asked, where=where)
    if not table.num_rows:
        raise InputError(f"{source.folder}: no row is left; accepted: values of where that occur together")
    value = _numbers(table, asked.parts[0], source)
    if len(asked.parts) > 1:
        below = _numbers(table, asked.parts[1], source)
        value = np.divide(value, below, out=np.full(value.size, np.nan), where=below != 0.0)
    scattered = asked.kind == "scatter"
    known = np.isfinite(value)
    if scattered:
        known &= np.isfinite(_numbers(table, asked.x, source, "x"))
    if not known.any():
        raise InputError(f"{source.folder}: {asked.asked} has no value in any of {value.size} rows")
    missing = 0 if asked.table.sampled else int(value.size - known.sum())
    drawn = [name for name in ("" if scattered else asked.x, asked.by, asked.panels) if name]
    has_value = known
    for name in drawn:
        known = known & table[name].is_valid().to_numpy()
    if not known.any():
        raise InputError(
            f"{source.folder}: no row that is left has a value of {' and of '.join(drawn)}; "
            "accepted: columns that have values there"
        )
    unplaced = 0 if asked.table.sampled else int(has_value.sum() - known.sum())
    kept = table.filter(pa.array(known))
    single = [key for key, values in asked.where.items() if len(values) == 1]
    over = [] if scattered else list(_over(kept, source, {asked.x, asked.by, asked.panels, *single}))
    repeats, runs = (len(pc.unique(kept[key])) for key in ("repeat", "run"))
    # runs of unlike settings are no sample of anything, and flows of one run are not independent
    unit = "repeat" if over or (repeats > 1 and runs > repeats and not scattered) else "run"
    names = pc.unique(kept["name"]).to_pylist() if "name" in kept.column_names else []
    shown = {asked.x, asked.by, asked.panels, *single}.intersection(kept.column_names)
    if len(names) > 1 and not scattered and not any(_follows(kept, "name", other) for other in shown):
        over.append(f"name ({', '.join(names[:MOST_NAMES])}{', ...' if len(names) > MOST_NAMES else ''})")
    along = value[known]
    if scattered:
        along = _numbers(kept, asked.x, source)
    elif TIME in kept.column_names:
        along = kept[TIME].to_numpy().astype(float)
    by = _objects(kept, asked.by)
    rows = _Rows(
        _points(kept, source) if scattered else _objects(kept, asked.x),
        by,
        _objects(kept, asked.panels),
        _objects(kept, unit),
        value[known],
        along,
    )
    notes = _notes(asked, source, rows, over, missing, value.size)
    if unplaced:
        without = table.filter(pa.array(has_value & ~known))
        which = " or ".join(_named(name, source) for name in drawn if without[name].null_count)
        notes.append(f"{unplaced:,} of {value.size:,} rows are left out: they have no {which}.")
    return rows, _algorithms(kept, asked.by, by, source), notes


def _points(table: pa.Table, source: Source) -> Objects:
    """What has one point of a scatter: a flow of runs with the same settings, or such runs."""
    keys = [key for key in (*source.settings, "name") if key in table.column_names]
    found = np.empty(table.num_rows, dtype=object)
    columns = [table[key].to_pylist() for key in dict.fromkeys(keys)] or [[0] * table.num_rows]
    for place, key in enumerate(zip(*columns, strict=True)):
        found[place] = repr(key)
    return found


def _objects(table: pa.Table, name: str) -> Objects:
    found = np.empty(table.num_rows, dtype=object)
    if name:
        found[:] = table[name].to_pylist()
    return found


def _algorithms(table: pa.Table, by: str, keys: Objects, source: Source) -> dict[Any, str]:
    """What colours each group: its value, or the one algorithm of its flows if they differ between groups."""
    if by.rpartition(".")[2] in COLOURED:
        own = source.algorithms.get(by, {})
        return {key: own.get(key, str(key)) for key in set(keys)}
    if not by or "algorithm" not in table.column_names:
        return {}
    pairs = set(zip(keys, table["algorithm"].to_pylist(), strict=True))
    found = {key: str(algorithm) for key, algorithm in pairs if algorithm is not None}
    return found if len(pairs) == len(found) and len(set(found.values())) > 1 else {}


def _over(table: pa.Table, source: Source, drawn: set[str]) -> Iterable[str]:
    """The settings that the figure averages over: those with several values that it does not show."""
    shown = {key for key in drawn if key in table.column_names}
    for key in source.settings:
        if key in table.column_names and key not in shown and len(pc.unique(_plain(table[key]))) > 1:
            if any(_follows(table, key, other) for other in shown):
                continue  # it changes together with what is drawn or named
            shown.add(key)
            yield _named(key, source)


def _follows(table: pa.Table, key: str, other: str) -> bool:
    """Whether each value of one column belongs to one value of another."""
    pairs = set(zip(table[other].to_pylist(), table[key].to_pylist(), strict=True))
    return len(pairs) == len({first for first, _ in pairs})


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _numbers(table: pa.Table, name: str, source: Source, of: str = "y") -> Array:
    column = table[name]
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"{source.folder}: {name} holds no numbers; accepted as {of}: a column of numbers")
    numbers: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(float)
    return numbers


def _at(rows: _Rows, places: Mapping[Any, float]) -> Iterable[_Rows]:
    """The rows at each place of the axis."""
    return (rows.of(rows.x, step) for step in places)


def _mean(rows: _Rows) -> tuple[float, float]:
    """The mean over units of their means, and half of its 95 % interval; NaN for one unit, or without any."""
    if not rows.value.size:
        return math.nan, math.nan
    means = np.array([values.mean() for values in rows.by_unit(rows.value)])
    return float(means.mean()), float(half_width_95(means))


def _cloud(rows: _Rows) -> tuple[Array, Array, Array, Array]:
    """Points of a scatter: x and y, and half of the interval of each."""
    found = []
    for point in dict.fromkeys(rows.x):
        own = rows.of(rows.x, point)
        (y, half), (x, spread) = _mean(own), _mean(replace(own, value=own.along))
        found.append((x, y, half, spread))
    x, y, half, spread = np.array(found).T
    return x, y, half, spread


def _distribution(rows: _Rows) -> tuple[Array, Array, Array]:
    """The share of the values up to x: the mean over units, with its interval."""
    parts = [np.sort(values) for values in rows.by_unit(rows.value)]
    pooled = np.sort(np.concatenate(parts))
    x = pooled if pooled.size <= STEPS else np.quantile(pooled, np.linspace(0.0, 1.0, STEPS))
    shares = np.array([np.searchsorted(part, x, side="right") / part.size for part in parts])
    sampled = min(part.size for part in parts) > 1
    return x, shares.mean(axis=0), half_width_95(shares) if sampled else np.full(x.size, np.nan)


def _over_time(rows: _Rows, as_rate: bool) -> tuple[Array, Array, Array]:
    """The mean of a quantity over time, over units and what is alike in each; with its interval."""
    parts = []
    for times_s, values in zip(rows.by_unit(rows.along), rows.by_unit(rows.value), strict=True):
        time_s, first = np.unique(times_s, return_inverse=True)
        parts.append((time_s, np.bincount(first, weights=values) / np.bincount(first)))
    if as_rate:
        period_s = max(float(np.median(np.diff(time_s))) if time_s.size > 1 else 0.0 for time_s, _ in parts)
        bin_s = round_bin(float(rows.along.max(initial=0.0)), period_s)
        rates = [binned((time_s.tolist(), values.tolist()), bin_s) for time_s, values in parts]
        parts = [(np.array(time_s), 1e6 * np.array(values)) for time_s, values in rates if time_s]
        if not parts:  # no bin is full
            return np.empty(0), np.empty(0), np.empty(0)
    if len(parts) == 1:
        time_s, values = parts[0]
        stride = max(1, math.ceil(time_s.size / MOST_SAMPLES))
        return time_s[::stride], values[::stride], np.full(values[::stride].size, np.nan)
    low, high = max(part[0][0] for part in parts), min(part[0][-1] for part in parts)
    grid = np.linspace(low, high, min(STEPS, max(part[0].size for part in parts)))
    found = np.array([np.interp(grid, time_s, values) for time_s, values in parts])
    return grid, found.mean(axis=0), half_width_95(found)


def _measured(asked: Checked, source: Source, rows: _Rows) -> _Axis:
    """The axis of what is measured."""
    return _in_ms(_Axis(*_quantity(asked, source)), rows.value)


def _in_ms(axis: _Axis, values: Array) -> _Axis:
    """The axis in ms if all of its values are times below a second."""
    return replace(axis, unit="ms", factor=1e3) if axis.unit == "s" and np.abs(values).max() < 1.0 else axis


def _axes(asked: Checked, source: Source, rows: _Rows, measured: _Axis) -> tuple[_Axis, _Axis]:
    """The axis along the figure and the one up."""
    if asked.kind == "cdf":
        return measured, _Axis("share of the values")
    if asked.kind == "timeline":
        return _Axis("time", "s"), measured
    if asked.kind == "scatter":
        return _in_ms(_Axis(*_worded(asked.x, source)), rows.along), measured
    return _along(asked, source, rows), _Axis(_named(asked.by, source)) if asked.kind == "heat" else measured


def _along(asked: Checked, source: Source, rows: _Rows) -> _Axis:
    """The axis of x with the place of each value: numbers where lines have some, else categories."""
    steps = _ordered(asked.x, rows.x, source)
    axis = _Axis(*_worded(asked.x, source))
    numeric = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if asked.kind == "lines" and numeric:
        axis = _in_ms(axis, np.array(steps, dtype=float))
        places = {step: axis.factor * float(step) for step in steps}
        return replace(axis, places=places, log=scales.is_log(list(places.values())))
    _refuse_many(steps, axis.name)
    write = _writer(asked.x, source)
    places = {step: float(place) for place, step in enumerate(steps)}
    # titles say what they are themselves
    name = "" if asked.x == "title" else axis.name
    return _Axis(name, "", 1.0, places, tuple(_short(write(step)) for step in steps))


def _ordered(column: str, values: Iterable[Any], source: Source) -> list[Any]:
    """The values of a column that occur: in the order of the settings, or else sorted."""
    there = {value for value in values if value is not None}
    # a flow's own algorithm has the order of the axis of algorithms
    alike = (key for key in source.settings if key.rpartition(".")[2] == column)
    known = [
        value
        for value in source.settings.get(column if column in source.settings else next(alike, ""), ())
        if value in there
    ]
    others = there.difference(known)
    return [*known, *sorted(others, key=lambda value: (isinstance(value, str), value))]


def _writer(column: str, source: Source) -> Callable[[Any], str]:
    write = source.written.get(column)
    if write is not None:
        return write
    _, unit, factor = _worded(column, source)

    def written(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        return f"{factor * value:.6g} {unit}".strip()

    return written


def _worded(column: str, source: Source) -> tuple[str, str, float]:
    """A column in words, its unit, and the factor into it."""
    if column in source.names:
        _, unit, factor = quantities.column(column)
        if column in source.written:
            unit, factor = source.units.get(column, ("", 1.0))
        return source.names[column], unit, factor
    return quantities.column(column)


def _named(column: str, source: Source) -> str:
    return _worded(column, source)[0] if column else ""


def _quantity(asked: Checked, source: Source) -> tuple[str, str, float]:
    if asked.asked in source.names:
        _, unit, factor = quantities.column(asked.parts[0])
        return source.names[asked.asked], unit, factor
    return quantities.quotient(
        [RATE if part == COUNTER and asked.asked == RATE else part for part in asked.parts]
    )


def _refuse_many(keys: Sequence[Any], what: str) -> None:
    if len(keys) > MOST_GROUPS:
        raise InputError(
            f"{what}: there are {len(keys)} values; accepted: up to {MOST_GROUPS} (--where leaves some out)"
        )


def _short(text: str) -> str:
    return text.rpartition("/")[2].removesuffix(".toml") if text.endswith(".toml") else text


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace("/", "over")).strip("-")


def _notes(
    asked: Checked, source: Source, rows: _Rows, over: Sequence[str], missing: int, total: int
) -> list[str]:
    """Sentences for the caption: what a point is, its interval, and what has no value."""
    points: dict[Any, set[Any]] = {}
    along = asked.kind in ("cdf", "timeline")
    for place, group, unit in zip(rows.x, rows.by, rows.unit, strict=True):
        points.setdefault((None if along else place, group), set()).add(unit)
    counts = [len(own) for own in points.values()]
    fewest, most = min(counts), max(counts)
    several = str(most) if fewest == most else f"{fewest} to {most}"
    if asked.kind == "box":
        shown = [
            "Boxes reach from the first to the third quartile, with the median between them; whiskers reach "
            "to the last value within 1.5 times that span."
        ]
    elif asked.kind == "heat":
        shown = ["One repeat for each cell." if most == 1 else f"Means of {several} repeats of each cell."]
    elif most == 1 and asked.kind == "scatter":
        shown = ["One run for each point, so there are no intervals; repeats give some."]
    elif most == 1:
        shown = ["One repeat for each point, so there are no intervals; more repeats give some."]
    elif asked.kind == "cdf":
        shown = [f"Means of {several} distributions with 95 % confidence intervals (Student's t)."]
    else:
        shown = [f"Means of {several} repeats with 95 % confidence intervals (Student's t)."]
    if source.note:
        shown.append(f"{source.note}.")
    if over:
        all_of = "All values over" if asked.kind in ("box", "cdf") else "Averaged over"
        shown.append(f"{all_of}: {', '.join(over)}.")
    only = [
        f"{_named(key, source)} {' or '.join(_writer(key, source)(value) for value in values)}"
        for key, values in asked.where.items()
        if key not in IDENTITY
    ]
    if only:
        shown.append(f"Only {', '.join(only)}.")
    if missing:
        shown.append(f"{missing:,} of {total:,} rows have no value.")
    return shown
