"""The values of a sweep's axes, as tables store them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longfat.study.grid import Axis
from longfat.units import Dimension, dimension_of, in_si, split


def from_json(axes: Iterable[Mapping[str, Any]]) -> tuple[Axis, ...]:
    """Returns the axes that sweep.json describes."""
    return tuple(Axis(tuple(axis["keys"]), tuple(map(tuple, axis["values"]))) for axis in axes)


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
