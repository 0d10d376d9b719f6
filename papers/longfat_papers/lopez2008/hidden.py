"""Bottlenecks that XCP-i does not see: shared inside a cloud (Fig. 4.18), and a switch (7.3.1)."""

from __future__ import annotations

import numpy as np

from longfat_papers.kit import Drawing, Mode, Runs, Table
from longfat_papers.lopez2008 import common as lp
from longfat_papers.lopez2008 import drawing as dr
from longfat_papers.lopez2008 import networks as nw
from longfat_papers.lopez2008.reduction import Row


@lp.experiment(
    "shared", "Fig. 4.18", "A bottleneck shared inside a cloud", mbps=300, case=("together", "5 s apart")
)
def shared(case: str, repeat: int) -> lp.Document:
    """A link of 300 inside the cloud between a and b, and between d and c. The thesis has no results."""
    links = [
        *nw.links("Si-a Sj-d a-A d-A", nw.FAST_MBPS, nw.ORACLE),
        *nw.links("A-B", 300),
        *nw.links("B-b B-c", nw.FAST_MBPS),
        *nw.links("b-Ri c-Rj", nw.FAST_MBPS, nw.ORACLE),
    ]
    later = {"j": 0.0 if case == "together" else 5.0}
    return nw.clouds(case, links, 5, ("i", "j"), later=later)


@shared.drawing
def of_the_shared(runs: Runs, mode: Mode) -> Drawing:
    panels, lines = [], []
    for case in runs.distinct("case"):
        row = dr.first(runs, case=case)
        panels.append(dr.rates(case, dr.each(row, "sender {}".format), row.end_s))
        both = runs.where(case=case)
        means = (np.mean([Row(r).each("means_mbps", flow)[0] for r in both]) for flow in row.names)
        lost = np.mean([Row(r).dropped() for r in both])
        lines.append(
            (case, *(f"{value:.1f}" for value in means), f"{lost:.0f}", f"{both.mean('lost_ratio'):.3f}")
        )
    return Drawing(
        "Two paths share one link, and the estimate of neither knows this. The thesis leaves open what "
        "happens." + dr.shown(runs),
        tuple(panels),
        table=Table(("start", "i, Mbit/s", "j, Mbit/s", "dropped", "loss ratio"), tuple(lines)),
        title="A bottleneck of 300 Mbit/s shared inside a cloud",
    )


@lp.experiment("layer2", "7.3.1", "A bottleneck that the TTL does not reveal", mbps=30, layer=(3, 2))
def router_or_switch(layer: int, repeat: int) -> lp.Document:
    """The same bottleneck as a router, which the TTL reveals, and as a switch, which it does not."""
    return nw.clouds(str(layer), nw.single(nw.ORACLE, 30, layer), 4)


@router_or_switch.drawing
def of_router_and_switch(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    for layer, title in ((3, "A router"), (2, "A switch")):
        row = dr.first(runs, layer=layer)
        text = f"{title}: {row.row['lost_ratio']:.1%} lost"
        panels.append(dr.rates(text, (dr.history("rate", row, "xcp", 0, 0.5),), row.end_s, 35.0))
    return Drawing(
        "XCP-i finds the router by its TTL and not the switch, behind which XCP overshoots." + dr.shown(runs),
        tuple(panels),
        title="A bottleneck of 30 Mbit/s that the TTL does not reveal",
    )
