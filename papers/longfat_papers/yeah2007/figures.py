"""YeAH's figures as data: curves, axes and captions."""

from __future__ import annotations

import math
from collections.abc import Callable

from longfat.figure.data import Curve, Figure, Panel, points
from longfat.words import Mode
from longfat_papers.kit.curves import by_algorithm, cwnd_panel, repeats
from longfat_papers.kit.suite import Runs
from longfat_papers.yeah2007.reduction import efficiency_lengths_s, fair_to_reno_ratio
from longfat_papers.yeah2007.settings import (
    FIRST_RTT_MS,
    FRIENDLY_RTT_MS,
    JOINED_RTT_MS,
    LONG_RTT_MS,
    LOSS,
    LOSSES_RTT_MS,
    QUEUES_RTT_MS,
    TABLE_I,
    TITLES,
    bdp_packets,
)

RTT_AXIS = "propagation RTT, ms"
QUEUE_AXIS = "mean queue / buffer"
USE_AXIS = "share of the capacity"
USE_RANGE = (0.0, 1.05)


def joined(runs: Runs, mode: Mode) -> Figure:
    """Fig. 1: cwnd of YeAH joined by another flow."""
    panels = []
    for partner, text in (("yeah", "joined by YeAH"), ("reno", "joined by Reno")):
        labels = [("YeAH", "yeah"), (f"{TITLES[partner]}, later", partner)]
        panels.append(cwnd_panel(text, runs.where(partner=partner).first(), labels))
    return Figure(
        "F1",
        "Fig. 1",
        "YeAH joined by YeAH and by Reno",
        f"cwnd, {JOINED_RTT_MS} ms, buffer of one BDP; first repeat, sampled every half second. The paper: "
        "steep convergence with YeAH; with Reno, YeAH yields until it has detected Reno, then both share as "
        "Reno does.",
        tuple(panels),
        columns=1,
    )


def queue_over_rtts(runs: Runs, mode: Mode) -> Figure:
    """Fig. 3: normalised queue, and the utilization, which the paper only describes."""
    return Figure(
        "F3",
        "Fig. 3",
        "Queue at the bottleneck over the RTT",
        "Two like flows, buffer of one BDP, queue sampled at 100 Hz."
        + repeats(runs)
        + (
            " The paper: YeAH lowest everywhere, Africa and Compound like Reno, HSTCP and CUBIC above it "
            "up to 120 ms, H-TCP nearly constant; all fill the link up to 120 ms (its figure has no "
            "utilization)."
        ),
        (
            Panel("Queue", RTT_AXIS, QUEUE_AXIS, _curves(runs, "rtt_ms", "queue_share"), y_range=(0.0, 1.0)),
            Panel(
                "Utilization", RTT_AXIS, USE_AXIS, _curves(runs, "rtt_ms", "utilization"), y_range=USE_RANGE
            ),
        ),
    )


def overflow_table(runs: Runs, mode: Mode) -> Figure:
    """Table I as curves: measured, and as printed."""
    printed = tuple(
        Curve(
            TITLES[name],
            tuple(float(rtt) for rtt in row),
            tuple(math.nan if value is None else value for value in row.values()),
            None,
            name,
        )
        for name, row in TABLE_I.items()
    )
    measured = _curves(runs, "rtt_ms", "overflow_ratio")
    return Figure(
        "T1",
        "Table I",
        "Loss probability at the buffer",
        "Packets that the buffer dropped over those that arrived; a point is missing where none was lost."
        + repeats(runs)
        + " Right: the paper's table, which has a dash for YeAH.",
        tuple(
            Panel(title, RTT_AXIS, "dropped / arrived", curves, y_log=True)
            for title, curves in (("Measured", measured), ("The paper", printed))
        ),
    )


def lossy_rtts(runs: Runs, mode: Mode) -> Figure:
    """Fig. 4: utilization over the RTT under random loss."""
    return Figure(
        "F4",
        "Fig. 4",
        "Utilization over the RTT under random loss",
        f"Two like flows, buffer of one BDP, a loss probability of {LOSS:g}."
        + repeats(runs)
        + " The paper: YeAH fills the link at every RTT; Africa and Compound lose more, Reno most.",
        (Panel("", RTT_AXIS, USE_AXIS, _curves(runs, "rtt_ms", "utilization"), y_range=USE_RANGE),),
        columns=1,
    )


