"""Settings of the suite `relatives`: the papers as opened, the flows, and scenarios with one bottleneck.

The systems are those that the papers of the other suites name without studying them. Several of their papers
could be read only as an abstract or through a description; each citation says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from longfat.units import PACKET_BITS
from longfat.words import Mode
from longfat_papers.kit import citations
from longfat_papers.kit.claims import CHOSEN_HERE, Setting
from longfat_papers.kit.suite import Coordinate, Run

THESIS = f"{citations.LOPEZ2008}, section 7.4"
RCP = (
    "Dukkipati, McKeown: Why Flow-Completion Time is the Right Metric for Congestion Control, CCR 36(1), "
    "2006 "
    "(abstract; summary of the project; settings of its figures from a published reproduction)"
)
SHARING = (
    "Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS 2005 "
    "(abstract)"
)
MAXNET = (
    "Wydrowski, Zukerman: MaxNet: A congestion control architecture, IEEE Communications Letters, 2002 "
    "(abstract)"
)
STABLE_MAXNET = "Implementation of Provably Stable MaxNet (abstract)"
ERICA_FORUM = (
    "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm: A Complete Description, ATM "
    "Forum/96-1172, 1996 (abstract)"
)
ERICA = (
    "Kalyanaraman, Jain, Fahmy, Goyal, Vandalore: The ERICA Switch Algorithm for ABR Traffic Management in "
    "ATM Networks, IEEE/ACM ToN 8(1), 2000 (abstract)"
)
ERICA_FRACTION = "the description of ERICA+ in arXiv:cs/9809040, section 4"
CADPC = (
    "Welzl: Scalable Performance Signalling and Congestion Avoidance, Kluwer, 2003 (its author's summary, "
    "end2end-interest, 26 August 2003)"
)
TRI_S = (
    "Wang, Crowcroft: A New Congestion Control Scheme: Slow Start and Search (Tri-S), CCR 21(1), 1991 "
    "(abstract, "
    "from memory, not verified)"
)
SABUL = (
    "Gu, Grossman: SABUL: A Transport Protocol for Grid Computing, Journal of Grid Computing 1, 2003 "
    "(abstract)"
)
EARLY_SABUL = (
    "Gu, Hong, Mazzucco, Grossman: SABUL: A High Performance Data Transfer Protocol (abstract and "
    "introduction)"
)
RBUDP = (
    "He, Leigh, Yu, DeFanti: Reliable Blast UDP: Predictable High Performance Bulk Data Transfer, Cluster "
    "Computing 2002 (abstract and the project's page)"
)
TSUNAMI = (
    "Faster Bulk Transfer Starring: UDP, Oak Ridge National Laboratory (its account of Tsunami; the report "
    "of "
    "Tsunami's authors was not available)"
)

FLOWS: dict[str, dict[str, Any]] = {
    "rcp": {"algorithm": "rcp", "mss": "1436 B"},
    "maxnet": {"algorithm": "maxnet", "mss": "1444 B"},
    "erica": {"algorithm": "erica", "mss": "1440 B"},
    "xcp": {"algorithm": "xcp", "mss": "1428 B"},
    "reno": {"algorithm": "reno"},
    "newreno": {"algorithm": "newreno"},
    "vegas": {"algorithm": "vegas"},
    "tri_s": {"algorithm": "tri_s"},
    "cadpc": {"algorithm": "cadpc"},
    "udt": {"algorithm": "udt"},
    "sabul": {"algorithm": "sabul"},
    "rbudp": {"algorithm": {"name": "rbudp", "rate": "1000 Mbit/s"}},
    "tsunami": {"algorithm": {"name": "tsunami", "target_rate": "965 Mbit/s"}},
}
"""The table of a flow of each system, and of those that it is compared with. All packets have 1500 bytes."""
TITLES = {
    "rcp": "RCP",
    "maxnet": "MaxNet",
    "erica": "ERICA",
    "xcp": "XCP",
    "reno": "TCP SACK",
    "newreno": "TCP NewReno",
    "vegas": "TCP Vegas",
    "tri_s": "Tri-S",
    "cadpc": "CADPC",
    "udt": "UDT",
    "sabul": "SABUL",
    "rbudp": "RBUDP",
    "tsunami": "Tsunami",
}
ROUTERS = {"rcp": "rcp", "maxnet": "maxnet", "erica": "erica", "xcp": "xcp", "cadpc": "ptp"}
"""The router that a system needs beside the queue."""
TARGETS = {"rcp": 1.0, "maxnet": 0.95, "erica": 0.9, "reno": 1.0, "cadpc": 1.0}
"""The share of a link that a system's flows are to use: the target of its router, or all."""

