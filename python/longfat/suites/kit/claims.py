"""The ledger: published claims as data, and what was measured of them.

A claim is written down before anything is measured: its setting, the published value, every setting with its
source (or that it was chosen here), the estimator, and a rule a machine can check. The rule is a list of
checks; a claim's verdict follows from them in one place, `verdict`, for every claim of every suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from longfat.numbers import finite
from longfat.store.ledger import Verdict

CHOSEN_HERE = "chosen here"
"""The source of a setting that the paper leaves open."""

PARTLY_SHARE = 0.5
"""A claim holds partly when at least this share of its decided checks does."""

VERDICT_RULE = "Reproduced if all checks hold, partly if at least half do."
"""`verdict` in words, as rules end."""

Data = TypeVar("Data")


@dataclass(frozen=True)
class Setting:
    """One setting of an experiment: its name, its value as text, and where the value comes from."""

    name: str
    value: str
    source: str


@dataclass(frozen=True)
class Check:
    """One part of a claim's rule: what has to hold, whether it does (None: cannot be told), what was seen."""

    text: str
    passed: bool | None
    measured: str


@dataclass(frozen=True)
class Finding:
    """What was measured of a claim: checks, one line for the table, the numbers behind it, a remark."""

    checks: tuple[Check, ...]
    measured: str
    values: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


class Missing(Exception):  # noqa: N818 - the absence of data is an answer here, not an error
    """Raised by a claim's finding when a run that it needs is not there."""


@dataclass(frozen=True)
class Claim(Generic[Data]):
    """One published claim. ``find`` turns a suite's data into a `Finding`.

    ``reports`` marks a claim that prints no value to compare with: it is reported, and stays undecidable.
    """

    id: str
    paper: str
    setting: str
    published: str
    settings: tuple[Setting, ...]
    estimator: str
    rule: str
    experiments: tuple[str, ...]
    find: Callable[[Data], Finding]
    published_values: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    reports: bool = False


@dataclass(frozen=True)
class Paper(Generic[Data]):
    """What the claims of one paper share: how ids begin, its citation, settings, the usual estimator."""

    prefix: str
    citation: str
    settings: tuple[Setting, ...]
    estimator: str

    def claim(
        self,
        number: str,
        setting: str,
        published: str,
        rule: str,
        experiments: tuple[str, ...],
        find: Callable[[Data], Finding],
        *,
        settings: tuple[Setting, ...] = (),
        estimator: str | None = None,
        values: Mapping[str, float] | None = None,
        note: str = "",
        reports: bool = False,
    ) -> Claim[Data]:
        """One of its claims, with settings beside the shared ones."""
        return Claim(
            id=f"{self.prefix}-{number}",
            paper=self.citation,
            setting=setting,
            published=published,
            published_values=values or {},
            settings=(*self.settings, *settings),
            estimator=estimator or self.estimator,
            rule=rule if reports else f"{rule} {VERDICT_RULE}",
            experiments=experiments,
            find=find,
            note=note,
            reports=reports,
        )


def verdict(checks: Sequence[Check]) -> Verdict:
    """All checks hold: reproduced; at least half of the decided ones: partly; fewer: not reproduced.

    A check that cannot be told from the repeats at hand keeps a claim from being called reproduced: it is
    then undecidable, as is a claim of which no check could be decided.
    """
    decided = [check.passed for check in checks if check.passed is not None]
    if not decided:
        return "undecidable"
    if all(decided):
        return "reproduced" if len(decided) == len(checks) else "undecidable"
    return "partly" if sum(decided) >= PARTLY_SHARE * len(decided) else "not reproduced"


def judge(claim: Claim[Data], data: Data, mode: str) -> dict[str, Any]:
    """The ledger row of a claim. Without data "not measured"; a quick run's verdict is indicative."""
    try:
        finding = claim.find(data)
    except Missing as missing:
        return unmeasured(claim, mode, note=str(missing))
    ruling: Verdict = "undecidable" if claim.reports else verdict(finding.checks)
    return {
        **_published(claim),
        "measured": finding.measured,
        "verdict": ruling,
        "indicative": mode != "full",
        "mode": mode,
        "note": " ".join(note for note in (claim.note, finding.note) if note),
        "checks": [
            {"text": check.text, "passed": check.passed, "measured": check.measured}
            for check in finding.checks
        ],
        "values": finite(dict(finding.values)),
    }


def unmeasured(claim: Claim[Any], mode: str, note: str = "") -> dict[str, Any]:
    """The ledger row of a claim whose runs are not there."""
    return {
        **_published(claim),
        "measured": "",
        "verdict": "not measured",
        "indicative": False,
        "mode": mode,
        "note": " ".join(text for text in (claim.note, note) if text),
        "checks": [],
        "values": {},
    }


def _published(claim: Claim[Any]) -> dict[str, Any]:
    return {
        "id": claim.id,
        "paper": claim.paper,
        "setting": claim.setting,
        "published": claim.published,
        "published_values": dict(claim.published_values),
        "settings": [
            {"name": setting.name, "value": setting.value, "source": setting.source}
            for setting in claim.settings
        ],
        "estimator": claim.estimator,
        "rule": claim.rule,
        "experiments": list(claim.experiments),
    }
