"""What went wrong over a whole dossier: each cause once, with the sections in which it did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from longfat.assess.estimate import Results
from longfat.assess.model import Experiment

_VALUES = re.compile(r"'[^']*'|\d+(\.\d+)?([eE][-+]?\d+)?")
SILENT = "sent next to nothing"


def failures(results: Results) -> list[dict[str, Any]]:
    """Returns each thing that went wrong: `algorithm`, `sections`, `runs` out of `of`, and `what`.

    Errors that differ only in names and numbers are one.
    """
    asked = results.asked
    found: dict[tuple[str, str], dict[str, Any]] = {}
    counted = set()
    of = sum(len(each.points(asked.mode)) for each in asked.experiments) * asked.repeats
    for row in asked.criteria:
        for experiment in row.experiments:
            for label in (contender.label for contender in asked.everyone):
                for at, repeat, error in _of_runs(results, experiment, label):
                    what = error if error == SILENT else f"failed: {error}"
                    new = {"algorithm": label, "sections": [], "runs": 0, "of": of, "what": what}
                    failure = found.setdefault((label, _VALUES.sub("#", error)), new)
                    if row.section not in failure["sections"]:
                        failure["sections"].append(row.section)
                    place = experiment.name, at, label, repeat
                    failure["runs"] += place not in counted
                    counted.add(place)
    return list(found.values())


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


def _of_runs(results: Results, experiment: Experiment, label: str) -> Iterator[tuple[str, int, str]]:
    """Yields point, repeat and what happened, of runs that failed or sent next to nothing."""
    for (name, at, of, repeat), error in results.failed.items():
        if (name, of) == (experiment.name, label):
            yield at, repeat, error
    for point in experiment.points(results.asked.mode):
        for repeat in range(results.asked.repeats):
            if results.is_silent(experiment, point.at, label, repeat):
                yield point.at, repeat, SILENT
