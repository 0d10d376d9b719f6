"""The axes of a sweep, and how tables and figures write their values."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from longfat.units import RATE, SIZE, TIME, Dimension, split

DIMENSIONS = (TIME, RATE, SIZE)
COUNTED = ("packets", "packet", "segments", "segment", "% BDP")
"""Units of counts and shares, which have no SI unit."""


@dataclass(frozen=True)
class Axis:
    """Keys that vary together, and their values: one tuple for each step."""

    keys: tuple[str, ...]
    steps: tuple[tuple[Any, ...], ...]

    @property
    def size(self) -> int:
        """How many steps it has."""
        return len(self.steps)


def dimension_of(value: Any) -> Dimension | None:
    """Returns the kind of quantity that a text is, or None."""
    found = split(value)
    if found is None:
        return None
    return next((dimension for dimension in DIMENSIONS if found[1] in dimension.units), None)


def in_si(value: Any) -> Any:
    """Returns a value of an axis for tables: quantities in SI units, tables as short texts."""
    if isinstance(value, str):
        return _text_in_si(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {item}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return value


def are_numbers(values: Sequence[Any]) -> bool:
    """Whether the values are numbers of one kind; "20 % BDP" and "50 packets" are two kinds."""
    first = _kind(values[0])
    return all(_kind(value) == first for value in values) and all(
        isinstance(in_si(value), (int, float)) for value in values
    )


def in_table(value: Any, number: bool) -> float | str:
    """Returns a value as tables store it: a number in SI units, or the text from the file."""
    if number:
        return float(in_si(value))
    return value if isinstance(value, str) else str(in_si(value))


def _kind(value: Any) -> Dimension | str | None:
    found = split(value) if isinstance(value, str) else None
    return None if found is None else dimension_of(value) or found[1]


@functools.lru_cache(maxsize=4096)
def _text_in_si(text: str) -> float | str:
    """Cached, since every row of a table asks for the same few texts."""
    dimension = dimension_of(text)
    if dimension is not None:
        return dimension.parse(text)
    found = split(text)
    if found is not None and (not found[1] or found[1] in COUNTED):
        return float(found[0])
    return text
