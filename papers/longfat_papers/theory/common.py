"""The algorithms, the paths with the source of each value, the reduction, and what several figures share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longfat.runs import metrics, theory
from longfat.scenario import registry
from longfat.units import PACKET_BITS
from longfat_papers.kit import Mode, Paper, Run, Runs, citations, kept_as, reduce_run, settings

THESIS = citations.LOPEZ2008

WITHOUT_CONTROL = frozenset({"cbr", "onoff", "rbudp"})
"""Senders without congestion control; this suite is not about them."""
GUIDED = frozenset({"cadpc"})
"""Senders that routers guide with packets of their own; their data carry no explicit header."""


def controlled() -> tuple[str, ...]:
    """Returns the algorithms that control congestion by themselves, in the order of the registry.

    Explicit-rate senders are left out: a drop-tail path shows nothing about them.
    """
    rows = (row for row in registry.rows("algorithms") if not row.get("explicit", False))
    return tuple(row["name"] for row in rows if row["name"] not in WITHOUT_CONTROL | GUIDED)


def windowed() -> tuple[str, ...]:
    """Returns the algorithms of `controlled` over TCP.

    Those over UDP have a rate instead of a window, and no response function in packets per round trip.
    """
    over_udp = {row["name"] for row in registry.rows("algorithms") if row.get("transport") == "udp"}
    return tuple(name for name in controlled() if name not in over_udp)


RTT_S = 0.1
"""RTT of the response functions: the example of the thesis, of RFC 3649 and of RFC 9438's first table."""
PERIODIC, RANDOM = "periodic", "random"
"""Kinds of loss: every n-th packet, or each packet with the same probability."""
PERIODIC_EPOCHS, RANDOM_EPOCHS = 40, 100
RARE = 1e-6
"""At and below this loss runs are long: one repeat, and only as many random losses as periodic ones."""
RARE_EVERY = 100_000
"""Readings leave rarer periodic losses as they are."""
LEAST_PACKETS = 300_000
HEADROOM = 8.0
"""The path carries this many windows of the law (STCP's if the algorithm has none), so no queue builds."""
LEAST_RATE_BPS, GREATEST_RATE_BPS = 100e6, 1e13
TIME_MARGIN = 2.0

UNFAIR_PROTOCOLS = ("reno", "hstcp", "stcp")
LARGE_RTTS_MS = (20.0, 200.0)
LARGE_LOSSES = (0.0, 1e-6)
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}

START = {"uniform": ["0 s", "10 s"]}
"""Start of flows that share a link: their phase differs in each repeat."""

D_FACTOR = 1.05  # LOP-2a, LOP-2b: measured exponent d of a response function over that of its law
SLOPE_FROM = 1e-3
"""Slopes of response functions are fitted below this loss, away from the high-speed laws' switch."""

WINDOW = (
    "Packets received per round-trip time, over the later half of the packets of a run with one loss every "
    "1/p packets."
)
COMMON_SETTINGS = settings("""
    topology | dumbbell, one drop-tail bottleneck
    packets | 1500 bytes, of which 1448 payload | 2.3.3 (1500); payload with timestamps
    stack | SACK, delayed ACK, byte counting, rate halving; no host tick
    parameters | each algorithm as the registry has it by default
    repeats | over seeds: starts and random losses differ
""")
RESPONSE_SETTINGS = settings("""
    path | RTT 100 ms, no queue: the link carries 8 times the law's window | 2.3.3 (RTT); chosen here
    start | ssthresh at the law's window, or slow-start to the first loss where there is no law
    length | 40 periodic or 100 random losses, at least 300 000 packets
""")


@kept_as("longfat.suites.theory_reduction.reduce", "d458dd9df2dbbbd2")
def reduce(result: Any) -> dict[str, Any]:
    """Returns the row of `reduce_run`, or the mean window of a flow of limited length."""
    if result.scenario.flow[0].bytes is not None:
        return _response(result)
    row = reduce_run(result)
    del row["series"]
    rates = [flow["throughput_bps"] for flow in result.summary["flows"]]
    return row | {"run_jain": metrics.jain(rates), "unfairness": _unfairness(row)}


def _response(result: Any) -> dict[str, Any]:
    """Returns packets received per round-trip time over their later half, and the losses of the whole run."""
    series = result.flow("1")
    flow = result.summary["flows"][0]
    time, received = series["time_s"], series["received_bytes"]
    total = float(received[-1])
    last = int(np.searchsorted(received, total))
    middle_s = float(np.interp(0.5 * total, received[: last + 1], time[: last + 1]))
    seconds = float(time[last]) - middle_s
    packets = 0.5 * total / result.scenario.packet_bytes
    return {
        "window": packets * flow["rtt_s"] / seconds if seconds > 0.0 else math.nan,
        "losses": flow["packets_lost"],
        "timeouts": flow["timeouts"],
        "packets": result.summary["links"][0]["packets_in"],
    }


