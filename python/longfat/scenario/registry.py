"""What the core offers: the rows of its algorithms, queues and routers, and checks of their parameters.

The core knows numbers and words. A scenario file says `true` and `false` where a row has a choice between
"on" and "off" or between "true" and "false", and "auto" where the number 0 stands for a value that the row
works out by itself. Both are translated here, so plans and stored keys have the core's words.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Literal, NotRequired, TypedDict

from longfat import _core
from longfat.errors import OldFormWarning
from longfat.units import from_declared, to_declared
from longfat.words import choice, shown, suggestion

Kind = Literal["algorithms", "queues", "routers"]

SWITCHES = ({"on": True, "off": False}, {"true": True, "false": False})
"""Pairs of words that a scenario file writes true and false."""
OLD_WORDS = SWITCHES[0] | SWITCHES[1]
"""Texts that are read as true and false, with a note."""
AUTO = "auto"


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
    registry: dict[Kind, list[Row]] = json.loads(_core.registry())
    return registry


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


def check_parameters(kind: Kind, row: Row, given: dict[str, Any]) -> dict[str, float | str]:
    """Returns the parameters in the row's units; ValueError says which is wrong and what is accepted."""
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


def read_switch(value: Any, named: str = "") -> bool:
    """Returns a switch of a scenario: true or false, or one of the old words, which get a note.

    Args:
        value: what the file has.
        named: what a note calls the key; its value alone if empty.
    """
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in OLD_WORDS:
        _note_old(named, value, str(OLD_WORDS[value]).lower())
        return OLD_WORDS[value]
    raise ValueError("accepted: true or false")


def _note_old(named: str, value: Any, new: str) -> None:
    told = f"{named} = {shown(value)}" if named else shown(value)
    warnings.warn(f"{told} is an old form; write {new}", OldFormWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """The stack level of the first frame outside the package, as `_note_old` counts them."""
    frame, level = sys._getframe(1), 1
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("longfat."):
        frame, level = frame.f_back, level + 1
    return level


def switch_words(parameter: Parameter) -> dict[bool, str]:
    """The row's words for true and false; none if the parameter is no switch."""
    for pair in SWITCHES:
        if pair.keys() <= set(parameter["choices"] or ()):
            return {value: word for word, value in pair.items()}
    return {}


def words(parameter: Parameter) -> list[str | bool]:
    """The choices of a parameter as a file writes them; none for a number."""
    switch = switch_words(parameter)
    return [word for word in parameter["choices"] or () if word not in switch.values()] + sorted(switch)[::-1]


def has_auto(parameter: Parameter) -> bool:
    """Whether a number can be "auto", which the core takes as 0."""
    return parameter["auto"] is not None


def meaning(parameter: Parameter) -> str:
    """What a parameter does, in the words of a scenario file."""
    return parameter["meaning"] + (f"; {AUTO}: {parameter['auto']}" if has_auto(parameter) else "")


def _value(row: Row, parameter: Parameter, value: Any) -> float | str:
    name = f"{row['name']}.{parameter['name']}"
    if parameter["choices"]:
        return _choice(name, parameter, value)
    if has_auto(parameter):
        if value == AUTO:
            return 0.0
        if value == 0 and not isinstance(value, bool):
            _note_old(name, value, f'"{AUTO}"')
    try:
        number = to_declared(value, parameter["unit"])
    except ValueError as error:
        also = f' or "{AUTO}"' if has_auto(parameter) else ""
        raise ValueError(f"{name} = {shown(value)}: {error}{also}") from None
    least, greatest = parameter["least"], parameter["greatest"]
    if not (least is None or number >= least) or not (greatest is None or number <= greatest):
        low, high = (from_declared(x, parameter["unit"]) for x in (least or 0.0, greatest or 0.0))
        raise ValueError(f"{name} = {shown(value)}: accepted: from {low} to {high}")
    return number


def _choice(name: str, parameter: Parameter, value: Any) -> str:
    """The core's word for one of a few words."""
    switch = switch_words(parameter)
    if switch and (isinstance(value, bool) or (isinstance(value, str) and value in OLD_WORDS)):
        return switch[read_switch(value, name)]
    if isinstance(value, str) and value in (parameter["choices"] or ()):
        return value
    known = words(parameter)
    texts = [word for word in known if isinstance(word, str)]
    raise ValueError(f"{name} = {shown(value)}: {choice(value, texts, listed(known))}")


def listed(known: Sequence[str | bool]) -> str:
    """Choices as a file writes them, such as '"auto", true or false'."""
    *first, last = [shown(word) for word in known] or [""]
    return " or ".join([", ".join(first), last] if first else [last])


def write_parameters(row: Row, parameters: dict[str, float | str]) -> dict[str, float | str | bool]:
    """Returns the parameters as a scenario file writes them, with the units that it needs."""
    declared = {parameter["name"]: parameter for parameter in row["parameters"]}
    return {name: written(declared[name], value) for name, value in parameters.items()}


def written(parameter: Parameter, value: float | str) -> float | str | bool:
    """Returns a value of the core as a scenario file writes it."""
    if isinstance(value, str):
        words = {word: switch for switch, word in switch_words(parameter).items()}
        return words.get(value, value)
    return AUTO if value == 0.0 and has_auto(parameter) else from_declared(value, parameter["unit"])


def filled_parameters(row: Row, parameters: dict[str, float | str]) -> dict[str, float | str]:
    """Returns the parameters with the default of every one that is not given."""
    return {
        parameter["name"]: parameters.get(parameter["name"], parameter["default"])
        for parameter in row["parameters"]
    }
