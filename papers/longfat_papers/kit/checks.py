"""The kinds of checks that rules are made of. A value that is not a number leaves a check undecided.

A text is "subject: quantity"; checks of one quantity with one bound are one part of the rule's sentence.
``than`` names a bound that is itself measured. A text can also name it, as "subject: quantity (bound: name)".
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from longfat_papers.kit.claims import Check
from longfat_papers.kit.text import with_error


def at_least(text: str, value: float, least: float, error: float = math.nan, *, than: str = "") -> Check:
    """Checks that the value is at least the bound; its standard error is shown."""
    held = _decided(value >= least, value, least)
    return _check(text, "at least", f"{least:g}", held, with_error(value, error), than)


def at_most(text: str, value: float, most: float, *, than: str = "") -> Check:
    """Checks that the value is at most the bound."""
    return _check(
        text, "at most", f"{most:.3g}", _decided(value <= most, value, most), with_error(value), than
    )


def above(text: str, value: float, bound: float, *, than: str = "") -> Check:
    """Checks that the value is greater than the bound."""
    return _check(
        text, "above", f"{bound:.3g}", _decided(value > bound, value, bound), with_error(value), than
    )


def below(text: str, value: float, bound: float, *, than: str = "") -> Check:
    """Checks that the value is less than the bound."""
    return _check(
        text, "below", f"{bound:.3g}", _decided(value < bound, value, bound), with_error(value), than
    )


def between(text: str, value: float, least: float, most: float, *, than: str = "") -> Check:
    """Checks that the value lies between two bounds, or on one of them."""
    held = _decided(least <= value <= most, value)
    return _check(text, "between", f"{least:g} and {most:g}", held, with_error(value), than)


def within_factor(text: str, value: float, reference: float, factor: float, *, than: str = "") -> Check:
    """Checks that the value is within a factor of the reference, above or below."""
    held = _decided(reference / factor <= value <= reference * factor, value, reference)
    relation = f"within a factor {factor:g} of"
    return _check(text, relation, f"{reference:.3g}", held, with_error(value), than)


def _check(text: str, relation: str, bound: str, held: bool | None, measured: str, than: str) -> Check:
    named = re.search(r" \(bound: (.*?)\)", text)
    plain, name = (text.replace(named[0], ""), named[1]) if named else (text, bound)
    return Check(f"{text} {relation} {bound}", held, measured, f"{plain} {relation} {than or name}")


def _decided(held: bool, *values: float) -> bool | None:
    """Returns whether a check holds; None if a value that it needs is not a number."""
    return None if any(math.isnan(value) for value in values) else bool(held)


def held(checks: Iterable[Check]) -> int:
    """Returns how many of the checks hold."""
    return sum(check.passed is True for check in checks)
