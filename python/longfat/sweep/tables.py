"""The tidy tables of a sweep: `runs` and `failures` (a row a run), `flows` (a row a flow of a run).

They are made from the store alone, in the order of the sweep, so that the same runs give the same bytes.
`runs` and `flows` are parted by the first axis of 2 to 64 values: tables/runs/part=VALUE/part-N.parquet.
Readers of Hive's folders see a column `part` beside the axis, which the files have with its type.
"""

from __future__ import annotations

import itertools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from longfat.runs.result import Result
from longfat.store.store import row, series_name
from longfat.sweep.axes import are_numbers, in_table
from longfat.sweep.grid import Keep, Point, Sweep

if TYPE_CHECKING:
    from longfat.store.store import Store

TABLES = "tables"
MOST_PARTITIONS = 64
"""An axis with more values does not part the tables: files of a few rows help nobody."""
CHUNK = 1024
"""Runs of one file."""
NO_KEY = bytes(32)


class Keys(Sequence[str | None]):
    """The key of each run in order, None where there is none: 32 bytes each."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def append(self, key: str | None) -> None:
        """A SHA-256 in hexadecimal, or None."""
        self._bytes += NO_KEY if key is None else bytes.fromhex(key)

    def __len__(self) -> int:
        return len(self._bytes) // len(NO_KEY)

    @overload
    def __getitem__(self, place: int) -> str | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[str | None]: ...
    def __getitem__(self, place: int | slice) -> str | list[str | None] | None:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        key = bytes(self._bytes[place * len(NO_KEY) : (place + 1) * len(NO_KEY)])
        return None if key == NO_KEY else key.hex()


def samples(result: Result) -> pa.Table:
    """The samples of a run's flows and links in one table, in long form, with a column `of`."""
    parts = []
    for of, table in (("flow", result.flows), ("link", result.links)):
        parts.append(table.append_column("of", pa.array([of] * table.num_rows, pa.string())))
    return pa.concat_tables(parts, promote_options="default").unify_dictionaries()


def write(
    sweep: Sweep, store: Store, keys: Sequence[str | None], failures: Sequence[tuple[Point, str]]
) -> None:
    """Makes all tables anew and puts them in the place of the earlier ones, all at once.

    Args:
        sweep: whose points the keys belong to.
        store: what has the runs.
        keys: of each point, in order; None where its scenario was refused.
        failures: points without a result, and why.
    """
    texts = _texts(sweep)
    split = next((axis.keys[0] for axis in sweep.axes if 1 < axis.size <= MOST_PARTITIONS), None)
    with store.exchange(TABLES) as put:
        for part, chunk in enumerate(_chunks(zip(sweep.points(), keys, strict=True), CHUNK)):
            for folder, rows in _files(chunk, store, texts, split, sweep.keep):
                put(f"{folder}part-{part:05d}.parquet", rows.table())
        if failures:
            rows = _Rows()
            for point, error in sorted(failures, key=lambda f: f[0].number):
                rows.add(_place(point, texts) | {"error": error})
            put("failures/part-00000.parquet", rows.table())


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


def _texts(sweep: Sweep) -> frozenset[str]:
    """Axes with a value that is no number: texts in all tables, so that files of one table agree."""
    return frozenset(
        key
        for axis in sweep.axes
        for place, key in enumerate(axis.keys)
        if not are_numbers([step[place] for step in axis.steps])
    )


def _place(point: Point, texts: frozenset[str]) -> dict[str, Any]:
    return {"run": point.number, "repeat": point.repeat} | {
        key: in_table(value, key not in texts) for key, value in point.values.items()
    }


def columns(kept: Mapping[str, Any]) -> list[str]:
    """Figures that a run has in the table `runs`, and those of its flows as `Swept.with_flows` names them."""
    row = _figures(kept)
    return [*row, *(f"flow_{flow['name']}_{key}" for flow in kept["flows"] for key in flow if key != "name")]


def _figures(kept: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"seed": kept["seed"], "duration_s": kept["duration_s"], "packets": kept["packets"]}
    for link in kept["links"]:
        row |= {
            f"{link['name']}_{key}": value
            for key, value in link.items()
            if key != "name" and not isinstance(value, (dict, list))
        }
    row |= kept["metrics"]
    return row


def _files(
    chunk: Iterable[tuple[Point, str | None]],
    store: Store,
    texts: frozenset[str],
    split: str | None,
    keep: Keep,
) -> Iterable[tuple[str, _Rows]]:
    """What some runs give for `runs` and `flows`, by folders.

    A row of `runs` is run, repeat, axes, seed, figures of links with their names before them, metrics, and
    where samples are if they are kept; one of `flows` is run, repeat, axes, then what the summary says of a
    flow. They are decoded one at a time: a thousand of them take several times the memory of their columns.
    """
    found = dict(store.texts(key for _, key in chunk if key is not None))
    runs: dict[str, _Rows] = {}
    flows: dict[str, _Rows] = {}
    for point, key in chunk:
        if key not in found:
            continue
        kept = row(found[key])
        place = _place(point, texts)
        own = "" if split is None else f"part={urllib.parse.quote(str(place[split]), safe='')}/"
        samples = {"series": series_name(key)} if keep == "series" else {}
        runs.setdefault(f"runs/{own}", _Rows()).add(place | _figures(kept) | samples)
        for flow in kept["flows"]:
            flows.setdefault(f"flows/{own}", _Rows()).add(place | flow)
    return (runs | flows).items()


class _Rows:
    """Rows of one file, column by column."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}
        self._count = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """One more row."""
        for name, value in row.items():
            column = self._columns.setdefault(name, [])
            column += [None] * (self._count - len(column))
            column.append(value)
        self._count += 1

    def table(self) -> pa.Table:
        """Columns in the order in which they first come; numbers as floats where any row has one."""
        for column in self._columns.values():
            column += [None] * (self._count - len(column))
        return pa.table({name: _column(values) for name, values in self._columns.items()})


def _column(values: list[Any]) -> pa.Array:
    kinds = set(map(type, values)) - {type(None)}
    if kinds <= {float}:
        return pa.array(values, pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds <= {bool, int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else str(v) for v in values], pa.string())
