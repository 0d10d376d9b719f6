"""Settings of Baiocchi, Castellani, Vacirca 2007, each with its source, and the scenarios made from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.suite import Coordinate, Run

PAPER = "Baiocchi, Castellani, Vacirca: YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007"

ALGORITHMS: dict[str, dict[str, Any]] = {
    "reno": {"name": "reno"},
    "yeah": {"name": "yeah", "variant": "paper"},
    "ctcp": {"name": "ctcp", "variant": "paper"},
    "htcp": {"name": "htcp", "variant": "linux"},
    "africa": {"name": "africa"},
    "cubic": {"name": "cubic", "variant": "2005"},
    "hstcp": {"name": "hstcp", "table": "nearest"},
}
"""The seven protocols, in the order of Table I. The paper's Reno runs with SACK: "reno"."""

TITLES = {
    "reno": "Reno",
    "yeah": "YeAH",
    "ctcp": "Compound",
    "htcp": "H-TCP",
    "africa": "Africa",
    "cubic": "CUBIC",
    "hstcp": "HSTCP",
}
LOSS_BASED = ("hstcp", "cubic", "htcp")
"""The new protocols that take only losses as congestion."""
FILLED_UP_TO_MS = 120
"""The longest RTT at which all fill the link (Fig. 3)."""
HTCP_ALIKE_UP_TO_S = 1200
"""Fig. 8(a): beyond this length H-TCP falls behind (footnote)."""
HYBRID = ("africa", "ctcp")
"""The protocols that combine losses and delay, as YeAH does."""

RATE_MBPS = 500
RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (15, 60, 240), "full": (15, 30, 60, 120, 240, 480)}
TABLE_RTTS_MS = (15, 60, 240)
LOSS = 5e-7
LOSSY_RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (60, 240), "full": RTTS_MS["full"]}
LOSSES: dict[Mode, tuple[float, ...]] = {
    "quick": (1e-7, 1e-6, 1e-5, 1e-4),
    "full": (1e-8, 3e-8, 1e-7, 3e-7, 1e-6, 3e-6, 1e-5, 3e-5, 1e-4),
}
LOSSES_RTT_MS = 200
LOW_LOSS = 1e-5
"""Fig. 5: up to this loss YeAH is the best."""
QUEUES_PERCENT: dict[Mode, tuple[int, ...]] = {
    "quick": (5, 20, 100),
    "full": (2, 5, 10, 20, 30, 50, 75, 100),
}
QUEUES_RTT_MS = 80
FIRST_RTT_MS = 25
RTT_RATIOS: dict[Mode, tuple[int, ...]] = {"quick": (1, 4), "full": (1, 2, 3, 4, 6, 8)}
RENO_FLOWS: dict[Mode, tuple[int, ...]] = {"quick": (1, 4), "full": (1, 2, 4, 8, 16)}
FRIENDLY_RTT_MS = 80
JOINED_RTT_MS = 80
JOIN_S = 100.0
BEFORE_S = 30.0
"""Fig. 1: how long before the join YeAH's window is averaged."""
JOINED_S = 600.0
"""Duration from IV; also in quick mode, because Reno's epochs last two minutes here."""
LONG_RTT_MS = 480
LONGEST_S: dict[Mode, float] = {"quick": 600.0, "full": 1800.0}

DURATION_S: dict[Mode, float] = {"quick": 150.0, "full": 600.0}
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}

START = {"uniform": ["0 s", "1 s"]}
QUEUE_SAMPLE = "10 ms"
WEB_LOAD = "4 Mbit/s"

