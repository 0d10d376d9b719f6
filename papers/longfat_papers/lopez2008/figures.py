"""The thesis's figures as data: curves, axes and captions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from longfat.figure.data import Curve, Figure, Panel, Table, points
from longfat.runs import metrics
from longfat.runs.theory import sawtooth_under_bps, sine_capacity_bps
from longfat.words import Mode
from longfat_papers.kit.curves import repeats, thinned
from longfat_papers.kit.suite import Runs
from longfat_papers.lopez2008.reduction import Row, filled
from longfat_papers.lopez2008.settings import (
    ACKS_FALLS_S,
    ACKS_S,
    AFTER_FALL_S,
    PACKET_BITS,
    SINE_MBPS,
    SINE_PERIOD_S,
    SINE_S,
    STAIRS_S,
    TABLE_5_1,
    THREE_CASES,
    THREE_S,
    TITLES,
    VBE_BUFFER,
    Variation,
    available_mbps,
)

RATE_AXIS = "rate, Mbit/s"
TIME_AXIS = "time, s"
ALPHA = 0.4
"""XCP's share of the spare capacity that is given out in a control interval (6.1)."""
GREY, RED = 6, 1
"""Strokes of lines that are not measured."""
MOST_BINS = 500
"""Greatest number of points of a history in a figure; longer histories are averaged."""

Draw = Callable[[Runs, Mode], Figure]


