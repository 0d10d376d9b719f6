"""Runs independent tasks over worker processes and returns their values in the order of the tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from longfat.runs import pool

Task = TypeVar("Task")
Value = TypeVar("Value")


def map_ordered(
    function: Callable[[Task], Value],
    tasks: Iterable[Task],
    jobs: int | None = None,
    on_done: Callable[[int], None] = lambda done: None,
) -> Iterator[Value]:
    """Yields function(task) for every task, in the order of the tasks; arguments as for `pool.map_unordered`.

    Values that are ready before an earlier one wait in this process. A task that raises does so in its turn:
    the values before it come first, and tasks after it end or do not begin. Reading the next task may raise
    too, which counts as that task. Closing the iterator ends all work.

    Args:
        function: a function of a module, a script or a notebook.
        tasks: read as workers become free.
        jobs: the number of workers; all processors if None.
        on_done: called with the number of tasks that are done, whenever one is.
    """
    if jobs == 1:
        for done, task in enumerate(tasks, start=1):
            value = function(task)
            on_done(done)
            yield value
        return
    reading = _Reading(tasks)
    waiting: dict[int, Value | pool.Failure] = {}
    following = 0
    for done, (position, found) in enumerate(pool.outcomes(function, reading, jobs), start=1):
        on_done(done)
        waiting[position] = found
        reading.ended = reading.ended or isinstance(found, pool.Failure)
        while following in waiting:
            ready = waiting.pop(following)
            following += 1
            if isinstance(ready, pool.Failure):
                raise ready.error
            yield ready
    if reading.error is not None:
        raise reading.error


class _Reading(Iterator[Task]):
    """Tasks that end early: once `ended` is set, or when reading the next one raises, which `error` keeps."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._tasks = iter(tasks)
        self.ended = False
        self.error: Exception | None = None

    def __next__(self) -> Task:
        if self.ended:
            raise StopIteration
        try:
            return next(self._tasks)
        except StopIteration:
            raise
        except Exception as error:
            self.ended, self.error = True, error
            raise StopIteration from None
