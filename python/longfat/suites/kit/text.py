"""Numbers as the texts of claims write them."""

from __future__ import annotations

import math
from collections.abc import Mapping


def short(value: float, digits: int | None = None) -> str:
    """A number without the zero before its point: .95, 1.5, 8000; with ``digits`` decimals where given."""
    text = f"{value:g}" if digits is None else f"{value:.{digits}f}"
    return text.removeprefix("0") if text.startswith("0.") else text


def percent(share: float) -> str:
    """A share in percent, without the sign: 5 of 0.05."""
    return short(round(100.0 * share, 9))


def multiple(factor: float) -> str:
    """A factor in words: twice, 3 times."""
    return "twice" if factor == 2.0 else f"{factor:g} times"


def part(share: float) -> str:
    """A share in words where there is one: half, .4."""
    return "half" if share == 0.5 else short(share)


def seconds(value: float, spec: str = ".3g") -> str:
    """A time, or "never" where it was not reached."""
    return f"{value:{spec}} s" if math.isfinite(value) else "never"


def listed(values: Mapping[str, float], titles: Mapping[str, str], digits: int = 2) -> str:
    """Values by their titles, with commas between."""
    return ", ".join(f"{titles.get(name, name)} {value:.{digits}f}" for name, value in values.items())


def with_error(value: float, error: float = math.nan) -> str:
    """A value, with its standard error where there is one."""
    return f"{value:.3g}" if math.isnan(error) else f"{value:.3g} ± {error:.2g}"
