"""How much memory a run may take, and about how much it takes at most.

The estimate is made from a plan, before the run: every packet of the first windows and of full queues, every
connection that may be open at once, every sample. It is an upper bound of what the scenario itself asks for;
what an algorithm does with its window is not in it. A run that takes more than it may ends early.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from longfat.errors import InputError
from longfat.scenario.disturbances import longest
from longfat.scenario.sizes import FileSizes
from longfat.units import PACKET_BITS, SIZE

Plan = dict[str, Any]

SHARE = 0.9
"""The share of the machine's free memory that runs may take unless `--memory` says otherwise."""
LEAST_BYTES = 64e6
"""The least memory that runs may be given: they do not start with less."""

PACKET_BYTES = 144
"""A packet under way: 48 bytes in a ring that doubles, and what its sender keeps of it."""
FLOW_BYTES = 10_000
"""A flow of the plan with its first samples: about 7500 were measured."""
CONNECTION_BYTES = 4000
"""An open connection of a background: about 2400 were measured."""
SESSION_BYTES = 500
"""A session or source that opens connections: about 300 were measured."""
TRANSFER_BYTES = 200
"""The sample of a complete connection, which is kept, and its copy."""
FLOW_SAMPLE_BYTES = 240
"""A sample of a flow: ten columns of 8 bytes in a list that doubles, and their copy."""
LINK_SAMPLE_BYTES = 264
"""The same of a link, with eleven columns."""
LIFE_S = 1.0
LIFE_RTTS = 20.0
"""On a path with room, a background's connection is open for `LIFE_S` and `LIFE_RTTS` round trips at most."""
ACK_BYTES = 40
"""The smallest packet."""

_CGROUP = Path("/sys/fs/cgroup")

_given: float | None = None


class Estimate(NamedTuple):
    """About how much memory a run takes at most, bytes, and the plan's key with the greatest part of that."""

    bytes: float
    key: str


def give(memory_bytes: float | None) -> None:
    """Sets how much memory all runs of this process together may take; None for a share of what is free."""
    global _given
    _given = memory_bytes


def is_given() -> bool:
    """Whether somebody has set how much memory runs may take."""
    return _given is not None


def given(workers: int = 1) -> float:
    """Returns how much memory each of so many runs at once may take, bytes."""
    return (SHARE * free() if _given is None else _given) / workers


def parse(text: str) -> float:
    """Reads a size such as "8GiB"; ValueError says what would be accepted."""
    size = SIZE.parse(text, "8 GiB")
    if not LEAST_BYTES <= size < math.inf:
        raise ValueError(f"accepted: from {SIZE.write(LEAST_BYTES)}")
    return size


def free() -> float:
    """Returns the bytes that this machine, or this container, has left."""
    return min(_free_in_machine(), _free_in_container())


