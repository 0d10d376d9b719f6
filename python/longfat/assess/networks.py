"""The scenarios of a dossier: tables of dumbbells, and the flows on them.

The name of a flow says what it is to the dossier. `own` runs the assessed algorithm, `other` is a flow that
shares the link with it, `short` is a transfer that ends, and `media` is real-time traffic.
"""

from __future__ import annotations

from typing import Any

from longfat.assess.model import Tables
from longfat.scenario import registry
from longfat.scenario.model import Algorithm
from longfat.units import PACKET_BITS

STARTS = {"uniform": ["0 s", "1 s"]}
"""Flows start at random, so that repeats differ."""


def dumbbell(
    mbps: float,
    duration_s: float,
    window_s: tuple[float, float],
    *flows: Tables,
    buffer: str = "1 BDP",
    **bottleneck: Any,
) -> Tables:
    """Returns the tables of a dumbbell, with a router where an algorithm of a flow needs one."""
    algorithms = [flow["algorithm"] for flow in flows]
    routers = [router for algorithm in algorithms if (router := router_for(algorithm)) is not None]
    if routers and "router" not in bottleneck:
        bottleneck["router"] = routers[0]
    given = {key: value for key, value in bottleneck.items() if value is not None}
    return {
        "duration": seconds(duration_s),
        "window": [seconds(window_s[0]), seconds(window_s[1])],
        "bottleneck": {"rate": f"{mbps:g} Mbit/s", "buffer": buffer, **given},
        "flow": list(flows),
    }


def flow(role: str, algorithm: Any, rtt_ms: float, **keys: Any) -> Tables:
    """Returns the table of a flow, or of several with `count`."""
    return {"name": role, "algorithm": algorithm, "rtt": f"{rtt_ms:g} ms", "start": STARTS, **keys}


def media(mbps: float, rtt_ms: float, **keys: Any) -> Tables:
    """Returns the table of a real-time flow that sends at a constant rate."""
    return flow("media", {"name": "cbr", "rate": f"{mbps:g} Mbit/s"}, rtt_ms, **keys)


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


def seconds(time_s: float) -> str:
    """Writes a time."""
    return f"{time_s:g} s"


def work(mbps: float, duration_s: float) -> float:
    """Returns the packets that a link carries at most."""
    return mbps * 1e6 * duration_s / PACKET_BITS
