"""Runs scenarios in the simulator, one or many. Imports nothing slow, since workers start with it."""

from __future__ import annotations

import contextlib
import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

from longfat import _core
from longfat.errors import AlgorithmError, InputError, LongfatError, MemoryExceeded
from longfat.runs import memory
from longfat.runs.result import Result
from longfat.scenario.model import Algorithm, Scenario
from longfat.words import shown

if TYPE_CHECKING:
    from longfat.runs.capture import Recording
    from longfat.runs.qlog import Logging

Reduced = TypeVar("Reduced")
Source = Scenario | str | os.PathLike[str] | Mapping[str, Any]
ACCEPTED = "accepted: a Scenario, the path of a scenario file, or nested tables"
"""What messages list as accepted sources."""


def load(source: Source, *, seed: int | None = None, window: tuple[str, str] | None = None) -> Scenario:
    """Returns the scenario of a file, of nested tables or itself, with another seed or window if given.

    Raises:
        InputError: the scenario is refused, or the source is something else.
    """
    given = {"seed": seed, "window": list(window) if isinstance(window, tuple) else window}
    changes = {key: value for key, value in given.items() if value is not None}
    if isinstance(source, Scenario):
        return source.with_values(changes) if changes else source
    if isinstance(source, Mapping):
        return Scenario.from_dict(source, changes=changes)
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"{shown(source)} is no scenario; {ACCEPTED}")
    return Scenario.load(os.fspath(source), overrides=changes)


def name_of(source: Source) -> str:
    """Returns how messages name a scenario: by its file if it comes from one."""
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else "scenario"


def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    capture: Recording | None = None,
    qlog: Logging | None = None,
    name: str | None = None,
) -> Result:
    """Runs a scenario in the simulator. It releases the GIL, and Ctrl-C ends the run.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        capture: where the packets of the run go; the results are the same, but the run takes longer.
        qlog: where the logs of its senders go, likewise.
        name: names the scenario in messages; by default its file.

    Raises:
        InputError: the scenario is refused, also because it may take more memory than there is, or the
            capture cannot be created.
        AlgorithmError: a user's own algorithm failed.
        MemoryExceeded: the run took more memory than it may (`longfat.runs.memory`).
    """
    return _run(load(source, seed=seed, window=window), name or name_of(source), capture, qlog)


def _run(
    scenario: Scenario, name: str, capture: Recording | None = None, qlog: Logging | None = None
) -> Result:
    if capture is not None:
        capture.check(scenario)
    if qlog is not None:
        qlog.check(scenario)
    if capture is not None and qlog is not None and capture.path in qlog.files(scenario).values():
        raise InputError(f"{capture.name} and {qlog.name} have one file, {capture.path}; accepted: two files")
    ready = Ready.of(scenario, name)
    captured = None if capture is None else capture.core_args()
    logged = None if qlog is None else qlog.core_args(scenario)
    with ready.map_errors(), _readers(scenario, capture, qlog):
        begin = time.perf_counter()
        try:
            output = _core.simulate(scenario.core, ready.algorithms, ready.memory_bytes, captured, logged)
        except OSError as error:
            what, said = error.args
            asked = capture if what == "pcap" else qlog
            if asked is None:
                raise
            raise asked.refused(said) from None
        wall_s = time.perf_counter() - begin
    if capture is not None:
        output["capture"] = capture.summary_entry(output["capture"])
    if qlog is not None:
        output["qlog"] = qlog.summary_entry(scenario, output["qlog"])
    return Result(scenario, output, wall_s)


@contextlib.contextmanager
def _readers(scenario: Scenario, capture: Recording | None, qlog: Logging | None) -> Iterator[None]:
    """Waits for the readers of what the run writes, where that is a FIFO."""
    if capture is None and qlog is None:
        yield
        return
    from longfat.runs.capture import awaited

    with contextlib.ExitStack() as held:
        for asked, files in (
            (capture, [] if capture is None else [capture.path]),
            (qlog, [] if qlog is None else list(qlog.files(scenario).values())),
        ):
            try:
                held.enter_context(awaited(*files))
            except OSError as error:
                assert asked is not None
                raise asked.refused(error.strerror or str(error)) from None
        yield


class Ready(NamedTuple):
    """A scenario that the core can run."""

    scenario: Scenario
    algorithms: Mapping[str, Callable[[], Any]]
    """What makes the user's own algorithms, by the flow's name."""
    memory_bytes: int
    """What the run may take."""
    name: str
    """How messages name the scenario."""

    @classmethod
    def of(cls, scenario: Scenario, name: str = "scenario") -> Ready:
        """Finds what a run of a scenario needs; `name` is its name in messages.

        Raises:
            InputError: the run may take more memory than there is, or there is no such algorithm.
        """
        refuse_live_only(scenario, name)
        custom = {
            flow: _maker(flow, part.algorithm)
            for flow, part in scenario.flow_parts().items()
            if part.algorithm.custom
        }
        allowed = memory.given()
        memory.refuse_large(scenario, allowed, name)
        return cls(scenario, custom, int(allowed), name)

    @contextlib.contextmanager
    def map_errors(self) -> Iterator[None]:
        """Turns the core's errors into Longfat's."""
        try:
            yield
        except InputError:
            raise
        except MemoryError:
            raise MemoryExceeded(self.name, self.memory_bytes) from None
        except _core.AlgorithmError as error:
            flow, details = error.args
            from longfat.algorithm import Maker

            made_by = self.algorithms[flow]
            if isinstance(made_by, Maker) and made_by.refused is not None:
                raise made_by.refused from None
            raise AlgorithmError(flow, details) from None
        except ValueError as error:
            key, colon, what = str(error).partition(": ")
            said = f"{self.scenario.core.written_key(key)}{colon}{what}"
            raise InputError(f"{self.name}: {said}") from None
        except RuntimeError as error:
            raise LongfatError(f"{self.name}: {error}") from None


