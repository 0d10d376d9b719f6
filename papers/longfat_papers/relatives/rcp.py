"""RCP: flows that join others, which MaxNet and ERICA have too, and completion times (RCP-1 to RCP-4)."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from longfat.figure.data import Panel, points
from longfat.units import PACKET_BITS
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, repeats, settings
from longfat_papers.kit.checks import above, at_least, below, within_factor
from longfat_papers.kit.text import percent
from longfat_papers.relatives import common as rel
from longfat_papers.relatives import reduction

RCP = (
    "Dukkipati, McKeown: Why Flow-Completion Time is the Right Metric for Congestion Control, CCR 36(1), "
    "2006 (abstract; summary of the project; settings of its figures from a published reproduction)"
)
SHARING = (
    "Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, IWQoS 2005 "
    "(abstract)"
)
SCRIPTS = "the authors' ns-2 scripts, as a published reproduction runs them (anjoola/cs244-rcp, run.sh)"

JOIN_S, SHARE_S = 10.0, 20.0
"""The last flow joins, and the run ends."""
SHORT_RTT_MS = 100
SHORT_S: dict[Mode, int] = {"quick": 20, "full": 40}
SHORT_LOAD = 0.9
SHORT_SHAPE, SHORT_MEAN = 1.2, 25
"""The Pareto distribution of the sizes: tail index, and mean in packets without a greatest size."""
SHORT_GAINS = {"alpha": 0.1, "beta": 1.0}
"""RCP's gains in the authors' scripts for completion times."""
SHORTS = ("rcp", "xcp", "reno")
SIZES = tuple(f"{least} to {most} packets" for least, most in reduction.SHORT_BINS)
LARGE = SIZES[-1]

LONGER = 3.16  # RCP-3: what is at least half an order of magnitude
NEAR_FACTOR = 2.0  # RCP-4: distance from processor sharing

SHORT_SETTINGS = settings(f"""
    bottleneck | {rel.SHORT_MBPS["full"][0]} Mbit/s, in quick mode {rel.SHORT_MBPS["quick"][0]}; \
        {SHORT_RTT_MS} ms | {SCRIPTS}; the quick rate was chosen here
    load | {SHORT_LOAD:g} | {SCRIPTS}
    sizes | Pareto, tail index {SHORT_SHAPE:g}, mean {SHORT_MEAN} packets, at most 10 MB \
        | {SCRIPTS}; the greatest size was chosen here
    RCP | alpha {SHORT_GAINS["alpha"]:g}, beta {SHORT_GAINS["beta"]:g} | {SCRIPTS}
    arrivals | a Poisson process, with no flows at first | abstract: new flows arrive randomly
