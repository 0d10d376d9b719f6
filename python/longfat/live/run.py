"""Runs a scenario on this machine's own TCP, in a worker process."""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from longfat.errors import InputError, LongfatError
from longfat.live import kernel, worker
from longfat.live import traffic as traffics
from longfat.live.check import check
from longfat.runs import plan
from longfat.runs.result import Result
from longfat.scenario.model import Scenario


def run(scenario: Scenario, source: str = "scenario", traffic: str = traffics.KINDS[0]) -> Result:
    """Runs a scenario in real time on this machine's own TCP.

    Args:
        scenario: what to run.
        source: names the scenario in errors, such as a file name.
        traffic: what flows over TCP carry, one of `traffic.KINDS`.

    Raises:
        InputError: the kernel, this machine or its user cannot do what the scenario asks for.
        LongfatError: the run ended early.
    """
    check(scenario, source, traffic)
    planned = plan.build(scenario)
    congestion = kernel.congestion(planned)
    for own in sorted(kernel.own_forms() & set(congestion.values())):
        if lacking := kernel.unbuilt(own):
            raise InputError(f"{source}: {own}: {lacking[0]}; to fix it: {lacking[1]}")
    request = {
        "what": "run",
        "plan": json.dumps(planned),
        "congestion": congestion,
        "objects": kernel.objects(),
        "iperf3": traffics.iperf3() if traffic == "iperf3" else None,
    }
    begin = time.perf_counter()
    output = ask(request, source, functools.partial(plan.refusal, scenario))
    return Result(scenario, output, time.perf_counter() - begin)


def ask(request: dict[str, Any], source: str, refusal: Callable[[str], str] = str) -> Any:
    """Sends a request to a new worker process and returns its result. The worker never outlives this call.

    Args:
        request: see `worker.answer`.
        source: names the scenario or command in errors.
        refusal: rewords the line that says why the worker refused.

    Raises:
        InputError: the worker refused the request.
        LongfatError: the worker failed or ended early.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C goes to this process, which ends the worker
    ) as process:
        try:
            out, err = process.communicate(pickle.dumps(request))
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
