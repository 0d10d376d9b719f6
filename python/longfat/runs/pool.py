"""Independent tasks over worker processes.

Why not concurrent.futures: Ctrl-C must end running workers at once and only those, and a worker must end by
itself when its parent is killed. Here each worker has a pipe of its own, whose end it notices.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import resource
import signal
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from longfat.errors import InputError, WorkerError

Task = TypeVar("Task")
Value = TypeVar("Value")

ENDED = "a worker process ended before its run did (out of memory, or killed)"
MOST_LOST = 8
"""Tasks that may end their workers one after the other."""
QUICK_S = 0.2
"""A worker that answers within this is given tasks ahead; longer ones would end with one worker alone."""
MADE_AT_ONCE = 8
"""Tasks, where some may wait: what makes them is slow at first when a worker has had its processor."""
MOST_AHEAD_BYTES = 16384
"""Of a task that waits at a worker: all of them fit into the pipe, so that sending one waits for nobody."""
PRELOADED: dict[str, None] = {}
"""Imported once by the server that workers are forked from."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Failure:
    """A task that gave no value: what it raised, or a WorkerError if it ended its worker."""

    error: Exception


@dataclass
class _Task:
    """A task on its way: where it is in the order, itself as bytes, and how often it has been given out."""

    position: int
    packed: Any
    attempt: int = 1


@dataclass
class _Worker:
    """A process, the tasks that are out at it in the order of its answers, and when it last answered."""

    process: BaseProcess
    tasks: deque[_Task] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)
    quick: bool = False


def preload(*modules: str) -> None:
    """Has the server that workers are forked from import these modules once, so that no worker needs to."""
    PRELOADED.update(dict.fromkeys(modules))


def prepare(*modules: str) -> ForkServerContext:
    """Starts what workers are forked from, which takes a second in the background, unless it is there.

    Args:
        modules: that workers will want, beside those of earlier calls; what is asked for after the server has
            started each worker imports.
    """
    context = multiprocessing.get_context("forkserver")
    preload(*modules)
    context.set_forkserver_preload(list(PRELOADED))
    forkserver.ensure_running()
    return context


def map_unordered(
    function: Callable[[Task], Value], tasks: Iterable[Task], jobs: int | None = None
) -> Iterator[tuple[int, Value]]:
    """(position, function(task)) of every task, in the order in which they finish.

    One task a worker is out at a time, so neither tasks nor values pile up. With one job all is done in this
    process. The first exception of a task ends all of it; so does closing the iterator. Function, tasks and
    values have to pickle if there is more than one job.

    Args:
        function: a function at the top level of a module.
        tasks: consumed as workers come free.
        jobs: number of workers; all processors if None.
    """
    if jobs == 1:
        for position, task in enumerate(tasks):
            yield position, function(task)
        return
    for position, value in outcomes(function, tasks, jobs):
        if isinstance(value, Failure):
            raise value.error
        yield position, value


