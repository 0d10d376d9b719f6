"""Several folders of results as one source, whose tables have a column `folder` more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from longfat.figure.tables import FOLDER, Kept, Source, Table
from longfat.units import dimension_of


def joined(sources: Sequence[Source], names: Sequence[str]) -> Source:
    """Returns several sources as one; a table joins those of its name in the others.

    A column that holds texts in one source and numbers in another, or quantities of two kinds, holds texts:
    each value as its own source writes it.

    Args:
        sources: the sources.
        names: what the column `folder` calls each.
    """
    columns = dict.fromkeys(column for source in sources for column in source.settings)
    unlike = {column for column in columns if len({_kind(source, column) for source in sources} - {None}) > 1}
    settings: dict[str, list[Any]] = {FOLDER: list(names)}
    for column in columns:
        found: dict[Any, None] = {}
        for source in sources:
            write = source.written.get(column, str)
            values = source.settings.get(column, ())
            found |= dict.fromkeys(map(write, values) if column in unlike else values)
        settings[column] = list(found)
    tables = [
        _table([source.table(table.name) for source in sources], sources, names, unlike)
        for table in sources[0].tables
        if all(any(other.name == table.name for other in source.tables) for source in sources)
    ]
    written = {column for source in sources for column in source.written} - unlike
    units = _merged(source.units for source in sources)
    return replace(
        sources[0],
        tables=tuple(tables),
        settings=settings,
        written={column: _writer(sources, column) for column in written} | dict.fromkeys(unlike, str),
        units={column: unit for column, unit in units.items() if column not in unlike},
        algorithms=_merged(source.algorithms for source in sources),
        names=_merged(source.names for source in sources),
        defaults={"by": "", **sources[0].defaults, "x": FOLDER},
        note="; ".join(
            f"{name}: {source.note}" for name, source in zip(names, sources, strict=True) if source.note
        ),
    )


def _table(
    parts: Sequence[Table], sources: Sequence[Source], names: Sequence[str], unlike: set[str]
) -> Table:
    columns = dict.fromkeys(name for part in parts for name in part.columns)

    def read(kept: Kept) -> pa.Table:
        own = {column: values for column, values in kept.items() if column not in unlike}
        found = []
        for name, part, source in zip(names, parts, sources, strict=True):
            if name in kept.get(FOLDER, (name,)):
                table = part.read(own)
                for column in unlike.intersection(table.column_names):
                    table = _as_text(table, column, source.written.get(column, str))
                found.append(table.append_column(FOLDER, pa.repeat(pa.scalar(name), table.num_rows)))
        return pa.concat_tables(_alike(found), promote_options="permissive") if found else pa.table({})

    other_names = {key: value for part in parts for key, value in part.other_names.items()}
    return Table(parts[0].name, (FOLDER, *columns), read, other_names, all(part.sampled for part in parts))


def _alike(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """The tables with columns of types that can be joined: texts beside numbers make all texts."""
    found = [
        table.cast(pa.schema([field.with_type(_type(table, field.name)) for field in table.schema]))
        for table in tables
    ]
    for column in dict.fromkeys(name for table in found for name in table.column_names):
        types = {table.schema.field(column).type for table in found if column in table.column_names}
        if len(types - {pa.null()}) > 1 and pa.string() in types:
            found = [
                _as_text(table, column, str) if column in table.column_names else table for table in found
            ]
    return found


def _type(table: pa.Table, column: str) -> pa.DataType:
    kind = table.schema.field(column).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _as_text(table: pa.Table, column: str, write: Callable[[Any], str]) -> pa.Table:
    values = [None if value is None else write(value) for value in table[column].to_pylist()]
    return table.set_column(table.column_names.index(column), column, pa.array(values, pa.string()))


def _kind(source: Source, column: str) -> Any:
    """What a column of settings holds: texts, numbers, or quantities of a kind; None for no column."""
    values = source.settings.get(column)
    if not values:
        return None
    if any(isinstance(value, str) for value in values):
        return str
    unit, _ = source.units.get(column, ("", 1.0))
    return dimension_of(f"1 {unit}") or unit


def _writer(sources: Sequence[Source], column: str) -> Callable[[Any], str]:
    """Writes a value as a source does that has it."""
    known = [
        (set(source.settings.get(column, ())), source.written[column])
        for source in sources
        if column in source.written
    ]
    return lambda value: next((write for values, write in known if value in values), known[0][1])(value)


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}
