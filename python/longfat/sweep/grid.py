"""A sweep: its axes, the combinations that its filter keeps, and the scenario of each point."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from longfat.errors import InputError
from longfat.lazy import above
from longfat.scenario.model import IDENTICAL, Scenario
from longfat.study.grid import Axis, Point, combinations
from longfat.sweep.layout import Layout
from longfat.sweep.where import Filter

Keep = Literal["summary", "series"]
MOST_TRIED = 200
"""Values of axes that are checked before anything runs."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """A sweep file, read and checked as far as possible without making its scenarios.

    Attributes:
        source: where it came from, for messages.
        document: its base scenario as tables.
        folder: the folder that relative paths in the scenario start from.
        figures: the figures on its page, if the file names them.
    """

    source: str
    title: str
    document: Mapping[str, Any]
    folder: Path
    axes: tuple[Axis, ...]
    repeats: int
    keep: Keep
    where: Filter
    figures: tuple[Layout, ...] = ()

    def __repr__(self) -> str:
        of = f" of {self.title!r}" if self.title else ""
        runs = self.count()
        return f"<Sweep{of}: {' x '.join(self.keys)}, {runs} run{'' if runs == 1 else 's'}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the axes, and the number of runs."""
        return str(above("views.sweep_html")(self))

    @property
    def keys(self) -> list[str]:
        """The keys of all axes, in the order of the file."""
        return [key for axis in self.axes for key in axis.keys]

    @property
    def most(self) -> int:
        """How many runs there are before the filter."""
        return math.prod(axis.size for axis in self.axes) * self.repeats

    def combinations(self) -> Iterator[Point]:
        """Yields the first run of each combination of values that the filter keeps, in order."""
        return combinations(self.axes, self.repeats, self.where)

    def points(self) -> Iterator[Point]:
        """Yields every run, in order."""
        for first in self.combinations():
            yield from map(first.again, range(self.repeats))

    def count(self) -> int:
        """How many runs the filter keeps."""
        return self.repeats * sum(1 for _ in self.combinations()) if self.where.text else self.most

    def first(self) -> Sweep:
        """Returns the sweep with its first run alone, which has the same columns."""
        point = next(self.combinations(), None)
        if point is None:
            return self
        axes = tuple(
            replace(axis, steps=(tuple(point.values[key] for key in axis.keys),)) for axis in self.axes
        )
        return replace(self, axes=axes, repeats=1)

    def warnings(self) -> list[str]:
        """Notes on settings that can be run but are probably mistakes.

        Each value of an axis is tried with the first value of every other axis.
        """
        values = [dict(zip(axis.keys, axis.steps[0], strict=True)) for axis in self.axes]
        first = {key: value for each in values for key, value in each.items()}
        changed = [dict(zip(axis.keys, step, strict=True)) for axis in self.axes for step in axis.steps]
        found: dict[str, None] = {}
        varies = False
        for each in changed[:MOST_TRIED]:
            try:
                varies = self.scenario(Point(0, first | each, 0)).varies() or varies
            except InputError as error:
                found |= dict.fromkeys(f"a point will fail: {line}" for line in error.lines())
        if self.repeats > 1 and not varies and not found and len(changed) <= MOST_TRIED:
            found[IDENTICAL] = None
        return list(found)

    def scenario(self, point: Point) -> Scenario:
        """Returns the scenario of a point; raises InputError if it is refused."""
        scenario = Scenario.from_dict(
            self.document, source=self.source, base=self.folder, changes=point.values
        )
        return scenario.repeat(point.repeat, self.source)
