"""Settings of Li, Leith, Shorten 2007 (LLS), each with its source, and the scenarios made from them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from longfat.runs import theory
from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.claims import CHOSEN_HERE, Setting

PAPER = (
    "Li, Leith, Shorten: Experimental Evaluation of TCP Protocols for High-Speed Networks, IEEE/ACM ToN 2007"
)

ALGORITHMS: dict[str, dict[str, Any]] = {
    "reno": {"name": "reno"},
    "hstcp": {"name": "hstcp", "high_p": 1e-7, "low_window": 31, "high_window": 83000, "table": "nearest"},
    "stcp": {"name": "stcp", "increase": 0.01, "decrease": 0.125, "low_window": 16},
    "bic": {
        "name": "bic",
        "variant": "corrected",
        "s_max": 32,
        "b": 4,
        "sigma": 20,
        "beta": 0.8,
        "low_util": 0.15,
        "util_check": "2 s",
        "low_window": 14,
    },
    "fast": {
        "name": "fast",
        "variant": "lls",
        "m0a": 8,
        "m1a": 20,
        "m2a": 200,
        "m0u": "1500 kB/s",
        "m1l": "1250 kB/s",
        "m1u": "15000 kB/s",
        "m2l": "12500 kB/s",
    },
    "htcp": {"name": "htcp", "variant": "paper", "delta_l": "1 s", "delta_b": 0.2},
}
"""Table II, and what the text says about the implementations. Standard TCP is "reno": it runs with SACK."""

TITLES = {
    "reno": "Standard TCP",
    "hstcp": "HS-TCP",
    "stcp": "Scalable-TCP",
    "bic": "BIC-TCP",
    "fast": "FAST-TCP",
    "htcp": "H-TCP",
}
NEW = tuple(name for name in ALGORITHMS if name != "reno")
"""The proposals that are compared with standard TCP."""

RTTS_MS = (16, 42, 82, 162, 324)
"""Propagation delays: those that the text names for its figures, and the least one of III-B's grid."""

LONG_RTT_MS = 162
"""LLS Fig. 10: the round-trip time of flow 1."""

LOW_MBPS, HIGH_MBPS = 10, 250
"""The "low and high-speed network conditions" of section V."""

QUEUE_TEST_MBPS, QUEUE_TEST_RTT_MS = 100, 82
RESPONSE_RTT_MS = 162

STACK = "linux-2.6.6-altaimd"
"""The common kernel and the hosts' adapters: Table I and Appendix I."""

ROUTER_TICK = "1 ms"
"""Period of dummynet with HZ=1000."""
TIMER_TICK = "1 ms"
"""V-D, V-G: the hosts' HZ is 1000. It drives timers, and so FAST-TCP's pacing."""

FINE_SAMPLE = "20 ms"
"""Half an RTT of Fig. 7: backoffs come every second and are read from the samples."""

REFILL_MBPS = 1000
REFILL_RTT_MS = 100
REFILL_WINDOW = 8333
"""BDP of LLS Fig. 1 in packets; cwnd is held there, so that the one loss meets a full pipe."""
REFILL_LOSS_EVERY = 56_000_000
"""The packet that is lost. The refill sends fewer packets, so there is no second loss before the end."""
REFILL_DURATION_S = 1540.0

SHORT_RTTS_MS = (16, 22, 42, 82, 122, 162)
QUEUES_PERCENT = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 70, 100)
WELL_PROVISIONED_PERCENT = 10
"""LLS Fig. 12: the new protocols are compared with standard TCP from this queue on, % BDP."""
USUAL_PERCENT, SMALLEST_PERCENT = 20, 1
"""Queues between which the loss of Fig. 12 rises, % BDP."""
LEVEL_FROM_MS = 82
"""LLS Fig. 14: H-TCP's convergence time levels off from this RTT on."""
QUICK_QUEUES_PERCENT = (1, 2, 3, 5, 8, 10, 20, 50, 100)
LOSSES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6, 3e-7, 1e-7)
QUICK_LOSSES = (1e-2, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 1e-6, 1e-7)
SESSIONS = (0, 10, 20, 30, 40, 50)

