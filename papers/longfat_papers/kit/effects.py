"""What readings do to a claim: how far they move its figure, and whether they turn its verdict.

Two rules decide, and both were written down before any reading was run.

A reading *moves* a claim if its figure differs from the base's by more than two standard errors of the
difference. That error is sigma sqrt(1/m + 1/n), where the base has n repeats, the reading has m, and sigma is
the spread of the base's repeats. If the base has no standard error, a reading moves the claim if a verdict or
a check changes, or if the figure changes by more than 5 %.

A reading *turns* a claim if its verdict is neither the base's nor the one that the base has with as few
repeats as the reading. So a verdict that changes only because there are fewer repeats turns nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from longfat_papers.kit.claims import Judged
from longfat_papers.kit.text import counted

MOST_ERRORS = 2.0
"""A reading moves a figure that has a standard error by more than this many of them."""

MOST_CHANGE = 0.05
"""A reading moves a figure that has no standard error by more than this share of the base's value."""

SAME = 1e-9
"""Values that differ by no more than this share are the same, whatever their standard error."""

Outcome = Literal["base", "reading", "none", "reports", "unfinished"]
"""Where a claim is reproduced: at the base, else under some reading or pair, or under none.

A claim that only reports, and one whose runs are not all there, are in none of the three.
"""

BESIDE = {"reports": "without a published value", "unfinished": "with runs missing"}

WITH_VERDICT: tuple[Outcome, ...] = ("base", "reading", "none")


@dataclass(frozen=True)
class Base:
    """A claim at the base: with all repeats, and with as many as a reading has.

    Attributes:
        whole: with all repeats.
        like: with as many repeats as the readings; the same if they have all.
        repeats: how many the base has.
        readings_repeats: how many a reading has.
    """

    whole: Judged
    like: Judged
    repeats: int
    readings_repeats: int


@dataclass(frozen=True)
class Effect:
    """How a reading differs from the base. ``stderr`` is the standard error of ``difference``, or NaN."""

    difference: float
    stderr: float
    moved: bool
    turned: bool


def effect(base: Base, reading: Judged) -> Effect:
    """Returns how a reading differs from the base, by the rules at the top of this module."""
    if "not measured" in (base.whole.verdict, reading.verdict):
        return Effect(math.nan, math.nan, moved=False, turned=False)
    figure = base.whole.figure
    error = figure.stderr * math.sqrt(1.0 + base.repeats / base.readings_repeats)
    turned = reading.verdict not in (base.whole.verdict, base.like.verdict)
    if math.isfinite(error):
        moved = _differ(figure.value, reading.figure.value, MOST_ERRORS * error)
    else:
        like = base.like
        figure = like.figure
        moved = (
            reading.verdict != like.verdict
            or _states(reading) != _states(like)
            or _differ(figure.value, reading.figure.value, MOST_CHANGE * abs(figure.value))
        )
    return Effect(reading.figure.value - figure.value, error, moved, turned)


def _differ(one: float, other: float, most: float) -> bool:
    """Whether two values differ by more than this; one that is not finite differs from all others."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return one != other and not (math.isnan(one) and math.isnan(other))
    return abs(other - one) > max(most, SAME * abs(one))


def _states(judged: Judged) -> list[bool | None]:
    return [check.passed for check in judged.checks]


def outcome(
    base: Judged, readings: Iterable[tuple[Judged, Effect]], *, reports: bool, complete: bool
) -> Outcome:
    """Returns where a claim is reproduced.

    Args:
        base: the claim at the base, with all repeats.
        readings: its readings and pairs.
        reports: the paper prints no value to compare with.
        complete: the runs of all readings and pairs are there.
    """
    if reports:
        return "reports"
    if base.verdict == "not measured":
        return "unfinished"
    if base.verdict == "reproduced":
        return "base"
    if any(judged.verdict == "reproduced" and found.turned for judged, found in readings):
        return "reading"
    return "none" if complete else "unfinished"


def headline(entries: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Returns how many claims are reproduced at the base, under some reading, and under none.

    The three add up to ``claims``. Beside them are the claims that only report (``reports``), and those
    whose runs are not all there (``unfinished``).
    """
    outcomes = [entry["outcome"] for entry in entries]
    return {
        "claims": sum(found in WITH_VERDICT for found in outcomes),
        **{found: outcomes.count(found) for found in (*WITH_VERDICT, "reports", "unfinished")},
    }


def headline_text(numbers: Mapping[str, int]) -> str:
    """Writes the headline of a suite in words."""
    beside = [f"{numbers[key]} {words}" for key, words in BESIDE.items() if numbers[key]]
    three = (
        f"{numbers['base']} reproduced at the base",
        f"{numbers['reading']} under some documented reading",
        f"{numbers['none']} under none",
    )
    more = f" (beside them {', '.join(beside)})" if beside else ""
    return f"{counted(numbers['claims'], 'claim')}: {', '.join(three)}{more}"
