"""Figures of experiments that the thesis did not try."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from longfat.figure.data import Curve, Figure, Panel, Table, points
from longfat.runs import metrics
from longfat.words import Mode
from longfat_papers.kit.curves import repeats
from longfat_papers.kit.suite import Runs
from longfat_papers.lopez2008.figures import RATE_AXIS, dashed, first, history, rates, shown
from longfat_papers.lopez2008.networks import BEGIN_S
from longfat_papers.lopez2008.reduction import Row
from longfat_papers.lopez2008.settings import FRIENDLY_MBPS, FRIENDLY_RTTS_MS, SPAN_S, TITLES

NOT_TRIED = "not in the thesis"
CLOUD_MBPS = 100.0
SETTLED_S = 30.0
"""Averages over chapter 6's runs begin here."""


def prober(runs: Runs, mode: Mode) -> Figure:
    """Draws rate and losses of XCP-i's estimators over the cross traffic."""
    rate, loss = [], []
    names = runs.distinct("estimator")
    for number, name in enumerate(names):
        at = runs.where(estimator=name)
        rate.append(_over(name, at, "cross_mbps", _late_rate, number))
        loss.append(_over(name, at, "cross_mbps", lambda row: 100.0 * row.row["lost_ratio"], number))
    cross = [float(mbps) for mbps in runs.distinct("cross_mbps")]
    left = dashed("what the datagrams leave", cross, [CLOUD_MBPS - mbps for mbps in cross])
    most = max(cross)
    histories = [
        rates(
            f"{name}, {most:g} Mbit/s of datagrams",
            (history("XCP-i", first(runs, estimator=name, cross_mbps=int(most)), "xcp", 0, 0.5),),
            BEGIN_S + 30.0,
            CLOUD_MBPS,
        )
        for name in names
    ]
    axis = "datagrams in the cloud, Mbit/s"
    return Figure(
        "prober",
        NOT_TRIED,
        "XCP-i with real probing and cross traffic",
        f"One flow through a cloud of {CLOUD_MBPS:g} Mbit/s. The oracle knows what is left; igi and ptr "
        f"send trains of "
        "packets through the cloud." + repeats(runs),
        (
            Panel("Rate from 10 s on", axis, RATE_AXIS, (left, *rate), y_range=(0.0, 1.1 * CLOUD_MBPS)),
            Panel("Packets lost", axis, "% of the flow's", tuple(loss)),
            *histories,
        ),
    )


def other_tcps(runs: Runs, mode: Mode) -> Figure:
    """Draws Fig. 6.3 with other TCPs."""
    panels, lines = [], []
    for name in (key for key in TITLES if runs.has(protocol=key)):
        for rtt in FRIENDLY_RTTS_MS:
            at = runs.where(protocol=name, rtt_ms=rtt)
            row = first(at)
            end = float(row.edges_s()[-1])
            panels.append(
                rates(
                    f"{TITLES[name]}, {rtt} ms",
                    (
                        dashed("XCP's fair share", (10.0, end), (FRIENDLY_MBPS / 3.0,) * 2),
                        history("XCP", row, "xcp", 0, SPAN_S / 10.0),
                        history("two others", row, name, 1, SPAN_S / 10.0),
                    ),
                    end,
                    FRIENDLY_MBPS,
                )
            )
            both = [np.mean([Row(r).rate_mbps((SETTLED_S, end), kind) for r in at]) for kind in ("xcp", name)]
            lines.append((TITLES[name], f"{rtt} ms", *(f"{value:.0f}" for value in both)))
    return Figure(
        "others",
        NOT_TRIED,
        "Friendliness with HSTCP and CUBIC in place of Reno",
        "One XCP flow, two others from 10 s on; averages over a second." + shown(runs),
        tuple(panels),
        table=Table(("TCP", "RTT", "XCP from 30 s on, Mbit/s", "both others, Mbit/s"), tuple(lines)),
    )


def ack_losses(runs: Runs, mode: Mode) -> Figure:
    """Draws XCP and XCP-r over the losses of ACKs."""
    axis = "ACKs lost, %"

    def panel(title: str, label: str, estimate: Callable[[Row], float]) -> Panel:
        curves = [
            _over(TITLES[name], runs.where(protocol=name), "ack_loss", estimate, number, 100.0)
            for number, name in enumerate(("xcp", "xcp-r"))
        ]
        return Panel(title, axis, label, tuple(curves))

    return Figure(
        "ack-losses",
        NOT_TRIED,
        "XCP and XCP-r with up to half of the ACKs lost",
        "Three flows, 200 to 50 Mbit/s left by datagrams, 100 ms, a queue of one BDP." + repeats(runs),
        (
            panel("Rate of all", RATE_AXIS, lambda row: row.rate_mbps((2.0, 60.0))),
            panel("Packets lost", "packets", lambda row: row.lost((0.0, 60.0))),
            panel("Timeouts", "number", lambda row: sum(row.each("timeouts"))),
            panel(
                "Longest silence of a flow",
                "s",
                lambda row: max(row.idle_s((2.0, 60.0), index) for index in row.among()),
            ),
        ),
    )