WEB_CLIENT_WINDOWS = {"64-kb": 65535 // 1448, "128-kb": 2 * 87380 * 3 // 4 // 1448}
"""Windows of web clients in segments, by the size of the window: readings of what IV leaves open."""

KERNEL = "linux-2.6.16"
"""IV: the stack of the senders and of the web server, which is the receiver of the flows."""

STACK: dict[str, Any] = {"stack": KERNEL, "slow_start": "limited"}

COMMON_SETTINGS = (
    Setting("topology", "two senders, one receiver, one bottleneck of 500 Mbit/s", "IV, Fig. 2"),
    Setting("access links", "1 Gbit/s", "IV"),
    Setting("packets", "1500 bytes", "IV; payload of 1448 with timestamps"),
    Setting("queue", "drop-tail; a share of rate x least RTT, 100 % unless stated otherwise", "IV, V"),
    Setting(
        "flows",
        "two of one algorithm, one for each sender",
        "IV, V-A; that both run in each test is " + CHOSEN_HERE,
    ),
    Setting("slow-start", "limited, max_ssthresh 100, ssthresh unlimited", "IV; 100 from RFC 3742"),
    Setting(
        "web traffic",
        f"SURGE, {WEB_LOAD} of IP, from the receiver's side to its clients, so it shares the ACKs' path",
        "IV (the receiver is the web server); the RTT of the first flow is " + CHOSEN_HERE,
    ),
    Setting(
        "stack",
        f"{KERNEL}, of the flows and of the web server",
        'IV: "a modified version of the 2.6.16.2 kernel"; what the modification left is an assumption',
    ),
    Setting("Reno", "standard TCP with SACK", "IV: Linux 2.6.16; " + CHOSEN_HERE),
    Setting("YeAH", "variant paper, with its own defaults for what is not printed", "III"),
    Setting("Compound, Africa", "the papers' rules", "IV: implemented after [8] and [7]"),
    Setting("H-TCP", "variant linux", "IV: Linux 2.6.16.2 had a module"),
    Setting("CUBIC", "variant 2005: reduces by 0.2", "V-B prints 0.2; [5] is the paper of 2005"),
    Setting("HSTCP", "RFC 3649, as a table", "[2]; the table as in Linux " + CHOSEN_HERE),
    Setting("duration", "600 s", "IV"),
    Setting(
        "repeats", "3, over seeds: starts within 1 s, web traffic, random losses", "IV; starts " + CHOSEN_HERE
    ),
)

TABLE_I: dict[str, dict[int, float | None]] = {
    "reno": {15: 5.7686e-6, 60: 5.0669e-6, 240: 9.4e-7},
    "yeah": {15: None, 60: None, 240: None},
    "ctcp": {15: 4.0134e-6, 60: 1.0827e-6, 240: 7.531e-7},
    "htcp": {15: 3.75099e-5, 60: 1.41953e-4, 240: 3.35233e-4},
    "africa": {15: 2.6651e-6, 60: 1.8414e-6, 240: 1.165e-6},
    "cubic": {15: 2.61158e-5, 60: 1.8499e-5, 240: 2.96627e-5},
    "hstcp": {15: 6.06129e-5, 60: 2.93257e-5, 240: 4.1152e-6},
}
"""Loss probability by RTT in ms, as printed; None stands for a dash: no packet was lost."""

Flows = Sequence[tuple[str, int]]
"""The algorithm and the RTT in ms of each flow."""


def scenario(
    title: str,
    flows: Flows,
    *,
    duration_s: float,
    repeat: int,
    queue_percent: int = 100,
    loss: float = 0.0,
    ssthresh: float | None = None,
    starts: Sequence[Any] | None = None,
    sample: str | None = None,
    events: bool = False,
) -> dict[str, Any]:
    """Returns a scenario of the paper's testbed."""
    bottleneck: dict[str, Any] = {
        "rate": f"{RATE_MBPS} Mbit/s",
        "buffer": f"{queue_percent} % BDP",
        "queue": "droptail",
        "access_rate": "1 Gbit/s",
    }
    if loss:
        bottleneck["loss"] = loss
    transport = {**STACK, "initial_ssthresh": "infinite" if ssthresh is None else ssthresh}
    document: dict[str, Any] = {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "bottleneck": bottleneck,
        "flow": [
            {**transport, "algorithm": dict(ALGORITHMS[name]), "rtt": f"{rtt_ms} ms", "start": start}
            for (name, rtt_ms), start in zip(flows, starts or [START] * len(flows), strict=True)
        ],
        # the name carries the direction, as the names of two-way traffic do
        "background": [
            {
                "kind": "surge",
                "name": "web-reverse",
                "load": WEB_LOAD,
                "direction": "reverse",
                "stack": KERNEL,
            }
        ],
    }
    if sample is not None:
        document["sample"] = {"queue": sample}
    if events:
        document["sample"] = {"events": True}
    return document


def run(
    coordinates: dict[str, Coordinate],
    flows: Flows,
    *,
    duration_s: float,
    repeat: int,
    share: float = 1.0,
    **options: Any,
) -> Run:
    """Returns one run; ``share`` is the expected use of the link, for the estimate of its work."""
    title = " and ".join(f"{name} at {rtt} ms" for name, rtt in flows[:2])
    document = scenario(title, flows, duration_s=duration_s, repeat=repeat, **options)
    packets = share * RATE_MBPS * 1e6 * duration_s / PACKET_BITS
    return Run({**coordinates, "repeat": repeat}, document, packets)


def bdp_packets(rtt_ms: float) -> float:
    """Returns the bandwidth-delay product in packets of 1500 bytes: 20 000 at 480 ms."""
    return RATE_MBPS * 1e3 * rtt_ms / PACKET_BITS
