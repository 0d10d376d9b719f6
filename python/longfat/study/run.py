"""The runs of a study: each distinct plan once, the longest first, and each kept as it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from rich.console import Console

from longfat.report.progress import progress_bar
from longfat.runs import pool
from longfat.scenario.model import Scenario
from longfat.store.identity import run_key
from longfat.store.store import Store

Place = TypeVar("Place")
"""Where a study wants the row of a run."""

Perform = Callable[[Sequence[Scenario]], Iterable[Any]]
"""Runs scenarios and yields the position of each with its row, or with a `pool.Failure`, as they end."""


@dataclass
class Task(Generic[Place]):
    """One distinct run: its key, its scenario, about how many packets it has, and who wants its row."""

    key: str
    scenario: Scenario
    packets: float
    places: list[Place]


@dataclass
class Effort:
    """What runs have cost so far: how many were needed and found, and the packets of the others."""

    runs: int = 0
    found: int = 0
    packets: int = 0
    started: float = field(default_factory=time.perf_counter)

    def performance(self) -> dict[str, float]:
        """Returns the numbers that a study stores and prints."""
        wall_s = time.perf_counter() - self.started
        return {
            "wall_s": wall_s,
            "packets": self.packets,
            "packets_per_s": self.packets / wall_s,
            "runs": self.runs,
            "found": self.found,
        }


def distinct(wanted: Iterable[tuple[Place, Scenario, float]]) -> list[Task[Place]]:
    """Returns a task for each distinct plan of these places, scenarios and packets, the longest first."""
    tasks: dict[str, Task[Place]] = {}
    for place, scenario, packets in wanted:
        key = run_key(scenario)
        tasks.setdefault(key, Task(key, scenario, packets, [])).places.append(place)
    return longest_first(tasks.values())


def longest_first(tasks: Iterable[Task[Place]]) -> list[Task[Place]]:
    """Returns tasks in an order in which no processor waits for a long one at the end."""
    return sorted(tasks, key=lambda task: -task.packets)


def perform(
    tasks: Sequence[Task[Place]],
    kept: Store,
    run: Perform,
    console: Console,
    title: str,
    effort: Effort | None = None,
) -> Generator[tuple[Task[Place], Any], None, None]:
    """Yields each task with its row: first those in the store, then the others as they are run and stored.

    Args:
        tasks: what is wanted, the longest first.
        kept: the store of the rows.
        run: runs scenarios. A row may have `packets`, those that the run carried.
        console: shows how much is done.
        title: names the study there.
        effort: adds up what the runs cost.
    """
    effort = effort or Effort()
    there = kept.get(task.key for task in tasks)
    missing = [task for task in tasks if task.key not in there]
    done = len(there)
    effort.runs += len(tasks)
    effort.found += done
    with progress_bar(console) as progress:
        expected = sum(task.packets for task in tasks)
        bar = progress.add_task(title, total=expected, runs=0, of=len(tasks), rate=0.0)
        for task in tasks:
            if task.key in there:
                yield task, there.pop(task.key)
                progress.update(bar, advance=task.packets, runs=done)
        for position, row in run([task.scenario for task in missing]):
            task = missing[position]
            done += 1
            if not isinstance(row, pool.Failure):
                kept.add(task.key, row)
                effort.packets += row.get("packets", 0)
            yield task, row
            rate = effort.packets / (time.perf_counter() - effort.started)
            progress.update(bar, advance=task.packets, runs=done, rate=rate / 1e6)


def rows(
    tasks: Sequence[Task[Place]], kept: Store, run: Perform, console: Console, title: str
) -> dict[Place, Any]:
    """Returns the row, or the `pool.Failure`, at each place; arguments as those of `perform`."""
    with closing(perform(tasks, kept, run, console, title)) as done:
        return {place: row for task, row in done for place in task.places}
