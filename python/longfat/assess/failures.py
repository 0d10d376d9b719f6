"""What went wrong over a whole dossier: each cause once, with the sections in which it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from longfat.assess.estimate import Results
from longfat.assess.model import Criterion, Experiment

_VALUES = re.compile(r"'[^']*'|\d+(\.\d+)?([eE][-+]?\d+)?")
SILENT = "sent next to nothing"


@dataclass
class Failure:
    """What happened to an algorithm in some runs: silence, or errors that differ in names and numbers."""

    algorithm: str
    example: str
    sections: dict[str, None] = field(default_factory=dict)
    runs: int = 0

    @property
    def what(self) -> str:
        """What happened, after the algorithm's name."""
        return self.example if self.example == SILENT else f"failed: {self.example}"


def failures(results: Results) -> list[dict[str, Any]]:
    """Returns each thing that went wrong: `algorithm`, `sections`, `runs` out of `of`, and `what`."""
    found: dict[tuple[str, str], Failure] = {}
    counted = set()
    for row, experiment in _experiments(results):
        for contender in results.asked.everyone:
            for at, repeat, error in _of_runs(results, experiment, contender.label):
                key = contender.label, _VALUES.sub("#", error)
                failure = found.setdefault(key, Failure(contender.label, error))
                failure.sections[row.section] = None
                place = experiment.name, at, contender.label, repeat
                failure.runs += place not in counted
                counted.add(place)
    of = (
        sum(len(each.points(results.asked.mode)) for each in results.asked.experiments)
        * results.asked.repeats
    )
    return [
        {
            "algorithm": failure.algorithm,
            "sections": list(failure.sections),
            "runs": failure.runs,
            "of": of,
            "what": failure.what,
        }
        for failure in found.values()
    ]


def lines(results: Results, experiment: Experiment, label: str) -> list[str]:
    """Returns a line for each thing that went wrong with an algorithm in an experiment."""
    found: dict[str, tuple[str, dict[str, None]]] = {}
    for at, _, error in _of_runs(results, experiment, label):
        found.setdefault(_VALUES.sub("#", error), (error, {}))[1][at] = None
    return [
        f"{label} {SILENT} at {'; '.join(at)}"
        if error == SILENT
        else f"{label} failed at {'; '.join(at)}: {error}"
        for error, at in found.values()
    ]


def _experiments(results: Results) -> Iterator[tuple[Criterion, Experiment]]:
    for row in results.asked.criteria:
        for experiment in row.experiments:
            yield row, experiment


def _of_runs(results: Results, experiment: Experiment, label: str) -> Iterator[tuple[str, int, str]]:
    """Yields point, repeat and what happened, of runs that failed or sent next to nothing."""
    for (name, at, of, repeat), error in results.failed.items():
        if (name, of) == (experiment.name, label):
            yield at, repeat, error
    for point in experiment.points(results.asked.mode):
        for repeat in range(results.asked.repeats):
            if results.is_silent(experiment, point.at, label, repeat):
                yield point.at, repeat, SILENT
