"""The rows of a figure: chosen, checked, and with what its caption says of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from longfat.errors import InputError
from longfat.figure.axes import named, titled, writer
from longfat.figure.request import TIME, Checked, restricted
from longfat.figure.tables import IDENTITY, Source

Array = NDArray[np.float64]
Objects = NDArray[np.object_]

MOST_NAMES = 4
"""Flows, links or groups without a value that the caption names."""
COLOURED = ("algorithm", "queue")
"""The columns whose values have colours of their own."""
STEPPED = ("lines", "bars", "box", "heat")
"""Kinds with places along the axis, which are shown without a value too."""


@dataclass(frozen=True)
class Rows:
    """The rows of a figure by column: what tells them apart, and the values.

    `x` is the place along an axis, or of a scatter what has a point; `along` is the time or a scatter's x.
    """

    x: Objects
    by: Objects
    panel: Objects
    row: Objects
    unit: Objects
    value: Array
    along: Array

    def of(self, column: Objects, key: Any) -> Rows:
        """The rows whose value in a column is this one; all rows if it is None."""
        if key is None:
            return self
        kept = (column == key).astype(bool)
        return Rows(*(getattr(self, field.name)[kept] for field in fields(self)))

    def by_unit(self, values: Array) -> Iterable[Array]:
        """The values of each unit."""
        _, numbers = np.unique(self.unit, return_inverse=True)
        order = np.argsort(numbers, kind="stable")
        return np.split(values[order], np.cumsum(np.bincount(numbers))[:-1])


@dataclass(frozen=True)
class Found:
    """The rows of a figure, and what else it follows from.

    Attributes:
        algorithms: the algorithm or queue that colours each group, by the value of `by`.
        gaps: the place, group, panel and row of panels of rows without a value.
        notes: sentences for the caption.
    """

    rows: Rows
    algorithms: Mapping[Any, str]
    gaps: Set[tuple[Any, Any, Any, Any]]
    notes: Sequence[str]


class NoValuesError(InputError):
    """Results without a value of what a figure shows."""


def rows_of(asked: Checked, source: Source) -> Found:
    """Returns the rows of a figure that have values.

    Raises:
        NoValuesError: there is none.
        InputError: a column holds no numbers, or a value of `where` is none of its column's type.
    """
    table = asked.table.read(asked.where)
    if TIME not in table.column_names and asked.table.sampled:
        table = pa.table({name: pa.array([], pa.float64()) for name in asked.table.columns})
    every = table
    table, where = restricted(table, asked.where)
    asked = replace(asked, where=where)
    if not table.num_rows:
        raise NoValuesError(f"{source.folder}: no row is left; accepted: values of where that occur together")
    value = _numbers(table, asked.parts[0], source)
    if len(asked.parts) > 1:
        below = _numbers(table, asked.parts[1], source)
        value = np.divide(value, below, out=np.full(value.size, np.nan), where=below != 0.0)
    scattered = asked.kind == "scatter"
    known = np.isfinite(value)
    if scattered:
        known &= np.isfinite(_numbers(table, asked.x, source, "x"))
    if not known.any():
        raise NoValuesError(f"{source.folder}: {asked.asked} has no value in any of {value.size} rows")
    missing = 0 if asked.table.sampled else int(value.size - known.sum())
    told_apart = ["" if scattered else asked.x, asked.by, asked.panels, asked.rows]
    drawn = [name for name in told_apart if name]
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
    over = [] if scattered else list(_over(kept, source, {asked.x, *drawn, *single}))
    repeats, runs = (len(pc.unique(kept[key])) for key in ("repeat", "run"))
    # runs of unlike settings are no sample of anything, and flows of one run are not independent
    unit = "repeat" if over or (repeats > 1 and runs > repeats and not scattered) else "run"
    names = pc.unique(kept["name"]).to_pylist() if "name" in kept.column_names else []
    shown = {asked.x, *drawn, *single}.intersection(kept.column_names)
    if len(names) > 1 and not scattered and not any(_follows(kept, "name", other) for other in shown):
        over.append(f"{named('name', source)} ({_some(names)})")
    along = value[known]
    if scattered:
        along = _numbers(kept, asked.x, source)
    elif TIME in kept.column_names:
        along = kept[TIME].to_numpy().astype(float)
    by = _objects(kept, asked.by)
    rows = Rows(
        _points(kept, source) if scattered else _objects(kept, asked.x),
        by,
        _objects(kept, asked.panels),
        _objects(kept, asked.rows),
        _objects(kept, unit),
        value[known],
        along,
    )
    notes = _notes(asked, source, rows, over, missing, value.size)
    if unplaced:
        without = table.filter(pa.array(has_value & ~known))
        which = " or ".join(named(name, source) for name in drawn if without[name].null_count)
        notes.append(f"{unplaced:,} of {value.size:,} rows are left out: they have no {which}.")
    unvalued = table.filter(pa.array(~has_value)) if asked.kind in STEPPED else table.slice(0, 0)
    without = list(_without(asked, source, every, table, kept))
    if without:
        notes.append(f"Without a value: {_some(without)}.")
    gaps = zip(*(_objects(unvalued, name) for name in told_apart), strict=True)
    return Found(rows, _algorithms(kept, asked.by, by, source), frozenset(gaps), notes)


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:MOST_NAMES], *(["..."] if len(names) > MOST_NAMES else [])])


def _without(
    asked: Checked, source: Source, every: pa.Table, table: pa.Table, kept: pa.Table
) -> Iterator[str]:
    """The groups and panels that no row with a value is of.

    Args:
        asked: what the figure shows.
        source: the results.
        every: all rows.
        table: those that the restriction keeps.
        kept: those of them that have values.
    """
    for name in filter(None, (asked.by, asked.panels, asked.rows)):
        there, chosen, valued = (set(part[name].unique().to_pylist()) for part in (every, table, kept))
        write = titled(name, source)
        known = asked.where.get(name, source.settings.get(name, ()))
        for value in known:
            # a restriction of another column may leave none of a value's rows
            is_left_out = asked.table.sampled or value in there
            if value is not None and value not in valued and (value in chosen or not is_left_out):
                yield write(value)


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
            if key != "name":  # the caption has its values
                yield named(key, source)


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


def _notes(
    asked: Checked, source: Source, rows: Rows, over: Sequence[str], missing: int, total: int
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
    if asked.rows and asked.panels:
        shown.append(f"Panels: columns {named(asked.panels, source)}, rows {named(asked.rows, source)}.")
    if over:
        all_of = "All values over" if asked.kind in ("box", "cdf") else "Averaged over"
        shown.append(f"{all_of}: {', '.join(dict.fromkeys(over))}.")
    only = [
        f"{named(key, source)} {' or '.join(writer(key, source)(value) for value in values)}"
        for key, values in asked.where.items()
        if key not in IDENTITY
    ]
    if only:
        shown.append(f"Only {', '.join(only)}.")
    if missing:
        shown.append(f"{missing:,} of {total:,} rows have no value.")
    return shown
