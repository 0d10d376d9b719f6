"""Numbers as the texts of claims write them."""

from __future__ import annotations

import math
from collections.abc import Mapping


def short(value: float, digits: int | None = None) -> str:
    """Writes a number without a zero before its point (.95, 1.5), with ``digits`` decimals if given."""
    text = f"{value:g}" if digits is None else f"{value:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def percent(share: float) -> str:
    """Writes a share in percent, without the sign: 0.05 is "5"."""
    return short(round(100.0 * share, 9))


def multiple(factor: float) -> str:
    """Writes a factor in words: twice, 3 times."""
    return "twice" if factor == 2.0 else f"{factor:g} times"


def counted(number: int, noun: str) -> str:
    """Writes a number of things: "1 run", "2 runs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def part(share: float) -> str:
    """Writes a share as a word if there is one: half, .4."""
    return "half" if share == 0.5 else short(share)


def seconds(value: float, spec: str = ".3g") -> str:
    """Writes a time, or "never" if it is not finite."""
    return f"{value:{spec}} s" if math.isfinite(value) else "never"


def listed(values: Mapping[str, float], titles: Mapping[str, str], digits: int = 2) -> str:
    """Writes values after their titles, separated by commas."""
    return ", ".join(f"{titles.get(name, name)} {value:.{digits}f}" for name, value in values.items())


def with_error(value: float, error: float = math.nan) -> str:
    """Writes a value, with its standard error if there is one."""
    return f"{value:.3g}" if math.isnan(error) else f"{value:.3g} ± {error:.2g}"
