"""Tables that figures are made from, the same for every kind of stored result.

Every table has the columns `run` and `repeat`. Runs of different settings that have the same repeat belong
together: a figure averages over them before it looks at the spread.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

FOLDER = "folder"
"""The column that tells several folders apart."""
IDENTITY = ("run", "repeat")
RESERVED = (*IDENTITY, FOLDER, "of", "seed", "algorithm")
"""Columns that tables of samples get later, which what an algorithm records does not take."""
USUAL = (
    "throughput_bps",
    "goodput_bps",
    "srtt_s",
    "retransmits",
    "cwnd",
    "jain",
    "utilization",
    "bottleneck_utilization",
    "bottleneck_queue_mean_packets",
    "bottleneck_sojourn_p95_s",
    "bottleneck_loss_ratio",
)
"""Columns that a message lists before others."""
MOST_LISTED = 16
"""Columns that a message lists."""
Kept = Mapping[str, Sequence[Any]]
"""The values that a figure is restricted to, by column."""


@dataclass(frozen=True)
class Table:
    """Rows of one kind. `read` may leave out runs that a restriction excludes.

    Attributes:
        name: what its rows are; tables of one name in several folders can be joined.
        columns: the names of its columns.
        other_names: shorter names of some of them.
        sampled: whether its rows are samples over time.
    """

    name: str
    columns: tuple[str, ...]
    read: Callable[[Kept], pa.Table]
    other_names: Mapping[str, str] = field(default_factory=dict)
    sampled: bool = False

    def resolve(self, name: str) -> str | None:
        """Returns the column of that name, or None."""
        return self.other_names.get(name) or (name if name in self.columns else None)


@dataclass(frozen=True)
class Source:
    """Stored results.

    Attributes:
        folder: where they are.
        tables: the first that has all columns of a figure is used.
        settings: the columns that were chosen before the runs, each with its values in order.
        written: how values of a column are written, where that is not the text itself.
        units: the unit of a column of numbers and the factor into it, where its name does not say it.
        names: how a column is called, where its own name does not say it.
        algorithms: the algorithm that a value of a column stands for, where it is not the value itself.
        fixed: the value of a column that a figure shows if it says nothing about that column.
        defaults: x, y and by where the chart names none.
        note: what a caption says of the results as a whole, such as how many runs are missing.
    """

    folder: Path
    tables: tuple[Table, ...]
    settings: Mapping[str, Sequence[Any]]
    written: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    units: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    algorithms: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def table(self, name: str) -> Table:
        """Returns the table of this name."""
        return next(table for table in self.tables if table.name == name)

    def listed(self, sampled: bool = False) -> str:
        """Returns names that a figure may use, for a message: settings first, then the usual figures.

        Args:
            sampled: whether only samples over time count.
        """
        tables = [table for table in self.tables if table.sampled or not sampled]
        shorter = {column: name for table in tables for name, column in table.other_names.items()}
        names = dict.fromkeys(name for table in tables for name in table.columns if name not in IDENTITY)
        ordered = sorted(names, key=lambda name: (name not in self.settings, name not in USUAL))
        known = [shorter.get(name, name) for name in ordered]
        first = ", ".join(known[:MOST_LISTED])
        return first if len(known) <= MOST_LISTED else f"{first}, and {len(known) - MOST_LISTED} more"


def written_as(texts: Mapping[Any, str]) -> Callable[[Any], str]:
    """Returns what writes values by these texts, and others as they are."""
    return lambda value: texts.get(value, str(value))


def with_internals(flows: pa.Table, internals: pa.Table | None) -> pa.Table:
    """Returns samples of flows with a column more for each quantity that their algorithms recorded.

    Args:
        flows: a row for each sample of a flow.
        internals: rows of time_s, name, quantity and value, with a seed if the flows have one.
    """
    if internals is None or not internals.num_rows:
        return flows
    keys = [key for key in ("seed", "time_s", "name") if key in internals.column_names]
    plain = {key: _plain(internals[key]) for key in (*keys, "quantity", "value")}
    table = pa.table(plain)
    found = flows.set_column(flows.column_names.index("name"), "name", _plain(flows["name"]))
    for quantity in pc.unique(table["quantity"]).to_pylist():
        own = table.filter(pc.equal(table["quantity"], quantity)).select([*keys, "value"])
        name = free_name(quantity, (*found.column_names, *RESERVED))
        found = found.join(own.rename_columns([*keys, name]), keys)
    found = found.sort_by([(key, "ascending") for key in keys])
    return found.set_column(found.column_names.index("name"), "name", found["name"].dictionary_encode())


def free_name(quantity: str, taken: Collection[str]) -> str:
    """Returns the column of a recorded quantity: its own name, after `internal_` where that is taken."""
    while quantity in taken:
        quantity = f"internal_{quantity}"
    return quantity


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
