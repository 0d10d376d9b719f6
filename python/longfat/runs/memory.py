"""How much memory a run may take, and about how much it takes at most.

The estimate is made from a plan, before the run: every packet of the first windows, on the way and in full
queues, every connection that may be open at once, every sample and event. It is an upper bound of what the
scenario itself asks for; what an algorithm of one's own does with its window is not in it. A run that takes
more than it may ends early.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from longfat.errors import InputError
from longfat.runs import occupancy
from longfat.scenario.disturbances import longest
from longfat.scenario.sizes import FileSizes
from longfat.units import PACKET_BITS, SIZE

Plan = dict[str, Any]

SHARE = 0.9
"""The share of the machine's free memory that runs may take unless `--memory` says otherwise."""
LARGEST_WITHIN = 1.01
"""How near a message comes to the largest value that is accepted."""
LEAST_BYTES = 64e6
"""The least memory that runs may be given: they do not start with less."""

RUN_BYTES = 5.3e6
"""Any run: 3 to 4 MB were measured, of the core's code and of what Python makes of the summary; the rest is
what the allocator keeps."""
PACKET_BYTES = 165
"""A packet that waits: 48 bytes in a ring that doubles, and what its sender keeps; 100 were measured."""
FLIGHT_BYTES = 340
"""A packet in flight: the same, with SACK blocks on the way back after a loss; up to 330 were measured."""
FLOW_BYTES = 7900
"""A flow of the plan with its first samples: 7500 were measured."""
CONNECTION_BYTES = 2900
"""An open connection of a background, without its first window: 2850 were measured."""
BUSY_BYTES = 500
BUSY_PACKETS = 5.0
"""What a flow or connection needs besides for each of the first `BUSY_PACKETS` packets in flight, as its
lists grow: 500 were measured for one packet, and 2400 for five on a path that loses every twentieth."""
ALGORITHM_BYTES = {"bbr": 6000, "bbr3": 6000, "copa": 4500, "cbr": 4500, "onoff": 4500, "udt": 60_000}
"""What a busy flow with this algorithm needs besides, as measured: lists of rates, delays, what was sent."""
RACK_BYTES = 1100
RACK_BUSY_BYTES = 3500
"""What a connection whose losses RACK finds needs besides, and a busy one: 960 and 3200 were measured."""
SESSION_BYTES = 330
"""A session or source that opens connections: about 300 were measured."""
TRANSFER_BYTES = 96
"""A complete connection: 56 bytes in a list, then five columns of 8 bytes."""
FLOW_SAMPLE_BYTES = 88
"""A sample of a flow: ten columns of 8 bytes. At the end, those of one flow at a time are there twice."""
INTERNAL_BYTES = 16
"""A sample of a quantity that an algorithm knows of itself: a time and a value."""
INTERNALS = {
    "hstcp": 2, "bic": 3, "fast": 3, "htcp": 3, "yeah": 3, "ltcp": 1, "hstcp-lp": 3, "cubic": 2, "ctcp": 2,
    "westwood": 1, "westwood+": 1, "illinois": 3, "xcp": 1, "xcp-r": 1, "vcp": 1, "jetmax": 2, "jetmax-r": 2,
    "rcp": 1, "maxnet": 2, "erica": 1, "dctcp": 1, "prague": 2, "hybla": 1, "veno": 2, "lp": 3, "cdg": 3,
    "nv": 3, "ledbat": 2, "ledbat++": 4, "bbr": 4, "bbr3": 7, "copa": 4, "vivace": 2,
}  # fmt: skip
"""How many such quantities the algorithms have; all others have none."""
OWN_INTERNALS = 3
"""And users' own, which are asked in any case (chosen here: what they tell is not known before)."""
LINK_SAMPLE_BYTES = 96
"""The same of a link, with eleven columns."""
EVENT_BYTES = 130
"""An event: 24 bytes in its flow's list, which doubles, then a row of 48 bytes, sorted and copied."""
EVENTS_PER_ROUND = 2.0
"""A recovery takes a round trip at least, and is logged when it begins and when it ends."""
CONGESTION = 0.05
"""The share of packets that congestion takes at most, for the number of events (chosen here): flows whose
windows are so small that more is lost have hardly any fast recovery."""
LIFE_S = 0.2
LIFE_RTTS = 5.0
"""On a path with room, a connection that carries a file is open for `LIFE_S` (a timeout, or a delayed ACK),
`LIFE_RTTS` round trips to open, to close and until nothing of it is under way, and one for each doubling."""
LEFT = 0.87
GREEDY_LEAVE = 0.65
GREEDY_LEAVE_TO_USERS = 0.4
FAIR_LEAVE = 0.97
"""The share of a path that connections with files have beside lasting flows that yield to losses, beside
others, and where queues are fair (chosen here: one BBR flow left .74 of 1 Gbit/s to short flows with a load
of .91, and .46 of 2 Gbit/s behind RED to 8,000 users, who ask for less the longer they wait; behind a
fair queue a lasting flow has the share of one file)."""
FAIR = frozenset(("fq_codel", "fq_pie", "sfq"))
"""Queues where flows leave each other their share."""
BEHIND_RED = 1.5
"""Factor of the time for which files keep connections open behind RED, which drops their packets though the
path has room (chosen here: of 120 random large scenarios, two runs behind it had up to 1.4 times as many open
as behind other queues)."""
YIELDING = frozenset(
    ("sack", "newreno", "reno", "tahoe", "cubic", "bic", "htcp", "vegas", "westwood", "veno")
)
DEVIATIONS = 4.0
"""Standard deviations of a Poisson distribution above the mean: one run in 30,000 has more."""
ACK_BYTES = 40
"""The smallest packet."""
LONGEST_ACK_BYTES = 80
"""IP, TCP and 40 bytes of options."""
USERS = 1.15
"""Factor of the open connections of users: the fluid models have no spread between the runs of a scenario
(chosen here: of sixty random large scenarios, one run had a tenth more connections open than they give)."""

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
        most = _largest(plan, expected.key, allowed)
        raise InputError(
            f"{written(expected.key)}: the run may take about {_size(expected.bytes)} of memory, "
            f"most of it for this, and has {_size(allowed)}; accepted: {most}, or more memory "
            "(--memory)"
        )


