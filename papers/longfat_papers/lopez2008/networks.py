"""The networks of chapter 4 and of 7.3.1, with XCP-i at the edges of clouds that do not speak XCP.

A link's router stands where the link begins. A cloud is a link without an XCP router behind a link with one;
packets that leave it have crossed a router that only decremented the IP TTL. The thesis prints rates and no
delays. Each path is 50 ms long here, as the cloud queues of 1200 and 3500 segments suggest, which are
"slightly smaller than the BDP" of 100 and 300 Mbit/s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.lopez2008.settings import MBPS, MSS, PACKET_BITS, SAMPLE_S, SCOUT, flow

ONE_WAY_MS = 50.0
RTT_S = 2e-3 * ONE_WAY_MS
BEGIN_S = 2.0
"""Flows start here; before, a short flow on each path has created the virtual routers (4.6)."""
MERGE_S = BEGIN_S + 20.0
"""How long runs through merging and forking clouds last."""
PEERED_S = 10.0
"""4b: the rate counts from this long after the start."""
EARLY_S, LATE_S = (1.0, 4.0), 6.0
"""4f: the times after the start, and before the end, in which j's distance from its link's rate is compared.
The least rate of j counts from the first of these."""
CLOUD_BUFFERS = {100: 1200, 300: 3500}
"""4.6.2: packets."""
FAST_MBPS = 1000
"""Rate of links for which the thesis gives none."""
ORACLE: dict[str, Any] = {"kind": "xcp-i", "estimator": "oracle"}
OFF: dict[str, Any] = {"error_least": 0.05, "error_most": 0.2, "period": "2 s"}
"""4.6.2: wrong by 5 to 20 %, with a new estimate every 2 s."""
WRONG: dict[str, Any] = {"kind": "xcp-i", "estimator": "oracle-error", **OFF}

NETWORK_SETTINGS = (
    Setting(
        "delays", f"{ONE_WAY_MS:g} ms each way, in equal parts", CHOSEN_HERE + ": from 4.6.2's queues and BDP"
    ),
    Setting("queues", "one BDP of their rate and 100 ms", CHOSEN_HERE),
    Setting(
        "virtual routers",
        f"exist before the flows: a flow of 10 kB on each path creates them {BEGIN_S:g} s earlier",
        "4.6; the way is " + CHOSEN_HERE,
    ),
    Setting("estimate", "oracle: capacity minus the arriving traffic", "4.6.1"),
)

Link = dict[str, Any]


def link(begin: str, end: str, mbps: float, router: Any = None, **more: Any) -> Link:
    """Returns a link with a buffer of 100 ms; `network` adds its delay."""
    table = {
        "name": f"{begin}-{end}",
        "from": begin,
        "to": end,
        "rate": f"{mbps:g} Mbit/s",
        "buffer": f"{max(1, round(mbps * MBPS * RTT_S / PACKET_BITS))} packets",
        **more,
    }
    return table if router is None else {**table, "router": router}


def network(
    title: str,
    links: Sequence[Link],
    hops: int,
    flows: Sequence[Mapping[str, Any]],
    *,
    duration_s: float,
    repeat: int,
    sample_s: float = SAMPLE_S,
) -> dict[str, Any]:
    """Returns a scenario of links of equal delay; a flow crosses ``hops`` of them each way."""
    delay = f"{ONE_WAY_MS / hops:g} ms"
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "link": [{"delay": delay, **table} for table in links],
        "flow": [dict(table) for table in flows],
        "sample": {"cwnd": f"{sample_s:g} s", "queue": f"{sample_s:g} s"},
    }


def between(
    protocol: str, name: str, begin: str, end: str, start_s: float = 0.0, **more: Any
) -> dict[str, Any]:
    """Returns a flow from node to node."""
    return flow(protocol, name, None, start_s, **{"from": begin, "to": end, **more})


def scout(name: str, begin: str, end: str, protocol: str = "xcp") -> dict[str, Any]:
    """Returns a short flow that discovers the clouds on its path."""
    return {**between(protocol, f"{SCOUT}-{name}", begin, end, bytes="10 kB"), "start": "0 s"}


def datagrams_through(name: str, begin: str, end: str, mbps: float) -> dict[str, Any]:
    """Returns traffic without congestion control."""
    return {
        "name": name,
        "algorithm": {"name": "cbr", "rate": f"{mbps:g} Mbit/s"},
        "mss": MSS,
        "from": begin,
        "to": end,
        "start": "0 s",
    }


def line(bottleneck: Any, others: Any) -> list[Link]:
    """Fig. 4.1: S, three routers, R; 30 Mbit/s between the last two, 80 elsewhere."""
    return [
        link("S", "R0", 80, others),
        link("R0", "R1", 80, others),
        link("R1", "R2", 30, bottleneck),
        link("R2", "R", 80, others),
    ]


def peering(router: Any) -> list[Link]:
    """Fig. 4.7: two clouds on one path; the second is the bottleneck of 30 Mbit/s (chosen here)."""
    return [
        link("S", "R0", 80, router),
        link("R0", "A", 80, router),
        link("A", "R1", 50),
        link("R1", "B", 80, router),
        link("B", "R2", 30),
        link("R2", "R", 80, router),
    ]


def merge(router: Any, buffers: Mapping[int, int] | None = None) -> list[Link]:
    """Fig. 4.9: i behind a cloud of 300, j behind one of 100, both into R1's 400 Mbit/s."""
    rooms = {rate: {"buffer": f"{packets} packets"} for rate, packets in (buffers or {}).items()}
    return [
        link("Si", "R0", FAST_MBPS, router),
        link("R0", "A", FAST_MBPS, router),
        link("A", "R1", 300, **rooms.get(300, {})),
        link("Sj", "R3", FAST_MBPS, router),
        link("R3", "B", FAST_MBPS, router),
        link("B", "R1", 100, **rooms.get(100, {})),
        link("R1", "R2", 400, router),
        link("R2", "Ri", FAST_MBPS, router),
        link("R2", "Rj", FAST_MBPS, router),
    ]