DURATION_S = 600.0
LONGEST_S: dict[Mode, float] = {"quick": 1200.0, "full": 3600.0}
EPOCHS = 20
"""Standard TCP runs for this many congestion epochs, within ten minutes and the mode's longest time."""

REPEATS_FULL = 5
SECOND_START = {"uniform": ["20 s", "80 s"]}
FIRST_START = "0 s"
SINGLE_START = {"uniform": ["0 s", "1 s"]}
WEB_PAGE = "9.4 kB"
WEB_GAP = "1 s"
WEB_SHAPE = 1.2

COMMON_SETTINGS = (
    Setting("topology", "dumbbell, one bottleneck", "IV-F, Fig. 2"),
    Setting("packets", "1500 bytes, of which 1448 payload", "V-D (1500); payload with timestamps"),
    Setting("access links", "1 Gbit/s", "IV-F"),
    Setting("queue", "drop-tail, 20 % BDP unless stated otherwise", "III, captions"),
    Setting(
        "stack",
        "linux-2.6.6-altaimd: SACK, delayed ACK, byte counting, rate halving, the e1000's interrupts",
        "Table I, Appendix I; `longfat list stacks` has the source of each of its keys",
    ),
    Setting(
        "host timer tick",
        "1 ms for FAST-TCP's pacing; standard TCP and the other protocols send when ACKs arrive",
        "V-D limits FAST-TCP's pacing to about 1 ms; Linux 2.6 processes an ACK when it arrives "
        "(tcp_v4_rcv), so HZ (V-D, V-G) drives only its timers",
    ),
    Setting(
        "router",
        "hands out once a millisecond what the rate has earned since",
        "IV-F: dummynet on FreeBSD, whose ip_dummynet.c serves its queues at each tick of the kernel; "
        "dummynet(4) of 2002 strongly recommends HZ=1000; the paper does not give its HZ",
    ),
    Setting("parameters", "Table II", "Table II"),
    Setting("HS-TCP table", "nearest neighbour", "V-A, on Fig. 7"),
    Setting("BIC variant", "corrected: (cwnd - w1)/(B - 1) where the paper prints w1/(B - 1)", CHOSEN_HERE),
    Setting("FAST variant", "the printed rule; alpha 200 above m1u = 120 Mbit/s", "IV-E, Table II"),
    Setting(
        "duration", "600 s; standard TCP 20 congestion epochs, at most 3600 s", "IV-F; epochs " + CHOSEN_HERE
    ),
    Setting("initial window, ssthresh", "3 segments, none", CHOSEN_HERE),
    Setting("reverse path", "as fast as the forward one, at least 1000 packets of queue", CHOSEN_HERE),
    Setting(
        "start of flow 2",
        "drawn uniformly from 20..80 s, flow 1 starts at 0 s",
        "III-F asks for random starts over an epoch of flow 1; the range is " + CHOSEN_HERE,
    ),
    Setting(
        "repeats",
        "5, over seeds: start of flow 2, phases of ticks and interrupts, random losses and web sessions "
        "differ",
        "IV-F (5); what differs is " + CHOSEN_HERE,
    ),
)

TWO_FLOWS = (
    Setting(
        "measured span",
        "from the start of flow 2 to the end of the run",
        CHOSEN_HERE + ": both flows run during all of it; the paper names none",
    ),
)

QUEUE_OF_LONG_RTT = (
    Setting(
        "RTT in the BDP of the queue",
        "flow 1's, 162 ms",
        CHOSEN_HERE + ": III-C keeps flow 1's RTT constant, and the queue a constant share of the BDP",
    ),
)


