"""What a chart shows as numbers: values by group, with 95 % confidence intervals of their means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from longfat.charts.request import COUNTER, RATE, TIME, Checked
from longfat.charts.sources import IDENTITY, Source
from longfat.errors import InputError
from longfat.figure.histories import binned, round_bin
from longfat.runs.metrics import half_width_95
from longfat.sweep import words

Array = NDArray[np.float64]

MOST_GROUPS = 60
"""Groups or places along an axis; more could not be read."""
STEPS = 400
"""Points of a curve that is a mean over several runs, or a distribution."""
SEGMENTS = ("cwnd", "ssthresh", "cwnd_mean")
MOST_SAMPLES = 4000
"""Points of the samples of one run."""
MOST_NAME = 120
"""Characters of a file's name."""


@dataclass(frozen=True)
class Axis:
    """One axis: its label, and either its categories or numbers in the label's unit."""

    label: str
    categories: tuple[str, ...] = ()
    log: bool = False


@dataclass(frozen=True)
class Group:
    """One curve, or the bars of one colour: a value at each x, with half of its confidence interval.

    Attributes:
        label: its name in the legend.
        name: the value of the column that gives its colour.
        x: numbers, or places of categories.
        values: for boxes, the values at each x; else empty.
    """

    label: str
    name: str
    x: Array
    y: Array
    half: Array
    values: tuple[Array, ...] = ()


@dataclass(frozen=True)
class Chart:
    """A chart, ready to be drawn.

    Attributes:
        by: what the groups are told apart by, in words; "" without groups.
        cells: of a heat map, a row for each of `levels` from below.
        told: sentences for the figure's caption.
    """

    kind: str
    name: str
    x: Axis
    y: Axis
    groups: tuple[Group, ...]
    by: str = ""
    levels: tuple[str, ...] = ()
    cells: tuple[tuple[float, ...], ...] = ()
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Rows:
    """The rows of a chart: keys of x and of the group, the unit that repeats, and the value."""

    x: Sequence[Any]
    by: Sequence[Any]
    unit: Sequence[Any]
    value: Array
    time_s: Array | None
    units: tuple[int, int]
    over: tuple[str, ...]
    missing: int


def chart(asked: Checked, source: Source) -> Chart:
    """Returns the chart.

    Raises:
        InputError: no row is left, or there are too many groups.
    """
    rows = _rows(asked, source)
    told = _told(asked, source, rows)
    chosen = [f"{column}-{value}" for column, values in asked.chosen.items() for value in values]
    parts = (asked.kind, *map(_slug, (asked.asked, asked.x, asked.by, *chosen)))
    name = "-".join(filter(None, parts))[:MOST_NAME]
    label, unit, factor = _quantity(asked, source)
    if asked.asked in SEGMENTS:
        unit = "segments"
    if unit == "s" and np.abs(rows.value).max() < 1.0:
        unit, factor = "ms", 1e3
    y = Axis(words.labelled(label, unit))
    by = _named(asked.by, source)
    keys = _ordered(asked.by, rows.by, source) if asked.by else [None]
    _refuse_many(keys, by)
    if asked.kind == "heat":
        return _heat(asked, source, rows, keys, y, factor, told, name)
    written = _writer(asked.by, source)
    labels = [("" if key is None else written(key)) for key in keys]
    if asked.kind == "cdf":
        groups = [_cdf(_of(rows, rows.by, key), factor, text) for key, text in zip(keys, labels, strict=True)]
        share = Axis("share of the values")
        return Chart("cdf", name, y, share, tuple(groups), by, told=told)
    if asked.kind == "timeline":
        groups = [
            _over_time(_of(rows, rows.by, key), factor, text, asked.asked == RATE)
            for key, text in zip(keys, labels, strict=True)
        ]
        return Chart("timeline", name, Axis("time, s"), y, tuple(groups), by, told=told)
    x, places = _places(asked, source, rows)
    groups = []
    for key, text in zip(keys, labels, strict=True):
        own = _of(rows, rows.by, key)
        at = [(place, _of(own, own.x, step)) for step, place in places.items()]
        at = [(place, part) for place, part in at if part.value.size]
        means = [_mean(part, factor) for _, part in at]
        groups.append(
            Group(
                text,
                str(key),
                np.array([place for place, _ in at], dtype=float),
                np.array([mean for mean, _ in means], dtype=float),
                np.array([half for _, half in means], dtype=float),
                tuple(factor * part.value for _, part in at) if asked.kind == "box" else (),
            )
        )
    return Chart(asked.kind, name, x, y, tuple(groups), by, told=told)