OTHER, SCOUT = "udp", "scout"
"""Prefixes of the names of flows that are not measured."""

REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
SAMPLE_S = 0.1
SMALL_START_S = 0.1
"""Starts are drawn from this time, so that repeats differ."""

SHARE_MBPS, SHARE_RTT_MS = 100, 100
SHARE_FLOWS: dict[Mode, tuple[int, ...]] = {"quick": (2, 10), "full": (2, 5, 10, 20)}
JOIN_S, SHARE_S = 10.0, 20.0
"""The last flow joins, and the run ends."""
SPAN_RTTS = 10
"""Rates are averaged over so many round-trip times."""
SETTLED_S = 5.0
"""Utilization and queue count over so many seconds before the end."""
TOGETHER, JOINING = "together", "joining"
"""Values of the coordinate `case` of `shares`."""

SHORT_MBPS: dict[Mode, int] = {"quick": 600, "full": 2400}
SHORT_RTT_MS = 100
SHORT_S: dict[Mode, int] = {"quick": 20, "full": 40}
SHORT_LOAD = 0.9
SHORT_SHAPE, SHORT_MEAN = 1.2, 25
"""The Pareto distribution of the sizes: tail index, and mean in packets without a greatest size."""
SHORT_GAINS = {"alpha": 0.1, "beta": 1.0}
"""RCP's gains in the authors' scripts for completion times."""
SHORT_BINS = ((5, 30), (30, 300), (300, 3000))
"""Packets of the flows whose completion times are averaged together."""
SHORT_COUNTED = (0.2, 0.7)
"""Shares of the run between which a counted flow begins: most of them end within it."""
SHORTS = ("rcp", "xcp", "reno")

LOT_MBPS, LOT_RTT_MS = 100, 60
LOT_CROSS = (1, 2, 3)
"""Flows that cross each link of the parking lot beside the one that crosses all."""
LOT_S: dict[Mode, int] = {"quick": 40, "full": 80}
LOTS = ("maxnet", "erica", "rcp", "cadpc", "reno")

POINT_MBPS, POINT_RTT_MS, POINT_S = 100, 50, 60
POINT_FLOWS: dict[Mode, tuple[int, ...]] = {"quick": (1, 2, 4, 8), "full": (1, 2, 4, 8, 16, 32)}
POINT_SPAN_S = 20.0
"""CADPC's rates count over so many seconds before the end."""

HARMED_MBPS, HARMED_RTT_MS, HARMED_S, HARMED_FROM_S = 100, 50, 60, 30.0
HARMED_JOIN_S = 10.0
PAIR = 2
"""CADPC's flows, and as many of TCP."""

SLOW_MBPS, SLOW_RTT_MS, SLOW_S = 10, 50, 120
SLOW_FROM_S = 60.0
SLOW_FLOWS: dict[Mode, tuple[int, ...]] = {"quick": (1, 4), "full": (1, 2, 4, 8)}
STAGGER_S = 5.0
SLOWS = ("tri_s", "vegas", "newreno")
MIXED = 2
"""Flows of Tri-S beside as many of Vegas."""

FAST_MBPS, FAST_RTT_MS = 1000, 100
FAST_LOSS = 1e-3
FAST_S: dict[Mode, int] = {"quick": 40, "full": 120}
FAST_BYTES: dict[Mode, int] = {"quick": 2, "full": 8}
"""GB of a transfer."""
FASTS = ("sabul", "rbudp", "tsunami", "udt", "reno")
SMALL_GB = 0.1
"""The smaller transfer of RBUDP's prediction."""
LOSSY, LOSSY_RTT_MS, LOSSY_S = 0.03, 150, 30
"""Tsunami's demonstration: losses, and a path from Brussels to Seattle."""
DELAYS_MS, DELAYS_MBPS = (20, 100), 300
DELAYS_S = 60.0
BESIDE_S, BESIDE_JOIN_S, BESIDE_FROM_S = 40.0, 10.0, 20.0
BESIDES = ("reno", "sabul", "rbudp", "tsunami")

