"""What the thesis did not try: real probing, other TCPs, more losses, more flows, other counters, JetMax."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import nan
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import Drawing, Mode, Panel, Run, Runs, Table, mean, points, repeats
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008 import friendly as fr
from longfat_papers.lopez2008 import networks as nw
from longfat_papers.lopez2008.reduction import CROSS, Row, rows

NOT_TRIED = "not in the thesis"
beyond = partial(lp.experiment, repeat=lp.BEYOND_REPEATS)
MANY, MANY_RTT_MS, MANY_S = 100, 100, 30
RIVALS: dict[str, dict[str, Any]] = {
    "zombie tables": fr.PER_PACKET,
    "zombie tables, half inspected": {**fr.PER_PACKET, "inspect": 0.5},
    "exact table": {**fr.PER_PACKET, "counter": "exact"},
    "Bloom filter": {**fr.PER_PACKET, "counter": "bloom"},
    "half and half": {"kind": "dqw"},
}


@beyond(
    "prober",
    NOT_TRIED,
    "XCP-i with real probing and cross traffic",
    mbps=nw.CLOUD_MBPS,
    estimator=("oracle", "oracle-error", "igi", "ptr"),
    cross_mbps={"quick": (0, 40), "full": (0, 20, 40, 60)},
)
def prober(estimator: str, cross_mbps: int, repeat: int) -> lp.Document:
    """One flow through a cloud that also carries datagrams."""
    off = nw.OFF if estimator == "oracle-error" else {}
    links = nw.single({"kind": "xcp-i", "estimator": estimator, **off}, nw.CLOUD_MBPS)
    title = f"{estimator}, {cross_mbps} Mbit/s of datagrams"
    document = nw.clouds(title, links, 4, duration_s=nw.PROBED_S)
    if cross_mbps:
        cross = {"name": CROSS, "algorithm": {"name": "cbr", "rate": f"{cross_mbps} Mbit/s"}, "mss": lp.MSS}
        document["flow"].append({**cross, "from": "A", "to": "R1", "start": "0 s"})
    return document


@prober.drawing
def rates_and_losses_over_cross_traffic(runs: Runs, mode: Mode) -> Drawing:
    def late_mbps(row: Row) -> float:
        return row.rate_mbps((nw.BEGIN_S + 8.0, nw.PROBED_S))

    rate, loss, histories = [], [], []
    cross = [float(mbps) for mbps in runs.distinct("cross_mbps")]
    most = max(cross)
    for number, name in enumerate(runs.distinct("estimator")):
        at = runs.where(estimator=name)
        rate.append(dr.over(name, at, "cross_mbps", late_mbps, number))
        loss.append(dr.over(name, at, "cross_mbps", lambda row: 100.0 * row.row["lost_ratio"], number))
        curve = dr.history("XCP-i", dr.first(at, cross_mbps=int(most)), "xcp", 0, 0.5)
        text = f"{name}, {most:g} Mbit/s of datagrams"
        histories.append(dr.rates(text, (curve,), nw.PROBED_S, nw.CLOUD_MBPS))
    left = dr.dashed("what the datagrams leave", cross, [nw.CLOUD_MBPS - mbps for mbps in cross])
    axis, limits = "datagrams in the cloud, Mbit/s", (0.0, 1.1 * nw.CLOUD_MBPS)
    return Drawing(
        f"One flow through a cloud of {nw.CLOUD_MBPS:g} Mbit/s. The oracle knows what is left; igi and ptr "
        f"send trains of packets through the cloud.{repeats(runs)}",
        (
            Panel("Rate from 10 s on", axis, dr.RATE_AXIS, (left, *rate), y_range=limits),
            Panel("Packets lost", axis, "% of the flow's", tuple(loss)),
            *histories,
        ),
    )


@beyond(
    "others",
    NOT_TRIED,
    "HSTCP and CUBIC in place of Reno",
    protocol=("newreno", "hstcp", "cubic"),
    rtt_ms=fr.RTTS_MS,
)
def others(protocol: str, rtt_ms: int, repeat: int) -> lp.Document:
    """Fig. 6.3 with other TCPs."""
    flows = fr.one_and_two("xcp", protocol, rtt_ms)
    return fr.scenario(f"one XCP, two {protocol}, {rtt_ms} ms", fr.PER_PACKET, flows, fr.OTHERS_S)


@others.drawing
def xcp_beside_each(runs: Runs, mode: Mode) -> Drawing:
    panels, lines = [], []
    for name in (key for key in lp.TITLES if runs.has(protocol=key)):
        for rtt in fr.RTTS_MS:
            at = runs.where(protocol=name, rtt_ms=rtt)
            panels.append(fr.over_a_second(f"{lp.TITLES[name]}, {rtt} ms", at, 3, ("two others", name)))
            lines.append((lp.TITLES[name], f"{rtt} ms", *fr.settled(at, name)))
    return Drawing(
        f"One XCP flow, two others from 10 s on; averages over a second.{dr.shown(runs)}",
        tuple(panels),
        table=Table(("TCP", "RTT", "XCP from 30 s on, Mbit/s", "both others, Mbit/s"), tuple(lines)),
        title="Friendliness with HSTCP and CUBIC in place of Reno",
    )


@beyond(
    "ack-losses",
    NOT_TRIED,
    "Up to half of the ACKs lost",
    protocol=("xcp", "xcp-r"),
    ack_loss={"quick": (0.0, 0.2, 0.5), "full": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)},
)
def ack_losses(protocol: str, ack_loss: float, repeat: int) -> lp.Document:
    """Figs. 5.8 to 5.10 with a queue of one BDP, so that losses show."""
    return lp.losing_acks("three", protocol, ack_loss, lp.BDP, lp.XCP_ROUTER)


@ack_losses.drawing
def over_losses_of_acks(runs: Runs, mode: Mode) -> Drawing:
    whole, settled = (0.0, lp.THREE_S), (lp.SILENCE_FROM_S, lp.THREE_S)

    def panel(title: str, label: str, estimate: Callable[[Row], float]) -> Panel:
        curves = [
            dr.over(lp.TITLES[name], runs.where(protocol=name), "ack_loss", estimate, number, 100.0)
            for number, name in enumerate(("xcp", "xcp-r"))
        ]
        return Panel(title, "ACKs lost, %", label, tuple(curves))

    return Drawing(
        f"Three flows, 200 to 50 Mbit/s left by datagrams, 100 ms, a queue of one BDP.{repeats(runs)}",
        (
            panel("Rate of all", dr.RATE_AXIS, lambda row: row.rate_mbps(settled)),
            panel("Packets lost", "packets", lambda row: row.lost(whole)),
            panel("Timeouts", "number", Row.timeouts),
            panel("Longest silence of a flow", "s", lambda row: row.silence_s(settled)),
        ),
        title="XCP and XCP-r with up to half of the ACKs lost",
    )


@beyond("hundred", NOT_TRIED, "A hundred XCP flows", rtts=("100 ms", "20 to 200 ms"))
def hundred(rtts: str, repeat: int) -> lp.Document:
    spread = [20 + 180 * number // (MANY - 1) for number in range(MANY)]
    each_ms = [MANY_RTT_MS] * MANY if rtts == "100 ms" else spread
    flows = [lp.flow("xcp", f"xcp-{number}", rtt_ms) for number, rtt_ms in enumerate(each_ms, 1)]
    title, router = f"{MANY} XCP flows, {rtts}", lp.XCP_ROUTER
    return lp.dumbbell(title, 1000, lp.VBE_BUFFER, flows, MANY_S, sample_s=0.5, router=router)


@hundred.drawing
def sorted_rates_and_queue(runs: Runs, mode: Mode) -> Drawing:
    curves, queues, lines = [], [], []
    span = (10.0, 30.0)
    for number, name in enumerate(runs.distinct("rtts")):
        at, shown = rows(runs, rtts=name), dr.first(runs, rtts=name)
        late = [sorted(row.rates_mbps(span)) for row in at]
        means = enumerate(np.mean(late, axis=0).tolist(), 1)
        curves.append(points(name, [(float(index), (rate, nan)) for index, rate in means], None, number))
        queues.append(dr.line(name, shown.edges_s().tolist(), shown.row["queue"], number))
        jain, together = mean(map(metrics.jain, late)), mean(map(sum, late))
        dropped, queue = mean(row.dropped() for row in at), mean(row.queue(span) for row in at)
        lines.append((name, f"{jain:.4f}", f"{together:.1f}", f"{dropped:.0f}", f"{queue:.0f}"))
    heads = ("RTTs", "Jain's index", "together, Mbit/s", "dropped", "greatest queue from 10 s on")
    return Drawing(
        f"Rates from 10 to 30 s, sorted; all begin within 0.1 s.{repeats(runs)}",
        (
            Panel("Rates", "flow, from the slowest", dr.RATE_AXIS, tuple(curves), y_range=(0.0, 20.0)),
            Panel("Queue", dr.TIME_AXIS, "packets", tuple(queues)),
        ),
        table=Table(heads, tuple(lines)),
        title="A hundred XCP flows on 1 Gbit/s",
    )


@beyond("rivals", "6.3", "Counters of flows, and half and half", mechanism=tuple(RIVALS))
def rivals(mechanism: str, repeat: int) -> lp.Document:
    """Two XCP flows beside six TCP flows: ways to count flows, and ns-2's half and half."""
    rtt_ms = fr.RTTS_MS[0]
    flows = lp.flows("xcp", 2, rtt_ms) + lp.flows("newreno", 6, rtt_ms, fr.JOIN_S)
    return fr.scenario(mechanism, RIVALS[mechanism], flows, fr.OTHERS_S)


