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

if TYPE_CHECKING:
    from longfat.runs.capture import Recording
    from longfat.runs.qlog import Logging

Reduced = TypeVar("Reduced")
Source = Scenario | str | os.PathLike[str] | Mapping[str, Any]


def load(source: Source, *, seed: int | None = None, window: tuple[str, str] | None = None) -> Scenario:
    """Returns the scenario of a file, of nested tables or itself, with another seed or window if given."""
    if isinstance(source, Scenario):
        scenario = source
    elif isinstance(source, Mapping):
        scenario = Scenario.from_dict(source)
    else:
        scenario = Scenario.load(os.fspath(source))
    changes = {"seed": seed, "window": None if window is None else list(window)}
    given = {key: value for key, value in changes.items() if value is not None}
    return scenario.with_values(given) if given else scenario


def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    capture: Recording | None = None,
    qlog: Logging | None = None,
) -> Result:
    """Runs a scenario in the simulator. It releases the GIL, and Ctrl-C ends the run.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        capture: where the packets of the run go; the results are the same, but the run takes longer.
        qlog: where the logs of its senders go, likewise.

    Raises:
        InputError: the scenario is refused, also because it may take more memory than there is, or the
            capture cannot be created.
        AlgorithmError: a user's own algorithm failed.
        MemoryExceeded: the run took more memory than it may (`longfat.runs.memory`).
    """
    return _run(load(source, seed=seed, window=window), capture, qlog)


def _run(scenario: Scenario, capture: Recording | None = None, qlog: Logging | None = None) -> Result:
    if capture is not None:
        capture.check(scenario)
    if qlog is not None:
        qlog.check(scenario)
    if capture is not None and qlog is not None and capture.path in qlog.files(scenario).values():
        raise InputError(f"{capture.name} and {qlog.name} {capture.path}: accepted: two files")
    ready = Ready.of(scenario)
    captured = None if capture is None else capture.asked()
    logged = None if qlog is None else qlog.asked(scenario)
    with ready.told(), _readers(scenario, capture, qlog):
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
        output["capture"] = capture.told(output["capture"])
    if qlog is not None:
        output["qlog"] = qlog.told(scenario, output["qlog"])
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

    @classmethod
    def of(cls, scenario: Scenario) -> Ready:
        """Makes the plan of a scenario.

        Raises:
            InputError: the run may take more memory than there is, or there is no such algorithm.
        """
        refuse_live_only(scenario, _name(scenario))
        custom = {
            name: _maker(name, part.algorithm)
            for name, part in scenario.flow_parts().items()
            if part.algorithm.custom
        }
        allowed = memory.given()
        memory.refuse_large(scenario, allowed, _name(scenario))
        return cls(scenario, custom, int(allowed))

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Turns the core's errors into Longfat's."""
        try:
            yield
        except InputError:
            raise
        except MemoryError:
            raise MemoryExceeded(_name(self.scenario), self.memory_bytes) from None
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
            raise InputError(f"{_name(self.scenario)}: {said}") from None
        except RuntimeError as error:
            raise LongfatError(f"{_name(self.scenario)}: {error}") from None


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


def _name(scenario: Scenario) -> str:
    return scenario.title or "scenario"


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
    from longfat.runs import ordering, pool

    reducing = getattr(reduce, "__module__", "")
    pool.preload(__name__, *([reducing] if reducing.startswith("longfat.") else []))
    function, scenarios = functools.partial(_reduced, reduce=reduce), map(load, sources)
    if not ordered:
        found = pool.map_unordered(function, scenarios, jobs)
        return found if not progress else _with_progress(found, _length(sources))
    if not progress:
        return ordering.map_ordered(function, scenarios, jobs)
    return _in_order_with_progress(function, scenarios, jobs, _length(sources))


def _length(sources: Iterable[Source]) -> int | None:
    return len(sources) if isinstance(sources, Sized) else None


def _in_order_with_progress(
    function: Callable[[Scenario], Any], scenarios: Iterable[Scenario], jobs: int | None, total: int | None
) -> Iterator[Any]:
    from longfat.runs.ordering import map_ordered
    from longfat.runs.progress import Progress

    with Progress("simulating", total) as shown:
        yield from map_ordered(function, scenarios, jobs, shown.update)


def _with_progress(found: Iterator[tuple[int, Any]], total: int | None) -> Iterator[tuple[int, Any]]:
    from longfat.runs.progress import Progress

    with Progress("simulating", total) as shown:
        for done, pair in enumerate(found, start=1):
            shown.update(done)
            yield pair


def _reduced(scenario: Scenario, reduce: Callable[[Result], Any] | None) -> Any:
    result = _run(scenario)
    return result if reduce is None else reduce(result)


def repeats(
    scenario: Scenario, number: int, *, jobs: int | None = None, progress: bool = False
) -> list[Result]:
    """Runs the scenario with the seeds seed, seed + 1, ... and returns the results in that order."""
    seeded = [scenario.repeat(i) for i in range(number)]
    return list(run_many(seeded, jobs=jobs, progress=progress))