def over_losses(runs: Runs, mode: Mode) -> Figure:
    """Fig. 5: utilization over the random loss."""
    curves = _curves(runs, "loss", "utilization")
    return Figure(
        "F5",
        "Fig. 5",
        "Utilization over the random loss",
        f"Two like flows, {LOSSES_RTT_MS} ms, buffer of one BDP ({bdp_packets(LOSSES_RTT_MS):.0f} packets)."
        + repeats(runs)
        + " The paper: Reno lowest, YeAH highest until the loss is very high.",
        (Panel("", "loss probability", USE_AXIS, curves, x_log=True, y_range=USE_RANGE),),
        columns=1,
    )


def over_queues(runs: Runs, mode: Mode) -> Figure:
    """Fig. 6: normalised queue and utilization over the size of the buffer."""
    axis = "buffer, % BDP"
    return Figure(
        "F6",
        "Fig. 6",
        "Size of the buffer",
        f"Two like flows, {QUEUES_RTT_MS} ms (BDP {bdp_packets(QUEUES_RTT_MS):.0f} packets)."
        + repeats(runs)
        + (
            " The paper: YeAH uses the link whatever the buffer, and its queue takes a smaller share of a "
            "larger buffer; the others' shares grow, and loss-based protocols lose goodput at small buffers."
        ),
        (
            Panel(
                "Queue", axis, QUEUE_AXIS, _curves(runs, "queue_percent", "queue_share"), y_range=(0.0, 1.0)
            ),
            Panel(
                "Utilization",
                axis,
                USE_AXIS,
                _curves(runs, "queue_percent", "utilization"),
                y_range=USE_RANGE,
            ),
        ),
    )


def over_ratios(runs: Runs, mode: Mode) -> Figure:
    """Fig. 7: Jain's index over the ratio of the RTTs."""
    return Figure(
        "F7",
        "Fig. 7",
        "Fairness over the ratio of the RTTs",
        f"Two flows of one algorithm, RTT 1 = {FIRST_RTT_MS} ms, buffer one BDP of RTT 1."
        + repeats(runs)
        + " The paper: at ratio 1 all are fair, CUBIC not perfectly; above 1 only H-TCP and YeAH.",
        (
            Panel(
                "", "RTT 2 / RTT 1", "Jain's index", _curves(runs, "rtt_ratio", "jain"), y_range=(0.45, 1.02)
            ),
        ),
        columns=1,
    )


def fair_to_reno(runs: Runs, mode: Mode) -> Figure:
    """V-D: the fair-to-Reno ratio over the number of Reno flows."""
    curves = tuple(
        points(
            TITLES[name],
            [(float(n), (fair_to_reno_ratio(runs, name, n), math.nan)) for n in runs.distinct("reno_flows")],
            name,
        )
        for name in TITLES
        if runs.has(algorithm=name)
    )
    return Figure(
        "FR",
        "V-D",
        "Fair to Reno",
        "Goodput of n Reno flows beside one more Reno flow, over their goodput beside one flow of another "
        f"algorithm; {FRIENDLY_RTT_MS} ms, buffer of one BDP."
        + repeats(runs)
        + " The paper, in words: 5 to 7 for loss-based protocols at n = 1, towards 1 as n grows; 1 for "
        "Africa, Compound and YeAH.",
        (Panel("", "Reno flows", "fair-to-Reno ratio", curves, x_log=True),),
        columns=1,
    )


def efficiency(name: str) -> Callable[[Runs, Mode], Figure]:
    """Fig. 8: efficiency over the length of the experiment."""
    beginning = "limited slow-start" if name == "F8a" else "an initial ssthresh of 2 packets"

    def figure(runs: Runs, mode: Mode) -> Figure:
        curves = tuple(
            points(
                TITLES[label],
                [(float(s), at.mean_stderr(f"efficiency_{s}")) for s in efficiency_lengths_s(runs)],
                label,
            )
            for label in TITLES
            if runs.has(algorithm=label)
            for at in [runs.where(algorithm=label)]
        )
        return Figure(
            name,
            "Fig. 8(a)" if name == "F8a" else "Fig. 8(b)",
            "Efficiency over the length of the experiment",
            f"Two like flows, {LONG_RTT_MS} ms, buffer of one BDP ({bdp_packets(LONG_RTT_MS):.0f} "
            f"packets), {beginning}; shorter experiments are the beginnings of the longest."
            + repeats(runs)
            + (
                " The paper: all alike, from 0.2 at 100 s to just under 0.9 at 1800 s."
                if name == "F8a"
                else " The paper: the algorithms separate."
            ),
            (Panel("", "length, s", "efficiency", curves, y_range=(0.0, 1.05)),),
            columns=1,
        )

    return figure


def _curves(runs: Runs, x: str, y: str) -> tuple[Curve, ...]:
    return by_algorithm(runs, x, y, TITLES)
