"""Like flows with different RTTs (Fig. 10), with the usual queue and a large one."""

from __future__ import annotations

from longfat.figure.data import theory as theory_curve
from longfat.runs import metrics, theory
from longfat_papers.kit import (
    Checks,
    Declaration,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Run,
    Runs,
    above,
    below,
    between,
    listed,
    mean_factor,
    within_factor,
)
from longfat_papers.li2007 import common as lls

LOWEST_RATIO = {"reno": 0.02, "htcp": 0.2, "hstcp": 0.003, "fast": 0.003}
"""Long over short throughput, as the paper prints it."""
LOWEST_FACTOR = {"reno": 2.0, "htcp": 2.0, "hstcp": 3.0, "fast": 3.0}
EXPONENT = {"htcp": 1.0, "reno": 2.0}
"""The exponent of the throughput ratio as a power of the RTT ratio."""
EXPONENT_MARGIN = {"htcp": 0.3, "reno": 0.4}

NAMES = {**lls.TITLES, "reno": "standard TCP"}
"""Within a sentence."""


def unlike_rtts(
    name: str, mirrors: str, title: str, queue_percent: int, quick: tuple[int, ...]
) -> Declaration:
    """Declares the runs with a queue, and the RTTs in ms of the quick mode."""

    @lls.PAPER.experiment(name, mirrors, title)
    def declared(mode: Mode) -> list[Run]:
        return lls.pairs(
            mode,
            lambda algorithm, rtt: ((algorithm, lls.LONG_RTT_MS), (algorithm, rtt)),
            rtts_ms=lambda rate_mbps: quick if mode == "quick" else lls.SHORT_RTTS_MS,
            queue_percent=queue_percent,
            sessions=0,
        )

    @declared.drawing
    def drawing(runs: Runs, mode: Mode) -> Drawing:
        rtts = [float(rtt) for rtt in runs.distinct("rtt_ms")]
        expected = tuple(
            theory_curve(
                label, rtts, [theory.rtt_unfairness(lls.LONG_RTT_MS, rtt, power) for rtt in rtts], algorithm
            )
            for label, power, algorithm in (("(RTT 2 / RTT 1)²", 2.0, "reno"), ("RTT 2 / RTT 1", 1.0, "htcp"))
        )
        panels = lls.rate_panels(
            runs,
            "first_to_second",
            "flow 1 / flow 2",
            x_label=lls.RTT_2_AXIS,
            more=expected,
            y_log=True,
            y_range=lls.RATIO_RANGE,
            least=lls.FINEST_RATIO,
        )
        return Drawing(
            f"Flow 1 at {lls.LONG_RTT_MS} ms, flow 2 at a shorter RTT; queue {queue_percent} % of flow 1's "
            "BDP, no web traffic. Broken lines: theory for synchronised losses (square of the RTT ratio, the "
            f"ratio itself for H-TCP).{lls.repeated(runs)} The paper's lowest ratios: standard .02, H-TCP "
            ".2, HS-TCP and FAST-TCP .003, Scalable-TCP below.",
            tuple(panels),
            title=f"Different RTTs: ratio of throughputs, queue {queue_percent} % BDP",
        )

    return declared


usual = unlike_rtts("F10", "Fig. 10", "RTT unfairness", lls.QUEUE_PERCENT, (16, 42, 82, 162))
unlike_rtts("F10-100", "Fig. 10 at 100 % BDP", "RTT unfairness with a large queue", 100, (16, 82))


@usual.claim(
    "F10",
    "like flows, flow 1 at 162 ms, flow 2 at 16..162 ms, 10 and 250 Mbit/s; queue 20 and 100 % BDP",
    published=(
        "lowest long/short throughput ratio: standard .02, H-TCP .2, HS-TCP and FAST-TCP .003, Scalable-TCP "
        "below that; H-TCP's ratio is proportional to the RTT ratio, standard TCP's to its square; the same "
        "holds at 100 % BDP"
    ),
    also=("F10-100",),
    settings=lls.QUEUE_OF_LONG_RTT,
    estimator=lls.SHARED
    + " Lowest over both rates and all RTTs. Exponents: least squares on logarithms, over all "
    "points at which flow 2 has the shorter RTT, against the ratio of mean measured RTTs.",
    bounds=("Ratios are long over short. Where no queue is named, it is 20 % BDP. Tolerances chosen here."),
    values=LOWEST_RATIO,
)
def long_flows_starve(runs: Runs, large: Runs) -> Checks:
    lowest, deep = (
        {name: lls.least(queue.where(algorithm=name), "first_to_second") for name in lls.ALGORITHMS}
        for queue in (runs, large)
    )
    exponents = {name: _rtt_exponent(runs.where(algorithm=name)) for name in ("reno", "htcp")}
    for name, ratio in LOWEST_RATIO.items():
        yield within_factor(f"{NAMES[name]}: lowest ratio", lowest[name], ratio, LOWEST_FACTOR[name])
    both = min(lowest["hstcp"], lowest["fast"])
    yield below("Scalable-TCP: lowest ratio", lowest["stcp"], both, than="those of HS-TCP and FAST-TCP")
    for name, power in EXPONENT.items():
        margin = EXPONENT_MARGIN[name]
        yield between(f"{NAMES[name]}: exponent", exponents[name], power - margin, power + margin)
    others = max(value for name, value in deep.items() if name not in ("reno", "htcp"))
    for name, than, bound in (("htcp", "standard TCP's", deep["reno"]), ("reno", "all others'", others)):
        yield above(f"100 % BDP: {NAMES[name]}'s lowest ratio", deep[name], bound, than=than)
    return Evidence(
        f"lowest ratio: {listed(lowest, lls.TITLES, 4)}; exponent: standard {exponents['reno']:.2f}, H-TCP "
        f"{exponents['htcp']:.2f}; at 100 % BDP: {listed(deep, lls.TITLES, 4)}",
        {"lowest": lowest, "exponent": exponents, "lowest_100_percent": deep},
        figure=Measured(
            "factor between measured and printed lowest ratio, mean over protocols",
            mean_factor(max(lowest[name], lls.LEAST) / ratio for name, ratio in LOWEST_RATIO.items()),
            published=1.0,
            log=True,
        ),
    )


def _rtt_exponent(runs: Runs) -> float:
    """Returns the power of the ratio of measured RTTs that the ratio of throughputs follows."""
    shorter = [at for _, rtt, at in lls.points(runs) if rtt < lls.LONG_RTT_MS]
    ratios = [at.mean("srtt_2_s") / at.mean("srtt_1_s") for at in shorter]
    return metrics.log_slope(ratios, [at.mean("first_to_second") for at in shorter])
