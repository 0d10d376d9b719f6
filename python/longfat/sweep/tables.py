"""The tidy tables of a sweep: `runs` and `failures` with a row for each run, `flows` for each of its flows.

They are made from the store alone, in the order of the sweep, so the same runs give the same bytes. `runs`
and `flows` are partitioned by the first axis of 2 to 64 values: tables/runs/part=VALUE/part-N.parquet.
Readers of Hive folders see an extra column `part`; the files hold the axis itself, with its type.
"""

from __future__ import annotations

import itertools
import urllib.parse
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa

from longfat.figure.tables import with_internals
from longfat.runs import parts
from longfat.runs.result import Result
from longfat.scenario.model import Scenario
from longfat.store.store import row
from longfat.study.grid import Point
from longfat.study.rows import Rows
from longfat.sweep.axes import are_numbers, in_table
from longfat.sweep.grid import Keep, Sweep
from longfat.sweep.reduction import ELEMENTS

if TYPE_CHECKING:
    from longfat.store.store import Store

TABLES = "tables"
SWEEP_FILE = "sweep.json"
"""Describes the tables; written after them."""
MOST_PARTITIONS = 64
"""An axis with more values does not partition the tables: files of a few rows help nobody."""
CHUNK = 1024
"""Runs in one file."""
NO_KEY = bytes(32)
TYPES = {"run": pa.int64(), "repeat": pa.int64()}
"""The columns of every table that are no texts where there are no rows."""
ERRORS_SHOWN = 3
"""Different errors that sweep.json has; the table `failures` has all."""

METRICS = parts.Metrics.names()
FLOW_VALUES = [key for key in parts.FlowResult.names() if key != "name"]
LINK_VALUES = [
    key
    for key in parts.LinkResult.names()
    if key not in ("name", *ELEMENTS) and not key.startswith("low_latency_")
]
"""The values of every link; only some queues have one of low latency."""


class Keys(Sequence[str | None]):
    """The key of each run in order, or None: 32 bytes each."""

    def __init__(self, data: bytes = b"") -> None:
        self._bytes = bytearray(data)

    def to_bytes(self) -> bytes:
        """Returns what makes the same keys again."""
        return bytes(self._bytes)

    def append(self, key: str | None) -> None:
        """Appends a SHA-256 in hexadecimal, or None."""
        self._bytes += NO_KEY if key is None else bytes.fromhex(key)

    def __len__(self) -> int:
        return len(self._bytes) // len(NO_KEY)

    @overload
    def __getitem__(self, number: int) -> str | None: ...
    @overload
    def __getitem__(self, number: slice) -> list[str | None]: ...
    def __getitem__(self, number: int | slice) -> str | list[str | None] | None:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        key = bytes(self._bytes[number * len(NO_KEY) : (number + 1) * len(NO_KEY)])
        return None if key == NO_KEY else key.hex()


def samples(result: Result) -> pa.Table:
    """Returns the samples of a run's flows and links in one long table, with a column `of`.

    What algorithms recorded of themselves has columns of its own.
    """
    parts = []
    flows = with_internals(result.flows, result.internals if result.has_internals else None)
    for of, table in (("flow", flows), ("link", result.links)):
        parts.append(table.append_column("of", pa.array([of] * table.num_rows, pa.string())))
    return pa.concat_tables(parts, promote_options="default").unify_dictionaries()


def write(
    sweep: Sweep, store: Store, keys: Sequence[str | None], failures: Sequence[tuple[Point, str]]
) -> None:
    """Makes all tables again and replaces the earlier ones at once.

    Args:
        sweep: the sweep whose points the keys belong to.
        store: holds the runs.
        keys: the key of each point in order; None where its scenario was refused.
        failures: points without a result, each with the reason.
    """
    texts = _texts(sweep)
    split = next((axis.keys[0] for axis in sweep.axes if 1 < axis.size <= MOST_PARTITIONS), None)
    with store.exchange(TABLES, SWEEP_FILE) as put:
        for part, chunk in enumerate(_chunks(zip(sweep.points(), keys, strict=True), CHUNK)):
            for folder, rows in _files(chunk, store, texts, split, sweep.keep):
                put(f"{folder}part-{part:05d}.parquet", rows.table())
        if failures:
            rows = Rows()
            for point, error in sorted(failures, key=lambda f: f[0].number):
                rows.add(_position(point, texts) | {"error": error})
            put("failures/part-00000.parquet", rows.table())