def _largest(plan: Plan, key: str, allowed: float) -> str:
    """What is accepted for a key of the plan: the most, to two digits, where that is known."""
    found = re.fullmatch(r"(flows|background)\[(\d+)\]\.(\w+)", key)
    if found is None:
        return "less"
    kind, name = found[1], found[3]
    part = plan[kind][int(found[2])]
    if name == "gap_s":
        return "a longer one"
    if not isinstance(part.get(name), int | float):
        return "less"

    def alike(other: Plan) -> bool:
        # the flows of a [[flow]] share their lists
        return other is part or (kind == "flows" and other["forward"] is part["forward"])

    def fits(value: float) -> bool:
        parts = [{**each, name: value} if alike(each) else each for each in plan[kind]]
        return estimate({**plan, kind: parts}).bytes <= allowed

    low, high = 1.0, float(part[name])
    if not fits(low):
        return "less"
    while high > low * LARGEST_WITHIN:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    unit = 10 ** max(0, math.floor(math.log10(low)) - 1)
    return f"up to about {math.floor(low / unit) * unit}"


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
    busy = _busy(plan)
    for number, flow in enumerate(plan["flows"]):
        # the flows of a [[flow]] share their lists, and what they take counts as that of the first one
        key = f"flows[{first.setdefault(id(flow['forward']), number)}]"
        yield f"{key}.count", FLOW_BYTES + _grown(flow, busy)
        yield f"{key}.initial_window", PACKET_BYTES * _window(flow, flow["bytes"])
    flows, links = len(plan["flows"]), len(plan["links"])
    if flows:
        samples = span_s / plan["sample"]["flows_s"] + 1
        yield "sample.cwnd", FLOW_SAMPLE_BYTES * (flows + 1) * samples
        told = sum(_internals(flow["algorithm"], plan["sample"]) for flow in plan["flows"])
        yield "sample.internals", INTERNAL_BYTES * told * samples
    yield "duration_s", RUN_BYTES
    yield "sample.queue", LINK_SAMPLE_BYTES * (links + 1) * (span_s / plan["sample"]["links_s"] + 1)
    if plan["events"]:
        yield "sample.events", EVENT_BYTES * _events(plan)
    for number, part in enumerate(plan["background"]):
        yield from _background(plan, f"background[{number}]", part, busy)
    for number, link in enumerate(plan["links"]):
        # an acknowledgement releases two packets at most; the first windows are counted above
        arriving = sum(_members(part) for part in plan["background"])
        arriving += 2.0 * link["rate_bps"] * span_s / PACKET_BITS
        if not _is_idle(plan, number):
            yield f"links[{number}].buffer", PACKET_BYTES * min(_room(link["queue"]), arriving)
        yield f"links[{number}].rate", FLIGHT_BYTES * _in_flight(plan, number)
        for key, delay_s in longest(link.get("disturbance", {})).items():
            yield f"links[{number}].{key}", PACKET_BYTES * _under_way(plan, link, delay_s)


