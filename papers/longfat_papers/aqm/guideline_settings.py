"""Settings of the tests of RFC 7928 that the thesis has no comparison for.

The sections are those of draft-ietf-aqm-eval-guidelines-13, the last draft of the RFC.
"""

from __future__ import annotations

from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.aqm.settings import BUFFER_PACKETS, RATE_MBPS, RTT_MS

SHORT = "short"
SHORT_WINDOWS = (3, 10)
SHORT_PACKETS = 50
PAYLOAD_BYTES = 1448
SHORT_START = {"uniform": ["30 s", "40 s"]}
"""A short flow that starts beside a long one in its steady state: its initial windows in packets, and its
size, which is above 10 and below 100 packets with so many bytes of payload (RFC 7928, section 5.1.2). Size
and start were chosen here."""


def short_flow(window: int) -> dict[str, Any]:
    """Returns the short flow with an initial window in packets."""
    return {
        "name": SHORT,
        "algorithm": "reno",
        "bytes": f"{SHORT_PACKETS * PAYLOAD_BYTES} B",
        "initial_window": window,
        "start": SHORT_START,
    }


SENDERS: dict[str, list[dict[str, Any]]] = {
    "standard": [{"algorithm": "reno"}],
    "aggressive": [{"algorithm": "cubic"}],
    "flood": [{"algorithm": {"name": "cbr", "rate": f"{1.5 * RATE_MBPS:g} Mbit/s"}}],
    "beside-datagrams": [
        {"algorithm": "reno"},
        {"algorithm": {"name": "cbr", "rate": f"{0.75 * RATE_MBPS:g} Mbit/s"}},
    ],
    "beside-ledbat": [{"algorithm": "reno"}, {"algorithm": {"name": "ledbat", "target": "5 ms"}}],
    **{f"before-iw{window}": [{"algorithm": "reno"}, short_flow(window)] for window in SHORT_WINDOWS},
}
"""The senders of RFC 7928, sections 5.1.1 to 5.4, by the coordinate `sender`; in a pair the standard one is
first. Datagrams offer more than the capacity alone, and between half of it and all of it beside TCP (5.3)."""

CATEGORY_MS = 100
"""RTT of the flow of category I (RFC 7928, section 6.2)."""
CATEGORIES_MS: dict[Mode, tuple[int, ...]] = {
    "quick": (5, 50, 100, 200, 560),
    "full": (5, 20, 50, 100, 200, 400, 560),
}
"""RTTs of the flow of category II, within the range of section 6.2."""

BDP_PACKETS = RATE_MBPS * RTT_MS * 1000 // PACKET_BITS
MORRIS = 0.76
"""The factor of the projected drop rate, 0.76 N^2 / S^2 (RFC 7928, section 8.2.1)."""
LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
"""Flows for each packet of BDP and buffer, by the coordinate `level` (RFC 7928, sections 8.2.2 to 8.2.4)."""


def flows_of(level: str) -> int:
    """Returns the number of flows at a level of congestion."""
    return round(LEVELS[level] * (BDP_PACKETS + BUFFER_PACKETS))


def projected_drops(level: str) -> float:
    """Returns the drop rate that a drop-tail queue is projected to have at a level of congestion."""
    return MORRIS * (flows_of(level) / (BDP_PACKETS + BUFFER_PACKETS)) ** 2


PAGE, FRAMES, DATAGRAMS, BULK, SEGMENT, VOICE, BACK = (
    "page",
    "frames",
    "datagrams",
    "bulk",
    "segment",
    "voice",
    "back",
)
"""Classes of traffic. The names of their flows begin with them; flows of `BACK` send the other way."""

CONNECTIONS = 6
OBJECTS, OBJECT_KB = 50, 12
PAGE_WINDOW = 10
"""A web page (7.2): 50 objects, here of 12 kB, over 6 connections with an initial window of 10."""
PAGE_GAP_S = 5.0
"""Time between two pages: the download before has nearly always ended."""
FRAME_RATE, FRAMES_MBPS, BURST_MBPS = 25, 5.0, 100.0
"""Frames of a video per second, their mean rate, and the rate at which one arrives."""
CBR_MBPS = 5.0
CASES: dict[str, tuple[str, ...]] = {
    "I": (PAGE, DATAGRAMS),
    "II": (PAGE, DATAGRAMS, BULK),
    "III": (FRAMES, PAGE, DATAGRAMS),
    "IV": (FRAMES, PAGE, DATAGRAMS, BULK),
}
"""The mixes of Figure 2 (7.2), by the coordinate `case`."""

MIX_PAGES, MIX_BULK = 6, 5
SEGMENT_S, SEGMENT_MBPS = 4.0, 5.0
"""Time between two segments of a video, and the mean rate of the video; a segment is one transfer."""
VOICE_KBPS, VOICE_BYTES = 80.0, 160
"""Rate of IP of a voice call each way, and the payload of its packets."""

UPSTREAM, SHARED = "upstream", "shared"
"""The two queues of the multi-AQM test (10.2): Router L's, and Router M's, which all flows share."""
UPSTREAM_MBPS = 20
POSITIONS: dict[str, tuple[str, ...]] = {
    "both": (UPSTREAM, SHARED),
    "upstream only": (UPSTREAM,),
    "shared only": (SHARED,),
}
"""Where the queue under test is, by the coordinate `position`; the other queue is drop-tail."""
GROUPS = ("A", "B")
"""Senders before Router L, and before Router M."""
