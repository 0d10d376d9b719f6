"""Runs scenarios from Python: `longfat.run`, in the simulator or live, and `longfat.run_many`."""

from __future__ import annotations

import os
from typing import overload

from longfat.errors import InputError
from longfat.runs import simulate
from longfat.runs.capture import Capture, Recording
from longfat.runs.qlog import Logging, Qlog
from longfat.runs.repeats import Results, refuse_number
from longfat.runs.result import Result
from longfat.runs.simulate import Source, load, name_of, run_many
from longfat.words import Backend, choice, shown

__all__ = ["run", "run_many"]


@overload
def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    backend: Backend = "sim",
    traffic: str = "longfat",
    capture: Capture | str | os.PathLike[str] | None = None,
    qlog: Qlog | str | os.PathLike[str] | None = None,
    repeats: None = None,
) -> Result: ...
@overload
def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    backend: Backend = "sim",
    traffic: str = "longfat",
    repeats: int,
    jobs: int | None = None,
    progress: bool = False,
) -> Results: ...
def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    backend: Backend = "sim",
    traffic: str = "longfat",
    capture: Capture | str | os.PathLike[str] | None = None,
    qlog: Qlog | str | os.PathLike[str] | None = None,
    repeats: int | None = None,
    jobs: int | None = None,
    progress: bool = False,
) -> Result | Results:
    """Runs a scenario in the simulator, or live. It releases the GIL, and Ctrl-C ends the run.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        backend: "sim", or "live" for this machine's own TCP in real time (docs/live.md).
        traffic: what carries live flows over TCP: "longfat", its own traffic, or "iperf3".
        capture: a pcapng file for the packets of the run (docs/guide/packets.md), or a `Capture`, which has
            more options. The summary says what became of it.
        qlog: a file for what the sender of each flow does, in qlog, or a `Qlog`, which has more options.
        repeats: how often to run it, with the seeds seed, seed + 1, and so on. `Results` has them in this
            order, also if it is 1.
        jobs: with repeats in the simulator, the number of processes, all processors if None; 1 runs in this
            process.
        progress: with repeats in the simulator, whether to say how many runs are done.

    Raises:
        InputError: the scenario is refused, or the capture cannot be written.
        AlgorithmError: a user's own algorithm failed.
        LongfatError: a live run ended early.
    """
    if backend not in ("sim", "live"):
        raise InputError(f"backend = {shown(backend)}: {choice(backend, ('sim', 'live'))}")
    for name, option in (("capture", capture), ("qlog", qlog)):
        if repeats is not None and option is not None:
            raise InputError(
                f"{name} cannot be used with repeats, since it is of one run; accepted: one of them"
            )
    scenario, name = load(source, seed=seed, window=window), name_of(source)
    file = source if isinstance(source, (str, os.PathLike)) else None
    recording = None if capture is None else Recording(_capture(capture), file)
    logging = None if qlog is None else Logging(_qlog(qlog), file)
    if repeats is not None:
        refuse_number(repeats)
    elif jobs is not None or progress:
        given = "progress" if jobs is None else "jobs"
        raise InputError(f"{given} cannot be used without repeats; accepted: both, or neither")
    if backend == "live":
        from longfat.live import programs
        from longfat.live import run as live

        if logging is not None:
            raise InputError("qlog: a kernel does not report enough for a log; accepted: the simulator")
        if jobs is not None:
            raise InputError("jobs: live runs go one after the other; accepted: the simulator")
        runs = live.repeats(scenario, repeats or 1, name, traffic, user=programs.user(), capture=recording)
        return runs[0] if repeats is None else Results(runs)
    if traffic != "longfat":
        from longfat.live import traffic as traffics

        traffics.refuse_unknown(traffic, backend)
    if repeats is None:
        return simulate.run(scenario, capture=recording, qlog=logging, name=name)
    return Results(simulate.repeats(scenario, repeats, name=name, jobs=jobs, progress=progress))


def _capture(given: Capture | str | os.PathLike[str]) -> Capture:
    if isinstance(given, Capture):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(
            f'capture = {shown(given)}: this is not a file; accepted: a file, or Capture("run.pcapng")'
        )
    return Capture(given)


def _qlog(given: Qlog | str | os.PathLike[str]) -> Qlog:
    if isinstance(given, Qlog):
        return given
    if not isinstance(given, (str, os.PathLike)):
        raise InputError(f'qlog = {shown(given)}: this is not a file; accepted: a file, or Qlog("run.sqlog")')
    return Qlog(given)
