"""What `longfat bpf` says of an object with eBPF programs: what it needs, and what its programs do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import _core
from longfat.errors import InputError
from longfat.runs import simulate
from longfat.scenario import loading

STATES = ("Open", "Disorder", "CWR", "Recovery", "Loss")
"""The states of a connection (enum tcp_ca_state)."""
EVENTS = ("TX_START", "CWND_RESTART", "COMPLETE_CWR", "LOSS", "ECN_NO_CE", "ECN_IS_CE")
"""What cwnd_event tells of (enum tcp_ca_event)."""
ACK_EVENTS = {1: "SLOWPATH", 2: "WIN_UPDATE", 4: "ECE"}
"""What in_ack_event tells of (enum tcp_ca_ack_event_flags)."""
RETURNING = frozenset(("ssthresh", "undo_cwnd", "min_tso_segs"))
"""The callbacks whose result means something."""
INFINITE_SSTHRESH = 0x7FFFFFFF


def split(named: str) -> tuple[Path, str | None]:
    """Returns the file and the name in "file.bpf.o" or "file.bpf.o:NAME".

    Raises:
        InputError: there is no such file.
    """
    file, found, rest = named.partition(loading.OBJECT)
    path = Path(f"{file}{found}")
    if not found or (rest and not rest.startswith(":")):
        raise InputError(
            f"{named}: this is not an object file; "
            f"accepted: file{loading.OBJECT}, or file{loading.OBJECT}:NAME"
        )
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; accepted: file{loading.OBJECT}")
    return path, rest[1:] or None


def check(path: Path, name: str | None = None) -> dict[str, Any]:
    """Returns what an object needs, whether it runs in the simulator, and whether this kernel would take it.

    Args:
        path: the object file.
        name: looks only at the congestion control of this name.

    Returns:
        The object of `_core.ebpf_needs`; each of its algorithms also has `kernel`: "yes", "no", or "unknown"
        if the kernel cannot be asked, with the `reason`. `usable` says whether one of them runs here without
        being refused by the kernel.

    Raises:
        InputError: the file is no eBPF object, or it has no congestion control of this name.
    """
    try:
        found: dict[str, Any] = json.loads(_core.ebpf_needs(path))
    except ValueError as error:
        raise InputError(str(error)) from None
    algorithms = [each for each in found["algorithms"] if name in (None, each["name"], each["variable"])]
    if found["algorithms"] and not algorithms:
        present = ", ".join(each["name"] for each in found["algorithms"])
        raise InputError(f"{path.name}: no congestion control {name}; the object has {present}")
    for each in algorithms:
        each["kernel"], each["reason"] = "no", each["problem"]
        if each["problem"] is None:
            each["kernel"], each["reason"] = _asked(path, each["variable"], each["name"])
    usable = any(each["problem"] is None and each["kernel"] != "no" for each in algorithms)
    return {"file": path.name} | found | {"algorithms": algorithms, "usable": usable}


def _asked(path: Path, variable: str, name: str) -> tuple[str, str | None]:
    try:
        _core.ebpf_try_load(path, variable, name)
    except PermissionError as error:
        return "unknown", str(error)
    except ValueError as error:
        return "no", str(error)
    return "yes", None


@dataclass(frozen=True)
class Trace:
    """The callbacks of a run.

    Attributes:
        name: the congestion control's name in the kernel.
        total: how many there were; `entries` has the first of them.
        entries: for each one time_s, flow, callback, arguments, sample, result, and cwnd_before,
            ssthresh_before, cwnd_after and ssthresh_after in segments.
        summary: the run's summary.
    """

    name: str
    total: int
    entries: list[dict[str, Any]]
    summary: dict[str, Any]


def trace(
    path: Path, name: str | None, scenario: Mapping[str, Any], most: int, only: tuple[str, ...] = ()
) -> Trace:
    """Runs a scenario whose flows have an object's congestion control, and keeps its callbacks.

    Args:
        path: the object file.
        name: the congestion control, None for the only one.
        scenario: nested tables; flows without `algorithm` get the object.
        most: how many callbacks are kept.
        only: keeps only the callbacks with these names.

    Raises:
        InputError: the object or the scenario is refused.
        AlgorithmError: a program failed.
    """
    try:
        named = loading.ebpf(path.resolve(), name).name
        algorithm = loading.ebpf(path.resolve(), named)  # as the scenario below loads it
    except ValueError as error:
        raise InputError(str(error)) from None
    if unknown := sorted(set(only) - set(algorithm.callbacks)):
        raise InputError(
            f"{algorithm.name} has no callback {unknown[0]}; accepted: {', '.join(algorithm.callbacks)}"
        )
    flows = [
        flow if "algorithm" in flow else {**flow, "algorithm": f"{path.resolve()}:{algorithm.name}"}
        for flow in scenario["flow"]
    ]
    chosen = simulate.load({**scenario, "flow": flows})
    algorithm.begin_trace(most, list(only))
    try:
        result = simulate.run(chosen)
    finally:
        total, kept = algorithm.end_trace()
    return Trace(algorithm.name, total, json.loads(kept), result.summary)


def told(entry: Mapping[str, Any]) -> str:
    """Returns a callback with its arguments in words, such as "set_state(Recovery)"."""
    name, arguments = entry["callback"], entry["arguments"]
    if name == "set_state":
        words = [_nth(STATES, arguments[0])]
    elif name == "cwnd_event":
        words = [_nth(EVENTS, arguments[0])]
    elif name == "in_ack_event":
        words = [" | ".join(word for bit, word in ACK_EVENTS.items() if arguments[0] & bit) or "0"]
    elif name == "cong_avoid":
        words = [f"ack={arguments[0]}", f"acked={arguments[1]}"]
    else:
        plain = (f"ack={arguments[0]}", f"flag={arguments[1]:#x}") if len(arguments) > 1 else ()
        words = [*plain, *(f"{key}={value}" for key, value in entry["sample"].items())]
    result = f" = {entry['result']}" if name in RETURNING else ""
    return f"{name}({', '.join(words)}){result}"


def _nth(words: tuple[str, ...], number: int) -> str:
    return words[number] if number < len(words) else str(number)


def window(cwnd: int, ssthresh: int) -> str:
    """Returns "cwnd/ssthresh", in segments, as text."""
    return f"{cwnd}/{'-' if ssthresh >= INFINITE_SSTHRESH else ssthresh}"
