"""Turns the rows of runs into numbers: means over points and repeats, and differences with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.assess.model import Experiment, Measure
from longfat.assess.tasks import Assessment, Place
from longfat.study.stats import Estimate, with_half_width

Row = Mapping[str, Any]

METHOD = (
    "95 % confidence intervals of the mean over repeats (Student's t). A difference is that of two runs "
    "with the same seed, averaged over repeats; its interval is that of this mean."
)

JOINS: dict[str, Callable[[Sequence[float]], Any]] = {"mean": np.mean, "least": min, "greatest": max}
NEXT_TO_NOTHING = 10.0
"""Packets in a whole run; another algorithm has to send ten times as many for that to be remarkable."""


@dataclass(frozen=True)
class Cell:
    """What came out of one measure for one algorithm.

    Attributes:
        points: the values of each repeat at each point, in the unit that is shown; NaN for none.
        over: how the values of a repeat at all points become one: their mean, the least or the greatest.
    """

    points: Mapping[str, tuple[float, ...]]
    over: str = "mean"

    @property
    def values(self) -> tuple[float, ...]:
        """The value of each repeat, over the points that have one; NaN if none has."""
        join = JOINS[self.over]
        there = [list(filter(math.isfinite, repeat)) for repeat in zip(*self.points.values(), strict=True)]
        return tuple(float(join(values)) if values else math.nan for values in there)

    @property
    def estimate(self) -> Estimate:
        """The mean over points and repeats."""
        return with_half_width(self.values)

    def where(self, other: Cell) -> Cell:
        """The same without values that the other one lacks."""
        kept = {
            at: tuple(
                own if math.isfinite(there) else math.nan
                for own, there in zip(self.points[at], other.points[at], strict=True)
            )
            for at in self.points
        }
        return Cell(kept, self.over)


def difference(own: Cell, other: Cell) -> Estimate:
    """Returns the mean difference of runs with the same seed, over what both have a value for."""
    pairs = zip(own.where(other).values, other.where(own).values, strict=True)
    return with_half_width([a - b for a, b in pairs])


@dataclass(frozen=True)
class Results:
    """The rows of a dossier's runs, and what went wrong with the others, by place."""

    asked: Assessment
    rows: Mapping[Place, Row]
    failed: Mapping[Place, str]

    def cell(self, experiment: Experiment, measure: Measure, label: str) -> Cell:
        """Returns what came out of a measure for an algorithm."""
        points = {
            point.at: tuple(
                self._value(measure, (experiment.name, point.at, label, repeat))
                for repeat in range(self.asked.repeats)
            )
            for point in experiment.points(self.asked.mode)
        }
        return Cell(points, measure.over)

    def _value(self, measure: Measure, place: Place) -> float:
        row = self.rows.get(place)
        value = None if row is None else row.get(measure.key)
        if value is None and row is not None:
            value = measure.never
        return math.nan if value is None else measure.scale * float(value)

    def failures(self, experiment: Experiment, label: str) -> tuple[int, int]:
        """Returns how many of an algorithm's runs of an experiment failed, and how many there are."""
        failed = sum(name == experiment.name and of == label for name, _, of, _ in self.failed)
        return failed, len(experiment.points(self.asked.mode)) * self.asked.repeats

    def is_silent(self, experiment: Experiment, at: str, label: str, repeat: int) -> bool:
        """Whether an algorithm sent next to nothing where another one had much to send."""
        sent = {
            contender.label: row["assessed_sent"]
            for contender in self.asked.everyone
            if (row := self.rows.get((experiment.name, at, contender.label, repeat))) is not None
        }
        return label in sent and sent[label] < NEXT_TO_NOTHING < 0.1 * max(sent.values())