def outcomes(
    function: Callable[[Task], Value],
    tasks: Iterable[Task],
    jobs: int | None = None,
    *,
    attempts: int = 1,
    memory_bytes: int | None = None,
    ahead: int = 0,
) -> Iterator[tuple[int, Value | Failure]]:
    """As `map_unordered`, always in processes of their own; a task that fails is one of the outcomes.

    Args:
        function: a function at the top level of a module.
        tasks: consumed as workers come free.
        jobs: number of workers; all processors if None.
        attempts: how often a task is given to a worker that ends before it answers.
        memory_bytes: what a worker may allocate; a task that wants more fails.
        ahead: tasks that may wait at a worker that has just answered quickly, so that it need not.

    Raises:
        WorkerError: workers end one after the other and none has answered: it is not the tasks.
    """
    jobs = cores() if jobs is None else jobs
    if jobs < 1:
        raise InputError(f"jobs = {jobs}: accepted: 1 or more")
    context = prepare()
    waiting = _packed(tasks, MADE_AT_ONCE if ahead else 1)
    again: deque[_Task] = deque()
    workers: dict[Connection[Any, Any], _Worker] = {}
    lost_in_a_row = 0

    def following() -> _Task | None:
        return again.popleft() if again else next(waiting, None)

    def employ(task: _Task) -> None:
        near, far = context.Pipe()
        process = context.Process(target=_serve, args=(far, function, memory_bytes), daemon=True)
        process.start()
        far.close()
        workers[near] = _Worker(process)
        give(near, task)

    def give(connection: Connection[Any, Any], task: _Task) -> None:
        workers[connection].tasks.append(task)
        _send(connection, task.packed)

    def fill(connection: Connection[Any, Any]) -> None:
        worker = workers[connection]
        while len(worker.tasks) <= (ahead if worker.quick else 0):
            task = following()
            if task is None:
                return
            if worker.tasks and len(task.packed) > MOST_AHEAD_BYTES:
                again.appendleft(task)
                return
            give(connection, task)

    def dismiss(connection: Connection[Any, Any]) -> _Worker:
        worker = workers.pop(connection)
        worker.process.join()
        connection.close()
        return worker

    try:
        while len(workers) < jobs and (task := following()) is not None:
            employ(task)
        while workers:
            done: list[tuple[int, Value | Failure]] = []
            for connection in wait(list(workers)):
                assert isinstance(connection, Connection)
                try:
                    position, value, error = connection.recv()
                except (EOFError, ConnectionResetError):
                    lost = dismiss(connection)
                    lost_in_a_row += 1
                    if lost_in_a_row > attempts * (jobs + MOST_LOST):
                        raise WorkerError(f"{ENDED}, {lost_in_a_row} of them in a row") from None
                    ending, *others = lost.tasks
                    if ending.attempt < attempts:
                        ending.attempt += 1
                        others.insert(0, ending)
                    else:
                        done.append((ending.position, Failure(WorkerError(ENDED))))
                    again.extendleft(reversed(others))
                    task = following()
                    if task is not None:
                        employ(task)
                    continue
                lost_in_a_row = 0
                done.append((position, value if error is None else Failure(error)))
                worker, now = workers[connection], time.monotonic()
                worker.tasks.popleft()
                worker.quick, worker.since = now - worker.since < QUICK_S, now
                fill(connection)
                if not worker.tasks:
                    _send(connection, ForkingPickler.dumps(None))
                    dismiss(connection)
            yield from done
    finally:
        for worker in workers.values():
            worker.process.terminate()
        for connection in list(workers):
            dismiss(connection)


def _packed(tasks: Iterable[Any], at_once: int) -> Iterator[_Task]:
    numbered = enumerate(tasks)
    while several := [
        _Task(position, ForkingPickler.dumps((position, task)))
        for position, task in itertools.islice(numbered, at_once)
    ]:
        yield from several


def _send(connection: Connection[Any, Any], packed: Any) -> None:
    with suppress(
        BrokenPipeError, ConnectionResetError
    ):  # a worker that has ended is noticed when it is read from
        connection.send_bytes(packed)


def _serve(
    connection: Connection[Any, Any], function: Callable[[Any], Any], memory_bytes: int | None
) -> None:
    """A worker's life: tasks in, values or exceptions out, until None or the end of the pipe."""
    if memory_bytes is not None:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            message = connection.recv()
        except (EOFError, ConnectionResetError):
            return
        if message is None:
            return
        try:
            connection.send_bytes(_answer(function, *message))
        except (BrokenPipeError, ConnectionResetError):
            return


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers; a run that would take minutes more ends here."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(function: Callable[[Any], Any], position: int, task: Any) -> Any:
    try:
        return ForkingPickler.dumps((position, function(task), None))
    except Exception as error:
        error.add_note(traceback.format_exc())
        try:
            return ForkingPickler.dumps((position, None, error))
        except Exception:
            return ForkingPickler.dumps((position, None, WorkerError(traceback.format_exc())))
