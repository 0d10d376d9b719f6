"""Confidence intervals of means."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from longfat.lazy import Module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = Module("numpy")

Array: TypeAlias = "NDArray[np.float64]"

ROUNDING = 1e-12
"""Repeats that differ by no more than this share of their greatest value are equal: sums of thousands of
numbers, each rounded to 1.1e-16 of itself, differ by so much with the order in which they are added."""


def deviation(x: Array) -> Array:
    """The sample's standard deviation over the first axis; 0 where the values are equal up to rounding."""
    equal = np.ptp(x, axis=0) <= ROUNDING * np.abs(x).max(axis=0)
    return np.where(equal, 0.0, x.std(axis=0, ddof=1))


@functools.cache
def student_t_95(degrees: int) -> float:
    """The t that Student's distribution exceeds in absolute value with probability .05.

    Found by bisection of the distribution's finite series (Abramowitz, Stegun 1964, 26.7.3 and 26.7.4).

    Args:
        degrees: degrees of freedom, at least 1.
    """
    low, high = 0.0, 0.5 * math.pi  # of atan(t / sqrt(degrees))
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if _student_within(middle, degrees) < 0.95 else (low, middle)
    return math.sqrt(degrees) * math.tan(0.5 * (low + high))


def _student_within(angle: float, degrees: int) -> float:
    """The probability that |t| is below sqrt(degrees) tan(angle)."""
    odd = degrees % 2
    term = math.cos(angle) if odd else 1.0
    total = term if degrees > 1 else 0.0
    for k in range(2 + odd, degrees, 2):
        term *= (k - 1.0) / k * math.cos(angle) ** 2
        total += term
    within = math.sin(angle) * total
    return 2.0 / math.pi * (angle + within) if odd else within


def half_width_95(values: ArrayLike) -> Array:
    """Half of the 95 % confidence interval of the mean over the first axis (Student's t); NaN for one.

    It is 0 where the values are equal up to rounding.
    """
    x = np.asarray(values, dtype=np.float64)
    runs = x.shape[0]
    if runs < 2:
        return np.full(x.shape[1:], np.nan)
    return student_t_95(runs - 1) / math.sqrt(runs) * deviation(x)


def half_intervals(summary: Mapping[str, Any]) -> dict[str, Any]:
    """Half of the 95 % confidence intervals (Student's t) of the means of repeats; empty for a single run.

    The result is as `mean` and `stderr` of the summary: lists of mappings by table, and `metrics`.
    """
    runs, errors = summary.get("runs", ()), summary.get("stderr")
    if len(runs) < 2 or not isinstance(errors, Mapping):
        return {}
    factor = student_t_95(len(runs) - 1)

    def scaled(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: scaled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [scaled(item) for item in value]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return factor * value if is_number else None

    return {key: scaled(value) for key, value in errors.items()}