WRAPPED = ("rcp", "maxnet", "erica")
CLOUD_MBPS, EDGE_MBPS = 100, 1000
CLOUD_RTT_MS = 100
CLOUD_BEGIN_S, CLOUD_S, CLOUD_FROM_S = 2.0, 32.0, 12.0
"""Flows begin, the run ends, the rate counts; before, a short flow has created the virtual routers."""
MIX_MBPS, MIX_RTT_MS, MIX_BUFFER_MS = 200, 20, 60
MIX_JOIN_S, MIX_S, MIX_FROM_S = 10.0, 60.0, 30.0
MIX_TCP = 2
ACKS_MBPS, ACKS_RTT_MS, ACKS_S, ACKS_FLOWS = 200, 100, 60, 3
ACKS_LOSS = 0.3
ACKS_EVERY_S = 10
ACKS_OTHERS_MBPS = 100
"""Datagrams that take half of the link in every second period of `ACKS_EVERY_S`."""
PLAIN, WRAPPING = "plain", "wrapped"
"""Values of the coordinate `case` of the experiments with a mechanism of the thesis."""

COMMON_SETTINGS = (
    Setting(
        "parameters of the systems",
        "Longfat's defaults of each system (docs/models); but RBUDP sends at "
        f"{FLOWS['rbudp']['algorithm']['rate']} and Tsunami's target is "
        f"{FLOWS['tsunami']['algorithm']['target_rate']}",
        "the table of each model's page; the rates: the link's, " + CHOSEN_HERE,
    ),
    Setting(
        "mss",
        "default; with explicit headers "
        + ", ".join(f"{TITLES[name]} {table['mss']}" for name, table in FLOWS.items() if "mss" in table),
        CHOSEN_HERE + ": all packets have 1500 bytes",
    ),
    Setting("buffer", "one round-trip time at the link's rate", CHOSEN_HERE),
    Setting("starts", f"each within {SMALL_START_S:g} s", CHOSEN_HERE + ", so that repeats differ"),
    Setting("repeats", f"{REPEATS['full']}, over seeds; {REPEATS['quick']} in quick mode", CHOSEN_HERE),
)
SHARE_SETTINGS = (
    Setting(
        "bottleneck",
        f"{SHARE_MBPS} Mbit/s, {SHARE_RTT_MS} ms",
        CHOSEN_HERE + "; the abstracts print none",
    ),
    Setting("flows", "the last begins 10 s after the others", CHOSEN_HERE),
)
SCRIPTS = "the authors' ns-2 scripts, as a published reproduction runs them (anjoola/cs244-rcp, run.sh)"
SHORT_SETTINGS = (
    Setting(
        "bottleneck",
        f"{SHORT_MBPS['full']} Mbit/s, in quick mode {SHORT_MBPS['quick']}; {SHORT_RTT_MS} ms",
        SCRIPTS + "; the quick rate was " + CHOSEN_HERE,
    ),
    Setting("load", f"{SHORT_LOAD:g}", SCRIPTS),
    Setting(
        "sizes",
        f"Pareto, tail index {SHORT_SHAPE:g}, mean {SHORT_MEAN} packets, at most 10 MB",
        SCRIPTS + "; the greatest size was " + CHOSEN_HERE,
    ),
    Setting("RCP", f"alpha {SHORT_GAINS['alpha']:g}, beta {SHORT_GAINS['beta']:g}", SCRIPTS),
    Setting("arrivals", "a Poisson process, with no flows at first", "abstract: new flows arrive randomly"),
)
LOT_SETTINGS = (
    Setting(
        "parking lot",
        f"three links of {LOT_MBPS} Mbit/s; one flow crosses all, {', '.join(map(str, LOT_CROSS))} others "
        "cross one each",
        CHOSEN_HERE,
    ),
    Setting("round-trip times", f"{LOT_RTT_MS} ms, all flows", CHOSEN_HERE),
)
POINT_SETTINGS = (Setting("bottleneck", f"{POINT_MBPS} Mbit/s, {POINT_RTT_MS} ms", CHOSEN_HERE),)
HARMED_SETTINGS = (
    Setting(
        "path",
        f"{HARMED_MBPS} Mbit/s, {HARMED_RTT_MS} ms; behind the link that PTP reports on, one of the same "
        "rate "
        "with or without the mechanism",
        CHOSEN_HERE + ": a link has one router",
    ),
    Setting("flows", f"{PAIR} of TCP SACK from 0 s, {PAIR} of CADPC from {HARMED_JOIN_S:g} s", CHOSEN_HERE),
)
SLOW_SETTINGS = (
    Setting("bottleneck", f"{SLOW_MBPS} Mbit/s, {SLOW_RTT_MS} ms", CHOSEN_HERE),
    Setting("flows", f"{STAGGER_S:g} s apart", CHOSEN_HERE),
)
FAST_SETTINGS = (
    Setting(
        "path",
        f"{FAST_MBPS / 1000:g} Gbit/s, {FAST_RTT_MS} ms, {100 * FAST_LOSS:g} % random loss",
        CHOSEN_HERE + ": a long fat path with losses that stop TCP",
    ),
    Setting("transfer", f"{FAST_BYTES['full']} GB, in quick mode {FAST_BYTES['quick']} GB", CHOSEN_HERE),
    Setting(
        "sending rate of RBUDP and Tsunami",
        "the link's rate, 965 Mbit/s of payload",
        "the user's choice; " + CHOSEN_HERE,
    ),
)
BESIDE_SETTINGS = (
    Setting("path", f"{FAST_MBPS / 1000:g} Gbit/s, {FAST_RTT_MS} ms, no random loss", CHOSEN_HERE),
    Setting("flows", f"TCP SACK from 0 s, the other from {BESIDE_JOIN_S:g} s", CHOSEN_HERE),
)
CLOUD_SETTINGS = (
    Setting(
        "path",
        f"edges of {EDGE_MBPS} Mbit/s with the system's routers, between them a cloud of {CLOUD_MBPS} "
        "without; "
        f"{CLOUD_RTT_MS} ms",
        "as in lopez2008's run of JetMax",
    ),
    Setting("estimate", "oracle", "thesis, 4.6.1"),
)
MIX_SETTINGS = (
    Setting(
        "bottleneck",
        f"{MIX_MBPS} Mbit/s, {MIX_RTT_MS} ms, {MIX_BUFFER_MS} ms of buffer",
        CHOSEN_HERE + ": the thesis's chapter 6 has 1 Gbit/s",
    ),
    Setting(
        "flows",
        f"one explicit flow from 0 s, {MIX_TCP} of TCP NewReno from {MIX_JOIN_S:g} s",
        "thesis, Fig. 6.3",
    ),
    Setting("update", "with each packet of other traffic", "as in lopez2008's experiments of chapter 6"),
)
ACKS_SETTINGS = (
    Setting(
        "path",
        f"{ACKS_MBPS} Mbit/s, {ACKS_RTT_MS} ms, {ACKS_FLOWS} flows",
        "thesis, Figs. 5.8 to 5.10",
    ),
    Setting(
        "datagrams",
        f"{ACKS_OTHERS_MBPS} Mbit/s in every second {ACKS_EVERY_S} s",
        CHOSEN_HERE + "; the thesis has a finer staircase",
    ),
    Setting("losses of ACKs", f"none and {100 * ACKS_LOSS:g} %, independent", "thesis, Figs. 5.8 to 5.10"),
)


