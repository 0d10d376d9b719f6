"""CADPC/PTP: its fixed point, the parking lot, and TCP beside it (CAD-1 to CAD-3)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, at_most, multiple, settings
from longfat_papers.kit.means import mean
from longfat_papers.relatives import common as rel
from longfat_papers.relatives import networks
from longfat_papers.relatives.reduction import rows

CADPC = (
    "Welzl: Scalable Performance Signalling and Congestion Avoidance, Kluwer, 2003 (its author's summary, "
    "end2end-interest, 26 August 2003)"
)

POINT_MBPS, POINT_RTT_MS, POINT_S = 100, 50, 60
POINT_SPAN_S = 20.0
"""CADPC's rates count over this many seconds before the end."""
HARMED_MBPS, HARMED_RTT_MS, HARMED_S, HARMED_FROM_S = 100, 50, 60, 30.0
HARMED_JOIN_S = 10.0
PAIR = 2
"""CADPC's flows, and as many of TCP."""

TOTAL_WITHIN = 0.05  # CAD-1: distance from n / (n + 1), as a part of it
HELPED_FACTOR = 1.1  # CAD-3: what is no help to TCP

HARMED_SETTINGS = settings(f"""
    path | {HARMED_MBPS} Mbit/s, {HARMED_RTT_MS} ms; behind the link that PTP reports on, one of the same \
        rate with or without the mechanism | chosen here: a link has one router
    flows | {PAIR} of TCP SACK from 0 s, {PAIR} of CADPC from {HARMED_JOIN_S:g} s
""")


@rel.PAPER.experiment(
    "point",
    "CADPC",
    "CADPC's fixed point",
    grid={"flows": {"quick": (1, 2, 4, 8), "full": (1, 2, 4, 8, 16, 32)}, "repeat": rel.REPEATS},
)
def point(flows: int, repeat: int) -> dict[str, Any]:
    like = [rel.flow("cadpc", f"{i + 1}") for i in range(flows)]
    router = rel.ROUTERS["cadpc"]
    return rel.dumbbell(f"{flows} flows of CADPC", POINT_MBPS, POINT_RTT_MS, POINT_S, like, router=router)


