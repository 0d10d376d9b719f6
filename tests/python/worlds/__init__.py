"""Results of suites made up by hand, so that their rules can be tested without any simulation.

Each suite has a module here with two functions that take an experiment's name and a run and return the row
that the run is reduced to: in `as_published` everything is as the paper says, in `as_nobody_says` nothing is.
A module may list in `EMPTY` the curves, by experiment and label, that have no point in the published world.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import longfat_papers as suites
from longfat_papers.kit.suite import Data, Run, Runs, Suite

Reduced = Callable[[str, Run], dict[str, Any]]


def of(suite: str) -> ModuleType:
    """The made-up results of a suite."""
    return import_module(f"worlds.{suite}")


def make(suite: Suite, reduced: Reduced, mode: str = "quick") -> Data:
    """All experiments of a suite, with a made-up row for each run."""
    return Data(
        {
            experiment.name: Runs(
                experiment.name,
                [{**run.coordinates, **reduced(experiment.name, run)} for run in experiment.runs(mode)],
            )
            for experiment in suite.experiments
        }
    )


@cache
def published(suite: str, mode: str = "quick") -> Data:
    """A world in which all is as the paper says."""
    return make(suites.get(suite), of(suite).as_published, mode)


@cache
def opposite(suite: str, mode: str = "quick") -> Data:
    """A world in which nothing is as the paper says."""
    return make(suites.get(suite), of(suite).as_nobody_says, mode)


def estimated_packets(suite: Suite, mode: str) -> float:
    """About how many data packets a mode has; runs that experiments share count once."""
    unique = {repr(run.document): run for item in suite.experiments for run in item.runs(mode)}
    return math.fsum(run.estimated_packets() for run in unique.values())