def bdp_packets(rate_bps: float, rtt_s: float) -> float:
    """Returns the bandwidth-delay product in packets of 1500 bytes: 683 at 100 Mbit/s and 82 ms."""
    return rate_bps * rtt_s / PACKET_BITS


def standard_epoch_s(rate_bps: float, rtt_s: float, queue_bdp: float, flows: int) -> float:
    """Returns the congestion epoch of standard TCP.

    It is that of flows that share the link equally and back off together: they regain half the window, one
    packet per round trip.
    """
    top = (1.0 + queue_bdp) * bdp_packets(rate_bps, rtt_s) / flows
    return 0.5 * top * (1.0 + 0.5 * queue_bdp) * rtt_s


def duration_s(
    mode: Mode, algorithms: Sequence[str], rate_bps: float, rtt_s: float, queue_bdp: float = 0.2
) -> float:
    """Returns how long a test runs: 600 s, or with standard TCP `EPOCHS` of its epochs, in whole minutes."""
    if "reno" not in algorithms:
        return DURATION_S
    epoch_s = standard_epoch_s(rate_bps, rtt_s, queue_bdp, len(algorithms))
    wanted = math.ceil(EPOCHS * epoch_s / 60.0) * 60.0
    return min(max(wanted, DURATION_S), LONGEST_S[mode])


def lossy_duration_s(mode: Mode, algorithm: str, loss: float, rtt_s: float) -> float:
    """Returns the duration under random loss: 600 s; standard TCP `EPOCHS` losses, within the limits."""
    if algorithm != "reno":
        return DURATION_S
    epoch_s = rtt_s / (loss * theory.standard_window(loss))
    return min(max(math.ceil(EPOCHS * epoch_s / 60.0) * 60.0, DURATION_S), LONGEST_S[mode])


def megabits(rate_mbps: float) -> str:
    """Writes a rate as scenarios do."""
    return f"{rate_mbps:g} Mbit/s"


def scenario(
    title: str,
    rate_mbps: float,
    flows: Sequence[tuple[Mapping[str, Any], float]],
    *,
    duration_s: float,
    repeat: int,
    queue: str = "20 % BDP",
    queue_rtt_ms: float | None = None,
    loss: float = 0.0,
    sessions: int = 0,
    sample: str | None = None,
) -> dict[str, Any]:
    """Returns a scenario of the testbed; ``flows`` are (algorithm, RTT in ms), the second starts later."""
    bottleneck: dict[str, Any] = {
        "rate": megabits(rate_mbps),
        "buffer": queue,
        "queue": "droptail",
        "access_rate": "1 Gbit/s",
        "service_tick": ROUTER_TICK,
    }
    if queue_rtt_ms is not None:
        bottleneck["buffer_rtt"] = f"{queue_rtt_ms:g} ms"
    if loss:
        bottleneck["loss"] = loss
    document: dict[str, Any] = {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "bottleneck": bottleneck,
        "flow": [
            {**host(algorithm["name"]), "algorithm": dict(algorithm), "rtt": f"{rtt_ms:g} ms", "start": start}
            for (algorithm, rtt_ms), start in zip(flows, _starts(len(flows)), strict=True)
        ],
    }
    if sample is not None:
        document["sample"] = {"cwnd": sample}
    if sessions:
        document["background"] = [
            {
                "kind": "web",
                "sessions": sessions,
                "gap": WEB_GAP,
                "page": WEB_PAGE,
                "shape": WEB_SHAPE,
                "direction": "both",
                "rtt": f"{LONG_RTT_MS} ms",
                **host("reno"),
            }
        ]
    return document


def host(algorithm: str) -> dict[str, str]:
    """Returns the transport keys of a host that runs this algorithm."""
    return {"stack": STACK} | ({"host_tick": TIMER_TICK} if algorithm == "fast" else {})


def _starts(flows: int) -> list[Any]:
    return [SINGLE_START] if flows == 1 else [FIRST_START, *[SECOND_START] * (flows - 1)]
