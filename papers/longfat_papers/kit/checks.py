"""The kinds of checks that rules are made of. A value that is not a number leaves a check undecided.

A text is "subject: quantity"; checks of one quantity with one bound are one part of the rule's sentence.
``than`` names a bound that is itself measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from longfat_papers.kit.claims import Check
from longfat_papers.kit.text import with_error


def at_least(text: str, value: float, least: float, error: float = math.nan, *, than: str = "") -> Check:
    """Checks that the value is at least the bound; its standard error is shown."""
    return _check(text, "at least", value >= least, value, least, than, error)


def at_most(text: str, value: float, most: float, *, than: str = "") -> Check:
    """Checks that the value is at most the bound."""
    return _check(text, "at most", value <= most, value, most, than)


def above(text: str, value: float, bound: float, *, than: str = "") -> Check:
    """Checks that the value is greater than the bound."""
    return _check(text, "above", value > bound, value, bound, than)


def below(text: str, value: float, bound: float, *, than: str = "") -> Check:
    """Checks that the value is less than the bound."""
    return _check(text, "below", value < bound, value, bound, than)


def between(text: str, value: float, least: float, most: float) -> Check:
    """Checks that the value lies between two bounds, or on one of them."""
    return _check(f"{text} between {least:g}", "and", least <= value <= most, value, most)


def within_factor(text: str, value: float, reference: float, factor: float, *, than: str = "") -> Check:
    """Checks that the value is within a factor of the reference, above or below."""
    near = reference / factor <= value <= reference * factor
    return _check(text, f"within a factor {factor:g} of", near, value, reference, than)


def _check(
    text: str, relation: str, held: bool, value: float, bound: float, than: str = "", error: float = math.nan
) -> Check:
    passed = None if math.isnan(value) or math.isnan(bound) else bool(held)
    detail = f"{bound:.3g}" if than else ""
    return Check(f"{text} {relation} {than or f'{bound:g}'}", passed, with_error(value, error), detail)


def held(checks: Iterable[Check]) -> int:
    """Returns how many of the checks hold."""
    return sum(check.passed is True for check in checks)