def read(
    sweep: Sweep, store: Store, keys: Sequence[str | None], failed: Mapping[int, str]
) -> dict[str, pa.Table]:
    """Returns the tables, by name, of the first runs of a sweep as far as the store has them.

    Args:
        sweep: the sweep whose first points the keys belong to.
        store: holds some of the runs.
        keys: the keys of its first points; None where the scenario was refused.
        failed: reasons of points without a result, by number.
    """
    texts = _texts(sweep)
    found: dict[str, list[pa.Table]] = {"runs": [], "flows": [], "failures": []}
    for chunk in _chunks(zip(sweep.points(), keys, strict=False), CHUNK):
        if sweep.keep == "series":
            chunk = [(point, key if key and store.has_series(key) else None) for point, key in chunk]
        for folder, rows in _files(chunk, store, texts, None, sweep.keep):
            found[folder.rstrip("/")].append(rows.table())
        failures = Rows()
        for point, _ in chunk:
            if point.number in failed:
                failures.add(_position(point, texts) | {"error": failed[point.number]})
        if len(failures):
            found["failures"].append(failures.table())
    return {
        name: pa.concat_tables(parts, promote_options="permissive")
        if parts
        else empty(sweep.keys, failures=name == "failures")
        for name, parts in found.items()
    }


def empty(keys: Iterable[str], *, failures: bool) -> pa.Table:
    """Returns a table without rows, with the columns that every row has."""
    names = ["run", "repeat", *keys, *(["error"] if failures else [])]
    return pa.table({name: pa.array([], TYPES.get(name, pa.string())) for name in names})


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    rest = iter(items)
    while chunk := list(itertools.islice(rest, size)):
        yield chunk


def _texts(sweep: Sweep) -> frozenset[str]:
    """Axes with a value that is not a number: they are texts in all files, so that the files agree."""
    return frozenset(
        key
        for axis in sweep.axes
        for number, key in enumerate(axis.keys)
        if not are_numbers([step[number] for step in axis.steps])
    )


def _position(point: Point, texts: frozenset[str]) -> dict[str, Any]:
    return {"run": point.number, "repeat": point.repeat} | {
        key: in_table(value, key not in texts) for key, value in point.values.items()
    }


def columns(kept: Mapping[str, Any]) -> list[str]:
    """Columns that a run fills in the table `runs`, and in `Swept.with_flows` for its flows."""
    row = run_columns(kept)
    return [*row, *(f"flow_{flow['name']}_{key}" for flow in kept["flows"] for key in flow if key != "name")]


COLUMNS_OF_RUNS = frozenset(("seed", "duration_s", "packets", *METRICS))
"""Columns that every run fills."""


def usual_columns(scenario: Scenario) -> set[str]:
    """Columns that every run of a scenario fills, with any queues; see `columns` for all of them."""
    return {
        *COLUMNS_OF_RUNS,
        *(f"{link}_{key}" for link in scenario.core.link_names() for key in LINK_VALUES),
        *(f"flow_{flow}_{key}" for flow in scenario.flow_names() for key in FLOW_VALUES),
    }


def run_columns(kept: Mapping[str, Any]) -> dict[str, Any]:
    """The values of one run in the table `runs`, without its place in the sweep."""
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
) -> Iterable[tuple[str, Rows]]:
    """Returns the rows of `runs` and `flows` for some runs, by folder.

    A row of `runs` holds run, repeat, axes, seed, the values of links with the link's name in front, metrics,
    and the path of the samples if they are kept. A row of `flows` holds run, repeat, axes, and the summary of
    one flow. Runs are decoded one at a time: a thousand of them take several times the memory of their
    columns.
    """
    found = dict(store.texts(key for _, key in chunk if key is not None))
    runs: dict[str, Rows] = {}
    flows: dict[str, Rows] = {}
    for point, key in chunk:
        if key not in found:
            continue
        kept = row(found[key])
        position = _position(point, texts)
        own = "" if split is None else f"part={urllib.parse.quote(str(position[split]), safe='')}/"
        samples = {"series": store.series_name(key)} if keep == "series" else {}
        runs.setdefault(f"runs/{own}", Rows()).add(position | run_columns(kept) | samples)
        for flow in kept["flows"]:
            flows.setdefault(f"flows/{own}", Rows()).add(position | flow)
    return (runs | flows).items()