def repeats(mode: Mode) -> range:
    """Returns the numbers of the repeats."""
    return range(REPEATS[mode])


def flow(system: str, name: str, start_s: float = 0.0, **more: Any) -> dict[str, Any]:
    """Returns the table of a flow, which begins within a short time after ``start_s``."""
    start = {"uniform": [f"{start_s:g} s", f"{start_s + SMALL_START_S:g} s"]}
    return {**FLOWS[system], "name": name, "start": start, **more}


def name_of(system: str) -> str:
    """Returns the name of a system's only flow. A run draws by it: TCP's drew what docs/validation.md has."""
    return "sack" if system == "reno" else system


def router_of(system: str) -> dict[str, Any]:
    """Returns the router that a system needs beside the queue; none for TCP and the other transports."""
    return {"router": ROUTERS[system]} if system in ROUTERS else {}


def dumbbell(
    title: str,
    bottleneck: Mapping[str, Any],
    flows: Iterable[Mapping[str, Any]],
    *,
    duration_s: float,
    repeat: int,
    rtt_ms: float,
    **more: Any,
) -> dict[str, Any]:
    """Returns a scenario with one bottleneck and a buffer of one round-trip time."""
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "seed": repeat + 1,
        "bottleneck": {"buffer": f"{rtt_ms:g} ms", **bottleneck},
        "flow": [{"rtt": f"{rtt_ms:g} ms", **table} for table in flows],
        "sample": {"cwnd": f"{SAMPLE_S:g} s", "queue": f"{SAMPLE_S:g} s"},
        **more,
    }


def run(coordinates: Mapping[str, Coordinate], document: Mapping[str, Any], mbps: float) -> Run:
    """Returns one run; ``mbps`` is its expected rate, for the estimate of its work."""
    seconds = float(str(document["duration"]).removesuffix(" s"))
    repeat = int(document["seed"]) - 1
    return Run({**coordinates, "repeat": repeat}, document, 1e6 * mbps * seconds / PACKET_BITS)
