"""Flows and networks of the tests of RFC 7928: web pages, video, voice, both directions, two queues."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.aqm.guideline_settings import (
    BACK,
    BULK,
    BURST_MBPS,
    CASES,
    CBR_MBPS,
    CONNECTIONS,
    DATAGRAMS,
    FRAME_RATE,
    FRAMES,
    FRAMES_MBPS,
    GROUPS,
    MIX_BULK,
    MIX_PAGES,
    OBJECT_KB,
    OBJECTS,
    PAGE,
    PAGE_GAP_S,
    PAGE_WINDOW,
    SEGMENT,
    SEGMENT_MBPS,
    SEGMENT_S,
    SHARED,
    UPSTREAM,
    UPSTREAM_MBPS,
    VOICE,
    VOICE_BYTES,
    VOICE_KBPS,
    flows_of,
)
from longfat_papers.aqm.settings import (
    BUFFER_PACKETS,
    DROPS,
    DURATION_S,
    QUEUES,
    RATE_MBPS,
    RTT_MS,
    SACK,
    SETTLE_S,
    scenario,
)

Table = dict[str, Any]

UPSTREAM_MS = 0.1 * RTT_MS
"""One-way delay between Router L and Router M."""
EDGE = {"rate": "1 Gbit/s", "buffer": "1000 packets"}


def page(number: int, start_s: float) -> Table:
    """Returns the connections of one web page, which start together."""
    return SACK | {
        "name": f"{PAGE}-{number}",
        "count": CONNECTIONS,
        "bytes": f"{OBJECTS * OBJECT_KB / CONNECTIONS:g} kB",
        "initial_window": PAGE_WINDOW,
        "start": f"{start_s:g} s",
    }


def pages(starts_s: Iterable[float]) -> list[Table]:
    """Returns one web page after the other."""
    return [page(number, start_s) for number, start_s in enumerate(starts_s, start=1)]


def frames() -> Table:
    """Returns a video whose frames arrive in bursts, as datagrams."""
    gap_ms = 1e3 / FRAME_RATE
    on_ms = gap_ms * FRAMES_MBPS / BURST_MBPS
    source = {
        "name": "onoff",
        "rate": f"{BURST_MBPS:g} Mbit/s",
        "on": f"{on_ms:g} ms",
        "off": f"{gap_ms - on_ms:g} ms",
    }
    return {"name": FRAMES, "algorithm": source}


def datagrams(mbps: float = CBR_MBPS, name: str = DATAGRAMS) -> Table:
    """Returns datagrams at a constant rate."""
    return {"name": name, "algorithm": {"name": "cbr", "rate": f"{mbps:g} Mbit/s"}}


def voice() -> list[Table]:
    """Returns a call: small packets at a constant rate, each way."""
    talk = datagrams(VOICE_KBPS / 1e3) | {"mss": f"{VOICE_BYTES} B"}
    return [talk | {"name": VOICE}, talk | {"name": f"{BACK}-{VOICE}", "direction": "reverse"}]


def segments(mode: Mode) -> list[Table]:
    """Returns a video in segments, each a transfer over a connection of its own."""
    size_kb = SEGMENT_MBPS * 1e3 / 8.0 * SEGMENT_S
    count = int((DURATION_S[mode] - SETTLE_S) / SEGMENT_S)
    common = SACK | {"bytes": f"{size_kb:g} kB"}
    return [
        common | {"name": f"{SEGMENT}-{number + 1}", "start": f"{SETTLE_S + number * SEGMENT_S:g} s"}
        for number in range(count)
    ]


def burst_flows(mode: Mode, case: str) -> list[Table]:
    """Returns the flows of one of the four mixes of 7.2."""
    count = int((DURATION_S[mode] - SETTLE_S) / PAGE_GAP_S)
    of_class = {
        PAGE: pages(SETTLE_S + number * PAGE_GAP_S for number in range(count)),
        FRAMES: [frames()],
        DATAGRAMS: [datagrams()],
        BULK: [SACK | {"name": BULK}],
    }
    return [table for name in CASES[case] for table in of_class[name]]


def mixed_flows(mode: Mode) -> list[Table]:
    """Returns the flows of the mix that 9.1 recommends."""
    gap_s = (DURATION_S[mode] - SETTLE_S) / MIX_PAGES
    return [
        SACK | {"name": BULK, "count": MIX_BULK},
        datagrams(),
        *voice(),
        *pages(SETTLE_S + number * gap_s for number in range(MIX_PAGES)),
        *segments(mode),
    ]


def both_ways() -> list[Table]:
    """Returns as many flows as mild congestion takes, in each direction (9.2)."""
    flows = SACK | {"count": flows_of("mild")}
    return [flows | {"name": BULK}, flows | {"name": BACK, "direction": "reverse"}]


def two_queues(mode: Mode, queue: str, repeat: int, routers: Iterable[str]) -> Table:
    """Returns the network of Figure 3: senders A before both routers, senders B before the second.

    Args:
        mode: sets the scenario's duration.
        queue: of `QUEUES`, with the same parameters at both routers.
        repeat: sets its seed.
        routers: which routers have this queue; the other has drop-tail.
    """
    kinds = {name: queue if name in routers else "droptail" for name in (UPSTREAM, SHARED)}
    delays_ms = {UPSTREAM: UPSTREAM_MS, SHARED: 0.5 * RTT_MS - UPSTREAM_MS}
    sizes = {UPSTREAM: BUFFER_PACKETS * UPSTREAM_MBPS // RATE_MBPS, SHARED: BUFFER_PACKETS}
    rates = {UPSTREAM: UPSTREAM_MBPS, SHARED: RATE_MBPS}
    ends = {SHARED: ("M", "R"), UPSTREAM: ("L", "M")}
    links: list[Table] = [
        {
            "name": name,
            "from": begin,
            "to": end,
            "rate": f"{rates[name]} Mbit/s",
            "delay": f"{delays_ms[name]:g} ms",
            "buffer": f"{sizes[name]} packets",
            "queue": QUEUES[kinds[name]],
        }
        for name, (begin, end) in ends.items()
    ]
    # senders B have no Router L in front of them, and the same round-trip time
    links += [
        {"from": "A", "to": "L", "delay": "0 ms", **EDGE},
        {"from": "B", "to": "M", "delay": f"{UPSTREAM_MS:g} ms", **EDGE},
    ]
    each = flows_of("mild") // len(GROUPS)
    flows = [SACK | {"name": name, "count": each, "from": name, "to": "R"} for name in GROUPS]
    title = f"{kinds[UPSTREAM]} before {kinds[SHARED]}"
    document = scenario(title, mode, queue, DROPS, flows, repeat, {})
    del document["bottleneck"]
    for table in document["flow"]:
        del table["rtt"]
    return document | {"link": links}


def packets(mode: Mode) -> float:
    """Returns the packets that the bottleneck can carry in a run."""
    return RATE_MBPS * 1e6 * DURATION_S[mode] / PACKET_BITS