def _is_idle(plan: Plan, number: int) -> bool:
    """Whether this link carries acknowledgements only, faster than data can ask for them: then none waits."""
    links = plan["links"]
    asking: dict[int, float] = {}  # by the slowest link of data, packets a second
    for connection in _connections(plan):
        if number in connection["forward"]:
            return False
        slowest = _slowest(plan, connection)
        packet_bits = 8.0 * (connection["mss_bytes"] + connection["header_bytes"])
        asking[slowest] = max(asking.get(slowest, 0.0), links[slowest]["rate_bps"] / packet_bits)
    return 8.0 * LONGEST_ACK_BYTES * math.fsum(asking.values()) <= float(links[number]["rate_bps"])


def _connections(plan: Plan) -> Iterator[Plan]:
    """The options of all connections."""
    yield from plan["flows"]
    yield from (part["flow"] for part in plan["background"])


def _slowest(plan: Plan, connection: Plan) -> int:
    """The slowest link that a connection's data cross."""
    number: int = min(connection["forward"], key=lambda number: plan["links"][number]["rate_bps"])
    return number


def _in_flight(plan: Plan, number: int) -> float:
    """The data packets on their way that this link has carried, if it is the slowest one that they cross."""
    links = plan["links"]
    slowest = (
        _greatest_rtt(connection) for connection in _connections(plan) if _slowest(plan, connection) == number
    )
    return _under_way(plan, links[number], max(slowest, default=0.0))


def _busy(plan: Plan) -> float:
    """The packets in flight of a flow or a lasting connection of a background, as far as they count."""
    senders = len(plan["flows"]) + sum(_members(part) for part in plan["background"])
    packets = sum(
        _in_flight(plan, number)
        + min(_room(link["queue"]), link["rate_bps"] * plan["duration_s"] / PACKET_BITS)
        for number, link in enumerate(plan["links"])
    )
    return float(min(BUSY_PACKETS, packets / max(senders, 1.0)))


def _grown(connection: Plan, busy: float) -> float:
    """What a connection needs besides if this many packets of it are in flight."""
    rack = connection.get("loss_detection") == "rack"
    lists = ALGORITHM_BYTES.get(connection["algorithm"], 0) + RACK_BUSY_BYTES * rack
    return BUSY_BYTES * busy + lists * busy / BUSY_PACKETS + RACK_BYTES * rack


def _internals(algorithm: str, sample: Plan) -> int:
    """How many quantities this algorithm has that are sampled."""
    if algorithm == "custom":
        return OWN_INTERNALS
    return INTERNALS.get(algorithm, 0) if sample.get("internals") else 0


