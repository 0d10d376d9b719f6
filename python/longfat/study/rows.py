"""Arrow tables from rows of values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa


def table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Returns the table of some rows; see `Rows.table`."""
    found = Rows()
    for row in rows:
        found.add(row)
    return found.table()


class Rows:
    """Rows of a table, column by column."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, row: Mapping[str, Any]) -> None:
        """Adds a row."""
        for name, value in row.items():
            column = self._columns.setdefault(name, [])
            column += [None] * (self._count - len(column))
            column.append(value)
        self._count += 1

    def table(self) -> pa.Table:
        """Returns the table; columns are in the order of appearance, and floats where any row has a float."""
        for column in self._columns.values():
            column += [None] * (self._count - len(column))
        return pa.table({name: _column(values) for name, values in self._columns.items()})


def _kind(value: Any) -> type:
    """The kind of a value: numbers of NumPy are those of Python, and a bool is no int."""
    if isinstance(value, bool | np.bool_):
        return bool
    if isinstance(value, int | np.integer):
        return int
    return float if isinstance(value, float | np.floating) else str


def _column(values: list[Any]) -> pa.Array:
    kinds = {_kind(value) for value in values if value is not None}
    if kinds <= {float}:
        return pa.array(values, pa.float64())
    if kinds == {bool}:
        return pa.array(values, pa.bool_())
    if kinds == {int}:
        return pa.array(values, pa.int64())
    if kinds <= {bool, int, float}:
        return pa.array([None if v is None else float(v) for v in values], pa.float64())
    return pa.array([None if v is None else str(v) for v in values], pa.string())
