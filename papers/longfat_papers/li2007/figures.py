"""LLS's figures as data: curves, axes and captions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from longfat.figure.data import Curve, Figure, Panel, points
from longfat.figure.data import theory as theory_curve
from longfat.runs import metrics, theory
from longfat.words import Mode
from longfat_papers.kit.curves import by_algorithm, cwnd_panel, repeats_text, samples, thinned
from longfat_papers.kit.suite import Runs
from longfat_papers.li2007.settings import ALGORITHMS, LONG_RTT_MS, TITLES

RTT_AXIS = "propagation RTT, ms"
RTT_2_AXIS = "propagation RTT of flow 2, ms"
RATIO_AXIS = "throughput ratio"
FINEST_RATIO = 1e-4
"""Lesser ratios are drawn here, so that a starved flow stays visible on a logarithmic axis."""

GREATEST_RATIO = 10.0


def fairness(runs: Runs, mode: Mode) -> Figure:
    """Fig. 3: throughput ratio of two like flows over their RTT."""
    return Figure(
        "F3",
        "Fig. 3",
        "Two like flows: ratio of throughputs",
        "Least over greatest throughput of two flows with the same algorithm and RTT. Queue 20 % BDP, no "
        "web traffic."
        + _repeats(runs)
        + (
            " The paper: standard TCP and H-TCP within 5 %, Scalable-TCP and FAST-TCP notably unfair, "
            "HS-TCP and BIC-TCP to a lesser degree."
        ),
        tuple(
            Panel(
                f"{rate} Mbit/s",
                RTT_AXIS,
                RATIO_AXIS,
                by_algorithm(runs.where(rate_mbps=rate), "rtt_ms", "ratio", TITLES),
                y_range=(0.0, 1.05),
            )
            for rate in runs.distinct("rate_mbps")
        ),
    )


def cwnd_histories(name: str, mirrors: str) -> Callable[[Runs, Mode], Figure]:
    """Figs. 4, 5, 6, 8, 9: cwnd of both flows over time, one panel for each RTT."""

    def figure(runs: Runs, mode: Mode) -> Figure:
        row = runs.first()
        title = TITLES[row["algorithm"]]
        panels = []
        for variant in sorted(runs.distinct("variant"), key=lambda label: label != "as measured"):
            for rtt in runs.where(variant=variant).distinct("rtt_ms"):
                run = runs.where(variant=variant, rtt_ms=rtt).first()
                suffix = "" if variant == "as measured" else f", {variant}"
                panels.append(cwnd_panel(f"{rtt} ms{suffix}", run))
        return Figure(
            name,
            mirrors,
            f"{title}: cwnd after a second flow starts",
            f"{title}, 250 Mbit/s, queue 20 % BDP, no web traffic; first repeat, sampled every half second."
            + _variants(runs),
            tuple(panels),
            columns=1,
        )

    return figure


def table_histories(runs: Runs, mode: Mode) -> Figure:
    """Fig. 7: cwnd with each table, and the increase and decrease that the histories show."""
    panels = []
    for table in sorted(runs.distinct("table"), key=("nearest", "interpolated", "exact").index):
        run = runs.where(table=table).first()
        panels.append(cwnd_panel(f"table: {table}", run))
        panels.append(_aimd_panel(table, run))
    return Figure(
        "F7",
        "Fig. 7",
        "HS-TCP: the table's granularity",
        "250 Mbit/s, 42 ms, queue 20 % BDP. Left: cwnd; right: the decrease factor of each backoff, read "
        "from the history (after / before). The paper: lasting unfairness with the nearest-neighbour table."
        + _repeats(runs),
        tuple(panels),
    )


def rtt_unfairness(name: str, queue_percent: int) -> Callable[[Runs, Mode], Figure]:
    """Fig. 10: long over short throughput, with theory."""

    def figure(runs: Runs, mode: Mode) -> Figure:
        panels = []
        for rate in runs.distinct("rate_mbps"):
            at = runs.where(rate_mbps=rate)
            rtts = [float(rtt) for rtt in at.distinct("rtt_ms")]
            panels.append(
                Panel(
                    f"{rate} Mbit/s",
                    RTT_2_AXIS,
                    "flow 1 / flow 2",
                    (
                        *by_algorithm(at, "rtt_ms", "first_to_second", TITLES, least=FINEST_RATIO),
                        _rtt_theory("(RTT 2 / RTT 1)²", rtts, 2.0, "reno"),
                        _rtt_theory("RTT 2 / RTT 1", rtts, 1.0, "htcp"),
                    ),
                    y_log=True,
                    y_range=(FINEST_RATIO, GREATEST_RATIO),
                )
            )
        return Figure(
            name,
            "Fig. 10" if queue_percent == 20 else f"Fig. 10 at {queue_percent} % BDP",
            f"Different RTTs: ratio of throughputs, queue {queue_percent} % BDP",
            f"Flow 1 at {LONG_RTT_MS} ms, flow 2 at a shorter RTT; queue {queue_percent} % of flow 1's BDP, "
            "no web traffic. Broken lines: theory for synchronised losses (square of the RTT ratio, the "
            "ratio itself for H-TCP)."
            + _repeats(runs)
            + (
                " The paper's lowest ratios: standard .02, H-TCP .2, HS-TCP and FAST-TCP .003, "
                "Scalable-TCP below."
            ),
            tuple(panels),
        )

    return figure


def compatibility(runs: Runs, mode: Mode) -> Figure:
    """Fig. 11: one standard flow, one new, same RTT."""
    return Figure(
        "F11",
        "Fig. 11",
        "Standard TCP joined by a new protocol: ratio of throughputs",
        "Throughput of standard TCP over that of the new protocol, same RTT. Queue 20 % BDP, no web traffic."
        + _repeats(runs)
        + " The paper: Scalable-TCP and FAST-TCP are the least fair at both rates.",
        _standard_panels(runs, RTT_AXIS),
    )


def compatibility_unlike(runs: Runs, mode: Mode) -> Figure:
    """III-D at different RTTs; the paper prints no figure."""
    return Figure(
        "C2",
        "III-D",
        f"Standard TCP at {LONG_RTT_MS} ms joined by a new protocol at another RTT",
        f"Throughput of standard TCP ({LONG_RTT_MS} ms) over that of the new protocol. Queue 20 % of "
        "standard TCP's BDP, no web traffic."
        + _repeats(runs)
        + " The paper describes this test and prints no figure for it.",
        _standard_panels(runs, RTT_2_AXIS),
    )


def queue_provisioning(runs: Runs, mode: Mode) -> Figure:
    """Fig. 12: throughput and loss over the size of the queue."""
    shares = [float(percent) for percent in runs.distinct("queue_percent")]
    predicted = [100.0 * theory.sawtooth_utilization(percent / 100.0) for percent in shares]
    throughput = Panel(
        "Throughput of both flows",
        "queue, % BDP",
        "Mbit/s",
        (
            *by_algorithm(runs, "queue_percent", "aggregate_bps", TITLES, scale=1e-6),
            theory_curve("Standard TCP, theory", shares, predicted, "reno"),
        ),
        x_log=True,
        y_range=(0.0, 105.0),
    )
    loss = Panel(
        "Packet loss",
        "queue, % BDP",
        "lost / sent",
        by_algorithm(runs, "queue_percent", "loss_ratio", TITLES),
        x_log=True,
        y_log=True,
    )
    return Figure(
        "F12",
        "Fig. 12",
        "Efficiency and queue provisioning",
        "Two like flows, 100 Mbit/s, 82 ms (BDP 683 packets), no web traffic."
        + _repeats(runs)
        + (
            " The paper: above 10 % BDP every new protocol beats standard TCP; below about 3 % (FAST-TCP 8 "
            "%) throughput collapses and loss rises about a hundredfold. Broken line: a sawtooth of "
            "standard TCP whose flows back off together."
        ),
        (throughput, loss),
    )


def response(runs: Runs, mode: Mode) -> Figure:
    """Fig. 13: throughput over random loss, with the response functions."""
    rtt_s = LONG_RTT_MS / 1000.0
    losses = [float(loss) for loss in runs.distinct("loss")]
    grid = [10.0 ** (0.05 * step) for step in range(round(20 * math.log10(min(losses))), -39)]
    curves = [*by_algorithm(runs, "loss", "settled_throughput_1_bps", TITLES, scale=1e-6)]
    for name, window in theory.RESPONSE_FUNCTIONS.items():
        rates = [theory.throughput_bps(window(loss), rtt_s) / 1e6 for loss in grid]
        shown = [(loss, rate) for loss, rate in zip(grid, rates, strict=True) if rate <= 250.0]
        curves.append(
            theory_curve(f"{TITLES[name]}, theory", [p for p, _ in shown], [r for _, r in shown], name)
        )
    return Figure(
        "F13",
        "Fig. 13",
        "Response functions",
        "One flow, 250 Mbit/s, 162 ms, random loss of data packets; without the first 100 s. Broken lines: "
        "theory." + _repeats(runs) + " The paper: fairly good agreement away from the mode switch.",
        (
            Panel(
                "250 Mbit/s, 162 ms",
                "loss probability",
                "Mbit/s",
                tuple(curves),
                x_log=True,
                y_log=True,
            ),
        ),
        columns=1,
    )


def convergence(runs: Runs, mode: Mode) -> Figure:
    """Fig. 14: 80 % convergence time after the second flow's start; by the caption's ratio and by III-A."""
    panels = []
    for quantity, text in (
        ("convergence_80_s", "flow 2 at 80 % of flow 1"),
        ("convergence_own_s", "flow 2 at 80 % of its own mean"),
    ):
        for rate in runs.distinct("rate_mbps"):
            panels.append(
                Panel(
                    f"{rate} Mbit/s, {text}",
                    RTT_AXIS,
                    "s",
                    by_algorithm(runs.where(rate_mbps=rate), "rtt_ms", quantity, TITLES, reached=True),
                    y_log=True,
                )
            )
    return Figure(
        "F14",
        "Fig. 14",
        "80 % convergence time after the start of a second flow",
        "Short-term averages over about 100 RTT (eq. 2); points are missing where most repeats do not "
        "converge within 600 s. Above: the fairness ratio of the figure's caption; below: the definition "
        "of III-A."
        + _repeats(runs)
        + (
            " The paper: Scalable-TCP, HS-TCP, BIC-TCP over 100 s or never, H-TCP about 30 s, FAST-TCP the "
            "shortest."
        ),
        tuple(panels),
    )


def web(runs: Runs, mode: Mode) -> Figure:
    """Fig. 15: Fig. 10 under web sessions, one panel for each algorithm."""
    panels = []
    for name in _present(runs):
        at = runs.where(algorithm=name)
        curves = []
        for stroke, sessions in enumerate(at.distinct("sessions")):
            some = at.where(sessions=sessions)
            sampled = samples(some, "rtt_ms", "first_to_second", least=FINEST_RATIO)
            curves.append(points(f"{sessions} sessions", sampled, name, stroke))
        panels.append(
            Panel(
                TITLES[name],
                RTT_2_AXIS,
                "flow 1 / flow 2",
                tuple(curves),
                y_log=True,
                y_range=(FINEST_RATIO, GREATEST_RATIO),
            )
        )
    return Figure(
        "F15",
        "Fig. 15",
        "Different RTTs under web traffic",
        f"Flow 1 at {LONG_RTT_MS} ms, 250 Mbit/s, queue 20 % of flow 1's BDP, bidirectional web sessions."
        + _repeats(runs)
        + " The paper: web traffic makes little difference.",
        tuple(panels),
        columns=3,
    )


def efficiency_rtt(runs: Runs, mode: Mode) -> Figure:
    """III-E-ii: throughput and loss over the RTT; the paper prints no figure."""
    panels = []
    for rate in runs.distinct("rate_mbps"):
        at = runs.where(rate_mbps=rate)
        panels += [
            Panel(
                f"Throughput of both flows, {rate} Mbit/s",
                RTT_AXIS,
                "share of the capacity",
                by_algorithm(at, "rtt_ms", "utilization", TITLES),
                y_range=(0.0, 1.05),
            ),
            Panel(
                f"Packet loss, {rate} Mbit/s",
                RTT_AXIS,
                "lost / sent",
                by_algorithm(at, "rtt_ms", "loss_ratio", TITLES),
                y_log=True,
            ),
        ]
    return Figure(
        "E2",
        "III-E-ii",
        "Efficiency and RTT",
        "Two like flows, queue 20 % BDP, no web traffic."
        + _repeats(runs)
        + " The paper describes this test and prints no figure for it.",
        tuple(panels),
    )


def refill(runs: Runs, mode: Mode) -> Figure:
    """Fig. 1: cwnd and throughput around one loss at a full window."""
    run = runs.first()
    history = run["series"][0]
    time, counter = history["time_s"], history["received_bytes"]
    grid, rate = metrics.short_term_throughput_bps(time, counter, 0.01, sampling_s=1.0)
    seconds, cwnd = thinned(time, history["cwnd"])
    return Figure(
        "F1",
        "Fig. 1",
        "One loss on a long fat pipe",
        "One standard flow, 1 Gbit/s, 100 ms, delayed ACK without byte counting, held at a window of one "
        "BDP (8333 packets) until one packet is lost. The paper: BDP about 8000 packets, about 8000 RTTs "
        "(800 s) to refill; its own path averaged 218 Mbit/s over 1200 s.",
        (
            Panel(
                "Congestion window",
                "time, s",
                "packets",
                (Curve(TITLES["reno"], seconds, cwnd, None, "reno", "line"),),
                y_range=(0.0, 9000.0),
            ),
            Panel(
                "Throughput",
                "time, s",
                "Mbit/s",
                (
                    Curve(
                        TITLES["reno"],
                        *thinned(grid, rate * 1e-6),
                        None,
                        "reno",
                        "line",
                    ),
                ),
                y_range=(0.0, 1050.0),
            ),
        ),
        columns=1,
    )


def _standard_panels(runs: Runs, x_label: str) -> tuple[Panel, ...]:
    return tuple(
        Panel(
            f"{rate} Mbit/s",
            x_label,
            "standard / new",
            by_algorithm(runs.where(rate_mbps=rate), "rtt_ms", "first_to_second", TITLES, least=FINEST_RATIO),
            y_log=True,
        )
        for rate in runs.distinct("rate_mbps")
    )


def _aimd_panel(table: str, run: dict[str, Any]) -> Panel:
    curves = []
    for number, history in enumerate(run["series"], start=1):
        backoff = history["backoffs"]
        factors = [after / before for before, after in zip(backoff["before"], backoff["after"], strict=True)]
        curves.append(
            Curve(
                f"flow {number}",
                tuple(float(value) for value in backoff["time_s"]),
                tuple(float(value) for value in factors),
                None,
                run["algorithm"],
                "line",
                number - 1,
            )
        )
    return Panel(
        f"decrease factor, table: {table}",
        "time, s",
        "cwnd after / before",
        tuple(curves),
        y_range=(0.3, 1.0),
    )


def _rtt_theory(label: str, rtts_ms: list[float], exponent: float, algorithm: str) -> Curve:
    ratios = [theory.rtt_unfairness(LONG_RTT_MS, rtt, exponent) for rtt in rtts_ms]
    return theory_curve(label, rtts_ms, ratios, algorithm)


def _present(runs: Runs) -> list[str]:
    measured = set(runs.distinct("algorithm"))
    return [name for name in ALGORITHMS if name in measured]


def _repeats(runs: Runs) -> str:
    counts = {
        f"at {rate} Mbit/s": len(runs.where(rate_mbps=rate).distinct("repeat"))
        for rate in runs.distinct("rate_mbps")
    }
    return repeats_text(counts or {None: len(runs.distinct("repeat"))})


def _variants(runs: Runs) -> str:
    others = [label for label in runs.distinct("variant") if label != "as measured"]
    return f" Below: the other reading of the paper's formula ({', '.join(others)})." if others else ""