def _unfairness(row: Mapping[str, Any]) -> float | None:
    """Returns the exponent x of (R1 / R2)^x from throughputs and measured RTTs; flow 1 has the longer RTT."""
    long_s, short_s = row.get("srtt_1_s"), row.get("srtt_2_s")
    if not long_s or not short_s or long_s <= short_s:
        return None
    long_bps, short_bps = row["late_throughput_1_bps"], row["late_throughput_2_bps"]
    if not long_bps > 0.0 or not short_bps > 0.0:
        return None
    return math.log(short_bps / long_bps) / math.log(long_s / short_s)


PAPER = Paper(
    "theory",
    "LOP",
    "Congestion controls and their theory",
    THESIS + ", chapter 2; the sources of the laws",
    settings=COMMON_SETTINGS,
    estimator=WINDOW,
    reduce=reduce,
)


def scenario(
    title: str, rate_bps: float, duration_s: float, flows: Sequence[Mapping[str, Any]], **bottleneck: Any
) -> dict[str, Any]:
    """Returns a scenario of a few flows over one link; ``flows`` are [[flow]] tables."""
    return {
        "title": title,
        "duration": f"{duration_s:g} s",
        "bottleneck": {"rate": f"{rate_bps / 1e6:g} Mbit/s", **bottleneck},
        "flow": [dict(flow) for flow in flows],
    }


def flow(algorithm: str, rtt_ms: float, start: Any = START, **others: Any) -> dict[str, Any]:
    """Returns a [[flow]] table."""
    return {"algorithm": algorithm, "rtt": f"{rtt_ms:g} ms", "start": start, **others}


def response(name: str, loss: float, kind: str, repeat: int) -> Run:
    """One run. It ends with its data, so that all algorithms get as many losses and none runs for hours."""
    epochs = RANDOM_EPOCHS if kind == RANDOM and loss > RARE else PERIODIC_EPOCHS
    packets = max(epochs / loss, LEAST_PACKETS)
    # without a law, the path carries the windows of Scalable TCP's, which is the greatest
    law, known = theory.LAWS.get(name, theory.LAWS["stcp"]), name in theory.LAWS
    window = law.window(loss, RTT_S)
    rate_bps = min(max(HEADROOM * window * PACKET_BITS / RTT_S, LEAST_RATE_BPS), GREATEST_RATE_BPS)
    duration_s = TIME_MARGIN * packets / (window if known else theory.standard_window(loss)) * RTT_S
    # the length is given in bytes; a packet has 1448 bytes of payload
    start = {"initial_ssthresh": window} if known else {}
    document = scenario(
        f"{name} under {kind} losses of {loss:g}",
        rate_bps,
        duration_s,
        [flow(name, RTT_S * 1e3, "0 s", bytes=f"{1448 * int(packets)} B", **start)],
        buffer="100 % BDP",
        loss={"every": round(1.0 / loss)} if kind == PERIODIC else loss,
    )
    document["bottleneck"]["access_rate"] = document["bottleneck"]["rate"]
    document["sample"] = {"cwnd": f"{max(duration_s / 20_000.0, 0.01):.6f} s", "queue": f"{duration_s:g} s"}
    document["seed"] = repeat + 1
    return Run({"algorithm": name, "loss": loss, "kind": kind, "repeat": repeat}, document, packets)


def names(runs: Runs) -> tuple[str, ...]:
    """Returns the algorithms in the order of the runs, which is that of the registry."""
    return tuple(dict.fromkeys(row["algorithm"] for row in runs))


def slope(runs: Runs, name: str) -> float:
    """Returns d of W = c / p^d under periodic losses, fitted on logarithms over the rarer ones."""
    at = runs.where(algorithm=name, kind=PERIODIC)
    losses = [loss for loss in at.distinct("loss") if loss < SLOPE_FROM]
    return -metrics.log_slope(losses, [at.where(loss=loss).mean("window") for loss in losses])


def under_periodic_loss(document: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Sets keys of the flow of a run with periodic losses, except the rarest.

    There a recovery is less than a hundredth of an epoch, and a run takes minutes.
    """
    loss = document["bottleneck"].get("loss")
    if isinstance(loss, dict) and loss["every"] <= RARE_EVERY:
        document["flow"][0] |= keys
    return document


def unfair_pairs(
    document: dict[str, Any], buffer: str = "", duration: str = "", starts: Sequence[str] = ()
) -> dict[str, Any]:
    """Changes the pairs with unlike RTTs of the protocols that LOP-2b names."""
    flows = document["flow"]
    if len(flows) == 2 and all(flow["algorithm"] in UNFAIR_PROTOCOLS for flow in flows):
        document["bottleneck"] |= {"buffer": buffer} if buffer else {}
        document |= {"duration": duration} if duration else {}
        for flow, start in zip(flows, starts, strict=False):
            flow["start"] = start
    return document


def fat_path(document: dict[str, Any]) -> dict[str, Any]:
    """Gives a run 1 Gbit/s and 100 ms."""
    document["bottleneck"]["rate"] = "1000 Mbit/s"
    for flow in document["flow"]:
        flow["rtt"] = "100 ms"
    return document
