"""Metamorphic relations: changes of a scenario that leave its results as they are, or scale them.

A relation takes the tables of a scenario and returns a `Trial`: two scenarios, how the second one runs, and
what of both has to be equal. None means that the relation says nothing about this scenario. `check` runs a
relation; `shrunk` makes the tables of a finding smaller while it stays one.
"""

from __future__ import annotations

import copy
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import longfat
import random_scenarios
import scaling
from longfat import units
from longfat.errors import LongfatError
from longfat.runs.capture import Capture
from longfat.runs.qlog import Qlog
from longfat.runs.result import Result
from longfat.runs.step import Simulation
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from trials import (
    Table,
    Trial,
    View,
    equal,
    equal_but_samples,
    equal_until,
    finding,
    first_difference,
    seconds,
)

NS_PER_S = 1_000_000_000


# Helpers of the relations


def named(tables: Table) -> Table:
    """The same scenario with the names written out that follow from positions."""
    tables = copy.deepcopy(tables)
    for i, flow in enumerate(tables.get("flow", ()), start=1):
        flow.setdefault("name", str(i))
    counts: dict[str, int] = {}
    for part in tables.get("background", ()):
        counts[part["kind"]] = counts.get(part["kind"], 0) + 1
        part.setdefault("name", f"{part['kind']}-{counts[part['kind']]}")
    return tables


def whole_ns(tables: Table) -> Table:
    """The same with sampling periods of whole nanoseconds."""
    periods = {
        key: f"{max(round(seconds(tables['sample'][key]) * NS_PER_S), 1)} ns" for key in ("cwnd", "queue")
    }
    return {**copy.deepcopy(tables), "sample": {**tables["sample"], **periods}}