def _rows(asked: Checked, source: Source) -> _Rows:
    table = asked.table.read(asked.where)
    if TIME not in table.column_names and asked.table.sampled:
        table = pa.table({name: pa.array([], pa.float64()) for name in asked.table.columns})
    for name, values in asked.where.items():
        column = table[name]
        kept = pa.array(values, column.type) if not pa.types.is_dictionary(column.type) else pa.array(values)
        table = table.filter(pc.is_in(_plain(column), value_set=kept))
    if not table.num_rows:
        raise InputError(f"{source.folder}: no row is left; accepted: values of where that occur together")
    value = _numbers(table, asked.parts[0], source)
    if len(asked.parts) > 1:
        below = _numbers(table, asked.parts[1], source)
        value = np.divide(value, below, out=np.full(value.size, np.nan), where=below != 0.0)
    known = np.isfinite(value)
    if not known.any():
        raise InputError(f"{source.folder}: {asked.asked} has no value in any of {value.size} rows")
    kept_rows = table.filter(pa.array(known))
    drawn = {asked.x, asked.by, *(key for key, values in asked.where.items() if len(values) == 1)}
    over = tuple(_over(kept_rows, source, drawn, asked))
    repeats = len(pc.unique(kept_rows["repeat"]))
    runs = len(pc.unique(kept_rows["run"]))
    # runs of unlike settings are no sample of anything, and flows of one run are not independent
    unit = "repeat" if over or (repeats > 1 and runs > repeats) else "run"
    missing = 0 if asked.table.sampled else int(value.size - known.sum())
    none = [None] * kept_rows.num_rows
    x = kept_rows[asked.x].to_pylist() if asked.x else none
    by = kept_rows[asked.by].to_pylist() if asked.by else none
    units = kept_rows[unit].to_pylist()
    return _Rows(
        x,
        by,
        units,
        value[known],
        kept_rows[TIME].to_numpy().astype(float) if TIME in kept_rows.column_names else None,
        _counted(none if asked.kind in ("cdf", "timeline") else x, by, units),
        over,
        missing,
    )


def _counted(x: Sequence[Any], by: Sequence[Any], units: Sequence[Any]) -> tuple[int, int]:
    """The fewest and the most units that a point has."""
    points: dict[Any, set[Any]] = {}
    for place, group, unit in zip(x, by, units, strict=True):
        points.setdefault((place, group), set()).add(unit)
    counts = [len(own) for own in points.values()]
    return min(counts), max(counts)


def _over(table: pa.Table, source: Source, drawn: set[str], asked: Checked) -> Iterable[str]:
    """The settings that the chart averages over: those with several values that it does not show."""
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


def _numbers(table: pa.Table, name: str, source: Source) -> Array:
    column = table[name]
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"{source.folder}: {name} holds no numbers; accepted as y: a column of numbers")
    numbers: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(float)
    return numbers


def _of(rows: _Rows, column: Sequence[Any], key: Any) -> _Rows:
    """The rows whose value in a column is this one."""
    if key is None:
        return rows
    kept = np.fromiter((value == key for value in column), bool, len(column))
    at: list[int] = np.flatnonzero(kept).tolist()

    def chosen(values: Sequence[Any]) -> list[Any]:
        return [values[i] for i in at]

    time_s = None if rows.time_s is None else rows.time_s[at]
    return _Rows(
        chosen(rows.x), chosen(rows.by), chosen(rows.unit), rows.value[at], time_s, rows.units, (), 0
    )


