"""Makes the figure of a request: values by group, with 95 % confidence intervals of their means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from longfat.errors import InputError
from longfat.figure import quantities
from longfat.figure.data import Curve, Figure, Kind, Panel
from longfat.figure.histories import binned, round_bin
from longfat.figure.request import COUNTER, RATE, TIME, Checked
from longfat.figure.tables import IDENTITY, Source
from longfat.intervals import half_width_95

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
COLOURED = ("algorithm", "queue")
"""The columns whose values have colours of their own."""


@dataclass(frozen=True)
class _Rows:
    """The rows of a figure by column: keys of x and of the group, the unit that repeats, the value."""

    x: NDArray[np.object_]
    by: NDArray[np.object_]
    unit: NDArray[np.object_]
    value: Array
    time_s: Array

    def of(self, column: NDArray[np.object_], key: Any) -> _Rows:
        """The rows whose value in a column is this one; all rows if it is None."""
        if key is None:
            return self
        kept = (column == key).astype(bool)
        return _Rows(*(getattr(self, field.name)[kept] for field in fields(self)))

    def by_unit(self, values: Array) -> Iterable[Array]:
        """The values of each unit."""
        _, numbers = np.unique(self.unit, return_inverse=True)
        return (values[numbers == number] for number in range(int(numbers.max()) + 1))


@dataclass(frozen=True)
class _Axis:
    """One axis: its label, and either its categories or numbers in the label's unit."""

    label: str
    categories: tuple[str, ...] = ()
    log: bool = False


def figure(asked: Checked, source: Source) -> Figure:
    """Returns the figure; its caption says what a point is.

    Raises:
        InputError: no row is left, or there are too many groups.
    """
    rows, algorithms, notes = _rows(asked, source)
    label, unit, factor = _quantity(asked, source)
    if asked.asked in SEGMENTS:
        unit = "segments"
    if unit == "s" and np.abs(rows.value).max() < 1.0:
        unit, factor = "ms", 1e3
    rows = replace(rows, value=factor * rows.value)
    measured = quantities.labelled(label, unit)
    by = _named(asked.by, source)
    keys = _ordered(asked.by, rows.by, source) if asked.by else [None]
    _refuse_many(keys, by)
    write = _writer(asked.by, source)
    labels = ["" if key is None else write(key) for key in keys]
    parts = [rows.of(rows.by, key) for key in keys]
    met: dict[str | None, int] = {}
    curves = []
    if asked.kind == "heat":
        x, places = _places(asked, source, rows)
        cells = tuple(
            tuple(_mean(own)[0] if own.value.size else math.nan for own in _at(part, places))
            for part in parts
        )
        levels = tuple(map(_short, labels))
        panel = Panel(measured, x.label, by, (), categories=x.categories, levels=levels, cells=cells)
    else:
        if asked.kind == "cdf":
            x, y_label, y_range = _Axis(measured), "share of the values", (0.0, 1.0)
            kind: Kind = "steps"
            found = [_distribution(part) for part in parts]
        elif asked.kind == "timeline":
            x, y_label, y_range, kind = _Axis("time, s"), measured, None, "line"
            found = [_over_time(part, asked.asked == RATE) for part in parts]
        else:
            x, places = _places(asked, source, rows)
            y_label, y_range = measured, None
            kind = {"lines": "points", "bars": "bars", "box": "boxes"}[asked.kind]  # type: ignore[assignment]
            found = [_means(part, places, asked.kind == "box") for part in parts]
        for number, (key, text, columns) in enumerate(zip(keys, labels, found, strict=True)):
            algorithm = algorithms.get(key)
            met[algorithm] = met.get(algorithm, -1) + 1
            stroke = met[algorithm] if kind == "line" else number
            curves.append(_curve(text, algorithm, kind, stroke, *columns))
        ends = [x for curve in curves for x in (curve.x[:1] + curve.x[-1:])]
        panel = Panel(
            "",
            x.label,
            y_label,
            tuple(curves),
            x_log=x.log,
            x_range=(min(ends), max(ends)) if kind == "line" and len(set(ends)) > 1 else None,
            y_range=y_range,
            categories=x.categories,
        )
    chosen = [f"{column}-{value}" for column, values in asked.chosen.items() for value in values]
    name = "-".join(filter(None, (asked.kind, *map(_slug, (asked.asked, asked.x, asked.by, *chosen)))))
    legend = by if all(text.replace(".", "", 1).isdigit() for text in labels) else ""
    return Figure(name[:MOST_NAME], "", "", " ".join(notes), (panel,), columns=1, legend=legend)


def _curve(
    label: str,
    algorithm: str | None,
    kind: Kind,
    stroke: int,
    x: Array,
    y: Array,
    half: Array,
    samples: Sequence[Array] = (),
) -> Curve:
    error = tuple(half.tolist()) if np.isfinite(half).any() else None
    values = tuple(tuple(part.tolist()) for part in samples)
    return Curve(label, tuple(x.tolist()), tuple(y.tolist()), error, algorithm, kind, stroke, values)


