"""Means over repeats and of ratios, for the one number of a claim that readings are compared by."""

from __future__ import annotations

import math
from collections.abc import Iterable

from longfat.runs import metrics


def mean(values: Iterable[float]) -> float:
    """Returns the mean of values, such as those of repeats; NaN if there are none, or if one is no number."""
    return metrics.mean_stderr(list(values))[0]


def geometric_mean(ratios: Iterable[float]) -> float:
    """Returns the geometric mean of ratios; NaN if there are none, or if one is no number or not above 0."""
    found = list(ratios)
    if not found or not all(ratio > 0.0 for ratio in found):
        return math.nan
    return math.exp(math.fsum(math.log(ratio) for ratio in found) / len(found))


def mean_factor(ratios: Iterable[float]) -> float:
    """Returns the geometric mean of how far ratios are from 1, up or down: 2 for both 2 and 1/2."""
    return geometric_mean(max(ratio, 1.0 / ratio) if ratio > 0.0 else math.nan for ratio in ratios)
