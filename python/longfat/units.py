"""Converts quantities as people write them ("250 Mbit/s", "42 ms", "512 KiB") to SI floats and back.

Decimal prefixes are powers of ten and binary ones (KiB, MiB...) powers of 1024, as IEC 80000-13 has them.
Parsing goes through fractions, so "0.1 ms" is the float nearest to 1/10000, and `Dimension.parse` reads what
`Dimension.write` returns as the same float.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, SupportsFloat

_DIGITS = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?"
_NUMBER = re.compile(rf"\s*([+-]?{_DIGITS})\s*(.*?)\s*", re.DOTALL)
LONGEST_TEXT = 100
"""The most characters of a quantity; a longer text is a mistake, and arithmetic on it would be slow."""


BARE_SI = 1e4
"""From here on a number without a unit is taken for bit/s or bytes, and below for the example's unit."""
MICRO, GREEK_MU = "\u00b5", "\u03bc"
"""The micro sign, and the Greek letter that looks like it and means the same."""


class Dimension(NamedTuple):
    """A kind of quantity: its units, and how values are given and written."""

    name: str
    units: Mapping[str, Fraction]
    written: tuple[str, ...]
    """The units that `write` chooses from: powers of ten in growing order, after the one that zero gets."""
    example: str

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
        return to_float(self.parse_exactly(value, like))

    def parse_exactly(self, value: Any, like: str = "") -> Fraction:
        """As `parse`, without rounding to a float."""
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            number = to_float(value)
            raise ValueError(f'a {self.name} needs a unit; accepted: "{self.guess(number, like)}"')
        amount, unit = split(value) or (None, "")
        if amount is None:
            raise ValueError(f"not a {self.name}; accepted: a number and a unit such as {self.accepted}")
        if not unit:
            raise ValueError(f'a {self.name} needs a unit; accepted: "{self.guess(to_float(amount), like)}"')
        if unit not in self.units:
            hint = meant(value, tuple(self.units))
            raise ValueError(
                f'"{unit}" is not a unit of {self.name}{hint}; accepted: {", ".join(self.units)}'
            )
        return amount * self.units[unit]

    def parse_within(self, value: Any, limits: tuple[float, float], like: str = "") -> float:
        """As `parse`, for values from the first of two limits to the second."""
        return self.within(self.parse(value, like), limits)

    def within(self, value: float, limits: tuple[float, float]) -> float:
        """Returns an SI value that lies within two limits; ValueError names them if it does not."""
        least, greatest = limits
        if not least <= value <= greatest:
            raise ValueError(f"accepted: from {self.write(least)} to {self.write(greatest)}")
        return value

    def guess(self, number: float, like: str = "") -> str:
        """What a number without a unit probably means: one that looks like an SI value gets an SI unit."""
        example = like or self.example
        if not math.isfinite(number):
            return example
        unit = example.split(" ", 1)[1]
        is_si = 0.0 < abs(number) < 1.0 if self.units[unit] < 1 else abs(number) >= BARE_SI
        return self.write(number) if is_si and number > 0.0 else f"{number:g} {unit}"

    def write(self, value: float) -> str:
        """Returns `value` with a unit; `parse` reads it as the same float."""
        exact = Decimal(repr(float(value)))
        fitting = [unit for unit in self.written if Fraction(exact) >= self.units[unit]]
        unit = fitting[-1] if fitting else self.written[0]
        scale = self.units[unit]
        shift = Decimal(scale.numerator) / Decimal(scale.denominator)
        return f"{_digits(exact / shift)} {unit}"


def number_with(units: Sequence[str], *, negative: bool = False) -> str:
    """A regular expression, of Python and of JSON Schema, for a number with one of these units.

    Args:
        units: the units that may follow the number.
        negative: whether a minus sign may precede it.
    """
    sign = "[+-]?" if negative else r"\+?"
    spelled = "|".join(unit.replace(" ", r"\s+").replace(MICRO, f"[{MICRO}{GREEK_MU}]") for unit in units)
    return rf"^\s*{sign}{_DIGITS}\s*({spelled})\s*$"


SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "bps": ("bit/s",),
    "b/s": ("bit/s",),
    "bits/s": ("bit/s",),
    "kbps": ("kbit/s",),
    "kb/s": ("kbit/s", "kB/s"),
    "mbps": ("Mbit/s",),
    "mb/s": ("Mbit/s", "MB/s"),
    "mbit": ("Mbit/s",),
    "gbps": ("Gbit/s",),
    "gb/s": ("Gbit/s", "GB/s"),
    "gbit": ("Gbit/s",),
    "tbps": ("Tbit/s",),
    "byte": ("B",),
    "bytes": ("B",),
    "octets": ("B",),
    "k": ("kB",),
    "kb": ("kB", "KiB"),
    "m": ("min", "MB"),
    "g": ("GB",),
    "sec": ("s",),
    "secs": ("s",),
    "second": ("s",),
    "seconds": ("s",),
    "msec": ("ms",),
    "msecs": ("ms",),
    "milliseconds": ("ms",),
    "usec": ("us",),
    "usecs": ("us",),
    "microseconds": ("us",),
    "nsec": ("ns",),
    "nanoseconds": ("ns",),
    "mins": ("min",),
    "minute": ("min",),
    "minutes": ("min",),
    "hr": ("h",),
    "hour": ("h",),
    "hours": ("h",),
    "pkt": ("packets",),
    "pkts": ("packets",),
    "segment": ("packets",),
    "segments": ("packets",),
    "packets": ("segments",),
    "bdps": ("BDP",),
    "%": ("% BDP",),
    "% of bdp": ("% BDP",),
    "percent bdp": ("% BDP",),
}
"""What people write for a unit, in lower case, and the units that they may mean."""
EXACT_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "Kb/s": ("kbit/s",),
    "kb/s": ("kbit/s",),
    "Mb/s": ("Mbit/s",),
    "Gb/s": ("Gbit/s",),
    "KB/s": ("kB/s",),
    "kBps": ("kB/s",),
    "KBps": ("kB/s",),
    "MBps": ("MB/s",),
    "GBps": ("GB/s",),
    "Mb": ("Mbit/s", "MB"),
}
"""Spellings whose capitals tell bits from bytes."""


