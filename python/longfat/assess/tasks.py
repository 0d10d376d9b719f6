"""The runs of a dossier: every point of every experiment, for each algorithm, in each repeat."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from longfat.assess.criteria import select
from longfat.assess.model import Criterion, Experiment
from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.scenario.stacks import LINUX
from longfat.study.contenders import Contender, contenders
from longfat.study.grid import FIRST_SEED, repeated
from longfat.study.run import Task, distinct
from longfat.words import Mode

BASELINES = ("reno", "cubic")
"""Reno on its host's loss detection, and CUBIC."""
USUAL_NAMES = {"reno": "Reno", "cubic": "CUBIC"}
"""What readers call them."""
REPEATS: dict[Mode, int] = {"quick": 5, "full": 20}


@dataclass(frozen=True)
class Assessment:
    """What is asked for: the algorithm, what it is compared with, the rows, the mode, and the hosts."""

    algorithm: Contender
    baselines: tuple[Contender, ...]
    criteria: tuple[Criterion, ...]
    mode: Mode
    stack: str
    """The hosts of flows that name none."""

    @property
    def repeats(self) -> int:
        """The runs at each point, each with a seed of its own."""
        return REPEATS[self.mode]

    @property
    def everyone(self) -> tuple[Contender, ...]:
        """The algorithm and the baselines."""
        return (self.algorithm, *self.baselines)

    @property
    def experiments(self) -> list[Experiment]:
        """The experiments of all rows."""
        return [experiment for row in self.criteria for experiment in row.experiments]


Place = tuple[str, str, str, int]
"""Where a run belongs: experiment, point, label of the algorithm, repeat."""


@dataclass(frozen=True)
class Planned:
    """All runs of a dossier, the longest first, and why the others are impossible."""

    works: list[Task[Place]]
    refused: dict[Place, str]


def assessment(
    algorithm: str,
    baselines: Sequence[str] = (),
    only: Sequence[str] = (),
    mode: Mode = "quick",
    stack: str = LINUX,
) -> Assessment:
    """Returns what the command line asks for.

    Raises:
        InputError: one line that says what is wrong and what is accepted.
    """
    (own,) = contenders([algorithm], "assess")
    others = contenders(list(baselines or BASELINES), "--baseline")
    distinct = tuple(
        replace(other, label=USUAL_NAMES.get(other.label, other.label))
        for other in others
        if other.algorithm != own.algorithm
    )
    if not distinct:
        raise InputError(f"--baseline: {own.label} is what is assessed; accepted: another algorithm")
    return Assessment(own, distinct, select(list(only)), mode, stack)


def plan(asked: Assessment) -> Planned:
    """Makes the scenario of every run; runs with the same plan are one."""
    refused: dict[Place, str] = {}

    def wanted() -> Iterator[tuple[tuple[str, str, str], Scenario, float]]:
        for experiment in asked.experiments:
            for point, contender in itertools.product(experiment.points(asked.mode), asked.everyone):
                place = experiment.name, point.at, contender.label
                tables = point.make(contender.algorithm.written) | {
                    "title": f"{experiment.name}, {point.at}: {contender.label}",
                    "seed": FIRST_SEED,
                }
                try:
                    scenario = Scenario.from_dict(
                        tables, source=f"assess, {experiment.name}", stack=asked.stack
                    )
                except InputError as error:
                    why = "; ".join(error.lines())
                    refused.update(((*place, repeat), why) for repeat in range(asked.repeats))
                else:
                    yield place, scenario, point.packets * contender.cost

    return Planned(distinct(repeated(wanted(), asked.repeats)), refused)
