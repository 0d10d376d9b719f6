"""Runs independent tasks over worker processes.

This is not concurrent.futures or loky, because an interruption must end running workers at once, a worker
must end by itself when its parent is killed, and a worker that is killed must cost no other task;
docs/notebook.md compares them. Each worker has its own pipe here and notices when that ends.
"""

from __future__ import annotations

import io
import itertools
import multiprocessing
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, TypeVar, cast

from longfat import system
from longfat.errors import InputError, WorkerError
from longfat.runs import memory

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext, SpawnContext

Task = TypeVar("Task")
Value = TypeVar("Value")

ENDED = "a worker process ended before its run did (out of memory, or killed)"
MOST_LOST = 8
"""The most tasks that may end their workers in a row."""
QUICK_S = 0.2
"""A worker that is done within this gets tasks ahead; longer ones would leave one worker alone at the end."""
MADE_AT_ONCE = 8
"""Tasks made at once if some may wait: making one is slow after a worker has used the processor."""
MOST_AHEAD_BYTES = 16384
"""The largest task that may wait at a worker: all of them fit into the pipe, so that sending never blocks."""
SAFE_PATH = "PYTHONSAFEPATH"
"""The variable that keeps Python from putting the current folder on its path."""
SERVER_S, SERVER_REST_S = 5.0, 0.02
"""How long a server that does not answer is asked again, and the time between two attempts."""
FILES_OF_WORKER, OTHER_FILES = 4, 64
"""The files that a worker keeps open in this process, and those that it may have open beside them."""
DESCRIPTORS = "/proc/self/fd"
PROGRAM = b"__main__"
"""Stands in what refers by name to something that the program defines."""
PRELOADED: dict[str, None] = {"longfat.runs.orphan": None}
"""Modules that the server imports once, from which workers are forked."""


@dataclass(frozen=True)
class Failure:
    """A task without a value: what it raised, or a WorkerError if it ended its worker."""

    error: Exception


@dataclass
class _Task:
    """A task: its position in the order, itself as bytes, and how often it was handed out."""

    position: int
    packed: Any
    attempt: int = 1


@dataclass
class _Worker:
    """A process, its tasks in the order in which it returns values, and when it last returned one."""

    process: BaseProcess
    tasks: deque[_Task] = field(default_factory=deque)
    since: float = field(default_factory=time.monotonic)
    quick: bool = False


def preload(*modules: str) -> None:
    """Makes the server import these modules once, so that the workers forked from it need not."""
    PRELOADED.update(dict.fromkeys(modules))


def prepare(*modules: str) -> ForkServerContext | SpawnContext:
    """Starts the server that forks workers, unless it runs; this takes a second in the background.

    Systems other than Linux have no such server: there each worker starts anew.

    Args:
        modules: modules that workers need, besides those of earlier calls. Each worker itself imports modules
            that are requested after the server has started.
    """
    preload(*modules)
    system.allow_open_files()  # the server inherits it
    if not system.LINUX:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    with _alone(), _own_folder():
        forkserver.ensure_running()
    return context


@contextmanager
def _own_folder() -> Iterator[None]:
    """Has a server that is started within the block put its socket into a folder that is soon gone.

    Python's own folder, `pymp-...` in the temporary one, stays for ever if this process is killed, and a long
    path of the temporary folder leaves no room for a socket's name, of 107 bytes at most.
    """
    if _server_runs() or not os.path.isdir(DESCRIPTORS):
        yield
        return
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    python: Any = multiprocessing.util
    earlier, spawn = config.get("tempdir"), python.spawnv_passfds
    sockets: list[int] = []

    def spawn_without_folder(*arguments: Any) -> Any:
        for name in os.listdir(descriptor):  # none where Python starts something else before
            sockets.append(os.open(f"{folder}/{name}", os.O_PATH))
            shutil.rmtree(folder)
        return spawn(*arguments)

    folder = tempfile.mkdtemp(prefix="longfat-")
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    config["tempdir"], python.spawnv_passfds = f"{DESCRIPTORS}/{descriptor}", spawn_without_folder
    try:
        yield
    finally:
        if sockets:
            # Linux connects to a socket that has no name any more by a descriptor that refers to it.
            server: Any = forkserver._forkserver
            server._forkserver_address = f"{DESCRIPTORS}/{sockets[-1]}"
        config["tempdir"], python.spawnv_passfds = earlier, spawn
        os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


