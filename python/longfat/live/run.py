"""Runs a scenario on this machine's own TCP, in a worker process."""

from __future__ import annotations

import functools
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from longfat import _core
from longfat.errors import InputError, LongfatError
from longfat.live import kernel, load, programs, worker
from longfat.live import traffic as traffics
from longfat.live.check import check
from longfat.live.outside import Forwarder
from longfat.runs.capture import Recording, awaited
from longfat.runs.result import Result
from longfat.scenario.model import DURATIONS_S, Scenario

FIRST_LINE_S, LINE_EVERY_S = 5.0, 30.0
"""When a first line says how far a live run is, and the time between further ones."""


def run(
    scenario: Scenario,
    source: str = "scenario",
    traffic: str = traffics.KINDS[0],
    tell: Callable[[float], None] | None = None,
    user: programs.User | None = None,
    front: programs.Front | None = None,
    outside: Forwarder | None = None,
    capture: Recording | None = None,
) -> Result:
    """Runs a scenario in real time on this machine's own TCP.

    Args:
        scenario: what to run.
        source: names the scenario in errors, such as a file name.
        traffic: what flows over TCP carry, one of `traffic.KINDS`.
        tell: called now and then with the seconds since the run began.
        user: whom the scenario's programs run as; the user of this process by default.
        front: the program that has the terminal and ends the run, and so makes the result's duration.
        outside: gives side A the machine's own network, behind the path.
        capture: where the packets go that the routers see.

    Raises:
        InputError: the kernel, this machine or its user cannot do what the scenario asks for.
        LongfatError: the run ended early.
    """
    check(scenario, source, traffic)
    if capture is not None:
        capture.check(scenario)
    users = kernel.users_own(scenario)
    congestion = kernel.congestion(scenario)
    if users and not _core.live_has_loader():
        raise InputError(f"{source}: {next(iter(users.values())).name}: {kernel.NO_LOADER}")
    for own in sorted(kernel.own_forms() & set(congestion.values())):
        if lacking := kernel.unbuilt(own):
            raise InputError(f"{source}: {own}: {lacking[0]}; to fix it: {lacking[1]}")
    asked = programs.request(scenario, user, front, outside)
    request = {
        "what": "run",
        "plan": scenario.plan,
        "congestion": congestion,
        "forms": kernel.forms(),
        "objects": {spec.name: kernel.source(spec) for spec in users.values()},
        "pacing_ratio": kernel.pacing_ratio(users),
        "iperf3": traffics.iperf3() if traffic == "iperf3" else None,
        "capture": None if capture is None else capture.core_args(),
        "programs": asked,
    }
    begin, before = time.perf_counter(), load.now()
    passed = (*(front.streams if front else ()), *([outside.theirs.fileno()] if outside else []))
    with awaited(*([] if capture is None else [capture.path])):
        refusal = functools.partial(_refusal, scenario, capture)
        output = ask(request, source, refusal, tell, front is not None, passed)
    wall_s = time.perf_counter() - begin
    output["validity"] |= {"others": load.others(before, load.now())}
    if capture is not None:
        output["capture"] = capture.summary_entry(output["capture"])
    if front is not None:
        end_s = max(output["programs"]["end_s"], DURATIONS_S[0])
        scenario = scenario.lasting(end_s)
    return Result(scenario, output, wall_s)


def repeats(
    scenario: Scenario,
    number: int,
    source: str = "scenario",
    traffic: str = traffics.KINDS[0],
    tell: Callable[[int], Callable[[float], None]] | None = None,
    user: programs.User | None = None,
    capture: Recording | None = None,
) -> list[Result]:
    """Runs a scenario so often, one after the other, with the seeds seed, seed + 1, and so on.

    Args:
        scenario: what to run.
        number: how often; a capture is of one run.
        source: as for `run`.
        traffic: as for `run`.
        tell: returns what `run` takes for the repeat of this position.
        user: as for `run`.
        capture: as for `run`.

    Raises:
        InputError: as `run`, or there is no such seed.
        LongfatError: a run ended early.
    """
    seeded = [scenario.repeat(i, source) for i in range(number)]
    return [
        run(one, source, traffic, tell and tell(i), user, capture=capture) for i, one in enumerate(seeded)
    ]


def _refusal(scenario: Scenario, capture: Recording | None, said: str) -> str:
    """Returns the core's message with the scenario's own key in front, or with what asked for the capture."""
    if capture is not None and said.startswith("--pcap "):
        return f"{capture.name} {said.removeprefix('--pcap ')}"
    key, colon, what = said.partition(": ")
    return f"{scenario.core.written_key(key)}{colon}{what}"


def ask(
    request: dict[str, Any],
    source: str,
    refusal: Callable[[str], str] = str,
    tell: Callable[[float], None] | None = None,
    in_front: bool = False,
    passed: Sequence[int] = (),
) -> Any:
    """Sends a request to a new worker process and returns its result. The worker never outlives this call.

    Args:
        request: see `worker.answer`.
        source: names the scenario or command in errors.
        refusal: rewords the line that says why the worker refused.
        tell: as in `run`.
        in_front: whether the worker is in this session, so that its programs can have the terminal.
        passed: descriptors that the worker inherits.

    Raises:
        InputError: the worker refused the request.
        LongfatError: the worker failed or ended early.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C goes to this process, which ends the worker
        start_new_session=not in_front,
        process_group=0 if in_front else None,
        pass_fds=passed,
    ) as process:
        try:
            out, err = _communicate(process, pickle.dumps(request), tell or (lambda _: None))
        except BaseException:
            process.kill()
            raise
    if not out:
        last = err.decode(errors="replace").strip().splitlines()[-1:] or [f"exit code {process.returncode}"]
        raise LongfatError(f"{source}: the process of the live run ended early: {last[0]}")
    became, result = pickle.loads(out)
    if became == worker.REFUSED:
        raise InputError(f"{source}: {refusal(result)}")
    if became == worker.FAILED:
        raise LongfatError(f"{source}: {result}")
    return result


def _communicate(
    process: subprocess.Popen[bytes], request: bytes, tell: Callable[[float], None]
) -> tuple[bytes, bytes]:
    begin = time.monotonic()
    given: bytes | None = request
    wait_s = FIRST_LINE_S
    while True:
        try:
            return process.communicate(given, timeout=wait_s)
        except subprocess.TimeoutExpired:
            given, wait_s = None, LINE_EVERY_S  # the request was sent when the first call began
            tell(time.monotonic() - begin)
