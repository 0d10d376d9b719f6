"""The queues that are compared, the settings of their experiments, and the scenarios made from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit import citations
from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.suite import Coordinate, Run

THESIS = f"{citations.LOPEZ2008}, section 2.5.1.5"
GUIDELINES = "Kuhn, Natarajan, Khademi, Ros: Characterization Guidelines for AQM, RFC 7928, 2016"

THRESHOLDS = {"min": "31 packets", "max": "94 packets"}
"""Half and three halves of 15 ms at 50 Mbit/s, as Adaptive RED sets them around its target."""

QUEUES: dict[str, dict[str, Any]] = {
    "droptail": {"kind": "droptail"},
    "red": {"kind": "red", **THRESHOLDS},
    "adaptive-red": {"kind": "red", "adaptive": True, "target_delay": "15 ms"},
    "choke": {"kind": "choke", **THRESHOLDS},
    "blue": {"kind": "blue"},
    "sred": {"kind": "sred"},
    "codel": {"kind": "codel"},
    "fq_codel": {"kind": "fq_codel"},
    "pie": {"kind": "pie"},
}
TITLES = {
    "droptail": "drop-tail",
    "red": "RED",
    "adaptive-red": "Adaptive RED",
    "choke": "CHOKe",
    "blue": "BLUE",
    "sred": "SRED",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
}
OF_THE_THESIS = ("red", "choke", "blue", "sred")
"""The queues that sections 2.5.1.1 to 2.5.1.4 describe and 2.5.1.5 judges."""

DROPS, MARKS = "drops", "marks"
"""Values of the coordinate `signal`."""

RATE_MBPS = 50
RTT_MS = 50
BUFFER_PACKETS = 416
"""Two BDPs, 100 ms."""
NEAR_MS, FAR_MS = 20, 100
FLOWS = 20
SETTLE_S = 10
DURATION_S: dict[Mode, int] = {"quick": 60, "full": 300}
REPEATS: dict[Mode, int] = {"quick": 2, "full": 10}

FEW, MORE = 5, 25
"""Flows that stay, and flows that run only in the second third of the run."""
OFFERED = (0.5, 1.0, 2.0)
"""Rates of datagrams, as shares of the capacity."""
RESPONSIVE = (10, 64)
"""TCP flows beside the datagrams: few, and many as CHOKe's theory assumes."""
NUMBERS: dict[Mode, tuple[int, ...]] = {"quick": (5, 10, 20, 50, 100), "full": (2, 5, 10, 20, 50, 100, 200)}

SACK: dict[str, Any] = {"algorithm": "reno"}
START = {"uniform": ["0 s", "5 s"]}

HIGH_MBPS, LOW_MBPS = 100, 10
"""The capacities of RFC 7928, section 8.2.6, with the values of ns-3's aqm-eval-suite."""
SLOW, FAST = "slow", "fast"
"""Values of the coordinate `change`."""
CHANGE_S = {SLOW: 20.0, FAST: 0.1}
"""How long each capacity lasts: experiments 1 and 2 of RFC 7928, section 8.2.6."""

CHOKE_BOUND = 1.0 / (1.0 + math.e)
"""The greatest share of the capacity that CHOKe leaves datagrams (Tang, Wang, Low 2004)."""
AROUND_PIE, ABOVE_BURSTS = (31, 94), (100, 300)
"""Thresholds of CHOKe, packets: those of the other experiments, and greater ones."""
LONG_BUFFER_PACKETS = 1000
BOUND_OFFERED = (0.5, 1.0, 2.0, 4.0)
"""Rates of datagrams at which CHOKe's bound is tested, as shares of the capacity."""

COMMON_SETTINGS = (
    Setting("bottleneck", f"{RATE_MBPS} Mbit/s, {BUFFER_PACKETS} packets (two BDPs)", CHOSEN_HERE),
    Setting("capacity", "constant unless stated otherwise", CHOSEN_HERE),
    Setting("flows", f"TCP SACK, {RTT_MS} ms unless stated otherwise, starts within 5 s", CHOSEN_HERE),
    Setting(
        "RED, CHOKe",
        "thresholds 31 and 94 packets",
        CHOSEN_HERE + ": around 15 ms, PIE's target; the defaults aim at 5 ms, a tenth of the RTT",
    ),
    Setting("Adaptive RED", "target 15 ms", CHOSEN_HERE),
    Setting("others", "as in `longfat list queues`, with their defaults", CHOSEN_HERE),
    Setting("marks", "ECN (RFC 3168) in the queue and in all flows of TCP", "RFC 7928"),
    Setting("duration, repeats", f"300 s, measured from {SETTLE_S} s on; 10 repeats over seeds", CHOSEN_HERE),
)


def scenario(
    title: str,
    mode: Mode,
    queue: str,
    signal: str,
    flows: Sequence[dict[str, Any]],
    repeat: int,
    bottleneck: dict[str, Any],
) -> dict[str, Any]:
    """Returns a scenario; ``flows`` and ``bottleneck`` hold what differs from the common settings."""
    marks = {"ecn": True} if signal == MARKS else {}
    return {
        "title": title,
        "duration": f"{DURATION_S[mode]} s",
        "seed": repeat + 1,
        "window": [f"{SETTLE_S} s", f"{DURATION_S[mode]} s"],
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": f"{BUFFER_PACKETS} packets",
            "queue": QUEUES[queue] | marks,
            **bottleneck,
        },
        "flow": [{"rtt": f"{RTT_MS} ms", "start": START, **marks, **flow} for flow in flows],
        "sample": {"queue": "10 ms"},
    }


def run(
    mode: Mode,
    coordinates: dict[str, Coordinate],
    queue: str,
    signal: str,
    flows: Sequence[dict[str, Any]],
    repeat: int,
    bottleneck: dict[str, Any] | None = None,
) -> Run:
    """Returns one run; ``bottleneck`` has the keys that differ from the common settings."""
    at = {"queue": queue, "signal": signal, **coordinates}
    title = ", ".join(str(value) for value in at.values())
    return Run(
        {**at, "repeat": repeat},
        scenario(title, mode, queue, signal, flows, repeat, bottleneck or {}),
        RATE_MBPS * 1e6 * DURATION_S[mode] / PACKET_BITS,
    )


def can_mark(queue: str) -> bool:
    """Returns whether a queue of `QUEUES` can mark packets."""
    return queue != "droptail"


def alternating(mode: Mode, change: str) -> dict[str, Any]:
    """Returns a rate that alternates between `HIGH_MBPS` and `LOW_MBPS`, the higher first, until the end."""
    span_s = CHANGE_S[change]
    steps = round(DURATION_S[mode] / span_s)
    return {
        "steps": [
            [f"{round(number * span_s, 3):g} s", f"{(HIGH_MBPS, LOW_MBPS)[number % 2]} Mbit/s"]
            for number in range(steps)
        ]
    }
