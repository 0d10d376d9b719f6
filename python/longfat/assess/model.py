"""What an experiment of a dossier is: its settings with sources, its points, and what is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from longfat.assess.networks import Tables
from longfat.words import Mode

CHOSEN_HERE = "chosen here"
"""The source of a setting that no document gives."""

Better = Literal["less", "more", "neither"]
"""Which direction is better for a number; `neither` where RFC 9743 does not say."""
Over = Literal["mean", "least", "greatest"]
"""How the points of an experiment are joined."""
SCALES = {"%": 100.0, "ms": 1e3, "us": 1e6}
"""The factor between SI units, or a ratio, and a unit that is shown."""


@dataclass(frozen=True)
class Setting:
    """One setting of an experiment: its name, its value as text, and the source of the value."""

    name: str
    value: str
    source: str = CHOSEN_HERE


@dataclass(frozen=True)
class Measure:
    """One number of an experiment.

    Attributes:
        key: its name in a row of `measure`, and in the JSON.
        label: what it is, in words.
        unit: the unit of what is shown.
        better: which direction is better.
        over: how the points are joined.
        absent: what stands for the number if no run has one.
        than: for a number of others, the word that leads to what it was with a baseline, such as "beside".
        never: what a run without a value counts as, such as the length of its span; not at all if None.
    """

    key: str
    label: str
    unit: str = ""
    better: Better = "less"
    over: Over = "mean"
    absent: str = ""
    never: float | None = None
    than: str = ""

    @property
    def scale(self) -> float:
        """The factor between a value of a row, a ratio or SI units, and what is shown."""
        return SCALES.get(self.unit, 1.0)


@dataclass(frozen=True)
class Point:
    """One point of an experiment: its name, what makes the scenario of an algorithm, its work in packets."""

    at: str
    make: Callable[[Any], Tables]
    packets: float


@dataclass(frozen=True)
class Topic:
    """What one of the lines of the first screen may be about.

    Attributes:
        name: what the line is about.
        measure: the key of the number that it shows.
        least: the smallest difference that is worth a word, in the measure's unit (chosen here).
        value: a template of the number in words, with `{}` for number and unit.
        points: how the names of the points end that count; all if empty.
    """

    name: str
    measure: str
    least: float
    value: str
    points: str = ""


@dataclass(frozen=True)
class Experiment:
    """What is run for a row of the RFC, as data.

    Attributes:
        name: in kebab-case, unique.
        title: a heading.
        words: what runs, in a sentence or two.
        settings: the settings, each with its source.
        estimator: how the numbers come out of a run.
        measures: the numbers.
        points: the points in a mode.
        topic: what a line of the first screen says of it, if any may.
    """

    name: str
    title: str
    words: str
    settings: tuple[Setting, ...]
    estimator: str
    measures: tuple[Measure, ...]
    points: Callable[[Mode], list[Point]]
    topic: Topic | None = None

    def measure(self, key: str) -> Measure:
        """Returns the measure with this key."""
        return next(item for item in self.measures if item.key == key)


Status = Literal["addressed", "text needed", "not applicable"]


@dataclass(frozen=True)
class Criterion:
    """A row of RFC 9743: its section, what it asks, and the experiments for it.

    A row without experiments is for the author's text (`prompt` says what about), or not applicable (`why`).
    """

    section: str
    title: str
    asks: str
    experiments: tuple[Experiment, ...] = ()
    prompt: str = ""
    why: str = ""
