"""The results of repeats: runs of one scenario whose seeds go up by one."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from longfat.errors import InputError
from longfat.intervals import half_intervals
from longfat.lazy import above
from longfat.numbers import finite
from longfat.runs import metrics
from longfat.runs.result import Result
from longfat.words import MOST_REPEATS, shown

AVERAGED = ("flows", "links", "background", "completion_times", "metrics", "messages", "programs")
"""The parts of a summary whose numbers have means over repeats; a run may be without the last two."""
CODES = frozenset({"exit_code"})
"""Numbers that have no mean unless they are the same in all runs."""


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
        """The object that `longfat run --repeats N --json` prints: runs, mean and stderr of each number.

        Raises:
            InputError: there is no result, as in `results[0:0]`.
        """
        if not self._results:
            raise InputError("there is no result to summarize; accepted: at least one")
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


def aggregate(summaries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns what `longfat run --repeats N --json` prints: runs, and mean and standard error of each number.

    A number that is None in some run (a time that was never reached) has neither. A run without transfers
    of some size has 0 of them, and None as their times.
    """
    picked = [{key: summary[key] for key in AVERAGED if key in summary} for summary in summaries]
    times = _aligned([each["completion_times"] for each in picked])
    picked = [each | {"completion_times": rows} for each, rows in zip(picked, times, strict=True)]
    return {"runs": list(summaries), "mean": _over(picked, 0), "stderr": _over(picked, 1)}


def _aligned(tables: Sequence[Sequence[Mapping[str, Any]]]) -> list[list[Mapping[str, Any]]]:
    """Completion times with the same rows in each run: a size without transfers has none."""
    found = [{(row["background"], row["from_bytes"]): row for row in table} for table in tables]
    backgrounds = list(dict.fromkeys(row["background"] for table in tables for row in table))
    rows = {key: row for table in found for key, row in table.items()}
    order = sorted(rows, key=lambda key: (backgrounds.index(key[0]), key[1]))
    sizes = ("background", "from_bytes", "below_bytes")
    nothing = {
        key: dict.fromkeys(row) | {name: row[name] for name in sizes} | {"transfers": 0}
        for key, row in rows.items()
    }
    return [[table.get(key, nothing[key]) for key in order] for table in found]


def _over(values: Sequence[Any], which: int, name: str = "") -> Any:
    first = values[0]
    if isinstance(first, dict):
        return {key: _over([value[key] for value in values], which, key) for key in first}
    if isinstance(first, list):
        return [_over([value[i] for value in values], which) for i in range(len(first))]
    if isinstance(first, str) and all(value == first for value in values):
        return first
    if not all(isinstance(value, (int, float)) for value in values):
        return None
    if name in CODES and len(set(values)) > 1:
        return None
    return finite(metrics.mean_stderr(values)[which])
