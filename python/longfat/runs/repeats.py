"""The results of repeats: runs of one scenario whose seeds go up by one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from longfat.errors import InputError
from longfat.intervals import half_intervals
from longfat.lazy import above
from longfat.runs.result import Result, aggregate
from longfat.words import MOST_REPEATS, shown


class Results(Sequence[Result]):
    """The results of `longfat.run(..., repeats=5)`, in the order of their seeds."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Result | Results:
        if isinstance(index, slice):
            return Results(self._results[index])
        return self._results[index]

    def __repr__(self) -> str:
        if not self._results:
            return "<Results: none>"
        first, last = (result.scenario.seed for result in (self[0], self[-1]))
        return f"<Results: {len(self)} of {self[0]!r}, seeds {first} to {last}>"

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `longfat run --repeats N --json` prints: runs, mean and stderr of each number."""
        return aggregate([result.summary for result in self])

    @functools.cached_property
    def intervals(self) -> dict[str, Any]:
        """The 95 % confidence interval of each mean over the runs (Student's t), as (low, high).

        It is as `summary["mean"]`, with None for a number that has no interval, as those of a single run.
        """
        intervals: dict[str, Any] = _around(self.summary["mean"], half_intervals(self.summary))
        return intervals

    def save(self, folder: Path | str) -> Path:
        """Writes what `longfat run --repeats N --out` writes into a folder, and returns its path.

        Raises:
            InputError: the folder cannot be written, or holds something else.
        """
        path: Path = above("views.save")(self, folder)
        return path

    def report(self, folder: Path | str) -> Path:
        """Writes the runs into a folder with their page, as `longfat report` does; returns the page's path.

        Raises:
            InputError: as `save`.
        """
        path: Path = above("views.report")(self, folder)
        return path


def _around(mean: Any, half: Any) -> Any:
    """Means with their intervals in place of their numbers."""
    if isinstance(mean, dict):
        return {key: _around(value, half and half.get(key)) for key, value in mean.items()}
    if isinstance(mean, list):
        return [_around(value, half and half[i]) for i, value in enumerate(mean)]
    if isinstance(mean, str):
        return mean
    return None if mean is None or half is None or half == {} else (mean - half, mean + half)


def refuse_number(repeats: object) -> None:
    """Raises InputError if something is no number of repeats."""
    if type(repeats) is not int or not 1 <= repeats <= MOST_REPEATS:
        raise InputError(
            f"repeats = {shown(repeats)}: this is no number of repeats; "
            f"accepted: a whole number from 1 to {MOST_REPEATS}"
        )
