"""What `longfat bpf` says of an object with eBPF programs: what it needs, and what its programs do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from longfat import _core, verifier
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


class Need(TypedDict):
    """Something that an object needs of the kernel; `here` says whether the simulator has it."""

    kind: str
    name: str
    here: bool
    optional: bool


class Algorithm(TypedDict):
    """A congestion control of an object; `problem` is what keeps it from running in the simulator."""

    name: str
    variable: str
    callbacks: list[str]
    needs_ecn: bool
    model_based: bool
    problem: str | None


class Needs(TypedDict):
    """What an object needs; `problem` is what keeps the whole object from running in the simulator."""

    license: str
    instructions: int
    needs: list[Need]
    algorithms: list[Algorithm]
    problem: str | None


class AskedAlgorithm(Algorithm):
    """The same with what this machine's kernel says: "yes", "no" or "unknown", with the reason."""

    kernel: str
    reason: str | None


class Check(TypedDict):
    """What `check` returns; `usable` says whether an algorithm runs here that the kernel does not refuse."""

    file: str
    license: str
    instructions: int
    needs: list[Need]
    algorithms: list[AskedAlgorithm]
    problem: str | None
    usable: bool


class Callback(TypedDict):
    """A call of a program; cwnd and ssthresh are in segments."""

    time_s: float
    flow: str
    callback: str
    arguments: list[int]
    sample: dict[str, int]
    result: int
    cwnd_before: int
    ssthresh_before: int
    cwnd_after: int
    ssthresh_after: int


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


def check(path: Path, name: str | None = None) -> Check:
    """Returns what an object needs, whether it runs in the simulator, and whether this kernel would take it.

    Args:
        path: the object file.
        name: looks only at the congestion control of this name.

    Raises:
        InputError: the file is no eBPF object, or it has no congestion control of this name.
    """
    try:
        found = cast(Needs, _core.ebpf_needs(path))
    except ValueError as error:
        raise InputError(str(error)) from None
    chosen = [each for each in found["algorithms"] if name in (None, each["name"], each["variable"])]
    if found["algorithms"] and not chosen:
        present = ", ".join(each["name"] for each in found["algorithms"])
        raise InputError(f"{path.name}: no congestion control {name}; the object has {present}")
    algorithms = [_asked(path, each) for each in chosen]
    usable = any(each["problem"] is None and each["kernel"] != "no" for each in algorithms)
    return {"file": path.name, **found, "algorithms": algorithms, "usable": usable}


def _asked(path: Path, algorithm: Algorithm) -> AskedAlgorithm:
    if algorithm["problem"] is not None:
        return {**algorithm, "kernel": "no", "reason": algorithm["problem"]}
    kernel, reason = verifier.ask(path, algorithm["variable"], algorithm["name"])
    return {**algorithm, "kernel": kernel, "reason": reason}


@dataclass(frozen=True)
class Trace:
    """The callbacks of a run.

    Attributes:
        name: the congestion control's name in the kernel.
        total: how many there were; `entries` has the first of them.
        entries: what was called.
        summary: the run's summary.
    """

    name: str
    total: int
    entries: list[Callback]
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
    return Trace(algorithm.name, total, cast(list[Callback], kept), result.summary)


def in_words(entry: Callback) -> str:
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
