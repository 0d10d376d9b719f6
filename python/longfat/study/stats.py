"""Estimates of studies: means over repeats with their errors, and how both are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.intervals import half_width_95
from longfat.numbers import finite
from longfat.report.columns import number

DIGITS, ERROR_DIGITS = 3, 2


@dataclass(frozen=True)
class Estimate:
    """A mean over repeats and its error; NaN for what is not there.

    Attributes:
        mean: the mean.
        error: a standard error, or half of a 95 % confidence interval.
        bound: "<" or ">" where the mean is no more than a bound, "~" where some of it lies beyond either end.
    """

    mean: float
    error: float = math.nan
    bound: str = ""

    @property
    def differs(self) -> bool:
        """Whether the interval leaves out zero."""
        return not math.isnan(self.mean) and abs(self.mean) > (0.0 if math.isnan(self.error) else self.error)

    def to_json(self, error: str, scale: float = 1.0) -> dict[str, Any]:
        """Returns mean and error, the latter by this name, in a unit `scale` times as small; None for NaN."""
        shown: dict[str, Any] = finite({"mean": self.mean * scale, error: self.error * scale})
        return shown


def with_half_width(values: Iterable[float]) -> Estimate:
    """Returns the mean and half of the 95 % interval of the values that are numbers."""
    there = [value for value in values if math.isfinite(value)]
    if not there:
        return Estimate(math.nan)
    half = float(half_width_95(there)) if len(there) > 1 else math.nan
    return Estimate(float(np.mean(there)), half)


def written(
    mean: float | None, error: float | None, unit: str = "", *, digits: int = DIGITS, between: str = " "
) -> str:
    """Writes a mean with its error, if it has one, and its unit: "12.3 ± 0.2 ms"."""
    behind = "" if error is None or math.isnan(error) else f"{between}± {number(error, ERROR_DIGITS)}"
    return f"{number(mean, digits)}{behind}{f' {unit}' if unit else ''}"
