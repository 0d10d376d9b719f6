"""Independent tasks over worker processes.

Why not concurrent.futures: Ctrl-C must end running workers at once and only those, and a worker must end by
itself when its parent is killed. Here each worker has a pipe of its own, whose end it notices.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, TypeVar

from longfat.errors import InputError, WorkerError

Task = TypeVar("Task")
Value = TypeVar("Value")

PRELOADED = ["longfat.simulate"]
"""Imported once by the server that workers are forked from."""


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


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
    jobs = cores() if jobs is None else jobs
    if jobs < 1:
        raise InputError(f"jobs = {jobs}: accepted: 1 or more")
    waiting = enumerate(tasks)
    if jobs == 1:
        for position, task in waiting:
            yield position, function(task)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    workers: dict[Connection[Any, Any], BaseProcess] = {}
    try:
        for position, task in waiting:
            near, far = context.Pipe()
            process = context.Process(target=_serve, args=(far, function), daemon=True)
            process.start()
            far.close()
            workers[near] = process
            _send(near, (position, task))
            if len(workers) == jobs:
                break
        while workers:
            done = []
            for connection in wait(list(workers)):
                assert isinstance(connection, Connection)
                done.append(_receive(connection))
                following = next(waiting, None)
                if following is None:
                    _send(connection, None)
                    workers.pop(connection).join()
                    connection.close()
                else:
                    _send(connection, following)
            yield from done
    finally:
        for running in workers.values():
            running.terminate()
        for connection, ended in workers.items():
            ended.join()
            connection.close()


def _send(connection: Connection[Any, Any], message: Any) -> None:
    try:
        connection.send(message)
    except (BrokenPipeError, ConnectionResetError):
        raise WorkerError("a worker process ended before its run did (out of memory, or killed)") from None


def _receive(connection: Connection[Any, Any]) -> tuple[int, Any]:
    try:
        position, value, error = connection.recv()
    except (EOFError, ConnectionResetError):
        raise WorkerError("a worker process ended before its run did (out of memory, or killed)") from None
    if error is not None:
        raise error
    return position, value


def _serve(connection: Connection[Any, Any], function: Callable[[Any], Any]) -> None:
    """A worker's life: tasks in, values or exceptions out, until None or the end of the pipe."""
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
