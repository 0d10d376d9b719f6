"""The ledger: published claims as data, and what was measured for each.

A claim is written down before anything is measured: its setting, the published value, every setting with its
source (or that it was chosen here), the estimator, and a rule that a program can check. A rule is a list of
checks. `verdict` derives the verdict from them, for every claim of every suite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from longfat.errors import InputError, LongfatError
from longfat.numbers import finite
from longfat.runs import metrics
from longfat.store.ledger import Verdict

CHOSEN_HERE = "chosen here"
"""The source of a setting that the paper does not give."""

PARTLY_SHARE = 0.5
"""A claim holds partly when at least this share of its decided checks holds."""

FAILED = "failed"
"""The key of a ledger's row whose rule failed; `note` says why."""

MOST_SUBJECTS = 8
"""Subjects of a check that a rule's sentence names; of more it names the first and the last."""

SHARE_LABEL = "checks that hold"
"""The figure of a claim whose rule gives none: the share of its decided checks that hold."""

VERDICT_RULE = "Reproduced if all checks hold, partly if at least half do."
"""`verdict` in words; the text of every rule ends with it."""

Data = TypeVar("Data")


@dataclass(frozen=True)
class Setting:
    """One setting of an experiment: its name, its value as text, and the source of the value."""

    name: str
    value: str
    source: str


def settings(table: str) -> tuple[Setting, ...]:
    """Reads settings from lines of "name | value | source"; one without a source was chosen here."""
    found = []
    for line in table.strip().splitlines():
        cells = [" ".join(cell.split()) for cell in line.split(" | ")]
        if not all(cells) or len(cells) not in (2, 3):
            raise InputError(
                f"settings: {' '.join(line.split())!r}; accepted: name | value, or name | value | source"
            )
        found.append(Setting(*cells, *[CHOSEN_HERE][len(cells) - 2 :]))
    return tuple(found)


@dataclass(frozen=True)
class Check:
    """One part of a rule: what has to hold, whether it holds (None: undecided), and what was measured.

    ``detail`` belongs to ``text``, but not to the rule: the value of a bound that ``text`` names.
    """

    text: str
    passed: bool | None
    measured: str
    detail: str = ""

    def detailed(self) -> str:
        """Returns the text with its detail: "delay below drop-tail's (0.2)"."""
        return f"{self.text} ({self.detail})" if self.detail else self.text

    def to_json(self) -> dict[str, Any]:
        """Returns the check as a ledger stores it."""
        return {"text": self.detailed(), "passed": self.passed, "measured": self.measured}


@dataclass(frozen=True)
class Measured:
    """One number of a claim, by which readings of what the paper leaves open are compared.

    ``label`` names the number and its unit. ``stderr`` is the standard error of ``value`` over all repeats;
    NaN if there is none. ``published`` is the paper's value of the same number. ``log`` draws it on a
    logarithmic axis.
    """

    label: str
    value: float
    stderr: float = math.nan
    published: float | None = None
    log: bool = False

    @classmethod
    def mean(
        cls, label: str, values: Iterable[float], published: float | None = None, *, log: bool = False
    ) -> Measured:
        """Returns the mean over repeats of these values, with its standard error."""
        return cls(label, *metrics.mean_stderr(list(values)), published, log)


@dataclass(frozen=True)
class Evidence:
    """What a rule found beside its checks: one line for the table, the numbers behind it, a note.

    Keys of ``values`` may be numbers; a number that is not finite is stored as null.
    ``figure`` is the number that a tornado figure shows; without it, the share of checks that hold.
    """

    measured: str
    values: Mapping[Any, Any] = field(default_factory=dict)
    note: str = ""
    figure: Measured | None = None


@dataclass(frozen=True)
class Finding(Evidence):
    """What was measured for a claim: the evidence, and the checks of its rule."""

    checks: tuple[Check, ...] = ()


class Missing(Exception):  # noqa: N818 - missing data is a result here, not an error
    """Raised while a claim is judged when a run that it needs is missing."""


@dataclass(frozen=True)
class Claim(Generic[Data]):
    """One published claim. ``find`` turns a suite's data into a `Finding`.

    ``bounds`` says where the bounds of its rule come from.
    ``reports`` marks a claim for which the paper prints no value: its measurement is reported, and the
    verdict stays undecidable.
    """

    id: str
    paper: str
    setting: str
    published: str
    settings: tuple[Setting, ...]
    estimator: str
    experiments: tuple[str, ...]
    find: Callable[[Data], Finding]
    bounds: str = ""
    published_values: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    reports: bool = False


