"""Runs the missing runs of a sweep in processes or on a cluster; finished runs are always kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from longfat import _core, system
from longfat.errors import InputError
from longfat.runs import cgroups, memory, pool, simulate
from longfat.runs.progress import Progress
from longfat.scenario.model import Scenario
from longfat.store import output, store
from longfat.store.identity import digest
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.study.grid import Point, keys
from longfat.sweep import page, tables, unfinished
from longfat.sweep.grid import Keep, Sweep
from longfat.sweep.handle import FORMAT, refuse_newer
from longfat.sweep.reduction import reduce_run

ATTEMPTS = 2
"""How often a run is tried when its worker dies: another run may have been the cause."""
AHEAD = 2
"""Short runs that are queued at each worker, so that workers do not wait for the driver."""
MEMORY_SHARE = 0.8
"""Share of the machine's memory, or of what its groups have left, that all workers together may allocate."""
LEAST_MEMORY_BYTES = 1 << 30

Outcomes = Callable[[Callable[[Any], Any], Iterator[Any]], Iterator[tuple[int, Any]]]


@dataclass
class _State:
    """The state of a sweep: runs under way, failures, and the key of each run in order.

    Attributes:
        first_s: time from the start to the first result, if there is one.
    """

    out: dict[int, tuple[Point, str]] = field(default_factory=dict)
    running: set[str] = field(default_factory=set)
    failures: list[tuple[Point, str]] = field(default_factory=list)
    keys: tables.Keys = field(default_factory=tables.Keys)
    kept: int = 0
    ran: int = 0
    first_s: float | None = None


def measure(task: tuple[Scenario, Keep]) -> tuple[str, Any]:
    """A worker's task: returns the row to store, and the samples if they are kept."""
    scenario, keep = task
    result = simulate.run(scenario)
    return store.text(reduce_run(result)), tables.samples(result) if keep == "series" else None


def run(
    sweep: Sweep,
    out: Path | str,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    console: Console | None = None,
    progress: bool = False,
) -> dict[str, Any]:
    """Does the missing runs, writes the tables and sweep.json, and returns the content of sweep.json.

    Args:
        sweep: what to run.
        out: a folder, or an address that fsspec knows; runs stored there are not run again.
        jobs: worker processes; one for each core if None.
        scheduler: address of a dask scheduler that runs them instead.
        console: where progress and remarks are printed; nowhere if None.
        progress: whether to say how far it is without a console too, as in a notebook.

    Raises:
        InputError: before anything runs, `out` cannot be written or the scheduler does not respond.
        LongfatError: the disk is full or the scheduler is gone; finished runs are kept.
    """
    began = time.perf_counter()
    tells = progress or console is not None
    console = console or Console(quiet=True)
    _refuse_foreign(out)
    refuse_newer(out)
    distribute = distribution(jobs, scheduler, __name__)
    with Store(out, reduction_key(reduce_run)) as kept:
        if kept.damaged:
            console.print(f"{len(kept.damaged)} damaged files were set aside; their runs are repeated")
        state = _State()
        described = _described(sweep)
        journal = unfinished.Journal(kept, described, state.keys, state.failures)
        with (
            journal,
            Progress(
                sweep.title or "sweep", described["runs"], console=None if progress else console
            ) as shown,
        ):
            is_readable = not is_address(out) and described["runs"] <= unfinished.MOST_RUNS
            tasks = _missing(sweep, kept, state, journal if is_readable else None)
            for position, outcome in distribute(measure, tasks):
                now = time.perf_counter()
                state.first_s = now - began if state.first_s is None else state.first_s
                point, key = state.out.pop(position)
                state.running.discard(key)
                if isinstance(outcome, pool.Failure):
                    state.failures.append((point, _said(outcome.error)))
                else:
                    state.ran += 1
                    kept.add(key, *outcome)
                if tells:
                    shown.update(state.kept + state.ran + len(state.failures), state.kept)
        kept.flush()
        ran = time.perf_counter()
        tables.write(sweep, kept, state.keys, state.failures)
        ended = time.perf_counter()
        spans = {"wall_s": ended - began, "first_s": state.first_s, "tables_s": ended - ran}
        document = described | _outcome(state, spans)
        kept.write_json(tables.SWEEP_FILE, document)
        journal.remove()
    return document


def report(
    out: Path | str,
    console: Console | None = None,
    *,
    jobs: int | None = None,
    draw: bool | None = None,
) -> Path | None:
    """Builds the page of a sweep and returns its path; None if there is none, as at an address.

    Args:
        out: the sweep's folder.
        console: where a remark is printed.
        jobs: the number of processes that draw; one for each core if None.
        draw: whether to draw it; None draws it if it does not show the present results.
    """
    if is_address(out):
        return None
    there = None if draw else page.current(Path(out))
    if there is not None or draw is False:
        return there
    if console is not None:
        console.print(f"drawing the page of {out}", markup=False, soft_wrap=True)
    return page.build(Path(out), jobs)