def meant(value: str, units: Sequence[str]) -> str:
    """Returns ', did you mean "100 Mbit/s"?' for "100 Mbps", or nothing if no unit is near.

    Args:
        value: a number with a unit that is none of `units`.
        units: the units that would be accepted.
    """
    found = split(value)
    if found is None:
        return ""
    unit = found[1]
    known = [
        *EXACT_SPELLINGS.get(unit, ()),
        *(() if unit in EXACT_SPELLINGS else SPELLINGS.get(unit.lower(), ())),
        *(other for other in units if unit not in EXACT_SPELLINGS and other.lower() == unit.lower()),
    ]
    number = value[: len(value.rstrip()) - len(unit)].strip() if value.rstrip().endswith(unit) else ""
    guesses = [f'"{number} {other}"' for other in dict.fromkeys(known) if other in units and number]
    return f", did you mean {' or '.join(guesses)}?" if guesses else ""


def split(value: Any) -> tuple[Fraction, str] | None:
    """Returns the number and the unit (perhaps empty) of a text; None if it does not begin with a number."""
    return _split(value) if isinstance(value, str) and len(value) <= LONGEST_TEXT else None


@functools.lru_cache(maxsize=1024)
def _split(text: str) -> tuple[Fraction, str] | None:
    """Cached, since the runs of a sweep repeat the same few texts."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    return Fraction(match[1]), " ".join(match[4].split()).replace(GREEK_MU, MICRO)


def to_float(number: SupportsFloat) -> float:
    """Returns the nearest float, or infinity beyond the greatest one, which the range checks then refuse."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf  # type: ignore[operator]


def _digits(number: Decimal) -> str:
    """Writes a number without an exponent where that is short, and without trailing zeros."""
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
"""The units in which the registry declares parameters, and what users write for them."""


def to_declared(value: Any, unit: str) -> float:
    """Returns `value` as a number in the registry's `unit`. ValueError says what would be accepted.

    One rule holds for algorithms, queues and routers: a time, rate or size needs its unit, as everywhere in a
    scenario; a count, a share or a number without unit may be bare, as the registry knows what it counts. A
    parameter's unit may always be written: "20 packets", "16 round trips", "0.9 of the capacity", "90 %".
    """
    bare = isinstance(value, (int, float)) and not isinstance(value, bool)
    if unit in _DECLARED:
        dimension, written = _DECLARED[unit]
        if bare:
            number = to_float(value)
            example = f"{number:g} {written}" if math.isfinite(number) else dimension.example
            raise ValueError(f'a {dimension.name} needs a unit; accepted: "{example}"')
        return to_float(dimension.parse_exactly(value) / dimension.units[written])
    if bare:
        return to_float(value)
    amount, given = split(value) or (None, "")
    if amount is not None and given and given in counted_units(unit):
        return to_float(amount / 100 if given == "%" else amount)
    percent = ' or "20 %"' if is_share(unit) else ""
    if not unit:
        raise ValueError("accepted: a number")
    hint = meant(value, counted_units(unit)) if amount is not None else ""
    told = f'"{given}" is not the unit{hint}; ' if hint else ""
    raise ValueError(f'{told}accepted: a number, {_example(unit)} or "{_example(unit)} {unit}"{percent}')


def counted_units(unit: str) -> tuple[str, ...]:
    """What may follow a number whose declared unit is a count or a share; nothing where there is no unit."""
    if not unit:
        return ()
    return tuple(dict.fromkeys((unit, unit.removesuffix("s"), *(("%",) if is_share(unit) else ()))))


def declared_units(unit: str) -> tuple[str, ...]:
    """What has to follow a number whose declared unit is of a time, a rate or a size; nothing for others."""
    return tuple(_DECLARED[unit][0].units) if unit in _DECLARED else ()


def is_share(unit: str) -> bool:
    """Whether the registry declares a share of something, such as "of the window"."""
    return unit.startswith(_SHARE)


_SHARE = "of "
"""How the units of shares begin in the registry."""


def _example(unit: str) -> str:
    return "0.2" if is_share(unit) else "20"


def from_declared(value: float, unit: str) -> float | str:
    """Returns what `to_declared` reads as `value`; counts of packets and segments have no unit."""
    if unit in _DECLARED:
        return f"{_digits(Decimal(repr(float(value))))} {_DECLARED[unit][1]}"
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def packets(value: Any) -> Fraction | None:
    """Returns the number in "175 packets"; None if `value` is anything else."""
    amount, unit = split(value) or (None, "")
    return amount if unit in ("packets", "packet") else None


PACKET_BITS = 12_000.0
"""A packet of 1500 bytes, the unit that counts the expected work of a run."""
