"""Settings of Lopez Pacheco 2008 (LOP), each with its source, and the scenarios with one bottleneck.

The claims 2a, 2b and 2f are in the suite `theory`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Literal

from longfat_papers.kit import Declaration, Mode, Paper, Setting, citations, settings
from longfat_papers.lopez2008.reduction import DATAGRAMS, Span, reduce_run

MSS = "1024 B"
PACKET_BITS = 8.0 * 1076.0
"""A segment of 1024 bytes with TCP's headers."""
MBPS = 1e6

TITLES = {
    "newreno": "TCP NewReno",
    "reno": "TCP SACK",
    "hstcp": "HSTCP",  # tcl/test/test-suite-tcpHighspeed.tcl runs windowOption_ 8 in Agent/TCP/Sack1
    "cubic": "CUBIC",
    "xcp": "XCP",
    "xcp-r": "XCP-r",
    "xcp-r-first": "XCP-r, first formula",
    "jetmax": "JetMax",
    "jetmax-r": "JetMax-r",
    "vcp": "VCP",
}
STACK: dict[str, Any] = {"stack": "ns-2", "mss": MSS}
"""Options of all flows: ns-2's one-way agents, whose sink acknowledges each packet. XCP's is Reno's."""
OPTIONS: dict[str, dict[str, Any]] = {
    "xcp-r": {"algorithm": {"name": "xcp-r", "variant": "mirror"}},
    "xcp-r-first": {"algorithm": {"name": "xcp-r", "variant": "first"}},
    **{name: {"loss_detection": "newreno"} for name in ("jetmax", "jetmax-r", "vcp")},
}
"""Options of the flows of some protocols."""

XCP_ROUTER: dict[str, Any] = {"kind": "xcp", "restarts": True}
"""ns-2's XCP router: after an interval without packets the next one has 50 ms (xcp/xcpq.cc, Te_timeout)."""
ROUTERS: dict[str, Any] = {"xcp": XCP_ROUTER, "jetmax": "jetmax", "vcp": "vcp"}
"""The router that a protocol needs beside the queue; TCP needs none."""

SMALL_START_S = 0.1
"""Starts are drawn from this time, so that repeats differ."""
REPEATS: dict[Mode, int] = {"quick": 1, "full": 5}
BEYOND_REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Repeats of what the thesis did not try."""
SAMPLE_S = 0.1

FAIR = 0.95
"""Jain's index (2c to 2e, 5b)."""
NEAR = 0.1
"""Bounds around a number of the thesis (3a, 3b, 3d, 5e)."""
SHORT_SPAN_S = 5.0
"""Averages of chapters 2 and 3 are taken over this time; an overshoot follows a fall within it."""

BDP = "100 % BDP"
VBE_BUFFER = 12_500
"""Packets (3.1.2, 3.2.1, 5.2.1)."""
UDP_MBPS = 50
SINE_MBPS = (1000.0, 300.0)
SINE_PERIOD_S = 32.0
STAIRS_EVERY_S = 10
STAIRS_MBPS = (
    1000, 850, 700, 800, 950, 600, 750, 450, 550, 700,
    300, 350, 500, 650, 800, 900, 1000, 650, 300, 500,
)  # fmt: skip
"""What datagrams leave of 1 Gbit/s in each period of 10 s. Fig. 3.11 has no numbers; these fall by more than
150 Mbit/s where the text says that XCP overshoots, and rise fast from 120 s on."""

ACKS_RTT_MS, ACKS_FLOWS, ACKS_S, ACKS_MBPS = 150, 10, 100, 1000
ACKS_FALLS_S = (5.0, 55.0)
AFTER_FALL_S = 10.0
ACKS_LEFT_MBPS = ((0, 1000), (5, 750), (15, 800), (25, 900), (35, 850), (45, 1000), (55, 750), (65, 850),
                  (75, 950), (85, 900), (95, 1000))  # fmt: skip
"""What 0 to 5 datagram flows leave. Fig. 5.2 has no numbers; these fall from 1000 to 750 Mbit/s at 5 and 55 s
and change less elsewhere."""
PLAIN, LOSING, MIRRORED = ("xcp", 0.0), ("xcp", 0.1), ("xcp-r", 0.1)
"""The cases of Table 5.1."""
SILENCE_FROM_S = 2.0
"""A flow's silence counts from here on (5c, 5d)."""

THREE_RTT_MS, THREE_MBPS, THREE_S = 100, 200, 60
THREE_LEFT_MBPS = ((0, 200), (5, 50), (10, 100), (15, 150), (20, 100), (25, 200), (30, 50), (35, 100),
                   (40, 150), (45, 200), (50, 150))  # fmt: skip