def _events(plan: Plan) -> float:
    """The events that flows log at most: of recoveries, one a round trip, each after a loss."""
    rounds = sum(EVENTS_PER_ROUND / _least_rtt(flow, 1e-6) for flow in plan["flows"])
    per_s = 0.0
    for link in plan["links"]:
        lost = CONGESTION + sum(_lost(link[kind]) for kind in ("loss", "ack_loss"))
        per_s += EVENTS_PER_ROUND * min(1.0, lost) * link["rate_bps"] / PACKET_BITS
    return float(plan["duration_s"] * min(rounds, per_s))


def _lost(model: Plan) -> float:
    """The share of packets that a loss process takes at most."""
    match model["kind"]:
        case "none":
            return 0.0
        case "random":
            return float(model["probability"])
        case "every":
            return 1.0 / float(model["packets"])
        case _:
            return float(max(model["loss_good"], model["loss_bad"]))


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


def _background(plan: Plan, at: str, part: Plan, busy: float) -> Iterator[tuple[str, float]]:
    connection, members = part["flow"], _members(part)
    stop_s = connection.get("stop_s")
    span_s = plan["duration_s"] if stop_s is None else min(stop_s, plan["duration_s"])
    yield f"{at}.{_MEMBERS.get(part['kind'], 'gap_s')}", SESSION_BYTES * members
    each = CONNECTION_BYTES + _grown(connection, busy)
    brief = CONNECTION_BYTES + _grown(connection, 1.0)  # most files are short
    repairs = _repairs(plan, connection)
    opening = partial(_opening, _shared(plan, connection), repairs, span_s, brief)
    match part["kind"]:
        case "web":
            least = part["page_bytes"] * (1.0 - 1.0 / part["shape"])
            larger = partial(_larger_pages, least, part["shape"])
            yield from opening(f"{at}.gap_s", members / part["gap_s"], larger)
        case "short":
            yield from opening(f"{at}.gap_s", 1.0 / part["gap_s"], _larger(part["sizes"]))
        case "surge":
            shared = _shared(plan, connection, GREEDY_LEAVE_TO_USERS)
            yield from _users(part, f"{at}.users", members, shared, repairs, span_s, busy)
        case kind:
            window = _window(connection, None)
            yield f"{at}.{_MEMBERS[kind]}", members * (each + PACKET_BYTES * window)


_MEMBERS = {"web": "sessions", "surge": "users", "bulk": "flows", "onoff": "sources"}


def _shared(plan: Plan, connection: Plan, greedy_leave: float = GREEDY_LEAVE) -> occupancy.Path:
    """What connections that carry files share on their path, beside lasting flows."""
    slowest = plan["links"][_slowest(plan, connection)]
    greedy = any(flow["algorithm"] not in YIELDING for flow in plan["flows"])
    fair = slowest["queue"]["kind"] in FAIR
    share = FAIR_LEAVE if fair else greedy_leave if greedy else LEFT
    payload = connection["mss_bytes"] / (connection["mss_bytes"] + connection["header_bytes"])
    return occupancy.Path(
        share * payload * slowest["rate_bps"] / 8.0,
        max(_greatest_rtt(connection), 1e-6),
        _window(connection, None) * connection["mss_bytes"],
    )


def _repairs(plan: Plan, connection: Plan) -> float:
    """The factor of the time for which files keep connections open, for losses on a path with room."""
    return BEHIND_RED if plan["links"][_slowest(plan, connection)]["queue"]["kind"] == "red" else 1.0


def _opening(
    path: occupancy.Path,
    repairs: float,
    span_s: float,
    each: float,
    key: str,
    per_s: float,
    larger: occupancy.Larger,
) -> Iterator[tuple[str, float]]:
    """The part of a background that opens connections whether or not earlier ones are complete.

    What the path cannot carry stays open; the others are open for a while.
    """
    opened = per_s * span_s
    life_s = repairs * (LIFE_S + path.rtt_s * (LIFE_RTTS + occupancy.rounds(path, larger)))
    more_per_s = occupancy.growth(per_s, path.bytes_per_s, larger, path.bytes_per_s * span_s)
    mean = per_s * min(life_s, span_s) + more_per_s * span_s
    yield key, each * min(opened, mean + DEVIATIONS * math.sqrt(mean))
    yield key, TRANSFER_BYTES * (opened - more_per_s * span_s)