def _walk(value: Any, change: Callable[[str], str]) -> Any:
    """Nested tables with each text changed."""
    if isinstance(value, dict):
        return {key: item if key in TEXTS else _walk(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [_walk(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


TEXTS = {"title", "name", "kind", "from", "to", "variant"}
"""Keys whose values are no quantities."""


# The relations


def sampling(tables: Table, draws: random.Random) -> Trial:
    """What is sampled: the periods, whether events are logged, whether algorithms show their internals."""
    one = whole_ns(tables)
    longer = {
        key: f"{int(text.split()[0]) * draws.choice([2, 3, 5])} ns"
        for key, text in one["sample"].items()
        if key in ("cwnd", "queue")
    }
    other = {**one, "sample": longer | {"events": draws.random() < 0.5, "internals": draws.random() < 0.5}}
    return Trial(one, other, equal_but_samples)


def in_other_units(tables: Table, draws: random.Random) -> Trial:
    """Units: each time, rate and size is written with another one."""

    def change(text: str) -> str:
        found = re.fullmatch(r"([0-9.eE+-]+) (\S+)", text)
        if found is None:
            return text
        for dimension in (units.TIME, units.RATE, units.SIZE):
            if found[2] in dimension.units:
                exact = Fraction(Decimal(found[1])) * _size(dimension, found[2])
                unit = draws.choice(dimension.units)
                amount = exact / _size(dimension, unit)
                written = _decimal(amount)
                return text if written is None else f"{written} {unit}"
        return text

    return Trial(tables, _walk(tables, change), equal)


def _size(dimension: units.Dimension, unit: str) -> Fraction:
    """What a unit is in SI units; the shortest text of the float is exact."""
    return Fraction(repr(dimension.parse(f"1 {unit}")))


def _decimal(amount: Fraction) -> str | None:
    """A number in plain digits, None if it has none or too many."""
    denominator, twos, fives = amount.denominator, 0, 0
    while denominator % 2 == 0:
        denominator, twos = denominator // 2, twos + 1
    while denominator % 5 == 0:
        denominator, fives = denominator // 5, fives + 1
    places = max(twos, fives)
    if denominator != 1 or places > 30:
        return None
    return f"{Decimal(amount.numerator * 10**places // amount.denominator).scaleb(-places):f}"


def filled(tables: Table, draws: random.Random) -> Trial:
    """Keys at their defaults: every default is written out."""
    return Trial(tables, Scenario.from_dict(tables).filled().to_dict(), equal)


def without_effect(tables: Table, draws: random.Random) -> Trial:
    """Keys at values without effect: no loss, no jitter, an outage after the end."""
    other = copy.deepcopy(tables)
    after = f"{2 * seconds(tables['duration'])!r} s"
    for link in other.get("link", []) + [other[key] for key in ("bottleneck",) if key in other]:
        way = {
            "loss": 0.0,
            "ack_loss": {"every": 10**9},
            "jitter": "0 s",
            "duplicate": 0.0,
            "reorder": {"probability": 0.0, "delay": "1 ms"},
            "service_tick": "0 s",
            "added_delay": {"steps": [["0 s", "0 s"]]},
            "outages": [{"begin": after, "length": "1 s", "queue": "drains"}],
        }
        if not {"jitter", "added_delay"} & link.keys():
            way["overtaking"] = True
        _add(link, way, draws)
    for part in other.get("flow", []):
        _add(part, {"count": 1, "stagger": "1 ms", "stop": after}, draws)
    if draws.random() < 0.3:
        other.setdefault("window", ["0 s", tables["duration"]])
    return Trial(tables, other, equal)


def one_step(tables: Table, draws: random.Random) -> Trial:
    """A rate that varies and has one value only.

    Two numbers may differ: of a rate that varies, `rate_bps` is an integral divided by a time, and the
    utilization counts whole packets, where that of a constant rate counts the time in which it sends.
    """
    other = copy.deepcopy(tables)
    for link in other.get("link", []) + [other[key] for key in ("bottleneck",) if key in other]:
        if isinstance(link["rate"], str):
            link["rate"] = {"steps": [["0 s", link["rate"]]]}

    def compare(one: View, other: View) -> str | None:
        return first_difference(one, other, frozenset({"utilization", "rate_bps"}))

    return Trial(tables, other, compare)


def _add(part: Table, keys: Table, draws: random.Random) -> None:
    for key, value in keys.items():
        if draws.random() < 0.3:
            part.setdefault(key, value)


def _insert(parts: list[Table], part: Table, draws: random.Random) -> list[Table]:
    at = draws.randint(0, len(parts))
    return [*parts[:at], part, *parts[at:]]


def idle_flow(tables: Table, draws: random.Random) -> Trial | None:
    """A flow that starts after the end, with the path of one that is there.

    Buffers in time or BDP follow from the flows, and from the backgrounds where there is no flow: then the
    idle flow is like the one background, if any, that leaves them as they are.
    """
    one = named(tables)
    flows = one.get("flow", [])
    alike = {"rtt", "from", "to", "mss", "timestamps", "stack"}  # what buffers and queues follow from
    own = {"algorithm"} if flows else set()
    for model in flows[:1] or one.get("background", []):
        idle = {key: model[key] for key in model if key in alike or key in own}
        idle |= {"name": "idle", "start": f"{2 * seconds(tables['duration'])!r} s"}
        other = {**one, "flow": _insert(flows, idle, draws)}
        if flows or _buffers_of(one) == _buffers_of(other):
            return Trial(one, other, equal)
    return None


def _buffers_of(tables: Table) -> tuple[Any, ...]:
    """The packet size and the RTT that buffers in time or BDP follow from, and what they are then."""
    scenario = Scenario.from_dict(tables)
    rtt_s = scenario.filled().bottleneck.buffer_rtt if "bottleneck" in tables else None
    return scenario.packet_bytes, rtt_s, [link["queue"] for link in scenario.plan["links"]]


def unused_link(tables: Table, draws: random.Random) -> Trial | None:
    """A link between two nodes that nothing else touches."""
    if "link" not in tables:
        return None
    one = named(tables)
    link: Table = {
        "from": "unused a",
        "to": "unused b",
        "rate": "7 Mbit/s",
        "delay": "3 ms",
        "buffer": "9 packets",
    }
    choices: Table = {"queue": "red", "loss": 0.1, "jitter": "1 ms", "service_tick": "5 ms", "duplex": False}
    _add(link, choices, draws)
    return Trial(one, {**one, "link": _insert(one["link"], link, draws)}, equal)


def unused_node(tables: Table, draws: random.Random) -> Trial | None:
    """A node that no link names."""
    if "link" not in tables:
        return None
    return Trial(
        tables, {**tables, "node": _insert(tables.get("node", []), {"name": "unused"}, draws)}, equal
    )


def named_nodes(tables: Table, draws: random.Random) -> Trial | None:
    """The order in which nodes are named, and whether they are."""
    if "link" not in tables:
        return None
    nodes = sorted({link[end] for link in tables["link"] for end in ("from", "to")})
    draws.shuffle(nodes)
    return Trial(tables, {**tables, "node": [{"name": node} for node in nodes]}, equal)


def in_steps(tables: Table, draws: random.Random) -> Trial:
    """Steps of `Simulation`, at times that the run does not know."""
    duration_s = seconds(tables["duration"])
    times = sorted(draws.uniform(0.0, duration_s) for _ in range(draws.choice([1, 3, 20])))
    rates = draws.random() < 0.5

    def run(scenario: Scenario) -> Result:
        simulation = Simulation(scenario, rates=rates)
        for time_s in times:
            simulation.run_until(time_s)
            simulation.snapshot()
        return simulation.run()

    return Trial(tables, tables, equal, run)


def captured(tables: Table, draws: random.Random) -> Trial:
    """A capture of the packets and logs of the senders."""
    rows = [registry.algorithm_named(flow.get("algorithm", "reno")) for flow in tables.get("flow", ())]
    over_tcp = any(row is None or row.get("transport") == "tcp" for row in rows)
    logged = over_tcp and draws.random() < 0.5

    def run(scenario: Scenario) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            capture = Capture(Path(folder, "packets.pcapng"))
            return longfat.run(scenario, capture=capture, qlog=Qlog(Path(folder, "qlog")) if logged else None)

    return Trial(tables, tables, equal, run)


def prefix(tables: Table, draws: random.Random) -> Trial:
    """The duration: a run that ends earlier is the beginning of the longer one."""
    duration_s = seconds(tables["duration"])
    long = {key: value for key, value in tables.items() if key != "window"}
    end_s = max(duration_s * draws.uniform(0.2, 0.9), 1e-3)
    return Trial({**long, "duration": f"{end_s!r} s"}, long, equal_until(end_s))


def beside(tables: Table, draws: random.Random) -> Trial | None:
    """Another network beside this one: links, flows and backgrounds of both are named in any order."""
    if "link" not in tables:
        return None
    guest = _guest(seconds(tables["duration"]), draws)
    if guest is None:
        return None
    one, guest = (_own_buffers(named(each)) for each in (tables, guest))
    _rename(guest)
    # hosts' own links are as fast as the fastest link asks for, so both have a link that is as fast as any
    fastest = max(link.rate for each in (tables, guest) for link in Scenario.from_dict(each).link)
    one["link"].append(
        {"from": "fast a", "to": "fast b", "rate": f"{fastest!r} bit/s", "buffer": "1 packets"}
    )
    other = dict(one)
    for kind in ("link", "flow", "background", "node"):
        parts = one.get(kind, [])
        for part in guest.get(kind, []):
            parts = _insert(parts, part, draws)
        if parts:
            other[kind] = parts
    return Trial(one, other, equal)


GUEST_PACKETS = (300.0, 30_000.0)
"""How many packets of 1500 bytes the other network's narrowest link carries while this one runs."""
GUESTS = 50


def _guest(duration_s: float, draws: random.Random) -> Table | None:
    """A random network that costs about as much as this one; None if there is none among `GUESTS`."""
    for _ in range(GUESTS):
        guest = random_scenarios.draw(draws.randrange(10**6), packets=random_scenarios.PACKETS)
        if "link" in guest:
            narrow = min(link.rate for link in Scenario.from_dict(guest).link)
            if GUEST_PACKETS[0] < narrow * duration_s / 12_000.0 < GUEST_PACKETS[1]:
                return guest
    return None


def _own_buffers(tables: Table) -> Table:
    """The same with buffers that do not follow from the round-trip times and packets of all flows."""
    for link in tables["link"]:
        if not link["buffer"].endswith(" B"):
            link["buffer"] = "40 packets"
    return tables


def _rename(tables: Table) -> None:
    for link in tables["link"]:
        if "name" in link:
            link["name"] = f"guest {link['name']}"
    for kind in ("link", "flow", "background"):
        for part in tables.get(kind, []):
            part |= {key: f"guest {part[key]}" for key in ("from", "to") if key in part}
    for kind in ("flow", "background", "node"):
        for part in tables.get(kind, []):
            part["name"] = f"guest {part['name']}"


RELATIONS: dict[str, Callable[[Table, random.Random], Trial | None]] = {
    "sampling": sampling,
    "units": in_other_units,
    "defaults": filled,
    "without effect": without_effect,
    "one step": one_step,
    "idle flow": idle_flow,
    "unused link": unused_link,
    "unused node": unused_node,
    "nodes": named_nodes,
    "steps": in_steps,
    "capture": captured,
    "prefix": prefix,
    "beside": beside,
    "times": scaling.times,
    "packets": scaling.packets,
}


def check(name: str, tables: Table, seed: int | str) -> str | None:
    """Returns in what a relation fails for a scenario, None if in nothing or if it says nothing about it."""
    trial = RELATIONS[name](tables, random.Random(f"{name} {seed}"))
    return None if trial is None else finding(trial)


def shrunk(name: str, tables: Table, seed: int | str) -> Table:
    """Returns smaller tables for which the relation still fails: parts and keys are left out one by one."""
    tables = copy.deepcopy(tables)
    again = True
    while again:
        again = False
        for smaller in _smaller(tables):
            try:
                failed = check(name, smaller, seed)
            except (LongfatError, KeyError, AssertionError, StopIteration):
                continue
            if failed is not None:
                tables, again = smaller, True
                break
    return tables


def _smaller(value: Any, path: tuple[Any, ...] = (), root: Any = None) -> Iterator[Table]:
    root = value if root is None else root
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        without = copy.deepcopy(root)
        at = without
        for step in path:
            at = at[step]
        del at[key]
        yield without
    for key in keys:
        yield from _smaller(value[key], (*path, key), root)
