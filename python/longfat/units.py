"""Converts quantities as people write them ("250 Mbit/s", "42 ms", "512 KiB") to SI floats and back.

Decimal prefixes are powers of ten and binary ones (KiB, MiB...) powers of 1024, as IEC 80000-13 has them.
The core does it (`crates/scenario/src/units.rs`); `Dimension.parse` reads what `Dimension.write` returns as
the same float.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple, SupportsFloat

from longfat import _core


class Dimension(NamedTuple):
    """A kind of quantity: its name, an example, and its units."""

    name: str
    example: str
    units: tuple[str, ...]

    @property
    def accepted(self) -> str:
        """What would be accepted, for error messages."""
        return f'"{self.example}"'

    def parse(self, value: Any, like: str = "") -> float:
        """Returns the SI value of `value`, a number with a unit; ValueError says what would be accepted.

        Args:
            value: what a file has.
            like: an example, whose unit a number without a unit probably means.
        """
        return _core.parse_quantity(self.name, value, like)

    def parse_within(self, value: Any, limits: tuple[float, float], like: str = "") -> float:
        """As `parse`, for values from the first of two limits to the second."""
        return self.within(self.parse(value, like), limits)

    def within(self, value: float, limits: tuple[float, float]) -> float:
        """Returns an SI value that lies within two limits; ValueError names them if it does not."""
        return _core.quantity_within(self.name, value, *limits)

    def write(self, value: float) -> str:
        """Returns `value` with a unit; `parse` reads it as the same float."""
        return _core.write_quantity(self.name, value)


DIMENSIONS = TIME, RATE, SIZE = tuple(
    Dimension(name, example, tuple(units)) for name, example, units in _core.dimensions()
)
"""Seconds, bit/s and bytes."""

split = _core.split
"""Returns the number and the unit (perhaps empty) of a text; None if it does not begin with a number."""

COUNTED = ("packets", "packet", "segments", "segment", "% BDP")
"""Units of counts and shares, which have no SI unit."""


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


def to_float(number: SupportsFloat) -> float:
    """Returns the nearest float, or infinity beyond the greatest one, which range checks then refuse."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf  # type: ignore[operator]


PACKET_BITS = 12_000.0
"""A packet of 1500 bytes, the unit that counts the expected work of a run."""
