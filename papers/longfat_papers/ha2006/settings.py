"""Settings of Ha et al. 2006 (HA), each with its source, and the scenarios made from them.

Only the slides of the talk were available; they give no rate, buffer or amount of traffic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.suite import Coordinate, Run

PAPER = (
    "Ha, Kim, Le, Rhee, Xu: A Step toward Realistic Performance Evaluation of High-Speed TCP Variants, "
    "PFLDnet 2006 (slides)"
)

ALGORITHMS: dict[str, dict[str, Any]] = {
    "reno": {"name": "reno"},
    "bic": {"name": "bic"},
    "cubic": {"name": "cubic", "variant": "2005"},
    "fast": {"name": "fast", "alpha": 200},
    "hstcp": {"name": "hstcp", "table": "nearest"},
    "htcp": {"name": "htcp", "variant": "linux"},
    "stcp": {"name": "stcp"},
    "westwood": {"name": "westwood"},
    "ltcp": {"name": "ltcp"},
    "africa": {"name": "africa"},
    "yeah": {"name": "yeah", "variant": "paper"},
    "ctcp": {"name": "ctcp", "variant": "paper"},
    "illinois": {"name": "illinois"},
    "westwood+": {"name": "westwood+"},
    "vegas": {"name": "vegas"},
    "hstcp-lp": {"name": "hstcp-lp"},
}
"""The protocols that the slides name, and the TCP variants of the later suites; `theory` has all algorithms.

Standard TCP without SACK and parallel TCP are left out, and so are transports over UDP and explicit rates,
which need their own stack or router.
"""

TITLES = {
    "reno": "TCP SACK",
    "bic": "BIC",
    "cubic": "CUBIC",
    "fast": "FAST",
    "hstcp": "HSTCP",
    "htcp": "H-TCP",
    "stcp": "STCP",
    "westwood": "Westwood",
    "ltcp": "LTCP",
    "africa": "Africa",
    "yeah": "YeAH",
    "ctcp": "Compound",
    "illinois": "Illinois",
    "westwood+": "Westwood+",
    "vegas": "Vegas",
    "hstcp-lp": "HSTCP-LP",
}
MEASURED = ("reno", "bic", "cubic", "fast", "hstcp", "htcp", "stcp")
"""The protocols for which the slides show results; the claims are about them."""
HISTORIES = ("fast", "stcp", "hstcp", "htcp", "bic", "cubic")
"""The protocols whose throughput the backup slides show, in the order of the slides."""

RATE_MBPS = 400
BUFFER = "2 MB"
HISTORY_RTT_MS = 82
LONG_RTT_MS = 162
RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (HISTORY_RTT_MS,), "full": (42, HISTORY_RTT_MS, LONG_RTT_MS)}
SHORT_RTTS_MS: dict[Mode, tuple[int, ...]] = {"quick": (16, 82), "full": (16, 42, 82, LONG_RTT_MS)}
FIRST_S, SECOND_S = 30, 130
DURATION_S: dict[Mode, int] = {"quick": 300, "full": 1200}
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Repeats of the protocols in `MEASURED`; the others are shown beside them and run once."""

WITHOUT, WITH = "without", "with"
"""Values of the coordinate `background`."""
BACKGROUNDS = (WITHOUT, WITH)

SHORT_LOAD = "15 %"
LONG_FLOWS = 8
LONG_WINDOW = 44
BACKGROUND_RTT = {"exponential": "100 ms"}
KERNEL = "linux-2.6.16"
"""The stack of all hosts: the kernel of the year of the talk."""
BACKGROUND: list[dict[str, Any]] = [
    {"kind": "short", "load": SHORT_LOAD, "rtt": BACKGROUND_RTT, "direction": "both", "stack": KERNEL},
    {
        "kind": "bulk",
        "flows": LONG_FLOWS,
        "max_window": LONG_WINDOW,
        "start": {"uniform": ["0 s", "30 s"]},
        "rtt": BACKGROUND_RTT,
        "direction": "both",
        "stack": KERNEL,
    },
]

STACK: dict[str, Any] = {"stack": KERNEL}

ROUTER_TICK = "1 ms"
"""dummynet works at the ticks of its host's clock."""

NO_RATE = f"The slides give no rate or buffer: {RATE_MBPS} Mbit/s and {BUFFER}, chosen here."
"""Part of every caption."""

