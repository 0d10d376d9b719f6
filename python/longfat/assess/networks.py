"""The scenarios of a dossier: dumbbells, with what is usual in them.

The name of a flow says what it is to the dossier. `own` runs the assessed algorithm, `other` is a flow that
shares the link with it, `short` is a transfer that ends, and `media` is real-time traffic.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longfat.scenario import registry
from longfat.scenario.model import Algorithm
from longfat.units import PACKET_BITS, RATE, TIME

Tables = dict[str, Any]

BOTTLENECK: Tables = {"rate": "20 Mbit/s", "buffer": "1 BDP"}
RTT = "40 ms"
STARTS = {"uniform": ["0 s", "1 s"]}
"""Flows start at random, so that repeats differ."""


def merged(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> Tables:
    """Returns nested tables with changes; a list or a value replaces the one that is there."""
    found = dict(tables)
    for key, value in changes.items():
        there = found.get(key)
        found[key] = merged(there, value) if isinstance(there, dict) and isinstance(value, dict) else value
    return found


def dumbbell(given: Mapping[str, Any], algorithm: Any) -> Tables:
    """Returns the tables of a scenario, with a router where an algorithm of a flow needs one.

    Args:
        given: what is not usual, as in `rfc9743.toml`.
        algorithm: what the flows run that have no algorithm of their own.
    """
    usual = {"algorithm": algorithm, "rtt": given.get("rtt", RTT), "start": STARTS}
    flows = [{"name": name, **usual, **keys} for name, keys in given.get("flow", {"own": {}}).items()]
    routers = [router for flow in flows if (router := router_for(flow["algorithm"])) is not None]
    bottleneck = {**BOTTLENECK, "router": routers[0] if routers else "", **given.get("bottleneck", {})}
    if not bottleneck["router"]:
        del bottleneck["router"]
    others = {key: value for key, value in given.items() if key != "rtt"}
    return {"duration": given["window"][1], **others, "bottleneck": bottleneck, "flow": flows}


def router_for(algorithm: Any) -> str | None:
    """Returns the router that an explicit-rate algorithm needs; None for all others."""
    name = algorithm.name if isinstance(algorithm, Algorithm) else algorithm
    if isinstance(algorithm, Algorithm) and algorithm.custom:
        return None
    row = registry.algorithm_named(name)
    protocol = None if row is None else row.get("protocol")
    if protocol is None:
        return None
    return next((row["name"] for row in registry.rows("routers") if row.get("protocol") == protocol), None)


def first_rate(given: Mapping[str, Any]) -> str:
    """Returns the rate of a scenario's bottleneck; the usual one if it changes on the way."""
    rate = given.get("bottleneck", {}).get("rate")
    return rate if isinstance(rate, str) else str(BOTTLENECK["rate"])


def work(given: Mapping[str, Any], busy: str | None = None) -> float:
    """Returns the packets that the link of a scenario carries at most, in its duration or within `busy`."""
    time_s = TIME.parse(busy or given.get("duration", given["window"][1]))
    return RATE.parse(first_rate(given)) * time_s / PACKET_BITS