def told(document: Mapping[str, Any], out: Path | str, page: Path | None) -> Iterator[str]:
    """Lines that say how a sweep ended."""
    done = document["performance"]
    failed = f", {document['failed']} failed" if document["failed"] else ""
    yield (
        f"runs: {document['runs']} in all, {done['ran']} new in {done['wall_s']:.3g} s, "
        f"{done['found']} from before{failed}"
    )
    for error in document["errors"]:
        yield f"failed: {error}"
    if document["causes"] > len(document["errors"]):
        others = document["causes"] - len(document["errors"])
        yield f"failed: {others} more causes; the table `failures` has all"
    yield f"tables: {out}/tables" if page is None else f"report: {page}"


def is_address(out: Path | str) -> bool:
    """Whether a sweep goes to an address that fsspec knows, and not into a folder."""
    return isinstance(out, str) and "://" in out


def _missing(
    sweep: Sweep, kept: Store, state: _State, journal: unfinished.Journal | None
) -> Iterator[tuple[Scenario, Keep]]:
    """Yields the missing runs as workers come free."""
    position = 0
    for first in sweep.combinations():
        points = map(first.again, range(sweep.repeats))
        try:
            scenario = sweep.scenario(first)
        except InputError as error:
            for point in points:
                state.failures.append((point, "; ".join(error.lines())))
                state.keys.append(None)
            continue
        for point, key in zip(points, keys(scenario, sweep.repeats), strict=True):
            state.keys.append(key)
            there = key in kept and (sweep.keep == "summary" or kept.has_series(key))
            if there or key in state.running:
                state.kept += 1
                continue
            state.out[position] = (point, key)
            state.running.add(key)
            position += 1
            if journal is not None:
                journal.update()
            yield scenario.repeat(point.repeat), sweep.keep


def distribution(jobs: int | None, scheduler: str | None, module: str) -> Outcomes:
    """Returns what runs tasks: worker processes, or the workers of a dask scheduler.

    Args:
        jobs: worker processes; one for each core if None.
        scheduler: address of a dask scheduler.
        module: the module that worker processes import before they begin.

    Raises:
        InputError: the scheduler does not respond, or has no workers of this version.
    """
    if scheduler is not None:
        from longfat.sweep import cluster

        return cluster.Cluster(scheduler).outcomes
    pool.prepare(module)
    number = system.cores() if jobs is None else jobs
    if memory.is_given():
        bound = int(memory.given(number))
    else:
        whole = min(system.memory_bytes()[0], cgroups.free_bytes())
        bound = max(LEAST_MEMORY_BYTES, int(MEMORY_SHARE * whole / number))

    def local(function: Callable[[Any], Any], tasks: Iterator[Any]) -> Iterator[tuple[int, Any]]:
        return pool.outcomes(function, tasks, number, attempts=ATTEMPTS, memory_bytes=bound, ahead=AHEAD)

    return local


def _refuse_foreign(out: Path | str) -> None:
    if not is_address(out):
        output.refuse_foreign(Path(out), output.SWEEP_FILES, output.SWEEP_FILES | output.STORE_FILES)


def _said(error: Exception) -> str:
    return " ".join(f"{error}".split()) or type(error).__name__


def plan(sweep: Sweep) -> str:
    """Returns what sweep.json says of the sweep file: other runs give another text."""
    return digest([sweep.document, [[axis.keys, axis.steps] for axis in sweep.axes], sweep.repeats])[:16]


def _described(sweep: Sweep) -> dict[str, Any]:
    """What sweep.json says of a sweep that may not yet have run."""
    return {
        "format": FORMAT,
        "title": sweep.title,
        "axes": [{"keys": axis.keys, "values": axis.steps} for axis in sweep.axes],
        "where": sweep.where.text,
        "repeats": sweep.repeats,
        "keep": sweep.keep,
        "figures": [layout.to_json() for layout in sweep.figures],
        "plan": plan(sweep),
        "results_version": _core.results_version(),
        "runs": sweep.count(),
        "provenance": output.provenance(sys.argv),
    }


def _outcome(state: _State, spans: Mapping[str, float | None]) -> dict[str, Any]:
    """What sweep.json says of its runs."""
    causes = list(dict.fromkeys(error for _, error in state.failures))
    return {
        "failed": len(state.failures),
        "errors": causes[: tables.ERRORS_SHOWN],
        "causes": len(causes),
        "performance": {**spans, "ran": state.ran, "found": state.kept},
        "provenance": output.provenance(sys.argv),
    }