def verdict(checks: Sequence[Check]) -> Verdict:
    """Returns "reproduced" if all checks hold, "partly" if at least half do, else "not reproduced".

    Only decided checks count. A claim whose decided checks all hold is still undecidable while another check
    is undecided; so is a claim without any decided check.
    """
    decided = [check.passed for check in checks if check.passed is not None]
    if not decided:
        return "undecidable"
    if all(decided):
        return "reproduced" if len(decided) == len(checks) else "undecidable"
    return "partly" if sum(decided) >= PARTLY_SHARE * len(decided) else "not reproduced"


def rule_text(claim: Claim[Any], checks: Sequence[Check]) -> str:
    """Returns a rule in words, made from its checks: each quantity and bound once, after all its subjects."""
    subjects: dict[str, list[str]] = {}
    for check in checks:
        subject, _, quantity = check.text.rpartition(": ")
        subjects.setdefault(quantity, []).append(subject)
    parts = [_subjects(names) + quantity for quantity, names in subjects.items()]
    words = ["; ".join(parts) + "." if parts else "", claim.bounds, "" if claim.reports else VERDICT_RULE]
    return " ".join(filter(None, words))


def _subjects(names: Sequence[str]) -> str:
    if len(names) > MOST_SUBJECTS:
        return f"{names[0]} to {names[-1]} ({len(names)} cases): "
    return f"{', '.join(names)}: " if any(names) else ""


@dataclass(frozen=True)
class Judged:
    """A claim under one reading, or at the base: its verdict, its figure, and what its rule found.

    If the rule ``failed``, ``note`` has the reason.
    """

    verdict: Verdict
    figure: Measured
    checks: tuple[Check, ...] = ()
    measured: str = ""
    note: str = ""
    values: Mapping[Any, Any] = field(default_factory=dict)
    failed: bool = False

    def to_json(self) -> dict[str, Any]:
        """Returns what `assumptions.json` stores."""
        return {
            "verdict": self.verdict,
            **finite({"value": self.figure.value, "stderr": self.figure.stderr}),
            "measured": self.measured,
            "checks": [check.to_json() for check in self.checks],
            "note": self.note,
        }


def judged(claim: Claim[Data], data: Data) -> Judged:
    """Applies a claim's rule; "not measured" if the data lack what it needs, or if it fails."""
    try:
        found = claim.find(data)
    except (Missing, LongfatError) as error:
        return unfinished(str(error), failed=isinstance(error, LongfatError))
    kind = "undecidable" if claim.reports else verdict(found.checks)
    return Judged(kind, figure_of(found), found.checks, found.measured, found.note, found.values)


def unfinished(note: str, *, failed: bool = False) -> Judged:
    """Returns what is known of a claim whose runs are missing."""
    return Judged("not measured", Measured(SHARE_LABEL, math.nan), note=note, failed=failed)


def figure_of(finding: Finding) -> Measured:
    """Returns the finding's figure, or else the share of its decided checks that hold."""
    if finding.figure is not None:
        return finding.figure
    decided = [check.passed for check in finding.checks if check.passed is not None]
    return Measured(SHARE_LABEL, sum(decided) / len(decided) if decided else math.nan)


def judge(claim: Claim[Data], data: Data, mode: str) -> dict[str, Any]:
    """Returns a claim's ledger row: "not measured" without data or if its rule fails; indicative if quick."""
    return ledger_row(claim, judged(claim, data), mode)


def _with_text_keys(value: Any) -> Any:
    """Returns nested values with texts in place of numbers as keys, which JSON cannot hold."""
    if isinstance(value, Mapping):
        return {
            f"{key:g}" if isinstance(key, float) else str(key): _with_text_keys(item)
            for key, item in value.items()
        }
    return value


def ledger_row(claim: Claim[Any], found: Judged, mode: str) -> dict[str, Any]:
    """Returns the ledger row of a claim that came to this."""
    is_measured = found.verdict != "not measured"
    return {
        "id": claim.id,
        "paper": claim.paper,
        "setting": claim.setting,
        "published": claim.published,
        "published_values": dict(claim.published_values),
        "settings": [vars(setting) for setting in claim.settings],
        "estimator": claim.estimator,
        "rule": rule_text(claim, found.checks) if is_measured else "",
        "experiments": list(claim.experiments),
        "measured": found.measured,
        "verdict": found.verdict,
        "indicative": is_measured and mode != "full",
        "mode": mode,
        "note": " ".join(note for note in (claim.note, found.note) if note),
        "checks": [check.to_json() for check in found.checks],
        "values": finite(_with_text_keys(found.values)),
        **({FAILED: True} if found.failed else {}),
    }
