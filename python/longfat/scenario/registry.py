"""What the core offers: the rows of its algorithms, queues and routers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NotRequired, TypedDict, cast

from longfat import _core
from longfat.words import suggestion

Kind = Literal["algorithms", "queues", "routers"]


class Parameter(TypedDict):
    """One parameter of a row; numbers are in `unit`, `choices` is null for them."""

    name: str
    default: float | str
    unit: str
    meaning: str
    least: float | None
    greatest: float | None
    choices: list[str] | None
    auto: str | None
    """What a number is when it is automatic; null if it cannot be."""
    words: list[str | bool]
    """The choices as a file writes them."""
    written: float | str | bool
    """The default as a file writes it."""


class Row(TypedDict):
    """One algorithm, queue or router."""

    name: str
    title: str
    aliases: list[str]
    citation: str
    page: str
    colour: str | None
    marker: str | None
    parameters: list[Parameter]
    linux_module: str | None
    live: bool
    kernel_form: NotRequired[str | None]
    """The name of an algorithm that Longfat itself can load into the kernel (bpf/)."""
    explicit_bytes: NotRequired[int]
    """The bytes of an algorithm's explicit congestion header in every data packet."""
    explicit: NotRequired[bool]
    """Whether an algorithm's data packets carry an explicit congestion header."""
    transport: NotRequired[Literal["tcp", "udp", "datagrams"]]
    """What carries an algorithm. Receivers answer what "udp" sends; they never answer "datagrams"."""
    ecn: NotRequired[bool]
    """Whether a queue can mark packets."""
    abe: NotRequired[bool]
    """Whether RFC 8511 has a factor for an algorithm."""
    scalable: NotRequired[bool]
    """Whether an algorithm responds to the extent of marking, and not just to a mark."""
    ect1: NotRequired[bool]
    """Whether an algorithm's data always carry ECT(1)."""
    model_based: NotRequired[bool]
    """Whether an algorithm controls the window in every phase, slow-start included."""
    l4s: NotRequired[bool]
    """Whether a queue treats ECT(1) as RFC 9331 says."""
    random: NotRequired[bool]
    """Whether an algorithm or a queue draws random numbers."""


@cache
def _registry() -> dict[Kind, list[Row]]:
    return cast("dict[Kind, list[Row]]", _core.registry())


def rows(kind: Kind) -> list[Row]:
    """All rows of this kind."""
    return _registry()[kind]


def find(kind: Kind, name: str) -> Row:
    """Returns the row with this name or alias; ValueError suggests the nearest names."""
    for row in rows(kind):
        if name == row["name"] or name in row["aliases"]:
            return row
    one = kind.removesuffix("s")
    article = "an" if one[0] == "a" else "a"
    known = ", ".join(f'"{row["name"]}"' for row in rows(kind)) or "none in this version"
    own = ', or your own: "file.py:Class" or "file.bpf.o"' if kind == "algorithms" else ""
    near = suggestion(name, all_names(kind))
    raise ValueError(f'"{name}" is not {article} {one}{near}; accepted: {known}{own}')


def algorithm_named(written: Any) -> Row | None:
    """Returns the row of an algorithm that a file writes as a name or a table.

    It is None for a user's own, and for what is no algorithm: that is refused where the algorithm is read.
    """
    name = written.get("name", written.get("kind")) if isinstance(written, Mapping) else written
    try:
        return find("algorithms", name)
    except ValueError:
        return None


def all_names(kind: Kind) -> list[str]:
    """The names and aliases of all rows of this kind."""
    return [name for row in rows(kind) for name in (row["name"], *row["aliases"])]


def meaning(parameter: Parameter) -> str:
    """What a parameter does, in the words of a scenario file."""
    return parameter["meaning"] + (f"; auto: {parameter['auto']}" if parameter["auto"] is not None else "")


def written(row: str, parameter: Parameter, value: float | str) -> float | str | bool:
    """Returns a value of the core as a scenario file writes it."""
    return _core.written_parameter(row, parameter["name"], value)
