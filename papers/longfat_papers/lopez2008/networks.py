"""The networks of chapter 4 and of 7.3.1, with XCP-i at the edges of clouds that do not speak XCP.

A link's router stands where the link begins. A cloud is a link without an XCP router behind a link with one;
packets that leave it have crossed a router that only decremented the IP TTL. The thesis prints rates and no
delays. Each path is 50 ms long here, as the cloud queues of 1200 and 3500 segments suggest, which are
"slightly smaller than the BDP" of 100 and 300 Mbit/s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longfat_papers.kit import settings
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008.reduction import SCOUT

ONE_WAY_MS = 50.0
RTT_S = 2e-3 * ONE_WAY_MS
BEGIN_S = 2.0
"""Flows start here; before, a short flow on each path has created the virtual routers (4.6)."""
END_S = BEGIN_S + 20.0
"""How long runs through merging and forking clouds last."""
PROBED_S = BEGIN_S + 30.0
"""How long runs through a cloud last that the thesis did not try."""
CLOUD_MBPS = 100
BOTTLENECK_S = 60
PEERED_S = 10.0
"""The rate counts from this long after the start (4b)."""
EARLY_S, LATE_S = (1.0, 4.0), 6.0
"""The times after the start, and before the end, in which j's distance from its link's rate is compared. The
least rate of j counts from the first of these (4f)."""
FAST_MBPS = 1000
"""Rate of links for which the thesis gives none."""
ORACLE: dict[str, Any] = {"kind": "xcp-i", "estimator": "oracle"}
OFF: dict[str, Any] = {"error_least": 0.05, "error_most": 0.2, "period": "2 s"}
"""4.6.2: wrong by 5 to 20 %, with a new estimate every 2 s."""

SETTINGS = settings(f"""
delays | {ONE_WAY_MS:g} ms each way, in equal parts | chosen here: from 4.6.2's queues and BDP
queues | one BDP of their rate and 100 ms
virtual routers | exist before the flows: a flow of 10 kB on each path creates them {BEGIN_S:g} s earlier \
| 4.6; the way is chosen here
estimate | oracle: capacity minus the arriving traffic | 4.6.1
""")


def links(names: str, mbps: float, router: Any = None, **more: Any) -> list[lp.Document]:
    """Returns links with a buffer of 100 ms, named after their ends; `network` adds their delay."""
    buffer = f"{max(1, round(mbps * lp.MBPS * RTT_S / lp.PACKET_BITS))} packets"
    table = {"rate": f"{mbps:g} Mbit/s", "buffer": buffer, **more, **({"router": router} if router else {})}
    return [
        {"name": name, "from": begin, "to": end, **table}
        for name in names.split()
        for begin, end in [name.split("-")]
    ]


def network(
    title: str, links: Iterable[lp.Document], hops: int, flows: Sequence[lp.Document], duration_s: float
) -> lp.Document:
    """Returns a scenario of links of equal delay; a flow crosses ``hops`` of them each way."""
    delay = f"{ONE_WAY_MS / hops:g} ms"
    return {
        **lp.sampled(title, duration_s),
        "link": [{"delay": delay, **link} for link in links],
        "flow": list(flows),
    }


def clouds(
    title: str,
    links: Iterable[lp.Document],
    hops: int,
    senders: Sequence[str] = ("",),
    *,
    protocol: str = "xcp",
    later: Mapping[str, float] | None = None,
    duration_s: float = END_S,
) -> lp.Document:
    """Returns a scenario of flows from S... to R..., which start when the clouds on their paths are known."""
    scouts = [
        {**between(protocol, f"{SCOUT}-S{name}", f"S{name}", f"R{name}"), "bytes": "10 kB", "start": "0 s"}
        for name in senders
        if protocol != "newreno"
    ]
    flows = [
        between(protocol, name or protocol, f"S{name}", f"R{name}", BEGIN_S + (later or {}).get(name, 0.0))
        for name in senders
    ]
    return network(title, links, hops, scouts + flows, duration_s)


def between(protocol: str, name: str, begin: str, end: str, start_s: float = 0.0) -> lp.Document:
    """Returns a flow from node to node."""
    return lp.flow(protocol, name, None, start_s, **{"from": begin, "to": end})


def line(bottleneck: Any, others: Any) -> list[lp.Document]:
    """Fig. 4.1: S, three routers, R; 30 Mbit/s between the last two, 80 elsewhere."""
    return [*links("S-R0 R0-R1", 80, others), *links("R1-R2", 30, bottleneck), *links("R2-R", 80, others)]


def merge(router: Any) -> list[lp.Document]:
    """Fig. 4.9: i behind a cloud of 300, j behind one of 100, both into R1's 400 Mbit/s."""
    return [
        *links("Si-R0 R0-A", FAST_MBPS, router),
        *links("A-R1", 300),
        *links("Sj-R3 R3-B", FAST_MBPS, router),
        *links("B-R1", 100),
        *links("R1-R2", 400, router),
        *links("R2-Ri R2-Rj", FAST_MBPS, router),
    ]


def single(router: Any, mbps: float, layer: int = 3) -> list[lp.Document]:
    """One cloud, or one bottleneck that is a switch and leaves the TTL alone (7.3.1)."""
    return [
        *links("S-R0 R0-A", FAST_MBPS, router),
        *links("A-R1", mbps, layer=layer),
        *links("R1-R", FAST_MBPS, router),
    ]
