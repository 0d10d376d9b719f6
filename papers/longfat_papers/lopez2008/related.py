"""Flows that join others: VCP (2.5.2), XCP and JetMax (Figs. 2.11 and 2.12); LOP-2c to LOP-2e."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from longfat.runs import metrics
from longfat_papers.kit import Checks, Evidence, Measured, Runs, mean, seconds, settings
from longfat_papers.kit import checks as ck
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008.reduction import Row, rows

VCP_MBPS, VCP_RTTS_MS, VCP_END_S = 45, (40, 50), 250
VCP_LEAST_MBPS = 40.0
FAIR_AFTER_S = (20.0, 150.0)
MBPS, RTT_MS = 100, 80
USED = 0.9
"""Share of the link."""


@lp.experiment("vcp", "2.5.2", "A VCP flow joined by another")
def joined_vcp(repeat: int) -> lp.Document:
    """A VCP flow that fills the link, and a later one with a longer RTT."""
    first, second = VCP_RTTS_MS
    flows = [lp.flow("vcp", "vcp-1", first), lp.flow("vcp", "vcp-2", second, lp.VCP_JOIN_S)]
    return lp.dumbbell("VCP joined", VCP_MBPS, lp.BDP, flows, VCP_END_S, router="vcp")


joined_vcp.drawing(dr.senders("45 Mbit/s, 40 and 50 ms.", " The thesis: up to 100 s to fairness."))


@joined_vcp.claim(
    "2c",
    "VCP, 40 ms flow at 45 Mbit/s joined by a 50 ms flow",
    "up to 100 s to fairness",
    settings=settings("""
bottleneck | 45 Mbit/s, one BDP | chosen here: the first flow has 45 Mbit/s
second flow | at 50 s of 250 s
"""),
    values={"convergence_s": 100.0},
    bounds=f"Shares are fair at a Jain's index of {lp.FAIR:g} over {lp.SHORT_SPAN_S:g} s; the time is that "
    "from the second flow's start on, median over repeats. Bounds chosen here.",
)
def a_long_time_to_fairness(runs: Runs) -> Checks:
    join_s, end_s = float(lp.VCP_JOIN_S), float(VCP_END_S)
    times = [_fair_at(row, join_s) - join_s for row in rows(runs)]
    time = float(np.median(times))
    first = mean(row.rate_mbps((join_s - 10.0, join_s), "vcp-1") for row in rows(runs))
    yield ck.at_least("first flow before, Mbit/s", first, VCP_LEAST_MBPS)
    yield ck.between("time to fairness, s", time, *FAIR_AFTER_S)
    return Evidence(
        f"first flow at {first:.1f} Mbit/s; fair {seconds(time, '.0f')} after the second started",
        {"first_mbps": first, "fair_after_s": time},
        # never within the run counts as its end
        figure=Measured.mean("time to fairness, s", (min(each, end_s - join_s) for each in times), 100.0),
    )


def _fair_at(row: Row, from_s: float) -> float:
    for at in np.arange(from_s, row.end_s - lp.SHORT_SPAN_S, 1.0):
        if metrics.jain(row.rates_mbps((at, at + lp.SHORT_SPAN_S))) >= lp.FAIR:
            return float(at)
    return float("inf")


STARTS_S = [lp.STAGED_EVERY_S * number for number in range(4)]


def four_flows(protocol: str, repeat: int) -> lp.Document:
    flows = [
        lp.flow(protocol, f"{protocol}-{number}", RTT_MS, start, stop=f"{start + lp.STAGED_FOR_S} s")
        for number, start in enumerate(STARTS_S, 1)
    ]
    end_s, router = STARTS_S[-1] + lp.STAGED_FOR_S, lp.ROUTERS[protocol]
    return lp.dumbbell(f"four flows of {protocol}", MBPS, lp.BDP, flows, end_s, router=router)


xcp = lp.experiment("xcp", "Fig. 2.11", "Four XCP flows", protocol=("xcp",))(four_flows)
jetmax = lp.experiment("jetmax", "Fig. 2.12", "Four JetMax flows", protocol=("jetmax",))(four_flows)


def fair_full_and_without_loss(runs: Runs) -> Checks:
    edges = sorted({*STARTS_S, *(start + lp.STAGED_FOR_S for start in STARTS_S)})
    fair, full, lost, least = [], [], 0.0, []
    for row in rows(runs):
        lost = max(lost, row.dropped())
        indices = []
        for begin, end in pairwise(edges):
            rates = row.rates_mbps((begin + lp.SETTLE_S, end))
            there = [start <= begin < start + lp.STAGED_FOR_S for start in STARTS_S]
            indices.append(metrics.jain(np.extract(there, rates)))
            full.append(sum(rates) / MBPS)
        fair += indices
        least.append(min(indices))
    yield ck.at_least("least Jain's index of a stage", min(fair), lp.FAIR)
    yield ck.at_least("least share of the link used in a stage", min(full), USED)
    yield ck.at_most("packets dropped", lost, 0.0)
    return Evidence(
        f"Jain's index {min(fair):.3f} and more, {min(full):.3f} and more of the link, {lost:.0f} dropped",
        {"jain": min(fair), "used": min(full), "dropped": lost},
        figure=Measured.mean("least Jain's index of a stage", least),
    )


for four, claim, setting in (
    (jetmax, "2d", "4 JetMax flows, 15 s apart, 75 s each"),
    (xcp, "2e", "4 XCP flows"),
):
    four.drawing(dr.senders("100 Mbit/s, 80 ms, 15 s apart, 75 s each.", " The thesis: fair and full."))
    four.claim(
        claim,
        setting,
        "fair, full, no loss",
        settings=settings("""
bottleneck | 100 Mbit/s, 80 ms, one BDP | chosen here: the thesis takes the figures of others
flows | four, 15 s apart, 75 s each | 2.5.3.2; for XCP too chosen here
"""),
        bounds=f"A stage lasts from {lp.SETTLE_S:g} s after a start or a stop until the next one; drops are "
        "those of the whole run, and the worst repeat counts. Bounds chosen here.",
    )(fair_full_and_without_loss)