def history(label: str, row: Row, prefix: str = "", stroke: int = 0, bin_s: float = 0.0) -> Curve:
    """Returns the rate over time of all flows with this prefix, averaged if there are too many samples."""
    rate = row.summed_mbps(prefix)
    stride = max(1, round(bin_s / row.bin_s), -(-rate.size // MOST_BINS))
    whole = rate.size // stride * stride
    means = rate[:whole].reshape(-1, stride).mean(axis=1)
    times = row.bin_s * stride * (np.arange(means.size) + 0.5)
    return Curve(label, tuple(times.tolist()), tuple(means.round(3).tolist()), None, None, "line", stroke)


def dashed(label: str, x: Sequence[float], y: Sequence[float], stroke: int = GREY) -> Curve:
    """Returns a line that is not measured."""
    return Curve(label, tuple(x), tuple(y), None, None, "theory", stroke)


def available(variation: Variation, end_s: float) -> Curve:
    """Returns the available capacity as a line."""
    edges = np.arange(0.0, end_s + 0.25, 0.25).tolist()
    spans = list(pairwise(edges))
    values = [available_mbps(variation, span) for span in spans]
    return dashed("available", [at for span in spans for at in span], [x for x in values for _ in (0, 1)])


def rates(title: str, curves: Iterable[Curve], end_s: float, most: float | None = None) -> Panel:
    """Returns a panel of rates over time."""
    limits = None if most is None else (0.0, 1.1 * most)
    return Panel(title, TIME_AXIS, RATE_AXIS, tuple(curves), x_range=(0.0, end_s), y_range=limits)


def first(runs: Runs, **coordinates: Any) -> Row:
    """Returns the first repeat at some coordinates."""
    return Row(runs.where(**coordinates).first() if coordinates else runs.first())


def shown(runs: Runs) -> str:
    """Says in a caption which repeat a history shows."""
    return " First of several repeats." if len(runs.distinct("repeat")) > 1 else ""


def joined_vcp(runs: Runs, mode: Mode) -> Figure:
    """2.5.2: VCP."""
    row = first(runs)
    curves = [history(name, row, name, number) for number, name in enumerate(row.names)]
    return Figure(
        "vcp",
        "2.5.2",
        "A VCP flow joined by another",
        "45 Mbit/s, 40 and 50 ms." + shown(runs) + " The thesis: up to 100 s to fairness.",
        (rates("", curves, float(row.edges_s()[-1])),),
        columns=1,
    )


def staged(protocol: str) -> Draw:
    """Figs. 2.11, 2.12: four flows that start and stop."""

    def draw(runs: Runs, mode: Mode) -> Figure:
        row = first(runs)
        curves = [history(name, row, name, number) for number, name in enumerate(row.names)]
        return Figure(
            protocol,
            {"xcp": "Fig. 2.11", "jetmax": "Fig. 2.12"}[protocol],
            f"Four {TITLES[protocol]} flows",
            "100 Mbit/s, 80 ms, 15 s apart, 75 s each." + shown(runs) + " The thesis: fair and full.",
            (rates("", curves, float(row.edges_s()[-1])),),
            columns=1,
        )

    return draw


def sine(name: str) -> Draw:
    """Figs. 3.5 to 3.10: rate on a sine capacity, and the window."""
    return _varied(name, "sine", SINE_S, {100: "Figs. 3.5, 3.7, 3.9", 200: "Figs. 3.6, 3.8, 3.10"})


def steps(name: str) -> Draw:
    """Figs. 3.13, 3.15, 3.16, 3.18."""
    return _varied(name, "steps", STAIRS_S, {100: "Figs. 3.13, 3.16", 200: "Figs. 3.15, 3.18"})


def model(runs: Runs, mode: Mode) -> Figure:
    """Figs. 3.3, 3.4: the straight lines of (3.4) beside NewReno's rate."""

    def capacity(time_s: float) -> float:
        top, bottom = (1e6 * mbps for mbps in SINE_MBPS)
        return sine_capacity_bps(time_s, top, bottom, SINE_PERIOD_S)

    panels = []
    times = np.arange(0.0, SINE_S, 0.1).tolist()
    for rtt_ms in runs.distinct("rtt_ms"):
        row = first(runs, rtt_ms=rtt_ms)
        rates_bps = sawtooth_under_bps(capacity, times, 1e-3 * rtt_ms, capacity(0.0), PACKET_BITS / 8.0)
        modelled = [1e-6 * bps for bps in rates_bps]
        panels.append(
            rates(
                f"RTT {rtt_ms} ms",
                (
                    available("sine", SINE_S),
                    dashed("model (3.4)", times, modelled, RED),
                    history("simulated", row, "newreno"),
                ),
                SINE_S,
            )
        )
    return Figure(
        "model",
        "Figs. 3.3, 3.4",
        "The model of TCP beside the simulation",
        "3.1.3.1: the rate grows by 8 MSS / RTT^2 and halves where it meets the capacity; no queue, no "
        "slow-start.",
        tuple(panels),
    )


def zoom(runs: Runs, mode: Mode) -> Figure:
    """Figs. 3.14, 3.17: rate and window around a fall of the capacity."""
    panels = []
    for name in runs.distinct("protocol"):
        row = first(runs, protocol=name)
        panels.append(
            Panel(
                TITLES[name],
                TIME_AXIS,
                RATE_AXIS,
                (_stretched(available("steps", 56.0), 48.0), _stretched(_fine(row), 48.0)),
                x_range=(48.0, 56.0),
            )
        )
        time, cwnd = row.edges_s(), np.asarray(row.row["cwnd"][0])
        kept = time >= 48.0
        panels.append(
            Panel(
                f"{TITLES[name]}: window",
                TIME_AXIS,
                "cwnd, segments",
                (Curve("cwnd", *thinned(time[kept], cwnd[kept]), None, None, "line"),),
                x_range=(48.0, 56.0),
            )
        )
    return Figure(
        "zoom",
        "Figs. 3.14, 3.17",
        "A fall of the capacity by 350 Mbit/s",
        "100 ms; rate at the receiver every 20 ms, and the window. The thesis: HSTCP fills the queue, "
        "loses, stops and "
        "comes back; XCP's rate dips until its window has adapted.",
        tuple(panels),
    )


def bottleneck(runs: Runs, mode: Mode) -> Figure:
    """Fig. 4.2: rates and windows of the three cases."""
    titles = {"a": "(a) TCP, drop-tail", "b": "(b) XCP routers", "c": "(c) XCP, drop-tail bottleneck"}
    panels = []
    for case, title in titles.items():
        row = first(runs, case=case)
        panels.append(rates(title, (history("rate", row, bin_s=0.5),), 60.0, 35.0))
        panels.append(
            Panel(
                f"{title}: window",
                TIME_AXIS,
                "cwnd, segments",
                (cwnd_curve(row),),
                x_range=(0.0, 60.0),
            )
        )
    return Figure(
        "bottleneck",
        "Fig. 4.2",
        "A bottleneck of 30 Mbit/s, with and without XCP",
        "Other links 80 Mbit/s, 100 ms." + shown(runs) + " The thesis: 215.0, 223.8 and 52.4 MB in 60 s.",
        tuple(panels),
    )


def peering(runs: Runs, mode: Mode) -> Figure:
    """Fig. 4.8: through two clouds, and without clouds."""
    labels = [(case, first(runs, case=case)) for case in ("clouds", "all XCP")]
    means = [float(np.mean(row.row["cwnd"][0][len(row.row["cwnd"][0]) // 2 :])) for _, row in labels]
    return Figure(
        "peering",
        "Fig. 4.8",
        "XCP-i across two clouds",
        "Compared with a path of XCP routers alone."
        + shown(runs)
        + " The thesis: identical. Here the windows may "
        f"differ: in the second half of the run {means[0]:.0f} segments through the clouds, {means[1]:.0f} "
        "without; at the same rate, the difference waits in the clouds' queues.",
        (
            rates("Rate", [history(case, row, "xcp", n) for n, (case, row) in enumerate(labels)], 62.0),
            Panel(
                "Window",
                TIME_AXIS,
                "cwnd, segments",
                tuple(cwnd_curve(row, case, n) for n, (case, row) in enumerate(labels)),
                x_range=(0.0, 62.0),
            ),
        ),
    )


def clouds(name: str) -> Draw:
    """Figs. 4.10, 4.12, 4.14: rates of the senders."""
    mirrors = {"merge": "Fig. 4.10", "merge-above": "Fig. 4.12", "fork": "Fig. 4.14"}
    captions = {
        "merge": "Clouds of 300 (i) and 100 Mbit/s (j) into 400. The thesis: 280 and 100 Mbit/s.",
        "merge-above": "j0 and j1 behind 100, i behind 300, k without a cloud, into 400. The thesis: 50 "
        "each, k slightly "
        "above i.",
        "fork": "500 Mbit/s into one cloud with 300 to each side. The thesis: 250 each.",
    }

    def draw(runs: Runs, mode: Mode) -> Figure:
        row = first(runs)
        curves = [history(flow, row, flow, number) for number, flow in enumerate(row.names)]
        return Figure(
            name,
            mirrors[name],
            "XCP-i: rates of the senders",
            captions[name] + shown(runs),
            (rates("", curves, float(row.edges_s()[-1])),),
            columns=1,
        )

    return draw


def errors(runs: Runs, mode: Mode) -> Figure:
    """Figs. 4.15 to 4.17."""
    panels = []
    for protocol, title in (("newreno", "TCP"), ("xcp", "XCP-i, estimates wrong by 5 to 20 %")):
        row = first(runs, protocol=protocol)
        curves = [history(f"sender {flow}", row, flow, number) for number, flow in enumerate(row.names)]
        panels.append(rates(title, curves, float(row.edges_s()[-1]), 320.0))
    return Figure(
        "errors",
        "Figs. 4.15 to 4.17",
        "Wrong estimates of the clouds",
        "Fig. 4.9's clouds of 300 (i) and 100 Mbit/s (j), a new estimate every 2 s."
        + shown(runs)
        + " The thesis: "
        "329 and 172 MB of TCP, 675.4 and 240.7 MB of XCP-i.",
        tuple(panels),
    )


def shared(runs: Runs, mode: Mode) -> Figure:
    """Fig. 4.18: the case that the thesis leaves open."""
    panels, lines = [], []
    for case in runs.distinct("case"):
        row = first(runs, case=case)
        curves = [history(f"sender {flow}", row, flow, number) for number, flow in enumerate(row.names)]
        panels.append(rates(case, curves, float(row.edges_s()[-1])))
        both = runs.where(case=case)
        lines.append(
            (
                case,
                *(f"{np.mean([Row(r).each('means_mbps', flow)[0] for r in both]):.1f}" for flow in row.names),
                f"{np.mean([Row(r).dropped() for r in both]):.0f}",
                f"{both.mean('lost_ratio'):.3f}",
            )
        )
    return Figure(
        "shared",
        "Fig. 4.18",
        "A bottleneck of 300 Mbit/s shared inside a cloud",
        "Two paths share one link, and the estimate of neither knows this. The thesis leaves open what "
        "happens." + shown(runs),
        tuple(panels),
        table=Table(("start", "i, Mbit/s", "j, Mbit/s", "dropped", "loss ratio"), tuple(lines)),
    )


def layer_two(runs: Runs, mode: Mode) -> Figure:
    """7.3.1."""
    panels = []
    for layer, title in ((3, "A router"), (2, "A switch")):
        row = first(runs, layer=layer)
        curve = history("rate", row, "xcp", 0, 0.5)
        panels.append(
            rates(f"{title}: {row.row['lost_ratio']:.1%} lost", (curve,), float(row.edges_s()[-1]), 35.0)
        )
    return Figure(
        "layer2",
        "7.3.1",
        "A bottleneck of 30 Mbit/s that the TTL does not reveal",
        "XCP-i finds the router by its TTL and not the switch, behind which XCP overshoots." + shown(runs),
        tuple(panels),
    )


def acks(runs: Runs, mode: Mode) -> Figure:
    """Figs. 5.3, 5.4, 5.6 and Table 5.1."""
    panels, lines = [], []
    for (name, loss), printed in TABLE_5_1.items():
        at_case = runs.where(protocol=name, ack_loss=loss)
        panels.append(
            _each_flow(f"{TITLES[name]}, {loss:.0%} of the ACKs lost", first(at_case), "acks", ACKS_S)
        )
        for at, number in zip(ACKS_FALLS_S, printed, strict=True):
            lost = [Row(row).lost((at, at + AFTER_FALL_S)) for row in at_case]
            lines.append((TITLES[name], f"{loss:.0%}", f"{at:g} s", str(number), f"{np.mean(lost):.0f}"))
    return Figure(
        "acks",
        "Figs. 5.3, 5.4, 5.6, Table 5.1",
        "Ten flows, losses of ACKs, and a capacity that falls",
        "1 Gbit/s, 150 ms, 0 to 5 datagram flows of 50 Mbit/s; rates over half a second." + shown(runs),
        tuple(panels),
        columns=1,
        table=Table(
            ("protocol", "ACKs lost", "fall at", "packets lost, thesis (Table 5.1)", "packets lost"),
            tuple(lines),
        ),
    )


def radar(runs: Runs, mode: Mode) -> Figure:
    """Fig. 5.7: mean rates of the ten flows around a circle."""
    curves = []
    for number, (name, loss) in enumerate(TABLE_5_1):
        at_case = runs.where(protocol=name, ack_loss=loss)
        means = np.mean([Row(row).each("means_mbps") for row in at_case], axis=0)
        samples = [(float(flow), (float(mean), float("nan"))) for flow, mean in enumerate(means)]
        curves.append(points(f"{TITLES[name]}, {loss:.0%} of the ACKs lost", samples, None, number))
    flows = tuple(f"flow {number + 1}" for number in range(len(curves[0].x)))
    panel = Panel(
        "", "", "mean rate, Mbit/s", tuple(curves), y_range=(0.0, 105.0), categories=flows, radar=True
    )
    return Figure(
        "radar",
        "Fig. 5.7",
        "Average throughput of flows",
        "Mbit/s; the rounder a curve, the fairer."
        + repeats(runs)
        + " The thesis: 83.5 to 87.5 without losses of ACKs, 81 to 98 with, 82 to 89.5 for XCP-r.",
        (panel,),
        columns=1,
    )


def three(runs: Runs, mode: Mode) -> Figure:
    """Figs. 5.8 to 5.10."""
    panels = []
    for name, loss in THREE_CASES:
        row = first(runs, protocol=name, ack_loss=loss)
        text = f"{TITLES[name]}, {loss:.0%} of the ACKs lost: {sum(row.each('timeouts')):.0f} timeouts"
        panels.append(_each_flow(text, row, "three", THREE_S))
    return Figure(
        "three",
        "Figs. 5.8 to 5.10",
        "Three flows, losses of ACKs, 200 to 50 Mbit/s",
        "100 ms." + shown(runs) + " The thesis: timeouts of XCP at 5 and 30 s, none of XCP-r.",
        tuple(panels),
        columns=1,
    )


def one(runs: Runs, mode: Mode) -> Figure:
    """5.1.1: one flow fills a constant capacity, and how fast it can."""
    curves = [
        history(f"{loss:.0%} of the ACKs lost", first(runs, ack_loss=loss), "xcp", number, 0.02)
        for number, loss in enumerate(runs.distinct("ack_loss"))
    ]
    return Figure(
        "one",
        "5.1.1",
        "How fast one XCP flow fills 1 Gbit/s",
        "100 ms."
        + shown(runs)
        + " The thesis expects 70 % after one RTT and 91 % after two when 30 % of the ACKs are lost. But in "
        f"a control interval, which is one RTT, XCP's router gives out at most alpha = {ALPHA:g} of the "
        f"spare capacity, of which 70 % arrive: after n RTTs at most {0.7 * ALPHA:g} n of the link. "
        "The thesis's numbers are those of alpha = 1.",
        (rates("over time", curves, 3.0), _filling(runs)),
    )


def _filling(runs: Runs) -> Panel:
    """Returns the share of the link that is filled after each RTT, with the bounds that alpha sets."""
    count = 10
    after = [float(number) for number in range(1, count + 1)]
    curves = []
    for number, loss in enumerate(runs.distinct("ack_loss")):
        found = [filled(Row(row))[:count] for row in runs.where(ack_loss=loss)]
        means, errors = zip(
            *(metrics.mean_stderr(shares) for shares in zip(*found, strict=True)), strict=True
        )
        curves.append(
            Curve(f"{loss:.0%} of the ACKs lost", tuple(after), means, errors, None, "points", number)
        )
        most = [min(1.0, ALPHA * (1.0 - loss) * rtts) for rtts in after]
        curves.append(dashed(f"at most, {loss:.0%} lost", after, most, GREY + number))
    curves.append(dashed("thesis, 30% lost", after, [1.0 - 0.3**rtts for rtts in after], RED))
    return Panel(
        "after each RTT",
        "round-trip times since the first data",
        "share of the link",
        tuple(curves),
        x_range=(0.0, count + 0.5),
        y_range=(0.0, 1.1),
    )


def formula(runs: Runs, mode: Mode) -> Figure:
    """5.3."""
    panels = []
    for name in ("xcp", "xcp-r", "xcp-r-first"):
        row = first(runs, protocol=name)
        curves = [
            history(f"{flow.rsplit('-', 1)[1]} ms", row, flow, number)
            for number, flow in enumerate(row.names)
        ]
        panels.append(rates(TITLES[name], curves, float(row.edges_s()[-1])))
    return Figure(
        "formula",
        "5.3",
        "Both formulas of XCP-r with different RTTs",
        "100 Mbit/s, no losses of ACKs."
        + shown(runs)
        + " The thesis: the first formula gives a wrong window.",
        tuple(panels),
        columns=3,
    )


def _varied(name: str, variation: Variation, end_s: float, mirrors: Mapping[int, str]) -> Draw:
    def draw(runs: Runs, mode: Mode) -> Figure:
        panels = []
        for protocol in (key for key in TITLES if runs.has(protocol=key)):
            row = first(runs, protocol=protocol)
            line = history("rate", row, protocol)
            text = f"{TITLES[protocol]}: {row.dropped():.0f} dropped"
            panels.append(rates(text, (available(variation, end_s), line), end_s, 1000.0))
            panels.append(
                Panel(
                    f"{TITLES[protocol]}: window and queue",
                    TIME_AXIS,
                    "packets",
                    (cwnd_curve(row), _queue(row, 1)),
                    x_range=(0.0, end_s),
                )
            )
        rtt_ms = runs.distinct("rtt_ms")[0]
        return Figure(
            name,
            mirrors[rtt_ms],
            f"One flow on a varying capacity, {rtt_ms} ms",
            f"Queue of {VBE_BUFFER} packets; rate at the receiver." + shown(runs),
            tuple(panels),
        )

    return draw


def cwnd_curve(row: Row, label: str = "cwnd", stroke: int = 0, flow: int = 0) -> Curve:
    """Returns the cwnd history of a flow, which is given by its position."""
    cwnd = thinned(row.edges_s(), row.row["cwnd"][flow], MOST_BINS)
    return Curve(label, *cwnd, None, None, "line", stroke)


def _queue(row: Row, stroke: int) -> Curve:
    return Curve("queue", *thinned(row.edges_s(), row.row["queue"], MOST_BINS), None, None, "line", stroke)


def _fine(row: Row) -> Curve:
    return Curve("rate", tuple(row.edges_s().tolist()), tuple(row.summed_mbps().tolist()), None, None, "line")


def _stretched(curve: Curve, from_s: float) -> Curve:
    """Returns the part of a curve after a time."""
    kept = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if x >= from_s]
    return Curve(
        curve.label,
        tuple(x for x, _ in kept),
        tuple(y for _, y in kept),
        None,
        curve.algorithm,
        curve.kind,
        curve.stroke,
    )


def _each_flow(title: str, row: Row, variation: Variation, end_s: float) -> Panel:
    """Returns a panel with each flow's rate over half seconds, and an even share of the capacity."""
    whole = available(variation, end_s)
    share = dashed("even share of the available", whole.x, [y / len(row.names) for y in whole.y])
    curves = [history(f"flow {number + 1}", row, name, number, 0.5) for number, name in enumerate(row.names)]
    return rates(title, (share, *curves), end_s)
