"""Settings of Lopez Pacheco 2008 (LOP), each with its source, and the scenarios with one bottleneck."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from longfat.words import Mode
from longfat_papers.kit import citations
from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.suite import Coordinate, Run

PAPER = citations.LOPEZ2008

MSS = "1024 B"
PACKET_BITS = 8.0 * 1076.0
"""A segment of 1024 bytes with TCP's headers."""
MBPS = 1e6

STACK: dict[str, Any] = {"stack": "ns-2", "mss": MSS}
"""Options of all flows: ns-2's one-way agents, whose sink acknowledges each packet. XCP's is Reno's."""
TUNED: dict[str, Any] = {"initial_ssthresh": 21_000.0, "max_window": 24_000.0}
"""Options of TCP in chapter 3. TCP fills 1 Gbit/s at 100 ms "during the startup" and has its first losses "at
second 10 approximately" whatever the RTT. Path and buffer hold 24 000 segments at 100 ms. With 21 000 the
buffer overflows when the sine is down to 730 Mbit/s (7 s) at 100 ms, and to 370 (13 s) at 200 ms.
"""

FLOWS: dict[str, dict[str, Any]] = {
    "newreno": STACK | {"algorithm": "newreno"},
    "reno": STACK | {"algorithm": "reno"},
    # tcl/test/test-suite-tcpHighspeed.tcl runs windowOption_ 8 in Agent/TCP/Sack1
    "hstcp": STACK | {"algorithm": "hstcp"},
    "cubic": STACK | {"algorithm": "cubic"},
    "xcp": STACK | {"algorithm": "xcp"},
    "xcp-r": STACK | {"algorithm": {"name": "xcp-r", "variant": "mirror"}},
    "xcp-r-first": STACK | {"algorithm": {"name": "xcp-r", "variant": "first"}},
    "jetmax": STACK | {"algorithm": "jetmax", "loss_detection": "newreno"},
    "jetmax-r": STACK | {"algorithm": "jetmax-r", "loss_detection": "newreno"},
    "vcp": STACK | {"algorithm": "vcp", "loss_detection": "newreno"},
}
"""The table of a flow of each protocol."""
TITLES = {
    "newreno": "TCP NewReno",
    "reno": "TCP SACK",
    "hstcp": "HSTCP",
    "cubic": "CUBIC",
    "xcp": "XCP",
    "xcp-r": "XCP-r",
    "xcp-r-first": "XCP-r, first formula",
    "jetmax": "JetMax",
    "jetmax-r": "JetMax-r",
    "vcp": "VCP",
}

XCP_ROUTER: dict[str, Any] = {"kind": "xcp", "restarts": True}
"""ns-2's XCP router: after an interval without packets the next one has 50 ms (xcp/xcpq.cc, Te_timeout)."""

SMALL_START_S = 0.1
"""Starts are drawn from this time, so that repeats differ."""
REPEATS: dict[Mode, int] = {"quick": 1, "full": 5}

DATAGRAMS, SCOUT, CROSS = "udp", "scout", "cross"
"""Prefixes of the names of flows that are not measured."""

UDP_MBPS = 50
PERIOD_S = 10
VBE_BUFFER = 12_500
SINE_MBPS = (1000.0, 300.0)
SINE_PERIOD_S = 32.0
SINE_S = 100
STAIRS_S = 200
INEFFICIENT_S = (16.0, 48.0)
NEVER_FROM_S = 20.0
"""3b: the rate that NewReno never reaches holds from here on."""
HARD_S = (120.0, 150.0)
HARDER_S = (120.0, 170.0)
OVERSHOOTS_S = (50.0, 70.0, 100.0, 170.0, 180.0)

STAIRS_MBPS = (
    1000, 850, 700, 800, 950, 600, 750, 450, 550, 700,
    300, 350, 500, 650, 800, 900, 1000, 650, 300, 500,
)  # fmt: skip
"""What datagrams leave of 1 Gbit/s in each period of 10 s. Fig. 3.11 has no numbers; these fall by more than
150 Mbit/s where the text says that XCP overshoots, and rise fast from 120 s on."""

ACKS_RTT_MS = 150
ACKS_FLOWS = 10
ACKS_S = 100
ACKS_MBPS = 1000
ACKS_FALLS_S = (5.0, 55.0)
AFTER_FALL_S = 10.0
SECOND_FALL_S = ACKS_FALLS_S[1]
TAKEN_OVER_S = 2.0 * AFTER_FALL_S
"""5b: this long after the second fall one flow takes over and another is silent."""
SILENCE_FROM_S = 2.0
"""5c, 5d: a flow's silence counts from here on."""
ACKS_LEFT_MBPS = ((0, 1000), (5, 750), (15, 800), (25, 900), (35, 850), (45, 1000), (55, 750), (65, 850),
                  (75, 950), (85, 900), (95, 1000))  # fmt: skip
"""What 0 to 5 datagram flows leave. Fig. 5.2 has no numbers; these fall from 1000 to 750 Mbit/s at 5 and 55 s
and change less elsewhere."""

