"""Scenarios of the draft: traffic on a dumbbell and on a parking lot, flows under test, transients."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from longfat.scenario.model import Scenario
from longfat.units import PACKET_BITS
from longfat_papers.kit.suite import Coordinate, Run
from longfat_papers.tcpeval.settings import (
    LOT_BUFFER_MS,
    LOT_EDGE_MBPS,
    LOT_HOP_MS,
    LOT_MBPS,
    MULTIPLE,
    PACKETS,
    SINGLE,
    UP_SHARE,
    Basic,
    Times,
)

Table = dict[str, Any]

HEADER_BYTES = 52
DOWN, UP = "down", "up"
"""From right to left, and back. The scenario's forward direction is the former, which has the load."""
SAMPLES = 5000
"""Samples of a queue in a run, about."""
LEAST_SAMPLE_S = 0.01

LOT = ("A", "B", "C")
"""The bottlenecks of the parking lot (Figure 10)."""
LOT_PATHS = (
    (MULTIPLE, "8", "1"),
    (f"{SINGLE}1", "3", "2"),
    (f"{SINGLE}2", "5", "4"),
    (f"{SINGLE}3", "7", "6"),
)
"""Name, right and left node of each source of the parking lot: flows 1 to 4 of Figure 10."""


@cache
def packet_shares() -> dict[int, float]:
    """Returns the share of the load that connections with packets of each size have.

    The draft gives shares of connections. Their files are alike; small packets have more headers.
    """
    carried = {}
    for size, share in PACKETS.items():
        keys = {"kind": "short", "gap": "1 s", "mss": f"{size - HEADER_BYTES} B"}
        path = {"bottleneck": {"rate": "1 Gbit/s"}, "duration": "1 s"}
        short = Scenario(path, background=[{**keys, "rtt": "100 ms"}]).background[0]
        carried[size] = share * short.mean_ip_bytes
    return {size: value / sum(carried.values()) for size, value in carried.items()}


def traffic(
    algorithm: str,
    down: float,
    up: float,
    name: str,
    *,
    rtts_ms: Iterable[float] = (),
    ends: tuple[str, str] | None = None,
) -> list[Table]:
    """Returns [[background]] tables for the traffic of one set of connections in both directions.

    Args:
        algorithm: drives all connections.
        down: load from right to left, percent of the link in that direction.
        up: load from left to right, likewise.
        name: begins the names of the tables: ``name-down-1500``.
        rtts_ms: on a dumbbell, the RTTs of the paths.
        ends: on other networks, the right and the left node.
    """
    found = []
    for way, load in ((DOWN, down), (UP, up)):
        for size, share in packet_shares().items():
            table: Table = {
                "kind": "short",
                "name": f"{name}-{way}-{size}",
                "algorithm": algorithm,
                "mss": f"{size - HEADER_BYTES} B",
                "load": f"{load * share:.9g} %",
            }
            if ends is None:
                table["rtt"] = {"empirical": [f"{rtt:g} ms" for rtt in rtts_ms]}
                table["direction"] = "forward" if way == DOWN else "reverse"
            else:
                table["from"], table["to"] = ends if way == DOWN else ends[::-1]
            found.append(table)
    return found


def basic_traffic(basic: Basic, algorithm: str, load: float, name: str = "all") -> list[Table]:
    """Returns the traffic of a basic scenario at a load in percent."""
    down_bps = basic.down_bps(load)
    return traffic(
        algorithm,
        100.0 * down_bps / (basic.mbps * 1e6),
        100.0 * UP_SHARE * down_bps / (basic.up_mbps * 1e6),
        name,
        rtts_ms=basic.rtts_ms(),
    )


def dumbbell(
    title: str,
    times: Times,
    repeat: int,
    bottleneck: Mapping[str, Any],
    *,
    flows: Sequence[Mapping[str, Any]] = (),
    background: Sequence[Mapping[str, Any]] = (),
    sample_s: float | None = None,
) -> Table:
    """Returns a scenario on a dumbbell; ``sample_s`` is the period of the flows' samples."""
    document: Table = {
        "title": title,
        "duration": f"{times.end_s:g} s",
        "seed": repeat + 1,
        "window": [f"{times.begin_s:g} s", f"{times.end_s:g} s"],
        "bottleneck": dict(bottleneck),
        "sample": {"queue": _queue_sample(times)},
    }
    if sample_s is not None:
        document["sample"]["cwnd"] = f"{sample_s:g} s"
    if flows:
        document["flow"] = [dict(flow) for flow in flows]
    if background:
        document["background"] = [dict(table) for table in background]
    return document


def _queue_sample(times: Times) -> str:
    return f"{max(times.end_s / SAMPLES, LEAST_SAMPLE_S):g} s"


def link_of(basic: Basic, buffer: str | None = None) -> Table:
    """Returns the [bottleneck] of a basic scenario; ``buffer`` replaces its buffers."""
    return {
        "rate": f"{basic.mbps:.9g} Mbit/s",
        "reverse_rate": f"{basic.up_mbps:.9g} Mbit/s",
        "buffer": buffer or basic.buffer,
        "reverse_buffer": buffer or basic.up_buffer,
        "access_rate": f"{basic.edge_mbps:g} Mbit/s",
    }


def plain_link(mbps: float, buffer: str, edge_mbps: float) -> Table:
    """Returns a symmetric [bottleneck]."""
    return {
        "rate": f"{mbps:g} Mbit/s",
        "buffer": buffer,
        "reverse_buffer": buffer,
        "access_rate": f"{edge_mbps:g} Mbit/s",
    }


def parking_lot(title: str, times: Times, repeat: int, algorithm: str, load: float) -> Table:
    """Returns the scenario of Figure 10: each of four sources offers ``load`` percent of a bottleneck."""
    edge = {"rate": f"{LOT_EDGE_MBPS:g} Mbit/s", "buffer": f"{LOT_BUFFER_MS:g} ms"}
    hop = {"rate": f"{LOT_MBPS:g} Mbit/s", "buffer": f"{LOT_BUFFER_MS:g} ms", "delay": f"{LOT_HOP_MS:g} ms"}
    # from right to left: link A leads from router 2 to router 1
    links = [{"name": name, "from": f"R{i + 2}", "to": f"R{i + 1}", **hop} for i, name in enumerate(LOT)]
    at = {"1": ("R1", 0.0), "2": ("R1", LOT_HOP_MS), "3": ("R2", LOT_HOP_MS), "4": ("R2", LOT_HOP_MS)}
    at |= {"5": ("R3", LOT_HOP_MS), "6": ("R3", LOT_HOP_MS), "7": ("R4", LOT_HOP_MS), "8": ("R4", 0.0)}
    links += [
        {"from": node, "to": router, "delay": f"{delay:g} ms", **edge} for node, (router, delay) in at.items()
    ]
    background = [
        table
        for name, right, left in LOT_PATHS
        for table in traffic(algorithm, load, UP_SHARE * load, name, ends=(right, left))
    ]
    return {
        "title": title,
        "duration": f"{times.end_s:g} s",
        "seed": repeat + 1,
        "window": [f"{times.begin_s:g} s", f"{times.end_s:g} s"],
        "link": links,
        "background": background,
        "sample": {"queue": _queue_sample(times)},
    }


def run(
    coordinates: Mapping[str, Coordinate], repeat: int, document: Table, mbps: float, end_s: float
) -> Run:
    """Returns a run; its packets are those that its bottlenecks can carry."""
    return Run({**coordinates, "repeat": repeat}, document, mbps * 1e6 * end_s / PACKET_BITS)
