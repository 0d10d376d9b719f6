"""The results of repeats: runs of one scenario whose seeds go up by one."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, overload

from longfat.errors import InputError
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


def refuse_number(repeats: object) -> None:
    """Raises InputError if something is no number of repeats."""
    if type(repeats) is not int or not 1 <= repeats <= MOST_REPEATS:
        raise InputError(
            f"repeats = {shown(repeats)}: this is no number of repeats; "
            f"accepted: a whole number from 1 to {MOST_REPEATS}"
        )
