"""The runs of a study: axes with their steps, the points that they give, and the repeats with their seeds."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longfat.scenario.model import Scenario
from longfat.store.identity import run_keys

FIRST_SEED = 1
"""That of the first repeat, where a study chooses it."""
Place = tuple[Any, ...]
"""Where a run belongs: what the study says, and the repeat as the last part."""


@dataclass(frozen=True)
class Axis:
    """Keys that vary together, and their values: one tuple for each step."""

    keys: tuple[str, ...]
    steps: tuple[tuple[Any, ...], ...]

    @property
    def size(self) -> int:
        """How many steps it has."""
        return len(self.steps)

    def values(self, key: str) -> list[Any]:
        """Returns the different values of a key, in order."""
        number = self.keys.index(key)
        return list({repr(step[number]): step[number] for step in self.steps}.values())


@dataclass(frozen=True)
class Point:
    """One run: its number in the study, its values by key, and which repeat it is."""

    number: int
    values: Mapping[str, Any]
    repeat: int

    def again(self, repeat: int) -> Point:
        """Returns the run with the same values and this repeat."""
        return Point(self.number - self.repeat + repeat, self.values, repeat)


def combinations(
    axes: Sequence[Axis], repeats: int, keep: Callable[[Mapping[str, Any]], bool]
) -> Iterator[Point]:
    """Yields the first run of each combination of values that `keep` keeps; the last axis changes fastest."""
    number, keys = 0, [key for axis in axes for key in axis.keys]
    for steps in itertools.product(*(axis.steps for axis in axes)):
        values = dict(zip(keys, itertools.chain(*steps), strict=True))
        if keep(values):
            yield Point(number, values, 0)
            number += repeats


def keys(scenario: Scenario, repeats: int) -> Iterator[str]:
    """Yields the key of each repeat; seeds count up from that of the scenario."""
    return run_keys(scenario, range(scenario.seed, scenario.seed + repeats))


def repeated(
    wanted: Iterable[tuple[Place, Scenario, float]], repeats: int
) -> Iterator[tuple[Place, Scenario, float]]:
    """Yields each repeat of places, scenarios and packets; its number is the last part of its place."""
    for place, scenario, packets in wanted:
        for repeat in range(repeats):
            yield (*place, repeat), scenario.repeat(repeat), packets
