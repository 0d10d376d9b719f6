"""Settings of Li, Leith, Shorten 2007 (LLS), each with its source, and what the figures share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longfat.units import PACKET_BITS
from longfat_papers.kit import (
    CHOSEN_HERE,
    Check,
    Coordinate,
    Curve,
    Measured,
    Mode,
    Panel,
    Paper,
    Run,
    Runs,
    Setting,
    by_algorithm,
    held,
    repeats_text,
    seconds,
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
SHORT_RTTS_MS = (16, 22, 42, 82, 122, 162)
"""RTTs of flow 2 in Figs. 10 and 15."""
LONG_RTT_MS = 162
"""Figs. 10 and 13: the round-trip time of flow 1."""
LEVEL_FROM_MS = 82
"""LLS Fig. 14: H-TCP's convergence time levels off from this RTT on."""
LOW_MBPS, HIGH_MBPS = 10, 250
"""The "low and high-speed network conditions" of section V."""
QUEUE_PERCENT = 20
"""The usual queue, % BDP."""

STACK = "linux-2.6.6-altaimd"
"""The common kernel and the hosts' adapters: Table I and Appendix I."""
ROUTER_TICK = "1 ms"
"""Period of dummynet with HZ=1000."""
TIMER_TICK = "1 ms"
"""V-D, V-G: the hosts' HZ is 1000. It drives timers, and so FAST-TCP's pacing."""

DURATION_S = 600.0
"""Also what a convergence that was never reached counts as in a claim's figure."""
LONGEST_S: dict[Mode, float] = {"quick": 1200.0, "full": 3600.0}
EPOCHS = 20
"""Standard TCP runs for this many congestion epochs, within ten minutes and the mode's longest time."""
REPEATS: dict[Mode, int] = {"quick": 1, "full": 5}
LOW_REPEATS: dict[Mode, int] = {"quick": 2, "full": 5}
"""At 10 Mbit/s."""

SINGLE_START = {"uniform": ["0 s", "1 s"]}
FIRST_START, SECOND_START = "0 s", {"uniform": ["20 s", "80 s"]}

FAIR = 0.95
"""F3a, F9: least ratio of throughputs that share to within 5 %."""
UNFAIR = 0.05
"""F3b, F7: unfairness, which is 1 less the ratio, above which flows share less evenly than that."""
CONVERGED = 0.8
"""F4, F8, F11: the paper's own 80 %."""
LEAST = 1e-4
"""Lesser ratios and unfairnesses count as this in a claim's figure."""
NEVER = math.inf

CHOSEN = "Numbers chosen here."
SHARED = "Mean over repeats, from the start of flow 2 to the end of the run."
LATE = "Mean over repeats of the ratio over the later half of the time both flows run."
CONVERGENCE = (
    "Time from flow 2's start until its short-term average (eq. 2, lambda = delta / (100 RTT), delta 0.1 s) "
    "is 80 % of flow 1's, within 600 s; mean over the repeats that converge, or never if most do not."
)

RTT_AXIS = "propagation RTT, ms"
RTT_2_AXIS = "propagation RTT of flow 2, ms"
FINEST_RATIO = 1e-4
"""Lesser ratios are drawn here, so that a starved flow stays visible on a logarithmic axis."""
RATIO_RANGE = (FINEST_RATIO, 10.0)