THREE_RTT_MS = 100
THREE_MBPS = 200
THREE_S = 60
THREE_LEFT_MBPS = ((0, 200), (5, 50), (10, 100), (15, 150), (20, 100), (25, 200), (30, 50), (35, 100),
                   (40, 150), (45, 200), (50, 150))  # fmt: skip
"""Figs. 5.8 to 5.10: between 200 and 50 Mbit/s, the greatest changes at 5 and 30 s."""

FRIENDLY_RTTS_MS = (20, 100)
FRIENDLY_MBPS = 1000
FRIENDLY_BUFFER = 5_000
JOIN_S = 10
JOIN_EVERY_S = 20
LEAVE_S = 70
FRIENDLY_S = 120
STARVED_S = 60
SPAN_S = 10
"""Averages of chapter 6 are taken over this time."""
SHORT_SPAN_S = 5.0
"""Averages of chapters 2 and 3 are taken over this time; an overshoot follows a fall within it."""
SETTLE_S = 5.0
"""How long after a flow has come or gone a stage begins (Figs. 2.11 and 2.12)."""

STAGED_MBPS, STAGED_RTT_MS, STAGED_EVERY_S, STAGED_FOR_S = 100, 80, 15, 75
VCP_MBPS, VCP_RTTS_MS, VCP_JOIN_S, VCP_S = 45, (40, 50), 50, 250
ZOOM_S = 56
ZOOM_SAMPLE_S = 0.02
BOTTLENECK_S = 60
ONE_RTT_MS, ONE_MBPS, ONE_S = 100, 1000, 3
FORMULA_RTTS_MS, FORMULA_MBPS, FORMULA_S = (40, 160), 100, 30
FORMULA_FROM_S = 10.0
"""5f: rates count from here on."""
ACK_CASES = (("xcp", 0.0), ("xcp", 0.1), ("xcp-r", 0.1))
THREE_CASES = (("xcp", 0.0), ("xcp", 0.3), ("xcp-r", 0.3))
FRIENDLY_UPDATES = ("packet", "interval")

SAMPLE_S = 0.1
TABLE_5_1 = {("xcp", 0.0): (107, 167), ("xcp", 0.1): (204, 414), ("xcp-r", 0.1): (192, 302)}
"""Packets lost after the falls at 5 and 55 s, by protocol and loss of ACKs."""

BEYOND_REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}

Steps = Sequence[tuple[float, float]]
"""Times in s, and the rate in Mbit/s from each time on."""
Variation = Literal["sine", "steps", "acks", "three"]

COMMON_SETTINGS = (
    Setting("simulator", "ns-2.30 with Katabi's XCP", "3.1.3.2, 4.6"),
    Setting(
        "segments", "1024 bytes of payload", "3.1.3.1; headers of 40 bytes, 12 for timestamps, XCP's 20 more"
    ),
    Setting("hosts", 'stack = "ns-2"; the sink acknowledges each segment', "ns-2's one-way agents"),
    Setting("TCP", "NewReno", "3.1.3.2; in chapters 4 and 6 " + CHOSEN_HERE),
    Setting("XCP", "Reno's recovery, no SACK", "ns-2's Agent/TCP/Reno/XCP"),
    Setting(
        "XCP's routers",
        "a control interval of 50 ms after one without packets; not in XCP-i, XCP-TCP friendliness and two "
        "queues",
        "ns-2: xcp/xcpq.cc, Te_timeout",
    ),
    Setting("HSTCP", "SACK, recovery ends at ssthresh", CHOSEN_HERE + ": ns-2's Sack1 with windowOption_ 8"),
    Setting(
        "repeats", f"5, over seeds: each start within {SMALL_START_S:g} s", CHOSEN_HERE + "; the thesis: one"
    ),
)

CAPACITY_SETTINGS = (
    Setting("queue", f"{VBE_BUFFER} packets, drop-tail; for XCP an XCP router", "3.1.2, 3.2.1"),
    Setting(
        "TCP's window",
        "initial ssthresh 21 000, at most 24 000 segments, at both RTTs",
        'from 3.1.3.2: all of 1 Gbit/s "during the startup", first losses "at second 10 approximately"',
    ),
)
SINE_SETTINGS = (
    *CAPACITY_SETTINGS,
    Setting("capacity", "sine, 1 Gbit/s to 300 Mbit/s, period 32 s", "(3.8); the text has 30 s"),
)
STAIRS_SETTINGS = (
    *CAPACITY_SETTINGS,
    Setting("capacity", "1 Gbit/s less datagram flows of 50 Mbit/s, changes every 10 s", "3.2"),
    Setting("steps", "left: " + ", ".join(map(str, STAIRS_MBPS)), CHOSEN_HERE + ": Fig. 3.11 has no numbers"),
)
ACKS_SETTINGS = (
    Setting("queue", f"{VBE_BUFFER} packets", "5.2.1"),
    Setting(
        "steps",
        "left: " + ", ".join(f"{mbps} from {at} s" for at, mbps in ACKS_LEFT_MBPS),
        CHOSEN_HERE + ": Fig. 5.2 has no numbers",
    ),
    Setting("losses of ACKs", "independent", '5.2.3: "constant distribution"'),
)
FRIENDLY_SETTINGS = (
    Setting("bottleneck", f"1 Gbit/s, {FRIENDLY_BUFFER} packets, shared", "6.2"),
    Setting(
        "mechanism",
        "zombie tables of 1000, drop probability from .001, x .9999 and x 1.0001, 0 below .0001, above 97 "
        "% load",
        "6.3, 6.4",
    ),
    Setting(
        "update",
        "with each packet of other traffic",
        CHOSEN_HERE
        + ": the text says once in a control interval, which cannot produce its figures; both are run",
    ),
)


