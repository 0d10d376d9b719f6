"""What an experiment of a dossier is: its settings with sources, its points, and what is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from longfat.words import Mode

CHOSEN_HERE = "chosen here"
"""The source of a setting that no document gives."""

Better = Literal["less", "more", "neither"]
"""Which direction is better for a number; `neither` where RFC 9743 does not say."""
Over = Literal["mean", "least", "greatest"]
"""How the points of an experiment are joined."""


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
        scale: turns a value of a row into what is shown.
        over: how the points are joined.
        absent: what stands for the number if no run has one.
        than: for a number of others, the word that leads to what it was with a baseline, such as "beside".
        never: what a run without a value counts as, such as the length of its span; not at all if None.
    """

    key: str
    label: str
    unit: str = ""
    better: Better = "less"
    scale: float = 1.0
    over: Over = "mean"
    absent: str = ""
    never: float | None = None
    than: str = ""


Tables = dict[str, Any]
Make = Callable[[Any], Tables]
"""Makes the tables of a scenario for an algorithm."""


def bound(make: Callable[..., Tables], *values: Any) -> Make:
    """Returns what makes the scenario of a point: only the algorithm is left open."""
    return lambda algorithm: make(algorithm, *values)


@dataclass(frozen=True)
class Point:
    """One point of an experiment: its name, how its scenario is made, and its work in packets."""

    at: str
    make: Make
    packets: float


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
    """

    name: str
    title: str
    words: str
    settings: tuple[Setting, ...]
    estimator: str
    measures: tuple[Measure, ...]
    points: Callable[[Mode], list[Point]]

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

    def to_json(self) -> Mapping[str, Any]:
        """Returns what is known before anything runs."""
        return {"section": self.section, "title": self.title, "asks": self.asks}
