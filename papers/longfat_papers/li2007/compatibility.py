"""Standard TCP joined by a new protocol (Fig. 11)."""

from __future__ import annotations

import math

from longfat_papers.kit import Check, Checks, Drawing, Evidence, Measured, Mode, Run, Runs, listed, mean
from longfat_papers.li2007 import common as lls

LEAST_FAIR = ("stcp", "fast")


@lls.PAPER.experiment("F11", "Fig. 11", "Backward compatibility")
def against_standard(mode: Mode) -> list[Run]:
    """Flow 1 is standard TCP, flow 2 a new protocol with the same RTT."""
    return lls.pairs(
        mode,
        lambda name, rtt: (("reno", rtt), (name, rtt)),
        lls.NEW,
        lambda rate: (42, 162, 324) if mode == "quick" and rate == lls.HIGH_MBPS else lls.RTTS_MS,
    )


@against_standard.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        "Throughput of standard TCP over that of the new protocol, same RTT. Queue 20 % BDP, no web traffic."
        + lls.repeated(runs)
        + " The paper: Scalable-TCP and FAST-TCP are the least fair at both rates.",
        lls.standard_panels(runs, lls.RTT_AXIS),
        title="Standard TCP joined by a new protocol: ratio of throughputs",
    )


@against_standard.claim(
    "F11",
    "one standard flow joined by one new flow, same RTT, 10 and 250 Mbit/s",
    published=(
        "Scalable-TCP and FAST-TCP are the least fair to standard TCP at both rates; at 10 Mbit/s "
        "Scalable-TCP because it crosses Low_Window"
    ),
    bounds=(
        "The least fair of the five have the least ratios, averaged over the RTTs. A run is unfair if its "
        f"ratio is below {lls.CONVERGED:g}; Low_Window is {lls.ALGORITHMS['stcp']['low_window']}."
    ),
)
def two_are_least_fair(runs: Runs) -> Checks:
    means = {}
    for rate in (lls.LOW_MBPS, lls.HIGH_MBPS):
        at = runs.where(rate_mbps=rate)
        means[rate] = {
            name: mean(at.where(algorithm=name).means("rtt_ms", "ratio").values()) for name in lls.NEW
        }
        two = sorted(means[rate], key=means[rate].__getitem__)[:2]
        seen = f"least fair: {' and '.join(lls.TITLES[name] for name in two)}"
        for name in LEAST_FAIR:
            yield Check(f"{rate} Mbit/s: {lls.TITLES[name]} among the two least fair", name in two, seen)
    slow = runs.where(algorithm="stcp", rate_mbps=lls.LOW_MBPS)
    peaks = [row["cwnd_max_2"] for row in slow if row["ratio"] < lls.CONVERGED]
    least = min(peaks, default=math.nan)
    crossing = least > lls.ALGORITHMS["stcp"]["low_window"] if peaks else None
    seen = f"least peak cwnd {least:.0f} in {len(peaks)} unfair runs" if peaks else "no run was unfair"
    yield Check("10 Mbit/s: Scalable-TCP passes Low_Window wherever it is unfair", crossing, seen)
    return Evidence(
        "; ".join(
            f"mean ratio at {rate} Mbit/s: {listed(ratios, lls.TITLES)}" for rate, ratios in means.items()
        ),
        {"mean_ratio": means},
        figure=Measured(
            "greater ratio of Scalable-TCP and FAST-TCP / least of the others, at the worse rate",
            max(_not_least(ratios) for ratios in means.values()),
            log=True,
        ),
    )


def _not_least(ratios: dict[str, float]) -> float:
    """Returns the greater ratio of Scalable-TCP and FAST-TCP over the others' least; the paper: below 1."""
    others = min(ratio for name, ratio in ratios.items() if name not in LEAST_FAIR)
    return max(ratios[name] for name in LEAST_FAIR) / max(others, lls.LEAST)