"""Figs. 5.8 to 5.10: between 200 and 50 Mbit/s, the greatest changes at 5 and 30 s."""
THREE_CASES = (("xcp", 0.0), ("xcp", 0.3), ("xcp-r", 0.3))

VCP_JOIN_S, STAGED_EVERY_S, STAGED_FOR_S = 50, 15, 75
INEFFICIENT_S = (16.0, 48.0)
NEVER_FROM_S = 20.0
"""The rate that NewReno never reaches on the sine holds from here on (3b)."""
SINE_S, STAIRS_S = 100, 200
HARD_S, HARDER_S = (120.0, 150.0), (120.0, 170.0)
OVERSHOOTS_S = (50.0, 70.0, 100.0, 170.0, 180.0)
SETTLE_S = 5.0
"""How long after a flow has come or gone a stage begins (Figs. 2.11 and 2.12)."""

ONE_RTT_MS, ONE_MBPS = 100, 1000
"""5.1.1."""
FORMULA_RTTS_MS, FORMULA_SPAN_S = (40, 160), (10.0, 30.0)
"""5.3: rates count in this span, which ends with the run."""

Steps = Sequence[tuple[float, float]]
"""Times in s, and the rate in Mbit/s from each time on."""
Variation = Literal["sine", "steps", "acks", "three"]
Document = dict[str, Any]
Case = tuple[str, float]
"""A protocol and its loss of ACKs."""

PAPER = Paper(
    "lopez2008",
    "LOP",
    "Explicit-rate protocols in heterogeneous networks",
    citations.LOPEZ2008,
    settings=settings(f"""
simulator | ns-2.30 with Katabi's XCP | 3.1.3.2, 4.6
segments | 1024 bytes of payload | 3.1.3.1; headers of 40 bytes, 12 for timestamps, XCP's 20 more
hosts | stack = "ns-2"; the sink acknowledges each segment | ns-2's one-way agents
TCP | NewReno | 3.1.3.2; in chapters 4 and 6 chosen here
XCP | Reno's recovery, no SACK | ns-2's Agent/TCP/Reno/XCP
XCP's routers | a control interval of 50 ms after one without packets; not in XCP-i, XCP-TCP friendliness \
and two queues | ns-2: xcp/xcpq.cc, Te_timeout
HSTCP | SACK, recovery ends at ssthresh | chosen here: ns-2's Sack1 with windowOption_ 8
repeats | 5, over seeds: each start within {SMALL_START_S:g} s | chosen here; the thesis: one
"""),
    estimator="Rates are IP bytes that arrive; means over repeats.",
    reduce=reduce_run,
)


def experiment(
    name: str, mirrors: str, title: str, *, mbps: float | None = None, repeat: Any = REPEATS, **grid: Any
) -> Callable[[Callable[..., Any]], Declaration]:
    """Declares an experiment over a grid by the function that returns the scenario of a run, or None.

    ``mbps`` is the rate at which data cross a network of links, which `hosts` has to know.
    """
    packets = None if mbps is None else partial(crossing, mbps)
    return PAPER.experiment(name, mirrors, title, grid={**grid, "repeat": repeat}, packets=packets)


def crossing(mbps: float, document: Mapping[str, Any]) -> float:
    """Returns how many packets cross a network in a run at this rate."""
    return mbps * MBPS * number(document["duration"]) / PACKET_BITS


def number(quantity: Any) -> float:
    """Returns the number of a quantity such as "30 Mbit/s"."""
    return float(str(quantity).split()[0])


def losing_settings(left: Steps, figures: str) -> tuple[Setting, ...]:
    """Returns the settings of flows that lose ACKs beside datagrams, in figures without numbers."""
    steps = ", ".join(f"{mbps} from {at} s" for at, mbps in left)
    return settings(f"""
queue | {VBE_BUFFER} packets | 5.2.1
steps | left: {steps} | chosen here: {figures} no numbers
losses of ACKs | independent | 5.2.3: "constant distribution"
""")


def ends(values: Span) -> str:
    """Writes the two ends of a range."""
    return f"{values[0]:g} to {values[1]:g}"


def around(published: float) -> Span:
    """Returns the bounds around a number of the thesis."""
    return published - NEAR, published + NEAR


def flow(protocol: str, name: str, rtt_ms: float | None, start_s: float = 0.0, **more: Any) -> Document:
    """Returns the table of a flow, whose start differs slightly between repeats.

    ``rtt_ms`` is None where the links' delays determine it.
    """
    start = {"uniform": [f"{start_s:g} s", f"{start_s + SMALL_START_S:g} s"]}
    rtt = {} if rtt_ms is None else {"rtt": f"{rtt_ms:g} ms"}
    options = OPTIONS.get(protocol, {})
    return {"algorithm": protocol, **STACK, **options, "name": name, "start": start, **more, **rtt}


