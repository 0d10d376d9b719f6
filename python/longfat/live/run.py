"""A scenario on this machine's own TCP: what the kernel can do of it, and the run in a process of its own."""

from __future__ import annotations

import functools
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from longfat.errors import InputError, LongfatError
from longfat.live import traffic as traffics
from longfat.live import worker
from longfat.runs import plan
from longfat.runs.result import Result
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.scenario.transport import Transport

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
OBJECTS = Path(__file__).resolve().parents[3] / "bpf" / "out"
"""Where `make bpf` puts the algorithms that Longfat itself brings into the kernel."""

KERNELS_OWN = (
    "initial_ssthresh",
    "max_window",
    "slow_start",
    "max_ssthresh",
    "delayed_ack",
    "delayed_ack_timeout",
    "byte_counting",
    "host_tick",
    "rto_min",
    "quick_start",
)
"""Options of a flow that a kernel decides for itself: accepted with the default alone."""


def run(scenario: Scenario, source: str = "scenario", traffic: str = traffics.KINDS[0]) -> Result:
    """Runs a scenario in real time on this machine's own TCP.

    Args:
        scenario: what to run.
        source: what problems are told of, such as the file's name.
        traffic: what flows over TCP carry, one of live.traffic.KINDS.

    Raises:
        InputError: the kernel, this machine or its user cannot do what the scenario asks for.
        LongfatError: the run ended early.
    """
    check(scenario, source, traffic)
    planned = plan.build(scenario)
    request = {
        "what": "run",
        "plan": json.dumps(planned),
        "congestion": congestion(planned),
        "objects": OBJECTS,
        "iperf3": traffics.iperf3() if traffic == "iperf3" else None,
    }
    begin = time.perf_counter()
    output = ask(request, source, functools.partial(plan.refusal, scenario))
    return Result(scenario, output, time.perf_counter() - begin)


def ask(request: dict[str, Any], source: str, refusal: Callable[[str], str] = str) -> Any:
    """What a worker process answers; whatever ends this call ends the worker.

    Args:
        request: what it reads.
        source: what problems are told of.
        refusal: words the line that says why it cannot be done.
    """
    with subprocess.Popen(
        [sys.executable, "-m", worker.__name__, str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C comes to this process, which ends the worker
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


def check(scenario: Scenario, source: str = "scenario", traffic: str = traffics.KINDS[0]) -> None:
    """InputError, one clear line, if the scenario asks for what no kernel, or this traffic, does."""
    try:
        _check(scenario)
        traffics.check(scenario, traffic)
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _check(scenario: Scenario) -> None:
    if scenario.link:
        raise InputError("[[link]]: accepted with --backend live: a dumbbell, [bottleneck]")
    if scenario.bottleneck.router is not None:
        raise InputError(
            f'bottleneck.router = "{scenario.bottleneck.router.kind}": no kernel has hosts that speak with '
            "such a router; accepted with --backend live: none; --backend sim has them"
        )
    parts: list[tuple[str, Transport]] = [(f"flow.{i}", part) for i, part in enumerate(scenario.flow)]
    parts += [(f"background.{i}", part) for i, part in enumerate(scenario.background)]
    for place, part in parts:
        _check_part(place, part)


def _check_part(place: str, part: Transport) -> None:
    spec = part.algorithm
    named = f'{place}.algorithm = "{spec.name}"'
    if spec.custom:
        raise InputError(f"{named}: no kernel can run it; accepted with --backend live: {_names()}")
    row = registry.find("algorithms", spec.name)
    if not row["live"]:
        raise InputError(
            f"{named}: has no form in the Linux kernel; accepted with --backend live: {_names()}"
        )
    for name, value in spec.parameters.items() if row.get("transport") == "tcp" else ():
        default = next(p["default"] for p in row["parameters"] if p["name"] == name)
        if value not in (default, "linux"):
            raise InputError(
                f"{place}.algorithm.{name} = {value!r}: the kernel's {spec.name} has its own; "
                f'accepted with --backend live: leave it out, or variant = "linux"'
            )
    if row.get("transport") != "tcp":
        return
    for key in KERNELS_OWN:
        field = type(part).model_fields.get(key)
        if field is not None and getattr(part, key) != field.default:
            raise InputError(
                f"{place}.{key}: the kernel decides it for itself; accepted with --backend live: leave it out"
            )
    if part.sack is False:
        raise InputError(f"{place}.sack = false: accepted with --backend live: true, as the kernel has it")


def _names() -> str:
    return ", ".join(f'"{row["name"]}"' for row in registry.rows("algorithms") if row["live"])


def available() -> list[str]:
    """The kernel's names of the congestion controls that it has now; it may load others when asked."""
    try:
        return AVAILABLE.read_text().split()
    except OSError:
        return []


def congestion(planned: plan.Plan) -> dict[str, str]:
    """The kernel's name of the algorithm of each flow and background of a plan that is carried by TCP."""
    entries = [(flow["name"], flow["algorithm"]) for flow in planned["flows"]]
    entries += [(entry["name"], entry["flow"]["algorithm"]) for entry in planned["background"]]
    there = available()
    return {
        name: kernel_name(algorithm, there)
        for name, algorithm in entries
        if registry.find("algorithms", algorithm).get("transport") == "tcp"
    }


def kernel_name(algorithm: str, there: list[str]) -> str:
    """What this kernel calls an algorithm: its module's name where it has that, else our own form's."""
    row = registry.find("algorithms", algorithm)
    module, own = row["linux_module"], row.get("kernel_form")
    if module is None or (own is not None and module not in there):
        return own or algorithm
    return module
