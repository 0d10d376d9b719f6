"""Tri-S: like flows on a slow link, alone and beside Vegas (TRI-1 to TRI-3)."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from longfat.figure.data import Panel, points
from longfat.runs import metrics
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, mean, repeats, settings
from longfat_papers.kit.checks import at_least, at_most
from longfat_papers.relatives import common as rel
from longfat_papers.relatives.reduction import Row, rows

TRI_S = (
    "Wang, Crowcroft: A New Congestion Control Scheme: Slow Start and Search (Tri-S), CCR 21(1), 1991 "
    "(abstract, from memory, not verified)"
)

SLOW_MBPS, SLOW_RTT_MS, SLOW_S = 10, 50, 120
SLOW_FROM_S = 60.0
STAGGER_S = 5.0
SLOWS = ("tri_s", "vegas", "newreno")
MIXED = 2
"""Flows of Tri-S beside as many of Vegas."""

QUEUE_FACTOR = 0.5  # TRI-1: of NewReno's mean queue
FAIR = 0.95  # TRI-2: Jain's index


@rel.PAPER.experiment(
    "slow",
    "Tri-S",
    "Tri-S, Vegas and NewReno",
    grid={
        "system": (*SLOWS, "mixed"),
        "flows": {"quick": (1, 4), "full": (1, 2, 4, 8)},
        "repeat": rel.REPEATS,
    },
)
def slow(system: str, flows: int, repeat: int) -> dict[str, Any] | None:
    if system == "mixed" and flows != 2 * MIXED:
        return None
    systems = ("tri_s", "vegas") * MIXED if system == "mixed" else (system,) * flows
    staggered = [rel.flow(name, f"{name}-{i + 1}", STAGGER_S * i) for i, name in enumerate(systems)]
    return rel.dumbbell(f"{flows} flows, {system}", SLOW_MBPS, SLOW_RTT_MS, SLOW_S, staggered)


@slow.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    def panel(y_label: str, value: Any) -> Panel:
        curves = [
            points(
                rel.TITLES[system],
                [
                    (float(n), (float(np.mean([value(row) for row in rows(at, flows=n)])), math.nan))
                    for n in at.distinct("flows")
                ],
                system,
                stroke,
            )
            for stroke, system in enumerate(SLOWS)
            for at in [runs.where(system=system)]
        ]
        return Panel("", "flows", y_label, tuple(curves), y_range=(0.0, 1.05))

    groups, [mixed] = [("Tri-S", "tri_s"), ("Vegas", "vegas")], rel.first_repeats(runs.where(system="mixed"))
    return Drawing(
        f"{SLOW_MBPS} Mbit/s; flows begin 5 s apart; rates and queue over the second half of the run. Last: "
        "two flows of Tri-S beside two of Vegas, first repeat." + repeats(runs),
        (
            panel("rate / capacity", lambda row: row.rate() / SLOW_MBPS),
            panel("mean queue / buffer", Row.queue_share),
            rel.histories("Tri-S beside Vegas", mixed, SLOW_MBPS, groups),
        ),
    )


claim = partial(
    slow.claim,
    paper=TRI_S,
    settings=settings(f"""
        bottleneck | {SLOW_MBPS} Mbit/s, {SLOW_RTT_MS} ms
        flows | {STAGGER_S:g} s apart
    """),
    estimator=f"Means from {SLOW_FROM_S:g} s to the end of the run, and over repeats.",
)


@claim(
    "TRI-1",
    "like flows on one link",
    "throughput gradients show the state of the network, and the optimal operating point can be achieved",
    bounds=rel.NUMBERS,
)
def tri_s_is_at_the_knee(runs: Runs) -> Checks:
    kept = {}
    for number in runs.where(system="tri_s").distinct("flows"):
        own, others = (rows(runs, system=system, flows=number) for system in ("tri_s", "newreno"))
        used = mean(row.rate("", SLOW_FROM_S) / SLOW_MBPS for row in own)
        queue, reference = (mean(row.queue(SLOW_FROM_S) for row in at) for at in (own, others))
        ratio = queue / reference if reference > 0.0 else math.nan
        yield at_least(f"{number} flows: rate over the capacity", used, rel.FULL)
        yield at_most(f"{number} flows: mean queue over NewReno's", ratio, QUEUE_FACTOR)
        kept[str(number)] = [used, ratio]
    return Evidence(
        "; ".join(
            f"{n} flows: rate {used:.3f}, queue {ratio:.2f} of NewReno's" for n, (used, ratio) in kept.items()
        ),
        kept,
        figure=Measured(
            "greatest mean queue over NewReno's", max(ratio for _, ratio in kept.values()), log=True
        ),
    )


@claim(
    "TRI-2",
    "like flows that begin one after the other",
    "the fair sharing of resources can be achieved",
    bounds=rel.NUMBERS,
)
def like_flows_share_fairly(runs: Runs) -> Checks:
    at = runs.where(system="tri_s")
    found = {
        n: [metrics.jain(row.rates("", SLOW_FROM_S)) for row in rows(at, flows=n)]
        for n in at.distinct("flows")
        if n > 1
    }
    for n, jain in found.items():
        yield at_least(f"{n} flows: Jain's index", mean(jain), FAIR)
    return Evidence(
        ", ".join(f"{n} flows {mean(jain):.3f}" for n, jain in found.items()),
        {n: mean(jain) for n, jain in found.items()},
        figure=Measured.mean("least of Jain's indices", min(found.values(), key=mean)),
    )


@claim(
    "TRI-3",
    f"{MIXED} flows of Tri-S beside {MIXED} of Vegas, which was inspired by it (thesis, 2.4)",
    "prints no value; the shares are reported here",
    bounds="The values are reported; the check compares the two.",
    reports=True,
)
def tri_s_beside_vegas(runs: Runs) -> Checks:
    own, others = (
        [row.rate(prefix, SLOW_FROM_S) for row in rows(runs, system="mixed")] for prefix in ("tri_s", "vegas")
    )
    tri_s, vegas = mean(own), mean(others)
    yield at_least("Tri-S's rate over Vegas's", tri_s / vegas if vegas > 0.0 else math.nan, 1.0)
    return Evidence(
        f"two flows of Tri-S get {tri_s:.2f}, two of Vegas {vegas:.2f} Mbit/s",
        {"tri_s": tri_s, "vegas": vegas},
        figure=Measured.mean("Tri-S's share of the capacity", [rate / SLOW_MBPS for rate in own]),
    )