def _server_runs() -> bool:
    """Returns whether the server that forks workers is there; Python replaces one that ended."""
    server: Any = forkserver._forkserver
    if server._forkserver_pid is None:
        return False
    try:
        return os.waitid(os.P_PID, server._forkserver_pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:  # a parent that forked: the server is not this process's child
        return False


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Keeps Ctrl-C, which reaches the whole group, from the server and its workers: this process decides.

    Windows has nothing to inherit that does this; its workers see to it themselves.
    """
    if not system.POSIX:
        yield
        return
    resource_tracker.ensure_running()  # starting it, the server would let SIGINT in again
    earlier = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, earlier)


@contextmanager
def _alone() -> Iterator[None]:
    """Keeps from processes that are started within what would reach this one's."""
    with _safe_path(), _without_interrupts():
        yield


@contextmanager
def _safe_path() -> Iterator[None]:
    """Lets processes started within not import from the current folder, which may be anybody's.

    Python starts the server with `-c`, which puts that folder first. Workers get this process's own path.
    """
    earlier = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if earlier is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = earlier


def map_unordered(
    function: Callable[[Task], Value], tasks: Iterable[Task], jobs: int | None = None
) -> Iterator[tuple[int, Value]]:
    """Yields (position, function(task)) for every task, in the order in which they finish.

    Each worker has one task at a time, so neither tasks nor values pile up. With one job everything runs in
    this process. The first exception of a task ends all work; so does closing the iterator. With more jobs,
    function, tasks and values go to other processes and back; what cannot is refused before anything runs.

    Args:
        function: a function of a module, a script or a notebook.
        tasks: read as workers become free.
        jobs: the number of workers; all processors if None.
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
    """As `map_unordered`, but always in other processes, and a task that fails is one of the outcomes.

    Args:
        function: a function of a module, a script or a notebook.
        tasks: read as workers become free.
        jobs: the number of workers; all processors if None.
        attempts: how often a task is handed to a worker that ends before it returns a value.
        memory_bytes: how much a worker may allocate; a task that needs more fails.
        ahead: the number of tasks that may wait at a worker whose last one was quick, so that it never idles.

    Raises:
        WorkerError: workers end one after the other without a value, so the tasks are not to blame.
    """
    jobs = system.cores() if jobs is None else jobs
    if jobs < 1:
        raise InputError(f"jobs = {jobs}: there is no worker; accepted: 1 or more")
    if jobs > system.MOST_WORKERS:
        raise InputError(f"jobs = {jobs}: this system waits for fewer; accepted: up to {system.MOST_WORKERS}")
    most = (system.allow_open_files() - OTHER_FILES) // FILES_OF_WORKER
    if jobs > most:
        fewer = f"up to {most}, or " if most > 0 else ""
        raise InputError(
            f"jobs = {jobs}: they need more open files than there may be; "
            f"accepted: {fewer}a higher limit of open files (ulimit -n)"
        )
    share = memory.given(jobs) if memory_bytes is None else memory_bytes
    sent = bytes(_dumps(function, f"the function {_name(function)}"))
    waiting = _packed(tasks, MADE_AT_ONCE if ahead else 1)
    again: deque[_Task] = deque()
    workers: dict[Connection[Any, Any], _Worker] = {}
    lost_in_a_row = 0

    def following() -> _Task | None:
        return again.popleft() if again else next(waiting, None)

    def employ(task: _Task) -> None:
        near, process = _hire(sent, memory_bytes, share)
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
            for connection in cast("list[Connection[Any, Any]]", wait(list(workers))):
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
                worker, now = workers[connection], time.monotonic()
                task = worker.tasks.popleft()
                position = task.position if position is None else position
                done.append((position, value if error is None else Failure(error)))
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


def _hire(
    function: bytes, memory_bytes: int | None, share: float
) -> tuple[Connection[Any, Any], BaseProcess]:
    """Starts a worker; starts its server again if that has been killed, even while it forks."""
    until = time.monotonic() + SERVER_S
    while True:
        context = prepare()
        near, far = context.Pipe()
        program = getattr(sys.modules["__main__"], "__file__", None)
        given = (far, function, memory_bytes, share, program)
        process = context.Process(target=_serve, args=given, daemon=True)
        try:
            # a server that has been killed since is started again here, and found at the next attempt
            with _own_folder() if system.LINUX else _alone(), _without_program():
                process.start()
        except (EOFError, ConnectionError, FileNotFoundError) as error:
            near.close()
            if time.monotonic() > until:
                raise WorkerError(f"no worker can be started: {error}") from None
            time.sleep(SERVER_REST_S)
        else:
            return near, process
        finally:
            far.close()


def _packed(tasks: Iterable[Any], at_once: int) -> Iterator[_Task]:
    numbered = enumerate(tasks)
    while several := [
        _Task(position, _dumps((position, task), f"task {position}"))
        for position, task in itertools.islice(numbered, at_once)
    ]:
        yield from several


def _dumps(value: Any, what: str) -> Any:
    """Packs a value for another process.

    What the program, a notebook's cell or the prompt defined goes as its code, as do functions within
    functions; everything else goes by its name. Workers never import the program itself: it would begin again
    if it does not ask for `__name__`.

    Raises:
        InputError: the value cannot leave this process.
    """
    with suppress(Exception):  # such as a function within a function: its code may go
        packed = ForkingPickler.dumps(value)
        if PROGRAM not in bytes(packed):
            return packed
    try:
        return _code(value)
    except Exception as error:
        said = " ".join(str(error).split())
        raise InputError(
            f"{what} cannot be sent to worker processes: {said}; accepted: functions and classes that refer "
            "to nothing that belongs to this process, or jobs = 1"
        ) from None


def _code(value: Any) -> bytes:
    """Packs a value with the code of its functions and classes.

    cloudpickle sends an open file as its text and its position; every worker would read a copy of its own.
    """
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, io.IOBase) and value not in (sys.stdout, sys.stderr):
                raise pickle.PicklingError(f"it uses the open file {getattr(value, 'name', value)}")
            return super().reducer_override(value)

    packed = io.BytesIO()
    Pickler(packed).dump(value)
    return packed.getvalue()


def _name(function: Any) -> str:
    """What a user calls a function: a partial one that takes a function goes by that one's name."""
    given = getattr(function, "keywords", {}).values()
    inner = next((value for value in given if callable(value)), function)
    return getattr(inner, "__qualname__", None) or str(inner)


@contextmanager
def _without_program() -> Iterator[None]:
    """Keeps a worker that is started within from importing this program; see `_dumps`."""
    main = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {name: main.pop(name) for name in ("__file__", "__spec__") if name in main}
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(hidden)


def _send(connection: Connection[Any, Any], packed: Any) -> None:
    # A worker that has ended is noticed when its pipe is read.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.send_bytes(packed)


def _serve(
    connection: Connection[Any, Any],
    sent: bytes,
    memory_bytes: int | None,
    share: float,
    program: str | None,
) -> None:
    """Runs in a worker: reads tasks and writes values or exceptions, until None or the end of the pipe."""
    if program is not None:  # names algorithms that it defines
        sys.modules["__main__"].__file__ = program
    memory.give(share)
    if memory_bytes is not None:
        system.limit_memory(memory_bytes)
    if not system.POSIX:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    function: Callable[[Any], Any] | None = None
    while True:
        try:
            packed = connection.recv_bytes()
        except (EOFError, ConnectionResetError):
            return
        try:
            message = pickle.loads(packed)
            if message is None:
                return
            function = function or pickle.loads(sent)
        except Exception as error:  # this process lacks what one of them refers to
            answer = _failed(None, error)
        else:
            answer = _answer(function, *message)
        try:
            connection.send_bytes(answer)
        except (BrokenPipeError, ConnectionResetError):
            return


def _end_with_parent() -> None:
    """Ends this process when its parent is killed and can no longer end its workers."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(function: Callable[[Any], Any], position: int, task: Any) -> Any:
    try:
        return _dumps((position, function(task), None), "the value of the function")
    except Exception as error:
        return _failed(position, error)


def _failed(position: int | None, error: Exception) -> Any:
    """The answer to a task that raised this; without a position if the task could not be read."""
    told = "".join(traceback.format_exception(error))
    error.add_note(told)
    try:
        return ForkingPickler.dumps((position, None, error))
    except Exception:
        return ForkingPickler.dumps((position, None, WorkerError(told)))