def _users(
    part: Plan, key: str, users: float, path: occupancy.Path, repairs: float, span_s: float, busy: float
) -> Iterator[tuple[str, float]]:
    """The part of a background whose users have one connection at a time, and rest between."""
    habits = part["habits"]
    sizes = FileSizes(**{name: habits[name] for name in FileSizes.__dataclass_fields__})
    least_s, shape = habits["inactive_off_least_s"], habits["inactive_off_shape"]

    def waiting(at_s: float) -> float:
        return min(1.0, (at_s / least_s) ** -shape) if at_s > 0.0 else 1.0

    first = occupancy.beginners(path, sizes.larger, waiting, span_s)(users) if users else 0.0
    object_files, files = _files_of_an_object(habits), _files(habits, _least_rtt(part["flow"]), span_s)
    carried = path.bytes_per_s * span_s / sizes.mean_file_bytes()
    # those that the path keeps waiting
    late = max(0.0, 1.0 - carried / (users * files)) if users else 0.0
    begun = min(1.0, first * object_files)  # as if all files of an object came at once
    mean = users * (late + (1.0 - late) * begun)
    # most files are short, but where half of the users wait, their files share what is in flight
    waiting_share = min(1.0, 2.0 * late)
    each = CONNECTION_BYTES + _grown(part["flow"], waiting_share * busy + (1.0 - waiting_share))
    yield key, each * min(users, USERS * repairs * mean + DEVIATIONS * math.sqrt(mean))
    packets = path.bytes_per_s * span_s / part["flow"]["mss_bytes"]
    # and the object that each has begun
    yield key, TRANSFER_BYTES * min(packets, users * ((1.0 - late) * files + object_files))


def _larger_pages(least: float, shape: float, size: float) -> float:
    """The share of pages with more bytes, from a Pareto distribution."""
    return 1.0 if size <= least else float((least / size) ** shape)


def _larger(sizes: Plan) -> occupancy.Larger:
    """The share of files with more bytes."""
    if "files" in sizes:
        return FileSizes(**sizes["files"]).larger
    whole = math.fsum(weight for _, weight in sizes["empirical"])
    return lambda size: math.fsum(weight for value, weight in sizes["empirical"] if value > size) / whole


def _files(habits: Plan, rtt_s: float, span_s: float) -> float:
    """The files that a SURGE user fetches on average: it rests before each object, and within one.

    A rest is drawn from a Pareto distribution; what is longer than the run counts as long as that.
    """
    shape, least_s = habits["inactive_off_shape"], habits["inactive_off_least_s"]
    beyond = max(span_s / least_s, 1.0)
    longer = math.log(beyond) if shape == 1.0 else (1.0 - beyond ** (1.0 - shape)) / (shape - 1.0)
    rest_s = least_s * (1.0 + longer)
    files = _files_of_an_object(habits)
    within_s = habits["active_off_scale_s"] * math.gamma(1.0 + 1.0 / habits["active_off_shape"])
    return float(span_s * files / (rest_s + (files - 1.0) * within_s + 2.0 * files * rtt_s))


def _files_of_an_object(habits: Plan) -> float:
    """The files of an object on average: the sum over k of the share of objects with k files or more."""
    return math.fsum(k ** -habits["files_shape"] for k in range(1, int(min(habits["files_most"], 1e4)) + 1))


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


def _least_rtt(connection: Plan, least_s: float = 1e-3) -> float:
    """A round trip that is surely not longer than any, or `least_s`; a transfer takes one at least."""
    match connection["rtt_s"]:
        case {"uniform": [low, _]} | {"exponential": [low, _]}:
            rtt = low
        case {"empirical": rows}:
            rtt = min(value for value, _ in rows)
        case rtt:
            pass
    return max(float(rtt), least_s)
