"""The tidy tables of a sweep: `runs` and `failures` (a row a run), `flows` (a row a flow of a run).

They are made from the store alone, in the order of the sweep, so that the same runs give the same bytes.
`runs` and `flows` are partitioned by the first axis of 2 to 64 values, as Hive does:
tables/runs/AXIS=VALUE/part-N.parquet.
"""

from __future__ import annotations

import itertools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from longfat.result import Result
from longfat.sweep.grid import Point, Sweep, plain

if TYPE_CHECKING:
    from longfat.store import Store

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

        def write_part(part: int, chunk: Sequence[tuple[Point, str | None]]) -> None:
            # a function, so that nothing of one part is left while the next is made
            found = store.get([key for _, key in chunk if key is not None])
            held = [(point, found[key]) for point, key in chunk if key is not None and key in found]
            for name, rows_of in (("runs", _runs), ("flows", _flows)):
                for folder, own in _partitions(rows_of(held, texts), split):
                    put(f"{name}/{folder}part-{part:05d}.parquet", _table(own))

        numbered = zip(sweep.points(), keys, strict=True)
        for part, chunk in enumerate(_chunks(numbered, CHUNK)):
            write_part(part, chunk)
        if failures:
            rows = [
                _place(point, texts) | {"error": error}
                for point, error in sorted(failures, key=lambda f: f[0].number)
            ]
            put("failures/part-00000.parquet", _table(rows))


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
        if not all(isinstance(plain(step[place]), (int, float)) for step in axis.steps)
    )


def _place(point: Point, texts: frozenset[str]) -> dict[str, Any]:
    values = {key: plain(value) for key, value in point.values.items()}
    return {"run": point.number, "repeat": point.repeat} | {
        key: str(value) if key in texts else float(value) for key, value in values.items()
    }


def columns(kept: Mapping[str, Any]) -> list[str]:
    """Figures that a run has in the table `runs`, and those of its flows as `Swept.with_flows` names them."""
    row = _figures(kept)
    return [*row, *(f"flow_{flow['name']}_{key}" for flow in kept["flows"] for key in flow if key != "name")]


def _runs(held: Iterable[tuple[Point, Mapping[str, Any]]], texts: frozenset[str]) -> list[dict[str, Any]]:
    """run, repeat, axes, seed, then the figures of links with their names before them, and the metrics."""
    return [_place(point, texts) | _figures(kept) for point, kept in held]


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


def _flows(held: Iterable[tuple[Point, Mapping[str, Any]]], texts: frozenset[str]) -> list[dict[str, Any]]:
    """run, repeat, axes, then what the summary says of a flow."""
    return [_place(point, texts) | flow for point, kept in held for flow in kept["flows"]]


def _partitions(rows: list[dict[str, Any]], key: str | None) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    if key is None:
        yield "", rows
        return
    parts: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        parts.setdefault(row[key], []).append(row)
    for value, own in parts.items():
        yield f"{key}={urllib.parse.quote(str(value), safe='')}/", own


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    """Columns in the order in which they first come; numbers as floats where any row has one."""
    names = dict.fromkeys(key for row in rows for key in row)
    columns = {}
    for name in names:
        values = [row.get(name) for row in rows]
        kinds = set(map(type, values)) - {type(None)}
        if not kinds:
            columns[name] = pa.array(values, pa.float64())
        elif kinds == {bool}:
            columns[name] = pa.array(values, pa.bool_())
        elif kinds == {int}:
            columns[name] = pa.array(values, pa.int64())
        elif kinds <= {bool, int, float}:
            columns[name] = pa.array([None if v is None else float(v) for v in values], pa.float64())
        else:
            columns[name] = pa.array([None if v is None else str(v) for v in values], pa.string())
    return pa.table(columns)