def _by_unit(rows: _Rows) -> dict[Any, NDArray[np.int64]]:
    found: dict[Any, list[int]] = {}
    for place, unit in enumerate(rows.unit):
        found.setdefault(unit, []).append(place)
    return {unit: np.array(places, dtype=np.int64) for unit, places in found.items()}


def _mean(rows: _Rows, factor: float) -> tuple[float, float]:
    """The mean over units of their means, and half of its 95 % interval; NaN for one unit."""
    means = np.array([rows.value[places].mean() for places in _by_unit(rows).values()])
    return factor * float(means.mean()), factor * float(half_width_95(means))


def _cdf(rows: _Rows, factor: float, label: str) -> Group:
    """The share of the values up to x: the mean over units, with its interval."""
    parts = [np.sort(factor * rows.value[places]) for places in _by_unit(rows).values()]
    pooled = np.sort(np.concatenate(parts))
    x = pooled if pooled.size <= STEPS else np.quantile(pooled, np.linspace(0.0, 1.0, STEPS))
    shares = np.array([np.searchsorted(part, x, side="right") / part.size for part in parts])
    sampled = min(part.size for part in parts) > 1
    half = half_width_95(shares) if sampled else np.full(x.size, np.nan)
    return Group(label, str(rows.by[0]), x, shares.mean(axis=0), half)


def _over_time(rows: _Rows, factor: float, label: str, as_rate: bool) -> Group:
    """The mean of a quantity over time, over units and what is alike in each; with its interval."""
    assert rows.time_s is not None
    end_s = float(rows.time_s.max(initial=0.0))
    parts = []
    for places in _by_unit(rows).values():
        time_s, first = np.unique(rows.time_s[places], return_inverse=True)
        sums = np.bincount(first, weights=rows.value[places])
        parts.append((time_s, sums / np.bincount(first)))
    if as_rate:
        period_s = max(float(np.median(np.diff(time_s))) if time_s.size > 1 else 0.0 for time_s, _ in parts)
        bin_s = round_bin(end_s, period_s)
        rates = [binned((time_s.tolist(), values.tolist()), bin_s) for time_s, values in parts]
        parts = [(np.array(time_s), 1e6 * np.array(values)) for time_s, values in rates]
    if len(parts) == 1:
        time_s, values = parts[0]
        stride = max(1, math.ceil(time_s.size / MOST_SAMPLES))
        y = factor * values[::stride]
        return Group(label, str(rows.by[0]), time_s[::stride], y, np.full(y.size, np.nan))
    low, high = max(part[0][0] for part in parts), min(part[0][-1] for part in parts)
    grid = np.linspace(low, high, min(STEPS, max(part[0].size for part in parts)))
    found = np.array([np.interp(grid, time_s, values) for time_s, values in parts])
    return Group(label, str(rows.by[0]), grid, factor * found.mean(axis=0), factor * half_width_95(found))


def _places(asked: Checked, source: Source, rows: _Rows) -> tuple[Axis, dict[Any, float]]:
    """The axis of x and the place of each value: numbers where lines have some, else categories."""
    steps = _ordered(asked.x, rows.x, source)
    label, unit, factor = _worded(asked.x, source)
    numeric = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if asked.kind == "lines" and numeric:
        if asked.x in source.written and not unit:
            unit, factor = _unit_of(steps, source.written[asked.x])
        places = {step: factor * float(step) for step in steps}
        return Axis(words.labelled(label, unit), (), _spans_decades(list(places.values()))), places
    _refuse_many(steps, label)
    label = "" if asked.x == "title" else label  # the titles say it themselves
    write = _writer(asked.x, source)
    categories = tuple(_short(write(step)) for step in steps)
    return Axis(label, categories), {step: float(place) for place, step in enumerate(steps)}