def _maker(flow: str, algorithm: Algorithm) -> Callable[[], Any]:
    from longfat.algorithm import maker

    return maker(flow, algorithm)


def refuse_live_only(scenario: Scenario, source: str) -> None:
    """Raises InputError, one line, if a scenario has programs or algorithms that the simulator lacks."""
    for i, flow in enumerate(scenario.flow):
        if flow.algorithm.foreign:
            raise InputError(
                f'{source}: flow.{i}.algorithm = "{flow.algorithm.name}": the simulator lacks it, and this '
                "machine's kernel has it; accepted: --backend live, or what `longfat list algorithms` lists"
            )
    if scenario.program:
        raise InputError(
            f"{source}: [[program]]: programs run in real time; accepted: --backend live, or leave them out"
        )


@overload
def run_many(
    sources: Iterable[Source],
    *,
    jobs: int | None = None,
    reduce: None = None,
    ordered: Literal[True] = True,
    progress: bool = False,
) -> Iterator[Result]: ...
@overload
def run_many(
    sources: Iterable[Source],
    *,
    jobs: int | None = None,
    reduce: Callable[[Result], Reduced],
    ordered: Literal[True] = True,
    progress: bool = False,
) -> Iterator[Reduced]: ...
@overload
def run_many(
    sources: Iterable[Source],
    *,
    jobs: int | None = None,
    reduce: None = None,
    ordered: Literal[False],
    progress: bool = False,
) -> Iterator[tuple[int, Result]]: ...
@overload
def run_many(
    sources: Iterable[Source],
    *,
    jobs: int | None = None,
    reduce: Callable[[Result], Reduced],
    ordered: Literal[False],
    progress: bool = False,
) -> Iterator[tuple[int, Reduced]]: ...
def run_many(
    sources: Iterable[Source],
    *,
    jobs: int | None = None,
    reduce: Callable[[Result], Any] | None = None,
    ordered: bool = True,
    progress: bool = False,
) -> Iterator[Any]:
    """Runs scenarios over worker processes and yields their results in the order of the scenarios.

    This is like `map` of an executor in concurrent.futures: what the run of a scenario raises is raised in
    its turn, after the results before it, and ends the other runs. With `ordered=False` it is like
    `as_completed`: it yields (position, result) as runs finish, and the first error ends the others at once.

    Results do not depend on the number of jobs. Closing the iterator, or Ctrl-C, ends the workers at once.

    Args:
        sources: scenarios, paths or tables; read as workers become free.
        jobs: the number of processes, all processors if None; 1 runs in this process.
        reduce: a function that is applied in the worker, so that series need not travel; it may be one that a
            notebook's cell defines.
        ordered: False yields (position, result) as runs finish, so that no result waits for an earlier one.
        progress: whether to say how many runs are done, in a terminal, in a notebook or as lines.

    Raises:
        InputError: a scenario is refused, or something cannot be sent to the workers.
        AlgorithmError: a user's own algorithm failed.
        WorkerError: a worker process ended before its run did.
    """
    named = ((load(source), name_of(source)) for source in sources)
    total = len(sources) if isinstance(sources, Sized) else None
    return _run_many(named, jobs, reduce, ordered, progress, total)


Task = tuple[Scenario, str]
"""A scenario, and how messages name it."""


def _run_many(
    tasks: Iterable[Task],
    jobs: int | None,
    reduce: Callable[[Result], Any] | None,
    ordered: bool,
    progress: bool,
    total: int | None,
) -> Iterator[Any]:
    from longfat.runs import ordering, pool
    from longfat.runs.progress import Progress

    reducing = getattr(reduce, "__module__", "")
    pool.preload(__name__, *([reducing] if reducing.startswith("longfat.") else []))
    function = functools.partial(_reduced, reduce=reduce)
    with Progress("simulating", total) as bar:
        on_done: Callable[[int], None] = bar.update if progress else lambda done: None
        if ordered:
            yield from ordering.map_ordered(function, tasks, jobs, on_done)
            return
        for done, pair in enumerate(pool.map_unordered(function, tasks, jobs), start=1):
            on_done(done)
            yield pair


def _reduced(task: Task, reduce: Callable[[Result], Any] | None) -> Any:
    result = _run(*task)
    return result if reduce is None else reduce(result)


def repeats(
    scenario: Scenario,
    number: int,
    *,
    name: str = "scenario",
    jobs: int | None = None,
    progress: bool = False,
) -> list[Result]:
    """Runs the scenario with the seeds seed, seed + 1, ... and returns the results in that order."""
    seeded = [(scenario.repeat(i, name), name) for i in range(number)]
    return list(_run_many(seeded, jobs, None, True, progress, number))