""")
TIMES = (
    "Mean completion time of the flows of a size that begin between "
    + " and ".join(map(percent, reduction.SHORT_COUNTED))
    + " % of the run and end within it; mean over repeats."
)
IDEAL = "Processor sharing takes 1.5 RTT + L / (C (1 - load))."


@rel.PAPER.experiment(
    "shares",
    "RCP; ERICA",
    "Flows that join others",
    grid={
        "system": rel.WRAPPED,
        "flows": {"quick": (2, 10), "full": (2, 5, 10, 20)},
        "case": (rel.TOGETHER, rel.JOINING),
        "repeat": rel.REPEATS,
    },
)
def shares(system: str, flows: int, case: str, repeat: int) -> dict[str, Any] | None:
    if case == rel.TOGETHER and system != "rcp":
        return None
    starts = [0.0] * (flows - 1) + [JOIN_S if case == rel.JOINING else 0.0]
    title, router = f"{flows} flows of {system}, {case}", rel.ROUTERS[system]
    like = [rel.flow(system, f"{i}", start) for i, start in enumerate(starts, start=1)]
    return rel.dumbbell(title, rel.SHARE_MBPS, rel.SHARE_RTT_MS, SHARE_S, like, router=router)


@shares.drawing
def draw_shares(runs: Runs, mode: Mode) -> Drawing:
    panels = []
    by_case = sorted(runs, key=lambda at: (rel.WRAPPED.index(at["system"]), at["case"], at["flows"]))
    for row in rel.first_repeats(Runs(runs.name, by_case)):
        system, case, number = (row[key] for key in ("system", "case", "flows"))
        title = f"{rel.TITLES[system]}: {number} flows, {case}"
        groups = [("the first", row.names[0]), ("the last", row.names[-1])]
        most = rel.SHARE_MBPS / max(1, number - 1) * 1.5
        panels.append(rel.histories(title, row, most, groups, {"C / N": rel.SHARE_MBPS / number}))
    caption = f"{rel.SHARE_MBPS} Mbit/s. The last flow joins at {JOIN_S:g} s, or begins with the others."
    return rel.drawn(caption, panels)


@rel.PAPER.experiment(
    "short",
    "RCP, figure 1",
    "Completion times of short flows",
    grid={"system": SHORTS, "mbps": rel.SHORT_MBPS, "repeat": rel.REPEATS},
)
def short(system: str, mbps: int, repeat: int, mode: Mode) -> dict[str, Any]:
    payload = int(rel.FLOWS[system].get("mss", "1448 B").split()[0])
    routers: dict[str, Any] = {"rcp": {"kind": "rcp", **SHORT_GAINS}, "xcp": "xcp"}
    router = {"router": routers[system]} if system in routers else {}
    source = {
        "kind": "short",
        "name": rel.name_of(system),
        **rel.FLOWS[system],
        "rtt": f"{SHORT_RTT_MS} ms",
        "load": f"{100 * SHORT_LOAD:g} %",
        "body_mu": 8.0,
        "tail_share": 1.0,
        "tail_least": f"{round(SHORT_MEAN * (SHORT_SHAPE - 1.0) / SHORT_SHAPE * payload)} B",
        "tail_shape": SHORT_SHAPE,
        "largest": "10 MB",
    }
    bottleneck = {"rate": f"{mbps} Mbit/s", "buffer": f"{SHORT_RTT_MS} ms", **router}
    return rel.scenario(f"short flows of {system}", SHORT_S[mode], bottleneck=bottleneck, background=[source])


@short.drawing
def draw_short(runs: Runs, mode: Mode) -> Drawing:
    mbps = runs.distinct("mbps")[0]
    curves = []
    for stroke, system in enumerate(SHORTS):
        reached = runs.where(system=system).mean_stderr_reached
        samples = [
            (reached(f"short_{i}_packets")[0], reached(f"short_{i}_s")) for i in range(1, len(SIZES) + 1)
        ]
        curves.append(points(rel.TITLES[system], samples, system, stroke))
    sizes = [10.0**exponent for exponent in np.linspace(0.7, 3.5, 30)]
    curves.append(rel.line("processor sharing", sizes, [sharing_s(size, mbps) for size in sizes]))
    return Drawing(
        f"Flows of Pareto sizes arrive at random, with a load of {SHORT_LOAD:g} of {mbps:g} Mbit/s; "
        f"{SHORT_RTT_MS} ms. Points are means over the flows of "
        + ", ".join(f"{least} to {most}" for least, most in reduction.SHORT_BINS)
        + " packets."
        + repeats(runs),
        (Panel("", "size, packets", "mean completion time, s", tuple(curves), x_log=True, y_log=True),),
    )


def sharing_s(packets: float, mbps: float) -> float:
    """Returns a flow's completion time under processor sharing of a link at the load `SHORT_LOAD`.

    One and a half round-trip times, and the flow's bits at what the others leave on average, C (1 - load).
    """
    left_bps = 1e6 * mbps * (1.0 - SHORT_LOAD)
    return 1.5e-3 * SHORT_RTT_MS + packets * PACKET_BITS / left_bps


def times(runs: Runs, system: str) -> dict[str, tuple[float, float]]:
    """Returns the mean completion time of each size, s, and that of processor sharing."""
    at = runs.where(system=system)
    mbps = at.distinct("mbps")[0]
    return {
        size: (at.mean(f"short_{i}_s"), sharing_s(at.mean(f"short_{i}_packets"), mbps))
        for i, size in enumerate(SIZES, start=1)
    }


shares.claim(
    "RCP-1",
    "N flows on one link, which begin together or are joined by the last",
    "a router assigns a single rate to all flows, close to processor sharing: C / N for each",
    paper=SHARING,
    settings=rel.SHARE_SETTINGS,
    estimator=rel.SOON,
    bounds="Each share is C / N. " + rel.DISTANCES,
)(partial(rel.soon_fair, "rcp"))

claim = partial(short.claim, settings=SHORT_SETTINGS, estimator=TIMES)


@claim(
    "RCP-2",
    "flows of Pareto sizes that arrive at random: figure 1",
    "existing (TCP) and newly proposed (XCP) algorithms make flows last much longer than necessary; RCP "
    "enables flows to complete close to the minimum possible",
    paper=RCP,
    bounds="Times are mean completion times.",
)
def rcp_is_fastest(runs: Runs) -> Checks:
    found = {system: times(runs, system) for system in SHORTS}
    for size in SIZES:
        for other in ("xcp", "reno"):
            ratio = found["rcp"][size][0] / found[other][size][0]
            yield below(f"{size}: RCP's time over {rel.TITLES[other]}'s", ratio, 1.0)
    return Evidence(
        "; ".join(
            f"{size}: " + ", ".join(f"{rel.TITLES[name]} {at[size][0]:.3g} s" for name, at in found.items())
            for size in SIZES
        ),
        found,
        figure=Measured(
            f"XCP's over RCP's completion time, {LARGE}",
            found["xcp"][LARGE][0] / found["rcp"][LARGE][0],
            log=True,
        ),
    )


@claim(
    "RCP-3",
    f"flows of {LARGE} among flows of Pareto sizes",
    "a mid-size flow has 1000 packets, and TCP makes it last 10 times longer than need be; XCP is even worse",
    paper=RCP,
    bounds=f"Times are mean completion times. {IDEAL} Half an order of magnitude was chosen here.",
    values={"tcp_over_sharing": 10.0},
)
def tcp_and_xcp_take_much_longer(runs: Runs) -> Checks:
    ratios = {
        system: time / sharing for system in ("xcp", "reno") for time, sharing in [times(runs, system)[LARGE]]
    }
    text = f"{LARGE}: time over processor sharing's"
    yield at_least(f"TCP, {text}", ratios["reno"], LONGER)
    yield above(f"XCP over TCP, {text}", ratios["xcp"] / ratios["reno"], 1.0)
    return Evidence(
        f"{LARGE}: TCP {ratios['reno']:.2f}, XCP {ratios['xcp']:.2f} times as long as processor sharing",
        ratios,
        figure=Measured(f"TCP, {text}", ratios["reno"], published=10.0, log=True),
    )


@claim(
    "RCP-4",
    "flows of Pareto sizes that arrive at random",
    "RCP's performance is very close to ideal processor sharing",
    paper=SHARING,
    bounds=f"Times are mean completion times. {IDEAL} {rel.NUMBERS}",
    values={"rcp_over_sharing": 1.0},
)
def rcp_is_near_sharing(runs: Runs) -> Checks:
    ratios = {size: time / sharing for size, (time, sharing) in times(runs, "rcp").items()}
    for size, ratio in ratios.items():
        yield within_factor(f"{size}: time over processor sharing's", ratio, 1.0, NEAR_FACTOR)
    return Evidence(
        ", ".join(f"{size} {ratio:.2f}" for size, ratio in ratios.items()),
        ratios,
        figure=Measured(
            "greatest time over processor sharing's", max(ratios.values()), published=1.0, log=True
        ),
    )