@point.drawing
def draw_point(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for row in rel.first_repeats(runs):
        number = row["flows"]
        level = {"n / (n + 1)": POINT_MBPS * number / (number + 1.0)}
        panels.append(rel.histories(f"{number} flows", row, POINT_MBPS, [("all flows", "")], level))
    return rel.drawn(f"All flows together on {POINT_MBPS} Mbit/s, and n / (n + 1) of it.", panels)


@rel.PAPER.experiment(
    "harmed",
    "thesis, 7.4",
    "CADPC beside TCP",
    grid={"case": (rel.PLAIN, rel.WRAPPING), "repeat": rel.REPEATS},
)
def harmed(case: str, repeat: int) -> dict[str, Any]:
    flows = [rel.flow("reno", f"tcp-{i + 1}") for i in range(PAIR)]
    flows += [rel.flow("cadpc", f"cadpc-{i + 1}", HARMED_JOIN_S) for i in range(PAIR)]
    link = partial(networks.link, mbps=HARMED_MBPS, delay_ms=HARMED_RTT_MS / 4, buffer_ms=HARMED_RTT_MS)
    router = None if case == rel.PLAIN else rel.FRIENDLY
    return rel.scenario(
        f"CADPC beside TCP, {'plain' if case == rel.PLAIN else 'friendly'}",
        HARMED_S,
        link=[link("S-A", router="ptp"), link("A-R", router=router)],
        flow=[{**table, "from": "S", "to": "R"} for table in flows],
    )


@harmed.drawing
def draw_harmed(runs: Runs, mode: Mode) -> Drawing:
    return rel.cases(
        runs,
        "Two flows of CADPC join two of TCP; plain, and with the thesis's mechanism on the next link.",
        HARMED_MBPS,
        ("TCP", "tcp"),
        ("CADPC", "cadpc"),
    )


claim = partial(rel.PAPER.claim, paper=CADPC)


@claim(
    "CAD-1",
    "n flows on one link",
    "the law x <- x (1 + a (1 - x - traffic)) has its fixed point at 1 / (n + 1) for each flow, n / (n + 1) "
    "in all",
    ("point",),
    settings=settings(f"bottleneck | {POINT_MBPS} Mbit/s, {POINT_RTT_MS} ms"),
    estimator=f"Means over the last {POINT_SPAN_S:g} s, and over repeats.",
    bounds=f"The total is to be n / (n + 1) of the capacity, and each flow 1 / (n + 1). {rel.DISTANCES}",
    note="The fixed point follows from the law by arithmetic; the book's own figures were not available.",
)
def flows_are_at_the_fixed_point(runs: Runs) -> Checks:
    kept, ratios = {}, []
    for number in runs.distinct("flows"):
        share = POINT_MBPS / (number + 1.0)
        rates = [row.rates("", row.end_s - POINT_SPAN_S) for row in rows(runs, flows=number)]
        ratio = [math.fsum(row) / (number * share) for row in rates]
        off, total = mean(rel.distance(row, share) for row in rates), mean(ratio)
        yield at_most(f"{number} flows: distance of the total", abs(total - 1.0), TOTAL_WITHIN)
        yield at_most(f"{number} flows: greatest distance of a flow", off, rel.SHARE_WITHIN)
        kept[str(number)] = [total * number * share / POINT_MBPS, number / (number + 1.0), off]
        ratios.append(ratio)
    worst = max(ratios, key=lambda ratio: abs(mean(ratio) - 1.0))
    return Evidence(
        "share of the capacity: "
        + ", ".join(f"{number} flows {used:.3f} of {share:.3f}" for number, (used, share, _) in kept.items()),
        kept,
        figure=Measured.mean("total over n / (n + 1), farthest from 1", worst, 1.0),
    )


claim(
    "CAD-2",
    "a parking lot of three links",
    "converges to a max-min fair rate allocation in a fully distributed manner",
    ("lot",),
    settings=networks.LOT_SETTINGS,
    estimator=rel.LATE,
    bounds="These are the max-min fair rates where each link is also shared with one flow that uses nothing: "
    f"this is the law's fixed point. {rel.DISTANCES}",
)(partial(networks.max_min_fair, "cadpc", unused=1.0))


@claim(
    "CAD-3",
    "CADPC beside TCP",
    "where the performance of E2E flows is degraded by the aggressiveness of ERN protocols, like CADPC/PTP, "
    "the friendliness solution does not offer any advantage",
    ("harmed",),
    paper=rel.THESIS,
    settings=HARMED_SETTINGS,
    estimator=f"TCP's mean rate from {HARMED_FROM_S:g} s to the end of the run; mean over repeats.",
    bounds=rel.NUMBERS,
)
def the_mechanism_does_not_help_tcp(runs: Runs) -> Checks:
    fair = 0.5 * HARMED_MBPS
    found = {
        case: [row.rate("tcp", HARMED_FROM_S) for row in rows(runs, case=case)]
        for case in (rel.PLAIN, rel.WRAPPING)
    }
    plain, wrapped = (mean(rates) for rates in found.values())
    yield at_most("plain: TCP over its fair share", plain / fair, rel.HARMED_SHARE)
    yield at_most(
        "TCP over its fair share, with the mechanism",
        wrapped / fair,
        HELPED_FACTOR * plain / fair,
        than=f"{multiple(HELPED_FACTOR)} that without",
    )
    return Evidence(
        f"TCP gets {plain:.1f} Mbit/s beside CADPC, and {wrapped:.1f} with the mechanism; fair are "
        f"{fair:.1f}",
        {"plain": plain, "friendly": wrapped, "fair": fair},
        figure=Measured.mean("TCP over its fair share, plain", [rate / fair for rate in found[rel.PLAIN]]),
    )
