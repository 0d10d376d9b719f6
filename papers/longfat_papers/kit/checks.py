"""The kinds of checks that rules are made of. A value that is not a number leaves a check undecided."""

from __future__ import annotations

import math
from collections.abc import Iterable

from longfat_papers.kit.claims import Check
from longfat_papers.kit.text import with_error


def at_least(text: str, value: float, least: float, error: float = math.nan) -> Check:
    """Checks that the value is at least the bound; its standard error is shown."""
    return Check(
        f"{text} at least {least:g}", _decided(value >= least, value, least), with_error(value, error)
    )


def at_most(text: str, value: float, most: float) -> Check:
    """Checks that the value is at most the bound."""
    return Check(f"{text} at most {most:.3g}", _decided(value <= most, value, most), with_error(value))


def above(text: str, value: float, bound: float) -> Check:
    """Checks that the value is greater than the bound."""
    return Check(f"{text} above {bound:.3g}", _decided(value > bound, value, bound), with_error(value))


def below(text: str, value: float, bound: float) -> Check:
    """Checks that the value is less than the bound."""
    return Check(f"{text} below {bound:.3g}", _decided(value < bound, value, bound), with_error(value))


def between(text: str, value: float, least: float, most: float) -> Check:
    """Checks that the value lies between two bounds, or on one of them."""
    return Check(
        f"{text} between {least:g} and {most:g}", _decided(least <= value <= most, value), with_error(value)
    )


def within_factor(text: str, value: float, reference: float, factor: float) -> Check:
    """Checks that the value is within a factor of the reference, above or below."""
    held = reference / factor <= value <= reference * factor
    return Check(
        f"{text} within a factor {factor:g} of {reference:.3g}",
        _decided(held, value, reference),
        with_error(value),
    )


def _decided(held: bool, *values: float) -> bool | None:
    """Returns whether a check holds; None if a value that it needs is not a number."""
    return None if any(math.isnan(value) for value in values) else bool(held)


def held(checks: Iterable[Check]) -> int:
    """Returns how many of the checks hold."""
    return sum(check.passed is True for check in checks)
