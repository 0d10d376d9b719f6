"""What the core offers: the rows of its algorithms, queues and routers, and checks of their parameters."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal, NotRequired, TypedDict

from longfat import _core
from longfat.units import from_declared, to_declared
from longfat.words import choice, shown, suggestion

Kind = Literal["algorithms", "queues", "routers"]

FLAG = {"true", "false"}
"""Choices that a scenario file writes without quotes."""


class Parameter(TypedDict):
    """One parameter of a row; numbers are in `unit`, `choices` is null for them."""

    name: str
    default: float | str
    unit: str
    meaning: str
    least: float | None
    greatest: float | None
    choices: list[str] | None


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
    """The name of an algorithm that Longfat itself can bring into the kernel (bpf/)."""
    explicit_bytes: NotRequired[int]
    """Of an algorithm: what its explicit congestion header takes of every data packet."""
    explicit: NotRequired[bool]
    """Of an algorithm: whether its data packets carry an explicit congestion header."""
    transport: NotRequired[Literal["tcp", "udp", "datagrams"]]
    """What carries an algorithm; over "udp" all is acknowledged, of "datagrams" nothing."""
    ecn: NotRequired[bool]
    """Of a queue: whether it can mark packets."""
    random: NotRequired[bool]
    """Whether an algorithm or a queue draws random numbers."""


@cache
def _registry() -> dict[Kind, list[Row]]:
    registry: dict[Kind, list[Row]] = json.loads(_core.registry())
    return registry


def rows(kind: Kind) -> list[Row]:
    """All rows of this kind."""
    return _registry()[kind]


def find(kind: Kind, name: str) -> Row:
    """The row with this name or alias; ValueError suggests the nearest names."""
    for row in rows(kind):
        if name == row["name"] or name in row["aliases"]:
            return row
    one = kind.removesuffix("s")
    article = "an" if one[0] == "a" else "a"
    raise ValueError(
        f'"{name}" is not {article} {one}{suggestion(name, _all_names(kind))}; accepted: {_names(kind)}'
    )


def _all_names(kind: Kind) -> list[str]:
    return [name for row in rows(kind) for name in (row["name"], *row["aliases"])]


def _names(kind: Kind) -> str:
    return ", ".join(f'"{row["name"]}"' for row in rows(kind)) or "none in this version"


def check_parameters(kind: Kind, row: Row, given: dict[str, Any]) -> dict[str, float | str]:
    """The given parameters in the row's units; ValueError says which is wrong and what is accepted."""
    declared = {parameter["name"]: parameter for parameter in row["parameters"]}
    checked: dict[str, float | str] = {}
    for name, value in given.items():
        parameter = declared.get(name)
        if parameter is None and name == "ecn" and kind == "queues":
            able = ", ".join(f'"{other["name"]}"' for other in rows(kind) if other.get("ecn"))
            raise ValueError(f"ecn: {row['name']} cannot mark packets; these queues can: {able}")
        if parameter is None:
            known = ", ".join(declared) or "none"
            raise ValueError(
                f'{row["name"]} has no parameter "{name}"{suggestion(name, list(declared))}; it has: {known}'
            )
        checked[name] = _value(row, parameter, value)
    if kind == "algorithms":
        _core.check_parameters(row["name"], checked)
    return checked


def _value(row: Row, parameter: Parameter, value: Any) -> float | str:
    name = f"{row['name']}.{parameter['name']}"
    if parameter["choices"]:
        word = {True: "true", False: "false"}[value] if isinstance(value, bool) else value
        if word not in parameter["choices"]:
            flags = "true or false" if set(parameter["choices"]) == FLAG else None
            raise ValueError(f"{name} = {shown(value)}: {choice(value, parameter['choices'], flags)}")
        return str(word)
    try:
        number = to_declared(value, parameter["unit"])
    except ValueError as error:
        raise ValueError(f"{name} = {shown(value)}: {error}") from None
    least, greatest = parameter["least"], parameter["greatest"]
    if not (least is None or number >= least) or not (greatest is None or number <= greatest):
        low, high = (from_declared(x, parameter["unit"]) for x in (least or 0.0, greatest or 0.0))
        raise ValueError(f"{name} = {shown(value)}: accepted: from {low} to {high}")
    return number


def write_parameters(row: Row, parameters: dict[str, float | str]) -> dict[str, float | str | bool]:
    """As a scenario file has them: with the units that it needs."""
    units = {parameter["name"]: parameter["unit"] for parameter in row["parameters"]}
    flags = {parameter["name"] for parameter in row["parameters"] if set(parameter["choices"] or ()) == FLAG}

    def write(name: str, value: float | str) -> float | str | bool:
        if isinstance(value, str):
            return value == "true" if name in flags else value
        return from_declared(value, units[name])

    return {name: write(name, value) for name, value in parameters.items()}


def filled_parameters(row: Row, parameters: dict[str, float | str]) -> dict[str, float | str]:
    """With the default of every parameter that is not given."""
    return {
        parameter["name"]: parameters.get(parameter["name"], parameter["default"])
        for parameter in row["parameters"]
    }