def _heat(
    asked: Checked,
    source: Source,
    rows: _Rows,
    keys: Sequence[Any],
    y: Axis,
    factor: float,
    told: tuple[str, ...],
    name: str,
) -> Chart:
    x, places = _places(asked, source, rows)
    write = _writer(asked.by, source)
    cells = []
    for key in keys:
        own = _of(rows, rows.by, key)
        found = [_of(own, own.x, step) for step in places]
        cells.append(tuple(_mean(part, factor)[0] if part.value.size else math.nan for part in found))
    levels = tuple(_short(write(key)) for key in keys)
    return Chart("heat", name, x, y, (), _named(asked.by, source), levels, tuple(cells), told)


def _ordered(column: str, values: Sequence[Any], source: Source) -> list[Any]:
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
        _, unit, factor = words.column(column)
        return source.names[column], unit if column not in source.written else "", factor
    return words.column(column)


def _named(column: str, source: Source) -> str:
    return _worded(column, source)[0] if column else ""


def _quantity(asked: Checked, source: Source) -> tuple[str, str, float]:
    if asked.asked in source.names:
        _, unit, factor = words.column(asked.parts[0])
        return source.names[asked.asked], unit, factor
    return words.figure([RATE if part == COUNTER and asked.asked == RATE else part for part in asked.parts])


def _unit_of(steps: Sequence[float], write: Callable[[Any], str]) -> tuple[str, float]:
    """The unit in which the least value is written, and the factor into it."""
    least = min((step for step in steps if step > 0.0), default=0.0)
    number, _, unit = write(least).partition(" ")
    try:
        return unit, float(number) / least
    except (ValueError, ZeroDivisionError):
        return "", 1.0


def _spans_decades(values: Sequence[float]) -> bool:
    low, high = min(values), max(values)
    ratios = [after / before for before, after in itertools.pairwise(values) if before > 0.0]
    even = len(ratios) > 1 and max(ratios) - min(ratios) < 1e-6 * max(ratios) and min(ratios) > 1.0
    return low > 0.0 and (high > 10.0 * low or even)


def _refuse_many(keys: Sequence[Any], what: str) -> None:
    if len(keys) > MOST_GROUPS:
        raise InputError(
            f"{what}: there are {len(keys)} values; accepted: up to {MOST_GROUPS} (--where leaves some out)"
        )


def _short(text: str) -> str:
    return text.rpartition("/")[2].removesuffix(".toml") if text.endswith(".toml") else text


def _slug(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.replace("/", "over")).strip("-")


def _told(asked: Checked, source: Source, rows: _Rows) -> tuple[str, ...]:
    """Sentences for the caption: what a point is, its interval, and what has no value."""
    fewest, most = rows.units
    several = str(most) if fewest == most else f"{fewest} to {most}"
    if asked.kind == "box":
        shown = [
            "Boxes reach from the first to the third quartile, with the median between them; whiskers reach "
            "to the last value within 1.5 times that span."
        ]
    elif asked.kind == "heat":
        shown = ["One repeat for each cell." if most == 1 else f"Means of {several} repeats of each cell."]
    elif most == 1:
        shown = ["One repeat for each point, so there are no intervals; more repeats give some."]
    elif asked.kind == "cdf":
        shown = [f"Means of {several} distributions with 95 % confidence intervals (Student's t)."]
    else:
        shown = [f"Means of {several} repeats with 95 % confidence intervals (Student's t)."]
    if source.note:
        shown.append(f"{source.note}.")
    if rows.over:
        all_of = "All values over" if asked.kind in ("box", "cdf") else "Averaged over"
        shown.append(f"{all_of}: {', '.join(rows.over)}.")
    only = [
        f"{_named(key, source)} {' or '.join(_writer(key, source)(value) for value in values)}"
        for key, values in asked.where.items()
        if key not in IDENTITY
    ]
    if only:
        shown.append(f"Only {', '.join(only)}.")
    if rows.missing:
        shown.append(f"{rows.missing:,} of {rows.missing + rows.value.size:,} rows have no value.")
    return tuple(shown)
