"""Fairness of two like flows (Fig. 3)."""

from __future__ import annotations

from longfat_papers.kit import (
    Checks,
    Drawing,
    Evidence,
    Measured,
    Mode,
    Runs,
    above,
    at_least,
    geometric_mean,
    held,
    listed,
    mean,
    short,
)
from longfat_papers.li2007 import common as lls

WHERE = "two like flows, same RTT 16..324 ms, 10 and 250 Mbit/s"

like_flows = lls.PAPER.experiment("F3", "Fig. 3", "Fairness of like flows")(lls.like_flows)


@like_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        "Least over greatest throughput of two flows with the same algorithm and RTT. Queue 20 % BDP, no "
        f"web traffic.{lls.repeated(runs)} The paper: standard TCP and H-TCP within 5 %, Scalable-TCP and "
        "FAST-TCP notably unfair, HS-TCP and BIC-TCP to a lesser degree.",
        tuple(lls.rate_panels(runs, "ratio", "throughput ratio", y_range=(0.0, 1.05))),
        title="Two like flows: ratio of throughputs",
    )


@like_flows.claim(
    "F3a",
    WHERE,
    published="standard TCP and H-TCP share to within 5 % at every RTT",
    bounds="The bound is the paper's 5 %.",
    values={"least_ratio": lls.FAIR},
)
def two_protocols_are_fair(runs: Runs) -> Checks:
    fair = {name: runs.where(algorithm=name) for name in ("reno", "htcp")}
    checks = [
        at_least(f"{lls.TITLES[name]}, {rate} Mbit/s, {rtt} ms: ratio", mean, lls.FAIR, error)
        for name, own in fair.items()
        for rate, rtt, at in lls.points(own)
        for mean, error in [at.mean_stderr("ratio")]
    ]
    yield from checks
    lowest = {name: lls.least(own, "ratio") for name, own in fair.items()}
    good = f"{short(lls.FAIR)} or above"
    return Evidence(
        f"{held(checks)} of {len(checks)} points at {good}; lowest: {listed(lowest, lls.TITLES)}",
        {"lowest": lowest},
        figure=lls.share(f"share of points at {good}", checks),
    )


@like_flows.claim(
    "F3b",
    WHERE,
    published="Scalable-TCP and FAST-TCP notably unfair; HS-TCP and BIC-TCP unfair to a lesser degree",
    bounds="Unfairness is 1 - ratio, averaged over all points; the bound is the 5 % of LLS-F3a.",
)
def degrees_of_unfairness(runs: Runs) -> Checks:
    unfair = {
        name: 1.0 - mean(at.mean("ratio") for _, _, at in lls.points(runs.where(algorithm=name)))
        for name in lls.ALGORITHMS
    }
    for name in ("stcp", "fast", "hstcp", "bic"):
        yield above(f"{lls.TITLES[name]}: unfairness", unfair[name], lls.UNFAIR)
    for worse in ("stcp", "fast"):
        for better in ("hstcp", "bic"):
            first, second = lls.TITLES[worse], lls.TITLES[better]
            yield above(f"{first}: unfairness", unfair[worse], unfair[better], than=f"that of {second}")
    most, others = min(unfair["stcp"], unfair["fast"]), max(unfair["hstcp"], unfair["bic"], lls.LEAST)
    return Evidence(
        "mean unfairness: " + listed(unfair, lls.TITLES),
        {"unfairness": unfair},
        figure=Measured(
            "lesser unfairness of Scalable-TCP and FAST-TCP / greater of HS-TCP and BIC-TCP",
            geometric_mean([most / others]),
            log=True,
        ),
    )
