"""The axes of a sweep, and their values as tables and figures have them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longfat.units import RATE, SIZE, TIME, Dimension, split

DIMENSIONS = (TIME, RATE, SIZE)
COUNTED = ("packets", "packet", "segments", "segment", "% BDP")
"""Units of numbers that are no quantities of their own."""


@dataclass(frozen=True)
class Axis:
    """Keys that move together, and their values: one tuple a step."""

    keys: tuple[str, ...]
    steps: tuple[tuple[Any, ...], ...]

    @property
    def size(self) -> int:
        """How many steps it has."""
        return len(self.steps)


def dimension_of(value: Any) -> Dimension | None:
    """What kind of quantity a text is, if it is one."""
    found = split(value)
    if found is None:
        return None
    return next((dimension for dimension in DIMENSIONS if found[1] in dimension.units), None)


def plain(value: Any) -> Any:
    """A value of an axis for tables: quantities in SI units, tables as short texts, others as they are."""
    if isinstance(value, str):
        return _plain(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether values of an axis are numbers of one kind: "20 % BDP" and "50 packets" are not."""
    first = _kind(values[0])
    return all(_kind(value) == first for value in values) and all(
        isinstance(plain(value), (int, float)) for value in values
    )


def in_table(value: Any, number: bool) -> float | str:
    """A value of an axis as tables have it: a number in SI units, or a text as the file has it."""
    if number:
        return float(plain(value))
    return value if isinstance(value, str) else str(plain(value))


def _kind(value: Any) -> Dimension | str | None:
    found = split(value) if isinstance(value, str) else None
    return None if found is None else dimension_of(value) or found[1]


@functools.lru_cache(maxsize=4096)
def _plain(text: str) -> float | str:
    """Every row of a table asks for the same few texts."""
    dimension = dimension_of(text)
    if dimension is not None:
        return dimension.parse(text)
    found = split(text)
    if found is not None and (not found[1] or found[1] in COUNTED):
        return float(found[0])
    return text