COMMON_SETTINGS = (
    Setting("topology", "dumbbell, one bottleneck", "slides, Testbed Overview"),
    Setting(
        "rate and buffer", f"{RATE_MBPS} Mbit/s, {BUFFER}, drop-tail", CHOSEN_HERE + ": no slide has one"
    ),
    Setting("access links, packets", "1 Gbit/s, 1500 bytes", CHOSEN_HERE),
    Setting(
        "flows",
        f"two, from {FIRST_S} s and {SECOND_S} s on",
        "slides, Experimental Plan; within the next second, " + CHOSEN_HERE,
    ),
    Setting("duration", "1200 s", "slides, Experimental Plan"),
    Setting("RTT", "42, 82 and 162 ms; means over them", "82 and 162 ms: slides; 42 ms " + CHOSEN_HERE),
    Setting(
        "short background flows",
        f"lognormal body and Pareto tail of sizes, exponential gaps; {SHORT_LOAD} of the capacity each way",
        "slides, Background Traffic; SURGE's constants and the load " + CHOSEN_HERE,
    ),
    Setting(
        "long background flows",
        f"{LONG_FLOWS} each way, TCP SACK, at most {LONG_WINDOW} segments (64 kB, as hosts had by default)",
        "slides, Background Traffic; number and window " + CHOSEN_HERE,
    ),
    Setting(
        "background RTTs", "exponential, mean 100 ms", "backup slides: exponential; the mean " + CHOSEN_HERE
    ),
    Setting(
        "stack",
        f"{KERNEL}, of all flows",
        CHOSEN_HERE + ": the slides name no kernel; it is that of the month after the talk",
    ),
    Setting(
        "router",
        f"dummynet, which works at ticks of {ROUTER_TICK}",
        "slides, Testbed Overview (dummynet); dummynet(4) strongly recommends a clock of 1000 Hz",
    ),
    Setting(
        "FAST",
        "alpha 200 packets, fixed",
        CHOSEN_HERE + ": the value for 1 Gbit/s; two flows fill half the buffer",
    ),
    Setting("CUBIC, H-TCP, HSTCP", "variants 2005, linux, table as in Linux", CHOSEN_HERE + ": as of 2006"),
    Setting("others", "as in `longfat list algorithms`, with their defaults", CHOSEN_HERE),
    Setting(
        "repeats",
        "3, over seeds: starts and background differ; 1 for protocols without results on the slides",
        CHOSEN_HERE,
    ),
)


def repeats(mode: Mode, name: str) -> range:
    """Returns the repeats of a protocol."""
    return range(REPEATS[mode] if name in MEASURED else 1)


def scenario(
    title: str, flows: Sequence[tuple[str, int]], *, mode: Mode, background: str, repeat: int
) -> dict[str, Any]:
    """Returns a scenario of the testbed; ``flows`` are (algorithm, RTT in ms) in the order they start."""
    document: dict[str, Any] = {
        "title": title,
        "duration": f"{DURATION_S[mode]} s",
        "seed": repeat + 1,
        "window": [f"{SECOND_S} s", f"{DURATION_S[mode]} s"],
        "bottleneck": {
            "rate": f"{RATE_MBPS} Mbit/s",
            "buffer": BUFFER,
            "queue": "droptail",
            "access_rate": "1 Gbit/s",
            "service_tick": ROUTER_TICK,
        },
        "flow": [
            {
                **STACK,
                "algorithm": dict(ALGORITHMS[name]),
                "rtt": f"{rtt_ms} ms",
                "start": {"uniform": [f"{start} s", f"{start + 1} s"]},
            }
            for (name, rtt_ms), start in zip(flows, (FIRST_S, SECOND_S), strict=True)
        ],
    }
    if background == WITH:
        document["background"] = [dict(source) for source in BACKGROUND]
    return document


def run(
    mode: Mode,
    coordinates: dict[str, Coordinate],
    flows: Sequence[tuple[str, int]],
    background: str,
    repeat: int,
) -> Run:
    """Returns one run."""
    (first, first_ms), (second, second_ms) = flows
    title = f"{first} at {first_ms} ms, {second} at {second_ms} ms, {background} background"
    packets = RATE_MBPS * 1e6 * (DURATION_S[mode] - FIRST_S) / PACKET_BITS
    return Run(
        {**coordinates, "background": background, "repeat": repeat},
        scenario(title, flows, mode=mode, background=background, repeat=repeat),
        packets * (1.5 if background == WITH else 1.0),
    )
