"""What the page of a sweep shows: the [[figure]] tables of its file, or a default that fits its axes.

[[figure]]
kind = "lines"                  # means with 95 % confidence intervals along an axis
x = "flow.0.rtt"                # an axis; the values of one of words, such as algorithms, are categories
y = "throughput_ratio"          # a column of the table `runs`, flow_NAME_COLUMN of a flow, or A / B of those
lines = "flow.0.algorithm"      # an axis: a line for each value
columns = "bottleneck.rate"     # an axis: panels side by side, a column for each value
rows = "bottleneck.buffer"      # the same, one above the other
where = { "background.0.sessions" = 0 }    # only this value, or a list of values, of an axis
y_scale = "log"                 # "linear" if not given

[[figure]]
kind = "heat"                   # two axes, and a column as colour
x = "flow.0.rtt"
y = "bottleneck.rate"
colour = "jain"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from longfat.errors import InputError
from longfat.figure.request import QUOTIENT
from longfat.study.grid import Axis
from longfat.units import in_si
from longfat.words import suggestion

Kind = Literal["lines", "heat"]
Scale = Literal["linear", "log"]
COMMON = ("kind", "title", "x", "y", "rows", "columns", "where")
KEYS = {
    "lines": dict.fromkeys((*COMMON, "lines", "y_scale")),
    "heat": dict.fromkeys((*COMMON, "colour")),
}
DRAWN: dict[str, tuple[str, ...]] = {
    "lines": ("x", "rows", "columns", "lines"),
    "heat": ("x", "y", "rows", "columns"),
}
"""The keys that name an axis."""
MOST_PANELS = 24
MOST_LINES = 12


class Layout(NamedTuple):
    """One figure: `figure` is the column that it shows; the others are axes.

    Attributes:
        where: the values, by axis, that the figure is restricted to.
    """

    kind: Kind
    figure: str
    x: str
    y: str | None = None
    lines: str | None = None
    rows: str | None = None
    columns: str | None = None
    where: Mapping[str, Sequence[Any]] = MappingProxyType({})
    title: str = ""
    y_scale: Scale = "linear"

    @property
    def parts(self) -> list[str]:
        """The columns that the figure is made of: one, or dividend and divisor."""
        return QUOTIENT.split(self.figure)

    def to_json(self) -> dict[str, Any]:
        """Returns the figure as sweep.json stores it."""
        return self._asdict()


def read(data: Any, axes: Sequence[Axis], source: str) -> tuple[Layout, ...]:
    """Reads the figures that a sweep file asks for; raises InputError if one makes no sense."""
    if not isinstance(data, list) or not all(isinstance(table, dict) for table in data):
        raise InputError(
            f"{source}: figure: this is not a list of tables; accepted: a list of tables, [[figure]]"
        )
    columns = {key: axis.values(key) for axis in axes for key in axis.keys}
    return tuple(_layout(table, columns, f"{source}: figure.{number}") for number, table in enumerate(data))


def _layout(table: Mapping[str, Any], columns: Mapping[str, Sequence[Any]], at: str) -> Layout:
    kind: Any = table.get("kind")
    if kind not in tuple(KEYS):  # it may be something that cannot be hashed
        raise InputError(f'{at}.kind = {kind}: there is no such kind; accepted: "lines" or "heat"')
    accepted = KEYS[kind]
    for key, value in table.items():
        if key not in accepted:
            raise InputError(
                f"{at}: {key}: there is no such key{suggestion(key, accepted)}; "
                f"accepted: {', '.join(accepted)}"
            )
        if not (isinstance(value, str) and value) and key != "where":
            raise InputError(f"{at}.{key} = {value}: this is not a string; accepted: a string")
    used: dict[str, str] = {}
    for key in DRAWN[kind]:
        axis = table.get(key)
        if axis is None:
            continue
        if axis not in columns:
            raise _no_axis(axis, columns, f"{at}.{key}")
        if axis in used:
            raise InputError(
                f"{at}.{key} = {axis}: it is already used as {used[axis]}; accepted: another axis"
            )
        used[axis] = key
    shown = "y" if kind == "lines" else "colour"
    for key in ("x", "y", shown):
        if key not in table:
            what = "a column of the table runs" if key == shown else "an axis of the sweep"
            raise InputError(f"{at}: {key} is missing; accepted: {what}")
    scale = table.get("y_scale", "linear")
    if scale not in ("linear", "log"):
        raise InputError(f'{at}.y_scale = "{scale}": there is no such scale; accepted: "linear" or "log"')
    if len(QUOTIENT.split(table[shown])) > 2:
        raise InputError(
            f'{at}.{shown} = "{table[shown]}": this is no quantity; accepted: a column, or one / another'
        )
    layout = Layout(
        kind,
        table[shown],
        table["x"],
        table["y"] if kind == "heat" else None,
        table.get("lines"),
        table.get("rows"),
        table.get("columns"),
        _where(table.get("where", {}), columns, at),
        table.get("title", ""),
        scale,
    )
    _check_sizes(layout, columns, at)
    return layout


def _no_axis(key: str, columns: Mapping[str, Sequence[Any]], at: str) -> InputError:
    near = suggestion(key, columns)
    return InputError(f"{at}.{key}: there is no such axis{near}; accepted: {', '.join(columns)}")


def _where(table: Any, columns: Mapping[str, Sequence[Any]], at: str) -> dict[str, list[Any]]:
    if not isinstance(table, dict):
        raise InputError(
            f'{at}.where: this is not a table; accepted: a table such as {{ "flow.0.algorithm" = "reno" }}'
        )
    kept = {}
    for key, wanted in table.items():
        if key not in columns:
            raise _no_axis(key, columns, f"{at}.where")
        values = columns[key]
        known = [in_si(value) for value in values]
        items = wanted if isinstance(wanted, list) else [wanted]
        asked = {in_si(item): item for item in items}
        for number, item in asked.items():
            if number not in known:
                told = ", ".join(map(str, values))
                raise InputError(
                    f"{at}.where.{key} = {item}: this is not a value of the axis; accepted: {told}"
                )
        kept[key] = [value for value, number in zip(values, known, strict=True) if number in asked]
        if not kept[key]:
            raise InputError(f"{at}.where.{key}: there is no value; accepted: at least one")
    return kept


def _check_sizes(layout: Layout, columns: Mapping[str, Sequence[Any]], at: str) -> None:
    def number(key: str | None) -> int:
        if key is None:
            return 1
        return len(layout.where.get(key, columns[key]))

    panels = number(layout.rows) * number(layout.columns)
    if panels > MOST_PANELS:
        raise InputError(
            f"{at}: there are {panels} panels; accepted: up to {MOST_PANELS} (where leaves some out)"
        )
    if number(layout.lines) > MOST_LINES:
        raise InputError(
            f"{at}: there are {number(layout.lines)} lines; "
            f"accepted: up to {MOST_LINES} (where leaves some out)"
        )