def flows(protocol: str, count: int, rtt_ms: float, start_s: float = 0.0) -> list[Document]:
    """Returns like flows, numbered from 1."""
    return [flow(protocol, f"{protocol}-{number + 1}", rtt_ms, start_s) for number in range(count)]


def stairs(levels_mbps: Sequence[float]) -> Steps:
    """Returns a staircase of equally long steps."""
    return [(STAIRS_EVERY_S * number, level) for number, level in enumerate(levels_mbps)]


def available_mbps(variation: Variation, span_s: Span) -> float:
    """Returns the mean capacity in a span that datagrams leave: (3.6) over the span's length."""
    begin, end = span_s
    if variation == "sine":
        top, bottom = SINE_MBPS
        turn = 2.0 * math.pi / SINE_PERIOD_S
        waves = (math.sin(turn * end) - math.sin(turn * begin)) / turn
        return 0.5 * (top + bottom) + 0.5 * (top - bottom) * waves / (end - begin)
    left = {"steps": stairs(STAIRS_MBPS), "acks": ACKS_LEFT_MBPS, "three": THREE_LEFT_MBPS}[variation]
    areas = (
        mbps * max(0.0, min(end, until) - max(begin, at))
        for (at, mbps), (until, _) in pairwise([*left, (math.inf, 0.0)])
    )
    return sum(areas) / (end - begin)


def datagrams(left: Steps, capacity_mbps: float, end_s: float, rtt_ms: float) -> list[Document]:
    """Returns datagram flows that leave this capacity; each sends while those before it do not suffice."""
    times = [at for at, _ in left] + [end_s]
    wanted = [round((capacity_mbps - mbps) / UDP_MBPS) for _, mbps in left]
    found = []
    for source in range(max(wanted)):
        on = [number > source for number in wanted]
        edges = [0, *(i for i in range(1, len(on)) if on[i] != on[i - 1]), len(on)]
        for number, (begin, end) in enumerate(pairwise(edges)):
            if on[begin]:
                found.append(
                    {
                        "name": f"{DATAGRAMS}-{source + 1}-{number}",
                        "algorithm": {"name": "cbr", "rate": f"{UDP_MBPS} Mbit/s"},
                        "mss": MSS,
                        "rtt": f"{rtt_ms:g} ms",
                        "start": f"{times[begin]:g} s",
                        **({"stop": f"{times[end]:g} s"} if times[end] < end_s else {}),
                    }
                )
    return found


def sampled(title: str, duration_s: float, sample_s: float = SAMPLE_S) -> Document:
    """Returns what all scenarios have."""
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "sample": {"cwnd": f"{sample_s:g} s", "queue": f"{sample_s:g} s"},
    }


def dumbbell(
    title: str,
    rate: float | Mapping[str, Any],
    buffer: float | str,
    flows: Iterable[Mapping[str, Any]],
    duration_s: float,
    *,
    sample_s: float = SAMPLE_S,
    **bottleneck: Any,
) -> Document:
    """Returns a scenario with one bottleneck; its rate is in Mbit/s and its buffer in packets."""
    return {
        **sampled(title, duration_s, sample_s),
        "bottleneck": {
            "rate": rate if isinstance(rate, Mapping) else f"{rate:g} Mbit/s",
            "buffer": buffer if isinstance(buffer, str) else f"{buffer:g} packets",
            **{key: value for key, value in bottleneck.items() if value},
        },
        "flow": list(flows),
    }


def losing_acks(
    count: str, protocol: str, ack_loss: float, buffer: float | str = VBE_BUFFER, router: Any = "xcp"
) -> Document:
    """Returns "ten" or "three" flows that lose ACKs, beside datagrams."""
    number, rtt_ms, mbps, left, end_s = {
        "ten": (ACKS_FLOWS, ACKS_RTT_MS, ACKS_MBPS, ACKS_LEFT_MBPS, ACKS_S),
        "three": (3, THREE_RTT_MS, THREE_MBPS, THREE_LEFT_MBPS, THREE_S),
    }[count]
    found = flows(protocol, number, rtt_ms) + datagrams(left, mbps, end_s, rtt_ms)
    title = f"{count} flows of {protocol}, {ack_loss:.0%} of the ACKs lost"
    return dumbbell(title, mbps, buffer, found, end_s, router=router, ack_loss=ack_loss)
