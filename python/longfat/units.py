"""Quantities as people write them ("250 Mbit/s", "42 ms", "512 KiB") to plain SI floats, exactly, and back.

Decimal prefixes are powers of ten and binary ones (KiB, MiB...) powers of 1024, as IEC 80000-13 has them.
Parsing goes through fractions, so "0.1 ms" is the float nearest to 1/10000, and what `Dimension.write` gives
is read back as the same float.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

_NUMBER = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*(.*?)\s*", re.DOTALL)
LONGEST_TEXT = 100
"""Characters of a quantity; beyond it is a mistake, and big-number arithmetic on it would be slow."""


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity: its units, and how values are given and written."""

    name: str
    units: Mapping[str, Fraction]
    written: tuple[str, ...]
    """Units that `write` chooses from, powers of ten, growing after the first, which zero has."""
    example: str

    @property
    def accepted(self) -> str:
        """What would be accepted, for error messages."""
        return f'"{self.example}"'

    def parse(self, value: Any) -> float:
        """The SI value of `value`, a number with a unit; ValueError says what would be accepted."""
        return to_float(self.parse_exactly(value))

    def parse_exactly(self, value: Any) -> Fraction:
        """As `parse`, without rounding to a float."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            unit = self.example.split(" ", 1)[1]
            shown = f"{value:g} {unit}" if math.isfinite(value) else self.example
            raise ValueError(f'a {self.name} needs a unit; accepted: "{shown}"')
        amount, unit = split(value) or (None, "")
        if amount is None:
            raise ValueError(f"not a {self.name}; accepted: a number and a unit such as {self.accepted}")
        if not unit:
            raise ValueError(f"a {self.name} needs a unit; accepted: {self.accepted}")
        if unit not in self.units:
            raise ValueError(f'"{unit}" is no unit of a {self.name}; accepted: {", ".join(self.units)}')
        return amount * self.units[unit]

    def write(self, value: float) -> str:
        """`value` with a unit, read back by `parse` as the same float."""
        exact = Decimal(repr(float(value)))
        fitting = [unit for unit in self.written if Fraction(exact) >= self.units[unit]]
        unit = fitting[-1] if fitting else self.written[0]
        scale = self.units[unit]
        shift = Decimal(scale.numerator) / Decimal(scale.denominator)
        return f"{_plain(exact / shift)} {unit}"


def split(value: Any) -> tuple[Fraction, str] | None:
    """The number and the unit (perhaps empty) of a text, or None if it does not begin with a number."""
    return _split(value) if isinstance(value, str) and len(value) <= LONGEST_TEXT else None


@functools.lru_cache(maxsize=1024)
def _split(text: str) -> tuple[Fraction, str] | None:
    """Runs of a sweep have the same few texts over and over."""
    match = _NUMBER.fullmatch(text)
    return None if match is None else (Fraction(match[1]), " ".join(match[2].split()))


def to_float(number: Fraction) -> float:
    """The nearest float; infinite beyond the greatest one, for the range checks to refuse."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _plain(number: Decimal) -> str:
    """Without an exponent where that is short, and without trailing zeros."""
    number = number.normalize()
    _, digits, exponent = number.as_tuple()
    if isinstance(exponent, int) and -12 <= exponent <= 12 and len(digits) + abs(exponent) <= 24:
        return f"{number:f}"
    return str(number)


def _powers(base: int, units: tuple[str, ...], per: int = 1) -> dict[str, Fraction]:
    return {unit: Fraction(base) ** i * per for i, unit in enumerate(units)}


TIME = Dimension(
    "time",
    {
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "µs": Fraction(1, 10**6),
        "ms": Fraction(1, 1000),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
    },
    ("s", "ns", "us", "ms", "s"),
    "42 ms",
)
"""Seconds."""

_BITS = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
RATE = Dimension(
    "rate",
    _powers(1000, _BITS) | _powers(1000, ("B/s", "kB/s", "MB/s", "GB/s"), per=8),
    _BITS,
    "250 Mbit/s",
)
"""Bit/s."""

_BYTES = ("B", "kB", "MB", "GB", "TB")
SIZE = Dimension(
    "size",
    _powers(1000, _BYTES) | _powers(1024, ("B", "KiB", "MiB", "GiB", "TiB")),
    ("B", "MB", "GB", "TB"),
    "1500 B",
)
"""Bytes."""

_DECLARED = {"bytes": (SIZE, "B"), "us": (TIME, "us"), "kB/s": (RATE, "kB/s")} | {
    unit: (dimension, unit) for dimension in (TIME, RATE, SIZE) for unit in dimension.written
}
"""Units in which the registry declares parameters, and what users write for them."""


def to_declared(value: Any, unit: str) -> float:
    """`value` as a plain number of the registry's `unit`. ValueError says what would be accepted.

    One rule for algorithms, queues and routers: a time, rate or size has its unit written, as everywhere in a
    scenario; a count, a share or a plain number may be bare, as the registry says of what. Where a parameter
    has a unit, that may always be written: "20 packets", "16 round trips", "0.9 of the capacity", "90 %".
    """
    bare = isinstance(value, (int, float)) and not isinstance(value, bool)
    if unit in _DECLARED:
        dimension, written = _DECLARED[unit]
        if bare:
            raise ValueError(f'a {dimension.name} needs a unit; accepted: "{value:g} {written}"')
        return to_float(dimension.parse_exactly(value) / dimension.units[written])
    if bare:
        return float(value)
    amount, given = split(value) or (None, "")
    if amount is not None and given and given in (unit, unit.removesuffix("s")):
        return to_float(amount)
    if amount is not None and given == "%" and unit.startswith(_SHARE):
        return to_float(amount / 100)
    percent = ' or "20 %"' if unit.startswith(_SHARE) else ""
    raise ValueError(
        f'accepted: a number, {_example(unit)} or "{_example(unit)} {unit}"{percent}'
        if unit
        else "accepted: a number"
    )


_SHARE = "of "
"""What begins the units of shares in the registry."""


def _example(unit: str) -> str:
    return "0.2" if unit.startswith(_SHARE) else "20"


def from_declared(value: float, unit: str) -> float | str:
    """What `to_declared` reads back as `value`; counts of packets and segments without their unit."""
    if unit in _DECLARED:
        return f"{_plain(Decimal(repr(float(value))))} {_DECLARED[unit][1]}"
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def packets(value: Any) -> Fraction | None:
    """The number in "175 packets", or None if that is not what `value` is."""
    amount, unit = split(value) or (None, "")
    return amount if unit in ("packets", "packet") else None


PACKET_BITS = 12_000.0
"""A packet of 1500 bytes: the unit in which the expected work of a run is counted."""
