"""Networks of more than one link, and what is max-min fair on a parking lot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from longfat_papers.relatives.settings import (
    CLOUD_BEGIN_S,
    CLOUD_MBPS,
    CLOUD_RTT_MS,
    EDGE_MBPS,
    HARMED_MBPS,
    HARMED_RTT_MS,
    LOT_CROSS,
    LOT_MBPS,
    LOT_RTT_MS,
    SAMPLE_S,
    SCOUT,
    flow,
    router_of,
)

Link = dict[str, Any]

LONG = "long"
"""The name of the flow that crosses the whole parking lot."""
LOT_NODES = "ABCD"
ORACLE: dict[str, Any] = {"kind": "xcp-i", "estimator": "oracle"}
FRIENDLY: dict[str, Any] = {"kind": "friendly", "update": "packet"}


def max_min(capacities: Sequence[float], routes: Sequence[Sequence[int]], unused: float = 0.0) -> list[float]:
    """Returns the max-min fair rates of flows by filling the links.

    Args:
        capacities: of the links.
        routes: the links of each flow, by their positions.
        unused: flows that share each link with the others and use nothing; CADPC leaves the share of one.
    """
    rates: dict[int, float] = {}
    while len(rates) < len(routes):
        levels = {
            link: (capacity - sum(rates.get(i, 0.0) for i in _of(link, routes))) / (len(open_) + unused)
            for link, capacity in enumerate(capacities)
            if (open_ := [i for i in _of(link, routes) if i not in rates])
        }
        lowest = min(levels, key=lambda link: levels[link])
        rates |= {i: levels[lowest] for i in _of(lowest, routes) if i not in rates}
    return [rates[i] for i in range(len(routes))]


def _of(link: int, routes: Sequence[Sequence[int]]) -> list[int]:
    return [i for i, route in enumerate(routes) if link in route]


def lot_shares(target: float = 1.0, unused: float = 0.0) -> dict[str, float]:
    """Returns the max-min fair rate of each flow of the parking lot, Mbit/s, by its name."""
    routes = [tuple(range(len(LOT_CROSS)))]
    routes += [(link,) for link, number in enumerate(LOT_CROSS) for _ in range(number)]
    rates = max_min([target * LOT_MBPS] * len(LOT_CROSS), routes, unused)
    return dict(zip(_lot_names(), rates, strict=True))


def _lot_names() -> list[str]:
    crossing = [f"{link + 1}-{i + 1}" for link, number in enumerate(LOT_CROSS) for i in range(number)]
    return [LONG, *crossing]


def _network(
    title: str, links: Sequence[Link], flows: Sequence[Mapping[str, Any]], *, duration_s: float, repeat: int
) -> dict[str, Any]:
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "link": [dict(table) for table in links],
        "flow": [dict(table) for table in flows],
        "sample": {"cwnd": f"{SAMPLE_S:g} s", "queue": f"{SAMPLE_S:g} s"},
    }


def _link(begin: str, end: str, mbps: float, delay_ms: float, rtt_ms: float, **more: Any) -> Link:
    return {
        "name": f"{begin}-{end}",
        "from": begin,
        "to": end,
        "rate": f"{mbps:g} Mbit/s",
        "delay": f"{delay_ms:g} ms",
        "buffer": f"{rtt_ms:g} ms",
        **more,
    }


def parking_lot(system: str, *, duration_s: float, repeat: int) -> dict[str, Any]:
    """Returns three links in a row; the links that lead to them are fast and make all paths equally long."""
    hop_ms = 0.5 * LOT_RTT_MS / len(LOT_CROSS)
    inner = list(pairwise(LOT_NODES))
    links = [_link(*ends, LOT_MBPS, hop_ms, LOT_RTT_MS, **router_of(system)) for ends in inner]
    flows = [flow(system, LONG) | {"from": LOT_NODES[0], "to": LOT_NODES[-1]}]
    for number, (begin, end) in enumerate(inner):
        source = f"X{number + 1}"
        links.append(_link(source, begin, EDGE_MBPS, 0.5 * LOT_RTT_MS - hop_ms, LOT_RTT_MS))
        flows += [
            flow(system, f"{number + 1}-{i + 1}") | {"from": source, "to": end}
            for i in range(LOT_CROSS[number])
        ]
    return _network(f"{system} on a parking lot", links, flows, duration_s=duration_s, repeat=repeat)


def cloud(system: str, router: Any, *, duration_s: float, repeat: int) -> dict[str, Any]:
    """Returns a flow through a cloud without the system's routers, between edges with ``router``."""
    hop_ms = CLOUD_RTT_MS / 8
    links = [
        _link("S", "R0", EDGE_MBPS, hop_ms, CLOUD_RTT_MS, router=router),
        _link("R0", "A", EDGE_MBPS, hop_ms, CLOUD_RTT_MS, router=router),
        _link("A", "R1", CLOUD_MBPS, hop_ms, CLOUD_RTT_MS),
        _link("R1", "R", EDGE_MBPS, hop_ms, CLOUD_RTT_MS, router=router),
    ]
    ends = {"from": "S", "to": "R"}
    flows = [
        flow(system, f"{SCOUT}-S", bytes="10 kB") | ends | {"start": "0 s"},
        flow(system, system, CLOUD_BEGIN_S) | ends,
    ]
    return _network(f"{system} through a cloud", links, flows, duration_s=duration_s, repeat=repeat)


def behind_ptp(
    router: Any, flows: Sequence[Mapping[str, Any]], *, duration_s: float, repeat: int
) -> dict[str, Any]:
    """Returns a link that PTP reports on, and behind it one of the same rate with or without ``router``."""
    hop_ms = HARMED_RTT_MS / 4
    more = {} if router is None else {"router": router}
    links = [
        _link("S", "A", HARMED_MBPS, hop_ms, HARMED_RTT_MS, router="ptp"),
        _link("A", "R", HARMED_MBPS, hop_ms, HARMED_RTT_MS, **more),
    ]
    ends = {"from": "S", "to": "R"}
    return _network(
        f"CADPC beside TCP, {'plain' if router is None else 'friendly'}",
        links,
        [{**table, **ends} for table in flows],
        duration_s=duration_s,
        repeat=repeat,
    )