def merge_above(router: Any) -> list[Link]:
    """Fig. 4.11: j0 and j1 behind a cloud of 100, i behind one of 300, k without; all into 400 (chosen)."""
    return [
        link("Sj0", "R0", FAST_MBPS, router),
        link("Sj1", "R0", FAST_MBPS, router),
        link("R0", "A", FAST_MBPS, router),
        link("A", "R2", 100),
        link("Si", "R1", FAST_MBPS, router),
        link("R1", "B", FAST_MBPS, router),
        link("B", "R2", 300),
        link("Sk", "R3", FAST_MBPS, router),
        link("R3", "C", FAST_MBPS, router),
        link("C", "R2", FAST_MBPS, router),
        link("R2", "R4", 400, router),
        *(link("R4", f"R{name}", FAST_MBPS, router) for name in ("j0", "j1", "i", "k")),
    ]


def fork(router: Any) -> list[Link]:
    """Fig. 4.13: i and j leave R0 at 500, through one cloud with 300 to each side."""
    return [
        link("Si", "R0", FAST_MBPS, router),
        link("Sj", "R0", FAST_MBPS, router),
        link("R0", "A", 500, router),
        link("A", "R1", 300),
        link("A", "R2", 300),
        link("R1", "Ri", FAST_MBPS, router),
        link("R2", "Rj", FAST_MBPS, router),
    ]


def shared(router: Any) -> list[Link]:
    """Fig. 4.18: a link of 300 inside the cloud between a and b, and between d and c."""
    return [
        link("Si", "a", FAST_MBPS, router),
        link("Sj", "d", FAST_MBPS, router),
        link("a", "A", FAST_MBPS, router),
        link("d", "A", FAST_MBPS, router),
        link("A", "B", 300),
        link("B", "b", FAST_MBPS),
        link("B", "c", FAST_MBPS),
        link("b", "Ri", FAST_MBPS, router),
        link("c", "Rj", FAST_MBPS, router),
    ]


def single(router: Any, mbps: float, layer: int = 3) -> list[Link]:
    """One cloud, or one bottleneck that is a switch and leaves the TTL alone (7.3.1)."""
    return [
        link("S", "R0", FAST_MBPS, router),
        link("R0", "A", FAST_MBPS, router),
        link("A", "R1", mbps, layer=layer),
        link("R1", "R", FAST_MBPS, router),
    ]