@rivals.drawing
def each_rival(runs: Runs, mode: Mode) -> Drawing:
    panels, lines = [], []
    for name in dict.fromkeys(row["mechanism"] for row in runs):
        at = runs.where(mechanism=name)
        panels.append(fr.over_a_second(name, at, 4, ("TCP", "newreno")))
        lines.append((name, *fr.settled(at, "newreno")))
    return Drawing(
        f"Two XCP flows, six TCP flows from 10 s on, 20 ms: a fair share is 250 Mbit/s.{dr.shown(runs)}",
        tuple(panels),
        table=Table(("mechanism", "XCP from 30 s on, Mbit/s", "TCP, Mbit/s"), tuple(lines)),
        title="Counters of flows, and ns-2's half and half",
    )


@lp.PAPER.experiment("generality", "7.4", "The mechanisms with JetMax")
def generality(mode: Mode) -> list[Run]:
    return [
        Run(
            {"mechanism": mechanism, "case": case, "repeat": repeat},
            {**document, "seed": repeat + 1},
            lp.crossing(nw.CLOUD_MBPS, document) if "link" in document else None,
        )
        for repeat in range(lp.BEYOND_REPEATS[mode])
        for (mechanism, case), document in _around_jetmax().items()
    ]


def _around_jetmax() -> dict[tuple[str, str], lp.Document]:
    found = {}
    inner = {"protocol": "jetmax"}
    for case, router in (("plain", "jetmax"), ("-i", nw.ORACLE | inner)):
        links, end_s = nw.single(router, nw.CLOUD_MBPS), nw.PROBED_S
        found["-i", case] = nw.clouds(f"cloud, {case}", links, 4, protocol="jetmax", duration_s=end_s)
    for name in ("jetmax", "jetmax-r"):
        title = f"three flows of {name}, 30 % of the ACKs lost"
        found["-r", name] = {**lp.losing_acks("three", name, 0.3, router="jetmax"), "title": title}
    flows = fr.one_and_two("jetmax", "newreno", fr.RTTS_MS[0])
    for case, router in (("plain", "jetmax"), ("friendly", fr.PER_PACKET | inner)):
        title = f"JetMax beside TCP, {case}"
        found["friendliness", case] = fr.scenario(title, router, flows, fr.OTHERS_S)
    return found


@generality.drawing
def each_mechanism(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for mechanism, case in dict.fromkeys((row["mechanism"], row["case"]) for row in runs):
        row = dr.first(runs, mechanism=mechanism, case=case)
        kinds = row.names if mechanism == "-r" else dict.fromkeys(name.split("-")[0] for name in row.names)
        curves = [dr.history(kind, row, kind, number, 0.5) for number, kind in enumerate(kinds)]
        text = f"{mechanism}: {case}, {row.row['lost_ratio']:.1%} lost, {row.timeouts():.0f} timeouts"
        panels.append(dr.rates(text, curves, row.end_s))
    return Drawing(
        "-i: a cloud of 100 Mbit/s. -r: three flows, 200 to 50 Mbit/s, 30 % of the ACKs lost. Friendliness: "
        f"one JetMax flow, two TCP flows from 10 s on, 20 ms.{dr.shown(runs)}",
        tuple(panels),
    )