def start_at(time_s: float) -> dict[str, list[str]]:
    """Returns a start that differs slightly between repeats."""
    return {"uniform": [f"{time_s:g} s", f"{time_s + SMALL_START_S:g} s"]}


def flow(protocol: str, name: str, rtt_ms: float | None, start_s: float = 0.0, **more: Any) -> dict[str, Any]:
    """Returns the table of a flow; ``rtt_ms`` is None where the links' delays determine it."""
    table = {**FLOWS[protocol], "name": name, "start": start_at(start_s), **more}
    return table if rtt_ms is None else {**table, "rtt": f"{rtt_ms:g} ms"}


def stairs(levels_mbps: Sequence[float], every_s: float = PERIOD_S) -> Steps:
    """Returns a staircase of equally long steps."""
    return [(every_s * number, level) for number, level in enumerate(levels_mbps)]


def available_mbps(variation: Variation, span_s: tuple[float, float]) -> float:
    """Returns the mean capacity in a span that datagrams leave: (3.6) over the span's length."""
    begin, end = span_s
    if variation == "sine":
        top, bottom = SINE_MBPS
        turn = 2.0 * math.pi / SINE_PERIOD_S
        waves = (math.sin(turn * end) - math.sin(turn * begin)) / turn
        return 0.5 * (top + bottom) + 0.5 * (top - bottom) * waves / (end - begin)
    left = {"steps": stairs(STAIRS_MBPS), "acks": ACKS_LEFT_MBPS, "three": THREE_LEFT_MBPS}[variation]
    ends = [at for at, _ in left[1:]] + [math.inf]
    areas = (
        mbps * max(0.0, min(end, until) - max(begin, at))
        for (at, mbps), until in zip(left, ends, strict=True)
    )
    return sum(areas) / (end - begin)


def datagrams(left: Steps, capacity_mbps: float, end_s: float, rtt_ms: float) -> list[dict[str, Any]]:
    """Returns datagram flows that leave this capacity; each sends while those before it do not suffice."""
    times = [at for at, _ in left] + [end_s]
    wanted = [round((capacity_mbps - mbps) / UDP_MBPS) for _, mbps in left]
    flows = []
    for source in range(max(wanted)):
        on = [number > source for number in wanted]
        edges = [0, *(i for i in range(1, len(on)) if on[i] != on[i - 1]), len(on)]
        for number, (begin, end) in enumerate(pairwise(edges)):
            if on[begin]:
                flows.append(
                    {
                        "name": f"{DATAGRAMS}-{source + 1}-{number}",
                        "algorithm": {"name": "cbr", "rate": f"{UDP_MBPS} Mbit/s"},
                        "mss": MSS,
                        "rtt": f"{rtt_ms:g} ms",
                        "start": f"{times[begin]:g} s",
                        **({"stop": f"{times[end]:g} s"} if times[end] < end_s else {}),
                    }
                )
    return flows


def dumbbell(
    title: str,
    bottleneck: Mapping[str, Any],
    flows: Iterable[Mapping[str, Any]],
    *,
    duration_s: float,
    repeat: int,
    sample_s: float = SAMPLE_S,
) -> dict[str, Any]:
    """Returns a scenario with one bottleneck."""
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "bottleneck": dict(bottleneck),
        "flow": [dict(table) for table in flows],
        "sample": {"cwnd": f"{sample_s:g} s", "queue": f"{sample_s:g} s"},
    }


def run(coordinates: Mapping[str, Coordinate], document: Mapping[str, Any], mbps: float) -> Run:
    """Returns one run; ``mbps`` is its expected rate, for the estimate of its work."""
    seconds = float(str(document["duration"]).removesuffix(" s"))
    return Run(
        {**coordinates, "repeat": int(document["seed"]) - 1}, document, mbps * MBPS * seconds / PACKET_BITS
    )


def router_of(protocol: str) -> dict[str, Any]:
    """Returns the router that a protocol needs beside the queue; none for TCP."""
    kind = protocol.split("-")[0]
    if kind == "xcp":
        return {"router": dict(XCP_ROUTER)}
    return {"router": kind} if kind in ("jetmax", "vcp") else {}
