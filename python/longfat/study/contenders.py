"""The congestion controls that a study sets side by side, as a command line lists them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import documents
from longfat.errors import InputError, ScenarioError
from longfat.scenario.model import Algorithm, Scenario

CUSTOM_COST = 20.0
"""A user's own algorithm takes about this many times longer; such runs start first."""


@dataclass(frozen=True)
class Contender:
    """One algorithm of a comparison: its name in the table, and how a scenario specifies it."""

    label: str
    algorithm: Algorithm

    @property
    def custom(self) -> bool:
        """Whether it is a user's own."""
        return self.algorithm.custom

    @property
    def cost(self) -> float:
        """The time that a packet takes, relative to that with an algorithm of Longfat."""
        return CUSTOM_COST if self.custom else 1.0


def contenders(texts: Sequence[str], source: str) -> tuple[Contender, ...]:
    """Returns the algorithms that a command line lists, each with a label of its own.

    Args:
        texts: names, aliases, "file.py:Class", or inline tables with parameters.
        source: the command or option, for messages.

    Raises:
        InputError: one line that says what is wrong and what is accepted.
    """
    if not texts:
        raise InputError(
            f"{source}: there is no algorithm; accepted: names of `longfat list algorithms`, or file.py:Class"
        )
    specs = [(text, _algorithm(text, source)) for text in texts]
    short = [_label(spec, whole=False) for _, spec in specs]
    found: dict[str, Contender] = {}
    for (text, spec), name in zip(specs, short, strict=True):
        label = name if short.count(name) == 1 else _label(spec, whole=True)
        if label in found:
            raise InputError(f"{source}: {text}: it is given twice; accepted: each algorithm once")
        found[label] = Contender(label, spec)
    return tuple(found.values())


def _algorithm(text: str, source: str) -> Algorithm:
    value: Any = text
    if text.lstrip().startswith("{"):
        try:
            value = documents.toml(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            raise InputError(
                f"{source}: {text}: this is not an inline table; "
                f'accepted: a table such as {{ name = "hstcp", '
                "low_window = 31 }"
            ) from None
    file = text.rpartition(":")[0]
    if file.endswith(".py") and not Path(file).is_file():
        raise InputError(f"{source}: {text}: there is no file {file}; accepted: file.py:Class")
    found: Algorithm = tried({"flow.0.algorithm": value}, source).flow[0].algorithm
    return found


def _label(spec: Algorithm, *, whole: bool) -> str:
    """Returns a short label: the path of a user's own algorithm loses its folder."""
    name = spec.name if whole or not spec.custom else Path(spec.name).name
    given = ", ".join(
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}"
        for key, value in spec.parameters.items()
    )
    return f"{name} ({given})" if given else name


def tried(changes: Mapping[str, Any], source: str) -> Scenario:
    """Checks values in a scenario that is right without them; reports the first problem in one line."""
    tables = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"rtt": "100 ms"}]}
    try:
        return Scenario.from_dict(tables, source=source, changes=changes)
    except ScenarioError as error:
        raise InputError(error.problems[0]) from None
