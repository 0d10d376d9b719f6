"""Turns numbers into values that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """Returns the same nested value with None for numbers that are not finite, which JSON cannot hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):  # most values are: a test for a mapping takes longer
        return value
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return value


def is_finite(value: Any) -> bool:
    """Whether a nested value holds no number that is not finite."""
    return isinstance(value, str) or bool(finite(value) == value)