def _rows(asked: Checked, source: Source) -> tuple[_Rows, dict[Any, str], list[str]]:
    """The rows, the algorithm or queue that colours each group, and sentences for the caption."""
    table = asked.table.read(asked.where)
    if TIME not in table.column_names and asked.table.sampled:
        table = pa.table({name: pa.array([], pa.float64()) for name in asked.table.columns})
    for name, values in asked.where.items():
        column = _plain(table[name])
        table = table.filter(pc.is_in(column, value_set=pa.array(values, column.type)))
    if not table.num_rows:
        raise InputError(f"{source.folder}: no row is left; accepted: values of where that occur together")
    value = _numbers(table, asked.parts[0], source)
    if len(asked.parts) > 1:
        below = _numbers(table, asked.parts[1], source)
        value = np.divide(value, below, out=np.full(value.size, np.nan), where=below != 0.0)
    known = np.isfinite(value)
    if not known.any():
        raise InputError(f"{source.folder}: {asked.asked} has no value in any of {value.size} rows")
    missing = 0 if asked.table.sampled else int(value.size - known.sum())
    kept = table.filter(pa.array(known))
    drawn = {asked.x, asked.by, *(key for key, values in asked.where.items() if len(values) == 1)}
    over = tuple(_over(kept, source, drawn))
    repeats, runs = (len(pc.unique(kept[key])) for key in ("repeat", "run"))
    # runs of unlike settings are no sample of anything, and flows of one run are not independent
    unit = "repeat" if over or (repeats > 1 and runs > repeats) else "run"
    rows = _Rows(
        _objects(kept, asked.x),
        _objects(kept, asked.by),
        _objects(kept, unit),
        value[known],
        kept[TIME].to_numpy().astype(float) if TIME in kept.column_names else value[known],
    )
    return rows, _algorithms(kept, asked.by, rows.by), _notes(asked, source, rows, over, missing)


def _objects(table: pa.Table, name: str) -> NDArray[np.object_]:
    found = np.empty(table.num_rows, dtype=object)
    if name:
        found[:] = table[name].to_pylist()
    return found


def _algorithms(table: pa.Table, by: str, keys: NDArray[np.object_]) -> dict[Any, str]:
    """What colours each group: its value, or the one algorithm of its flows if they differ between groups."""
    if by.rpartition(".")[2] in COLOURED:
        return {key: str(key) for key in set(keys)}
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


def _numbers(table: pa.Table, name: str, source: Source) -> Array:
    column = table[name]
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(f"{source.folder}: {name} holds no numbers; accepted as y: a column of numbers")
    numbers: Array = column.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(float)
    return numbers


def _at(rows: _Rows, places: Mapping[Any, float]) -> Iterable[_Rows]:
    """The rows at each place of the axis."""
    return (rows.of(rows.x, step) for step in places)


def _mean(rows: _Rows) -> tuple[float, float]:
    """The mean over units of their means, and half of its 95 % interval; NaN for one unit."""
    means = np.array([values.mean() for values in rows.by_unit(rows.value)])
    return float(means.mean()), float(half_width_95(means))


def _means(rows: _Rows, places: Mapping[Any, float], sampled: bool) -> tuple[Any, ...]:
    """The places that have values, the mean at each and half of its interval, and for boxes the values."""
    found = [
        (place, own) for place, own in zip(places.values(), _at(rows, places), strict=True) if own.value.size
    ]
    means = [_mean(own) for _, own in found]
    columns = [[place for place, _ in found], *zip(*means, strict=True)]
    return *map(np.array, columns), [own.value for _, own in found] if sampled else ()


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
    for times_s, values in zip(rows.by_unit(rows.time_s), rows.by_unit(rows.value), strict=True):
        time_s, first = np.unique(times_s, return_inverse=True)
        parts.append((time_s, np.bincount(first, weights=values) / np.bincount(first)))
    if as_rate:
        period_s = max(float(np.median(np.diff(time_s))) if time_s.size > 1 else 0.0 for time_s, _ in parts)
        bin_s = round_bin(float(rows.time_s.max(initial=0.0)), period_s)
        rates = [binned((time_s.tolist(), values.tolist()), bin_s) for time_s, values in parts]
        parts = [(np.array(time_s), 1e6 * np.array(values)) for time_s, values in rates]
    if len(parts) == 1:
        time_s, values = parts[0]
        stride = max(1, math.ceil(time_s.size / MOST_SAMPLES))
        return time_s[::stride], values[::stride], np.full(values[::stride].size, np.nan)
    low, high = max(part[0][0] for part in parts), min(part[0][-1] for part in parts)
    grid = np.linspace(low, high, min(STEPS, max(part[0].size for part in parts)))
    found = np.array([np.interp(grid, time_s, values) for time_s, values in parts])
    return grid, found.mean(axis=0), half_width_95(found)


def _places(asked: Checked, source: Source, rows: _Rows) -> tuple[_Axis, dict[Any, float]]:
    """The axis of x and the place of each value: numbers where lines have some, else categories."""
    steps = _ordered(asked.x, rows.x, source)
    label, unit, factor = _worded(asked.x, source)
    numeric = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if asked.kind == "lines" and numeric:
        if asked.x in source.written and not unit:
            unit, factor = _unit_of(steps, source.written[asked.x])
        places = {step: factor * float(step) for step in steps}
        return _Axis(quantities.labelled(label, unit), (), _spans_decades(list(places.values()))), places
    _refuse_many(steps, label)
    label = "" if asked.x == "title" else label  # the titles say it themselves
    write = _writer(asked.x, source)
    categories = tuple(_short(write(step)) for step in steps)
    return _Axis(label, categories), {step: float(place) for place, step in enumerate(steps)}


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
        return source.names[column], unit if column not in source.written else "", factor
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


def _notes(asked: Checked, source: Source, rows: _Rows, over: Sequence[str], missing: int) -> list[str]:
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
    elif most == 1:
        shown = ["One repeat for each point, so there are no intervals; more repeats give some."]
    elif asked.kind == "cdf":
        shown = [f"Means of {several} distributions with 95 % confidence intervals (Student's t)."]
    else:
        shown = [f"Means of {several} repeats with 95 % confidence intervals (Student's t)."]
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
        shown.append(f"{missing:,} of {missing + rows.value.size:,} rows have no value.")
    return shown