def _free_in_machine() -> float:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            name, _, amount = line.partition(":")
            if name == "MemAvailable":
                return 1024.0 * int(amount.removesuffix("kB"))
    except (OSError, ValueError):
        pass
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _free_in_container() -> float:
    try:
        most, used = (float((_CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no such files, or "max"
        return math.inf
    return max(0.0, most - used)


def refuse_large(plan: Plan, allowed: float, written: Any) -> None:
    """Raises InputError if a run of this plan may take more than `allowed` bytes.

    Args:
        plan: what to run.
        allowed: bytes.
        written: returns the scenario's key behind one of the plan.
    """
    expected = estimate(plan)
    if expected.bytes > allowed:
        raise InputError(
            f"{written(expected.key)}: the run may take about {_size(expected.bytes)} of memory, "
            f"most of it for this, and has {_size(allowed)}; accepted: less, or more memory (--memory)"
        )


def _size(size: float) -> str:
    return SIZE.write(float(f"{size:.2g}"))


def estimate(plan: Plan) -> Estimate:
    """Returns about how much memory a run of this plan takes at most, and for what."""
    parts: dict[str, float] = {}
    for key, size in _parts(plan):
        parts[key] = parts.get(key, 0.0) + size
    greatest = max(parts, key=lambda key: parts[key])
    return Estimate(sum(parts.values()), greatest)


def _parts(plan: Plan) -> Iterator[tuple[str, float]]:
    span_s = plan["duration_s"]
    first: dict[int, int] = {}
    windows = 0.0
    for number, flow in enumerate(plan["flows"]):
        # the flows of a [[flow]] share their lists, and what they take counts as that of the first one
        key = f"flows[{first.setdefault(id(flow['forward']), number)}]"
        window = _window(flow, flow["bytes"])
        windows += window
        yield f"{key}.count", FLOW_BYTES
        yield f"{key}.initial_window", PACKET_BYTES * window
    samples = span_s / plan["sample"]["flows_s"] * len(plan["flows"])
    yield "sample.cwnd", FLOW_SAMPLE_BYTES * samples
    yield "sample.queue", LINK_SAMPLE_BYTES * span_s / plan["sample"]["links_s"] * len(plan["links"])
    for number, part in enumerate(plan["background"]):
        yield from _background(plan, f"background[{number}]", part)
    for number, link in enumerate(plan["links"]):
        # an acknowledgement releases two packets at most
        arriving = windows + sum(_members(part) for part in plan["background"])
        arriving += 2.0 * link["rate_bps"] * span_s / PACKET_BITS
        yield f"links[{number}].buffer", PACKET_BYTES * min(_room(link["queue"]), arriving)
        yield f"links[{number}].delay_s", PACKET_BYTES * _under_way(plan, link, link.get("delay_s", 0.0))
        for key, delay_s in longest(link.get("disturbance", {})).items():
            yield f"links[{number}].{key}", PACKET_BYTES * _under_way(plan, link, delay_s)


def _window(connection: Plan, payload: float | None) -> float:
    """The segments that a connection may send at once, at its start."""
    most = math.inf if payload is None else math.ceil(payload / connection["mss_bytes"])
    limit = connection["max_window"]
    return float(min(connection["initial_window"], most, math.inf if limit is None else limit))


def _room(queue: Plan) -> float:
    """The packets that a queue holds."""
    return float(min(queue.get("limit_packets", math.inf), queue.get("limit_bytes", math.inf) / ACK_BYTES))


def _under_way(plan: Plan, link: Plan, delay_s: float) -> float:
    """The packets on a link with this delay; on their way to hosts, ends take them ahead of time."""
    hosts = sum(flow["access_rate_bps"] for flow in plan["flows"])
    hosts += sum(_members(part) * part["flow"]["access_rate_bps"] for part in plan["background"])
    return float(min(hosts, link["rate_bps"]) * delay_s / PACKET_BITS)


def _members(part: Plan) -> float:
    """The members of a background that may have a connection each."""
    return float(next((part[name] for name in ("sessions", "users", "flows", "sources") if name in part), 1))


def _background(plan: Plan, at: str, part: Plan) -> Iterator[tuple[str, float]]:
    connection, members = part["flow"], _members(part)
    stop_s = connection.get("stop_s")
    span_s = plan["duration_s"] if stop_s is None else min(stop_s, plan["duration_s"])
    capacity_bps = min(plan["links"][number]["rate_bps"] for number in connection["forward"])
    yield f"{at}.{_MEMBERS.get(part['kind'], 'gap_s')}", SESSION_BYTES * members
    opening = partial(_opening, connection, capacity_bps, span_s)
    match part["kind"]:
        case "web":
            yield from opening(f"{at}.gap_s", members / part["gap_s"], part["page_bytes"])
        case "short":
            yield from opening(f"{at}.gap_s", 1.0 / part["gap_s"], _mean_bytes(part["sizes"]))
        case "surge":
            # a user has one connection at a time, so the path's capacity limits how many there are
            packets = min(capacity_bps * span_s / PACKET_BITS, members * span_s / _least_rtt(connection))
            yield f"{at}.users", members * CONNECTION_BYTES + TRANSFER_BYTES * packets
        case kind:
            window = _window(connection, None)
            yield f"{at}.{_MEMBERS[kind]}", members * (CONNECTION_BYTES + PACKET_BYTES * window)


_MEMBERS = {"web": "sessions", "surge": "users", "bulk": "flows", "onoff": "sources"}


def _opening(
    connection: Plan, capacity_bps: float, span_s: float, key: str, per_s: float, mean_bytes: float
) -> Iterator[tuple[str, float]]:
    """The part of a background that opens connections whether or not earlier ones are complete.

    What the path cannot carry stays open; the others are open for a while.
    """
    offered_bps = 8.0 * mean_bytes * per_s
    waiting = 1.0 - capacity_bps / offered_bps if offered_bps > capacity_bps else 0.0
    life_s = min(span_s, LIFE_S + LIFE_RTTS * _greatest_rtt(connection))
    opened = per_s * span_s
    still_open = min(opened, opened * waiting + per_s * life_s)
    window = _window(connection, mean_bytes)
    yield key, still_open * (CONNECTION_BYTES + PACKET_BYTES * window)
    yield key, TRANSFER_BYTES * opened * (1.0 - waiting)


def _mean_bytes(sizes: Plan) -> float:
    if "files" in sizes:
        return FileSizes(**sizes["files"]).mean_file_bytes()
    weights = math.fsum(weight for _, weight in sizes["empirical"])
    return math.fsum(value * weight for value, weight in sizes["empirical"]) / weights


def _greatest_rtt(connection: Plan) -> float:
    match connection["rtt_s"]:
        case {"uniform": [_, high]}:
            return float(high)
        case {"exponential": [_, mean]}:
            return 3.0 * float(mean)
        case {"empirical": rows}:
            return float(max(value for value, _ in rows))
        case rtt:
            return float(rtt)


def _least_rtt(connection: Plan) -> float:
    """A round trip that is surely not longer than any; a transfer takes one at least."""
    match connection["rtt_s"]:
        case {"uniform": [low, _]} | {"exponential": [low, _]}:
            rtt = low
        case {"empirical": rows}:
            rtt = min(value for value, _ in rows)
        case rtt:
            pass
    return max(float(rtt), 1e-3)
