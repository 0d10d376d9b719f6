"""Estimates of studies: means over repeats with 95 % confidence intervals, and how both are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.intervals import half_width_95
from longfat.numbers import finite
from longfat.report.columns import number

DIGITS, HALF_DIGITS = 3, 2
HALF = "half_width_95"
"""What documents call half of an interval."""


@dataclass(frozen=True)
class Estimate:
    """A mean over repeats; NaN for what is not there.

    Attributes:
        mean: the mean.
        half_width: half of its 95 % confidence interval (Student's t).
        bound: "<" or ">" where the mean is no more than a bound, "~" where some of it lies beyond either end.
    """

    mean: float
    half_width: float = math.nan
    bound: str = ""

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out zero."""
        half = 0.0 if math.isnan(self.half_width) else self.half_width
        return not math.isnan(self.mean) and abs(self.mean) > half

    def to_json(self, scale: float = 1.0) -> dict[str, Any]:
        """Returns both in a unit `scale` times as small; None for NaN."""
        shown: dict[str, Any] = finite({"mean": self.mean * scale, HALF: self.half_width * scale})
        return shown


def with_half_width(values: Iterable[float]) -> Estimate:
    """Returns the mean and half of the 95 % interval of the values that are numbers."""
    there = [value for value in values if math.isfinite(value)]
    if not there:
        return Estimate(math.nan)
    half = float(half_width_95(there)) if len(there) > 1 else math.nan
    return Estimate(float(np.mean(there)), half)


def written(
    mean: float | None, half: float | None, unit: str = "", *, digits: int = DIGITS, between: str = " "
) -> str:
    """Writes a mean with half of its interval, if it has one, and its unit: "12.3 ± 0.2 ms"."""
    behind = "" if half is None or math.isnan(half) else f"{between}± {number(half, HALF_DIGITS)}"
    return f"{number(mean, digits)}{behind}{f' {unit}' if unit else ''}"