SETTINGS = (
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

PAPER = Paper(
    "li2007",
    "LLS",
    "Experimental Evaluation of TCP Protocols for High-Speed Networks",
    "Li, Leith, Shorten: Experimental Evaluation of TCP Protocols for High-Speed Networks, IEEE/ACM ToN 2007",
    settings=SETTINGS,
    estimator=SHARED,
)

Flow = tuple[str, int]
"""A flow's algorithm and its RTT in ms."""


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


def duration(mode: Mode, algorithms: Sequence[str], epoch_s: float) -> str:
    """Returns how long a test runs: 600 s, or with standard TCP `EPOCHS` of its epochs, in whole minutes."""
    wanted = math.ceil(EPOCHS * epoch_s / 60.0) * 60.0 if "reno" in algorithms else DURATION_S
    return f"{min(max(wanted, DURATION_S), LONGEST_S[mode]):g} s"


def host(algorithm: str) -> dict[str, str]:
    """Returns the transport keys of a host that runs this algorithm."""
    return {"stack": STACK} | ({"host_tick": TIMER_TICK} if algorithm == "fast" else {})


def link(rate_mbps: float, queue_percent: float = QUEUE_PERCENT) -> dict[str, Any]:
    """Returns the bottleneck of the testbed."""
    return {
        "rate": f"{rate_mbps:g} Mbit/s",
        "buffer": f"{queue_percent:g} % BDP",
        "queue": "droptail",
        "access_rate": "1 Gbit/s",
        "service_tick": ROUTER_TICK,
    }


def flow(name: str, rtt_ms: float, start: object, change: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Returns a flow; ``change`` overrides parameters of its algorithm."""
    algorithm = {**ALGORITHMS[name], **(change or {})}
    return {**host(name), "algorithm": algorithm, "rtt": f"{rtt_ms:g} ms", "start": start}


def pair(
    mode: Mode,
    rate_mbps: int,
    first: Flow,
    second: Flow,
    queue_percent: int = QUEUE_PERCENT,
    change: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Returns the scenario of two flows; the second joins the first. The BDP of the queue is the first's."""
    share, rtt_s = queue_percent / 100.0, max(first[1], second[1]) / 1000.0
    bottleneck = link(rate_mbps, queue_percent)
    if first[1] != second[1]:
        bottleneck["buffer_rtt"] = f"{first[1]} ms"
    epoch_s = standard_epoch_s(rate_mbps * 1e6, rtt_s, share, 2)
    return {
        "title": f"{first[0]} at {first[1]} ms and {second[0]} at {second[1]} ms over {rate_mbps} Mbit/s",
        "duration": duration(mode, (first[0], second[0]), epoch_s),
        "bottleneck": bottleneck,
        "flow": [flow(*first, FIRST_START, change), flow(*second, SECOND_START, change)],
    }


def pairs(
    mode: Mode,
    flows: Callable[[str, int], tuple[Flow, Flow]],
    names: Iterable[str] = ALGORITHMS,
    rtts_ms: Callable[[int], Sequence[int]] = lambda rate_mbps: RTTS_MS,
    queue_percent: int = QUEUE_PERCENT,
    **more: int,
) -> list[Run]:
    """Returns pairs at both rates, with each algorithm and each RTT; ``more`` are further coordinates."""
    found = []
    for name in names:
        for rate, repeats in ((LOW_MBPS, LOW_REPEATS[mode]), (HIGH_MBPS, REPEATS[mode])):
            for rtt in rtts_ms(rate):
                document = pair(mode, rate, *flows(name, rtt), queue_percent)
                place: dict[str, Coordinate] = {"algorithm": name, "rate_mbps": rate, "rtt_ms": rtt, **more}
                found += [
                    Run({**place, "repeat": repeat}, {"seed": repeat + 1, **document})
                    for repeat in range(repeats)
                ]
    return found


def like_flows(mode: Mode) -> list[Run]:
    """Two flows of one algorithm with one RTT (Figs. 3 and 14, III-E-ii)."""
    return pairs(mode, lambda name, rtt: ((name, rtt), (name, rtt)))


def rate_panels(
    runs: Runs,
    quantity: str,
    y_label: str,
    title: str = "{} Mbit/s",
    *,
    x_label: str = RTT_AXIS,
    more: tuple[Curve, ...] = (),
    y_log: bool = False,
    y_range: tuple[float, float] | None = None,
    **options: Any,
) -> list[Panel]:
    """Returns a quantity over the RTT, a panel for each rate; ``options`` are those of `by_algorithm`."""
    return [
        Panel(
            title.format(rate),
            x_label,
            y_label,
            (*by_algorithm(runs.where(rate_mbps=rate), "rtt_ms", quantity, TITLES, **options), *more),
            y_log=y_log,
            y_range=y_range,
        )
        for rate in runs.distinct("rate_mbps")
    ]


def standard_panels(runs: Runs, x_label: str) -> tuple[Panel, ...]:
    """Returns the throughput of standard TCP over that of a new protocol."""
    panels = rate_panels(
        runs, "first_to_second", "standard / new", x_label=x_label, y_log=True, least=FINEST_RATIO
    )
    return tuple(panels)


def repeated(runs: Runs) -> str:
    """Says in a caption how many runs a point stands for."""
    counts = {
        f"at {rate} Mbit/s": len(runs.where(rate_mbps=rate).distinct("repeat"))
        for rate in runs.distinct("rate_mbps")
    }
    return repeats_text(counts)


def points(runs: Runs) -> list[tuple[int, int, Runs]]:
    """Returns the rate and the RTT of each point, and its runs."""
    return [
        (rate, rtt, at.where(rtt_ms=rtt))
        for rate in runs.distinct("rate_mbps")
        for at in [runs.where(rate_mbps=rate)]
        for rtt in at.distinct("rtt_ms")
    ]


def least(runs: Runs, quantity: str) -> float:
    """Returns the least mean of a quantity at any rate and RTT."""
    return min(at.mean(quantity) for _, _, at in points(runs))


def share(label: str, checks: Sequence[Check]) -> Measured:
    """Returns the share of checks that hold, which is 1 in the paper, as a claim's figure."""
    return Measured(label, held(checks) / len(checks), published=1.0)


def times_by_rtt(runs: Runs, quantity: str = "convergence_80_s") -> dict[int, float]:
    """Returns the time to converge at each RTT; `NEVER` if most repeats do not."""
    found = {rtt: runs.where(rtt_ms=rtt).mean_stderr_reached(quantity)[0] for rtt in runs.distinct("rtt_ms")}
    return {rtt: NEVER if math.isnan(time) else time for rtt, time in found.items()}


def times_text(times: Mapping[int, float]) -> str:
    """Writes the time at each RTT."""
    return ", ".join(f"{rtt} ms {seconds(value)}" for rtt, value in times.items())


def time_figure(label: str, runs: Runs, published: float | None = None) -> Measured:
    """Returns a convergence time over repeats as a claim's figure."""
    time, error = runs.mean_stderr_reached("convergence_80_s")
    time = DURATION_S if math.isnan(time) else time
    return Measured(f"{label}: s to converge ({DURATION_S:g}: never)", time, error, published, log=True)
