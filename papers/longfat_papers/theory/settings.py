"""Settings of the theory suite: which algorithms, which paths, and the source of each value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longfat.runs import theory
from longfat.scenario import registry
from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit import citations
from longfat_papers.kit.claims import CHOSEN_HERE, Setting

THESIS = citations.LOPEZ2008

WITHOUT_CONTROL = frozenset({"cbr", "onoff", "rbudp"})
"""Senders without congestion control; this suite is not about them."""
GUIDED = frozenset({"cadpc"})
"""Senders that routers guide with packets of their own; their data carry no explicit header."""


def controlled() -> tuple[str, ...]:
    """Returns the algorithms that control congestion by themselves, in the order of the registry.

    Explicit-rate senders are left out: a drop-tail path tells nothing about them.
    """
    rows = (row for row in registry.rows("algorithms") if not row.get("explicit", False))
    return tuple(row["name"] for row in rows if row["name"] not in WITHOUT_CONTROL | GUIDED)


def windowed() -> tuple[str, ...]:
    """Returns the algorithms of `controlled` over TCP.

    Those over UDP have a rate instead of a window, and no response function in packets per round trip.
    """
    over_udp = {row["name"] for row in registry.rows("algorithms") if row.get("transport") == "udp"}
    return tuple(name for name in controlled() if name not in over_udp)


def has(name: str) -> bool:
    """Returns whether the registry has an algorithm of this name."""
    return any(row["name"] == name for row in registry.rows("algorithms"))


RTT_S = 0.1
"""RTT of the response functions: the example of the thesis, of RFC 3649 and of RFC 9438's first table."""

LOSSES: dict[Mode, tuple[float, ...]] = {
    "quick": (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5),
    "full": (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7),
}
PERIODIC_EPOCHS = 40
RANDOM_EPOCHS = 100
RARE = 1e-6
"""At and below this loss runs are long: one repeat, and only as many random losses as periodic ones."""
LEAST_PACKETS = 300_000
HEADROOM = 8.0
"""The path carries this many windows of the law (STCP's if the algorithm has none), so no queue builds."""
LEAST_RATE_BPS = 100e6
GREATEST_RATE_BPS = 1e13
TIME_MARGIN = 2.0

UNFAIR_RATE_BPS = 1e9
UNFAIR_LONG_MS = 80.0
UNFAIR_RATIOS: dict[Mode, tuple[float, ...]] = {"quick": (1.5, 2.0), "full": (1.25, 1.5, 2.0)}
"""RTT of the long flow over that of the short one; at 2, HSTCP's law leaves the long flow a 47th."""

SCALED_BPS: dict[Mode, float] = {"quick": 100e6, "full": 1e9}
"""Rates at which LOP-2a can be simulated; W is proportional to the rate, 1/p to its square."""
LARGE_BPS: dict[Mode, float] = {"quick": 1e9, "full": 10e9}
"""The "10 Gbps with smaller or bigger RTT" of the thesis' first requirement."""

REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
PAIR_REPEATS: dict[Mode, int] = {"quick": 2, "full": 5}

START = {"uniform": ["0 s", "10 s"]}
"""Start of flows that share a link: their phase differs in each repeat."""
LATER_START = {"uniform": ["20 s", "40 s"]}

COMMON_SETTINGS = (
    Setting("topology", "dumbbell, one drop-tail bottleneck", CHOSEN_HERE),
    Setting("packets", "1500 bytes, of which 1448 payload", "2.3.3 (1500); payload with timestamps"),
    Setting("stack", "SACK, delayed ACK, byte counting, rate halving; no host tick", CHOSEN_HERE),
    Setting("parameters", "each algorithm as the registry has it by default", CHOSEN_HERE),
    Setting("repeats", "over seeds: starts and random losses differ", CHOSEN_HERE),
)
RESPONSE_SETTINGS = (
    Setting(
        "path",
        "RTT 100 ms, no queue: the link carries 8 times the law's window",
        "2.3.3 (RTT); " + CHOSEN_HERE,
    ),
    Setting(
        "start",
        "ssthresh at the law's window, or slow-start to the first loss where there is no law",
        CHOSEN_HERE,
    ),
    Setting("length", "40 periodic or 100 random losses, at least 300 000 packets", CHOSEN_HERE),
)
UNFAIR_SETTINGS = (
    Setting("path", "1 Gbit/s, long RTT 80 ms, queue 20 % of its BDP", CHOSEN_HERE),
    Setting("RTT ratios", "1.25 (full), 1.5, 2", CHOSEN_HERE),
    Setting("start", "both at random within 10 s", CHOSEN_HERE),
    Setting("duration", "200 s quick, 600 s full", CHOSEN_HERE),
)
UDT_SETTINGS = (
    Setting("path", "100 Mbit/s, 40 ms, queue 100 % BDP", CHOSEN_HERE),
    Setting("flows", "one of each, started at random within 10 s; 200 s", CHOSEN_HERE),
    Setting("reference", "the same with two flows of the TCP", CHOSEN_HERE),
)


def law_window(name: str, loss: float) -> float:
    """Returns the law's window at `RTT_S`; without a law, that of Scalable TCP, which is the greatest."""
    law = theory.LAWS.get(name, theory.LAWS["stcp"])
    return law.window(loss, RTT_S)


def rate_for(window_packets: float) -> float:
    """Returns a rate at which such a window leaves the path of `RTT_S` nearly empty."""
    rate = HEADROOM * window_packets * PACKET_BITS / RTT_S
    return min(max(rate, LEAST_RATE_BPS), GREATEST_RATE_BPS)


def pair(
    title: str,
    rate_bps: float,
    flows: tuple[Mapping[str, Any], ...],
    *,
    duration_s: float,
    repeat: int,
    buffer: str,
    buffer_rtt_ms: float | None = None,
    loss: float = 0.0,
) -> dict[str, Any]:
    """Returns a scenario of a few flows over one link; ``flows`` are [[flow]] tables."""
    bottleneck: dict[str, Any] = {"rate": f"{rate_bps / 1e6:g} Mbit/s", "buffer": buffer}
    if buffer_rtt_ms is not None:
        bottleneck["buffer_rtt"] = f"{buffer_rtt_ms:g} ms"
    if loss:
        bottleneck["loss"] = loss
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "bottleneck": bottleneck,
        "flow": [dict(flow) for flow in flows],
    }


def flow(algorithm: str, rtt_ms: float, start: Any = START, **others: Any) -> dict[str, Any]:
    """Returns a [[flow]] table."""
    return {"algorithm": algorithm, "rtt": f"{rtt_ms:g} ms", "start": start, **others}
