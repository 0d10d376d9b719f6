"""What a figure of stored results shows, checked against the columns that there are."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Literal, get_args

import pyarrow as pa
import pyarrow.compute as pc

from longfat.errors import InputError
from longfat.figure.tables import IDENTITY, Source, Table
from longfat.units import in_si
from longfat.words import choice, shown, suggestion

Kind = Literal["lines", "bars", "heat", "cdf", "box", "timeline", "scatter"]
KINDS: tuple[Kind, ...] = get_args(Kind)
QUOTIENT = re.compile(r"\s+/\s+")
TIME = "time_s"
RATE = "throughput_bps"
COUNTER = "received_bytes"
"""The rate of a timeline, and the counter that it is the slope of."""
RATES = (RATE, "utilization", "bottleneck_utilization")
DELAYS = ("srtt_mean_s", "queueing_delay_s", "bottleneck_queue_mean_packets")
"""What a scatter shows over what: the first of each that there is."""


@dataclass(frozen=True)
class Request:
    """A figure as it was asked for; names are columns, or shorter names of them.

    Attributes:
        kind: the form.
        y: what is measured: a column, or one divided by another, "a / b".
        x: the column along the axis; a cdf and a timeline have none. Of a scatter it is measured, too.
        by: the column that curves or bars are told apart by; of a heat map, the axis that points up.
        panels: the column whose values have panels of their own, side by side.
        rows: the column whose values have rows of panels, one above the other.
        where: the values that count, by column.
    """

    kind: Kind
    y: str = ""
    x: str = ""
    by: str = ""
    panels: str = ""
    rows: str = ""
    where: Mapping[str, Sequence[Any]] = field(default_factory=dict)


Limits = tuple[str | float, str | float]
"""The ends of an axis: quantities as a scenario has them, or numbers in SI units."""


@dataclass(frozen=True)
class Look:
    """How the axes are drawn.

    Attributes:
        log_x: whether x is logarithmic; the values decide it if None.
        log_y: whether y is.
        x_limits: the ends of the axis along the figure; the values decide them if None.
        y_limits: those of the axis up; of a heat map, those of the colours.
        x_label: the name of the axis in place of the column's.
        y_label: that of the axis up.
        title: stands above the figure.
    """

    log_x: bool | None = None
    log_y: bool = False
    x_limits: Limits | None = None
    y_limits: Limits | None = None
    x_label: str | None = None
    y_label: str | None = None
    title: str = ""

    def __post_init__(self) -> None:
        """Raises InputError if limits are not two quantities or numbers."""
        for option in ("x_limits", "y_limits"):
            given: Any = getattr(self, option)
            if given is None or (
                isinstance(given, list | tuple)
                and len(given) == 2
                and all(isinstance(end, str | Real) and not isinstance(end, bool) for end in given)
            ):
                continue
            raise InputError(
                f"{option} = {shown(given)}: these are no ends; "
                'accepted: two quantities or numbers, such as ("0 ms", "80 ms")'
            )


@dataclass(frozen=True)
class Checked:
    """A figure whose columns exist: `x`, `by`, `panels`, `rows` and `parts` are columns of `table`.

    "" is none.

    Attributes:
        where: the values that count, by column, with those that the source proposes.
        chosen: those that were asked for, as they were.
    """

    kind: Kind
    table: Table
    x: str
    by: str
    panels: str
    rows: str
    parts: tuple[str, ...]
    asked: str
    where: Mapping[str, Sequence[Any]]
    chosen: Mapping[str, Sequence[Any]]


def check(request: Request, source: Source, *, values: bool = True) -> Checked:
    """Returns the figure with the table that has its columns; what was not said is what the source proposes.

    Args:
        request: what was asked for.
        source: the results.
        values: whether values of `where` have to occur; results of part of a sweep lack some.

    Raises:
        InputError: there is no such kind or column, or a value of `where` occurs nowhere.
    """
    if request.kind not in KINDS:
        raise InputError(f'kind "{request.kind}": {choice(request.kind, KINDS, what="kind")}')
    over_time = request.kind == "timeline"
    has_x = request.kind not in ("cdf", "timeline")
    if request.x and not has_x:
        what = "time" if over_time else "the values of y"
        raise InputError(f"x = {request.x}: {request.kind} has {what} along its axis; accepted: no x")
    y, x = request.y, request.x
    if request.kind == "scatter":
        y, x = y or _first(source, RATES), x or _first(source, DELAYS)
    y = y or ("cwnd" if over_time else source.defaults["y"])
    x = (x or _default(source, "x", request.by, request.where)) if has_x else ""
    by = request.by or _by(source, request.kind, x)
    if (
        not request.by
        and request.kind != "heat"
        and by in (_column(source, name) for name in (request.panels, request.rows))
    ):
        by = ""  # each panel has one value of what the source proposes
    columns = {"x": x, "by": by, "panels": request.panels, "rows": request.rows}
    for (one, name), (other, again) in itertools.combinations(columns.items(), 2):
        if name and _column(source, name) == _column(source, again):
            raise InputError(f"{one} and {other} are both {name}; accepted: two columns")
    if request.kind == "heat" and not by:
        raise InputError("by: a heat map needs it, for the axis that points up; accepted: a column")
    parts = tuple(QUOTIENT.split(y))
    if not 1 <= len(parts) <= 2:
        raise InputError(
            f'y = "{y}": this is no quantity; accepted: a column, or one divided by another, "a / b"'
        )
    if over_time and parts == (RATE,):
        parts = (COUNTER,)
    wanted = [*parts, *filter(None, columns.values()), *request.where]
    for table in source.tables:
        if over_time and not table.sampled:
            continue
        found = {name: table.resolve(name) for name in wanted}
        if all(found.values()):
            named = {name: column for name, column in found.items() if column is not None}
            where = _where(request.where, source, table, {*named.values()}) if values else {}
            return Checked(
                request.kind,
                table,
                named.get(x, ""),
                named.get(by, ""),
                named.get(request.panels, ""),
                named.get(request.rows, ""),
                tuple(named[part] for part in parts),
                y,
                where,
                request.where,
            )
    raise _refusal(wanted, source, over_time)


def usual_kind(
    source: Source, x: str = "", by: str = "", where: Mapping[str, Sequence[Any]] | None = None
) -> Kind:
    """Lines along numbers, and bars along words."""
    name = x or _default(source, "x", by, where)
    values = source.settings.get(_column(source, name))
    return "lines" if values and all(isinstance(value, int | float) for value in values) else "bars"


def _column(source: Source, name: str) -> str:
    """The column that a name stands for in the first table that has it, or the name itself."""
    return next((found for table in source.tables if (found := table.resolve(name))), name)


def _default(source: Source, key: str, taken: str, where: Mapping[str, Sequence[Any]] | None = None) -> str:
    """What the source proposes, or else the first of its settings with several values.

    A restriction may leave rows without a value of it; then it is the first that has some.
    """
    other = _column(source, taken)
    several = [name for name, values in source.settings.items() if len(values) > 1]
    names = [name for name in (source.defaults.get(key, ""), *several) if name and name != other]
    if where and names:
        occurring = [name for name in names if _occurs(source, name, where)]
        apart = source.defaults.get("by", "") if key == "x" else ""  # what tells curves apart, if possible
        return next((name for name in occurring if name != apart), [*occurring, *names][0])
    if names:
        return names[0]
    raise InputError(f"{key}: there is no such column; accepted: a column: {source.listed()}")


def _occurs(source: Source, name: str, where: Mapping[str, Sequence[Any]]) -> bool:
    """Whether rows that a restriction keeps have a value of a column; True where that cannot be said."""
    for table in source.tables:
        if not table.sampled and all(map(table.resolve, (name, *where))):
            try:
                kept = _where(where, source, table, set())
                rows, _ = restricted(table.read(kept), kept)
            except InputError:  # results of a part of a sweep lack values
                return True
            column = rows[table.resolve(name)]
            return bool(len(column) > column.null_count)
    return True


def _by(source: Source, kind: Kind, x: str) -> str:
    proposed = source.defaults.get("by", "")
    if proposed and proposed != _column(source, x):
        return proposed
    if kind == "heat":
        return _default(source, "by", x)
    if kind == "scatter" and any(table.resolve("algorithm") for table in source.tables):
        return "algorithm"
    return "name" if kind in ("timeline", "cdf") and _has(source, "name", kind == "timeline") else ""


def _first(source: Source, names: Sequence[str]) -> str:
    return next((name for name in names if _has(source, name, False)), "")


def _has(source: Source, column: str, sampled: bool) -> bool:
    return any(column in table.columns for table in source.tables if table.sampled or not sampled)


def _refusal(wanted: Sequence[str], source: Source, over_time: bool) -> InputError:
    tables = [table for table in source.tables if table.sampled or not over_time]
    if not tables:
        return InputError(
            f"{source.folder}: it has no samples over time, which a timeline needs; "
            "accepted: a run, or a sweep "
            'with keep = "series"'
        )
    known = list(dict.fromkeys(name for table in tables for name in (*table.columns, *table.other_names)))
    for name in wanted:
        if name not in known:
            return InputError(
                f"{source.folder}: it has no column {name}{suggestion(name, known)}; "
                f"accepted: {source.listed(over_time)}"
            )
    return InputError(
        f"{source.folder}: {' and '.join(wanted)} are not of one table; accepted: columns of one of: "
        + "; ".join(", ".join(table.columns) for table in tables)
    )


def _where(
    asked: Mapping[str, Sequence[Any]], source: Source, table: Table, drawn: set[str]
) -> dict[str, Sequence[Any]]:
    """The restrictions by column, with values as the table has them."""
    fixed = {key: value for key, value in source.fixed.items() if key in table.columns and key not in drawn}
    kept: dict[str, Sequence[Any]] = {key: [value] for key, value in fixed.items()}
    for name, values in asked.items():
        column = table.resolve(name) or name
        kept[column] = [_stored(value, column, source) for value in values]
    return kept


def _stored(value: Any, column: str, source: Source) -> Any:
    """A value as the table has it: as it was written, or a quantity in SI units."""
    known = source.settings.get(column, ())
    write = source.written.get(column, str)
    for stored in known:
        if value == stored or value == write(stored) or in_si(value) == stored:
            return stored
    if known:
        listed = [write(stored) for stored in known]
        raise InputError(
            f"where {column} = {value}: no such value{suggestion(value, listed)}; "
            f"accepted: {', '.join(listed)}"
        )
    # rows of samples are chosen by these before their table is made
    return in_si(value) if column in IDENTITY else value


def restricted(
    table: pa.Table, where: Mapping[str, Sequence[Any]]
) -> tuple[pa.Table, dict[str, Sequence[Any]]]:
    """Returns the rows that a restriction keeps, and the restriction with values of the columns' types.

    Raises:
        InputError: a value is none of its column's type.
    """
    kept: dict[str, Sequence[Any]] = {}
    for name, values in where.items():
        column = table[name]
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kept[name] = [_typed(value, name, column.type) for value in values]
        if pa.types.is_null(column.type):
            table = table.slice(0, 0)
        else:
            table = table.filter(pc.is_in(column, value_set=pa.array(kept[name], column.type)))
    return table, kept


def _typed(value: Any, name: str, kind: pa.DataType) -> Any:
    """A value of `where` as a column of this type has it."""
    if pa.types.is_null(kind):
        return value
    if pa.types.is_boolean(kind):
        known = {"true": True, "false": False, "1": True, "0": False}
        if (text := str(value).lower()) in known:
            return known[text]
        raise InputError(f"where {name} = {value}: no such value; accepted: true or false")
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return str(value)
    whole = pa.types.is_integer(kind)
    try:
        number = in_si(value)
        if isinstance(number, int | float) and (not whole or number == int(number)):
            # a seed has more digits than a float
            return int(value if str(value).isdecimal() else number) if whole else float(number)
    except (ValueError, OverflowError):
        pass
    what = "whole number" if whole else "number"
    raise InputError(f"where {name} = {value}: no such value; accepted: a {what}")