def hundred(runs: Runs, mode: Mode) -> Figure:
    """Draws a hundred flows: sorted rates, and the queue."""
    curves, lines = [], []
    for number, name in enumerate(runs.distinct("rtts")):
        at = runs.where(rtts=name)
        late = [sorted(Row(row).rates_mbps((10.0, 30.0))) for row in at]
        means = np.mean(late, axis=0).tolist()
        samples = [(float(index + 1), (value, float("nan"))) for index, value in enumerate(means)]
        curves.append(points(name, samples, None, number))
        lines.append(
            (
                name,
                f"{np.mean([metrics.jain(values) for values in late]):.4f}",
                f"{np.mean([sum(values) for values in late]):.1f}",
                f"{np.mean([Row(row).dropped() for row in at]):.0f}",
                f"{np.mean([Row(row).queue((10.0, 30.0)) for row in at]):.0f}",
            )
        )
    queues = [
        Curve(
            name,
            tuple(first(runs, rtts=name).edges_s().tolist()),
            tuple(first(runs, rtts=name).row["queue"]),
            None,
            None,
            "line",
            number,
        )
        for number, name in enumerate(runs.distinct("rtts"))
    ]
    return Figure(
        "hundred",
        NOT_TRIED,
        "A hundred XCP flows on 1 Gbit/s",
        "Rates from 10 to 30 s, sorted; all begin within 0.1 s." + repeats(runs),
        (
            Panel("Rates", "flow, from the slowest", RATE_AXIS, tuple(curves), y_range=(0.0, 20.0)),
            Panel("Queue", "time, s", "packets", tuple(queues)),
        ),
        table=Table(
            ("RTTs", "Jain's index", "together, Mbit/s", "dropped", "greatest queue from 10 s on"),
            tuple(lines),
        ),
    )


def rivals(runs: Runs, mode: Mode) -> Figure:
    """Draws ways to count flows, and half and half."""
    panels, lines = [], []
    for name in dict.fromkeys(row["mechanism"] for row in runs):
        at = runs.where(mechanism=name)
        row = first(at)
        end = float(row.edges_s()[-1])
        panels.append(
            rates(
                name,
                (
                    dashed("XCP's fair share", (10.0, end), (FRIENDLY_MBPS / 4.0,) * 2),
                    history("XCP", row, "xcp", 0, 1.0),
                    history("TCP", row, "newreno", 1, 1.0),
                ),
                end,
                FRIENDLY_MBPS,
            )
        )
        both = [
            np.mean([Row(r).rate_mbps((SETTLED_S, end), kind) for r in at]) for kind in ("xcp", "newreno")
        ]
        lines.append((name, *(f"{value:.0f}" for value in both)))
    return Figure(
        "rivals",
        "6.3",
        "Counters of flows, and ns-2's half and half",
        "Two XCP flows, six TCP flows from 10 s on, 20 ms: a fair share is 250 Mbit/s." + shown(runs),
        tuple(panels),
        table=Table(("mechanism", "XCP from 30 s on, Mbit/s", "TCP, Mbit/s"), tuple(lines)),
    )


def generality(runs: Runs, mode: Mode) -> Figure:
    """Draws -i, -r and friendliness with JetMax."""
    panels = []
    for mechanism, case in dict.fromkeys((row["mechanism"], row["case"]) for row in runs):
        row = first(runs, mechanism=mechanism, case=case)
        kinds = dict.fromkeys(name.split("-")[0] for name in row.names)
        curves: list[Curve] = [history(kind, row, kind, number, 0.5) for number, kind in enumerate(kinds)]
        if mechanism == "-r":
            curves = [history(name, row, name, number, 0.5) for number, name in enumerate(row.names)]
        text = (
            f"{mechanism}: {case}, {row.row['lost_ratio']:.1%} lost, {sum(row.each('timeouts')):.0f} timeouts"
        )
        panels.append(rates(text, curves, float(row.edges_s()[-1])))
    return Figure(
        "generality",
        "7.4",
        "The mechanisms with JetMax",
        "-i: a cloud of 100 Mbit/s. -r: three flows, 200 to 50 Mbit/s, 30 % of the ACKs lost. "
        "Friendliness: one JetMax "
        "flow, two TCP flows from 10 s on, 20 ms." + shown(runs),
        tuple(panels),
    )


def _late_rate(row: Row) -> float:
    return row.rate_mbps((BEGIN_S + 8.0, BEGIN_S + 30.0))


def _over(
    label: str, runs: Runs, coordinate: str, estimate: Callable[[Row], float], number: int, scale: float = 1.0
) -> Curve:
    """Returns the curve of an estimate over a coordinate, with errors over repeats."""
    samples = []
    for value in runs.distinct(coordinate):
        values: Iterable[Any] = (estimate(Row(row)) for row in runs.where(**{coordinate: value}))
        samples.append((scale * float(value), metrics.mean_stderr(list(values))))
    return points(label, samples, None, number)
