"""What the tests that the paper describes without a figure measured (III-E-ii, III-D)."""

from __future__ import annotations

from collections.abc import Mapping

from longfat_papers.kit import Checks, Evidence, Measured, Runs
from longfat_papers.li2007 import common as lls

NOTHING = "There is nothing to check; the values are reported."
NO_FIGURE = "The paper prints no figure of this test: reported."

ByRtt = dict[str, dict[str, dict[str, float]]]
"""A quantity by rate, algorithm and RTT."""


@lls.PAPER.claim(
    "E2",
    "two flows, same RTT varied 16..324 ms, queue a fixed share of BDP (III-E-ii)",
    "prints no figure; throughput and loss over the RTT are reported here",
    ("E2",),
    bounds=NOTHING,
    reports=True,
)
def efficiency_and_rtt(runs: Runs) -> Checks:
    used, lost = (_by_rtt(runs, quantity) for quantity in ("utilization", "loss_ratio"))
    lines = [f"used of {rate}: {_spans(found, 2)}" for rate, found in used.items()]
    values = {rate: {"utilization": used[rate], "loss_ratio": lost[rate]} for rate in used}
    figure = Measured("least share of the link that is used", _least(used))
    yield from ()
    return Evidence("; ".join(lines), values, NO_FIGURE, figure)


@lls.PAPER.claim(
    "C2",
    "standard TCP at 162 ms against a new protocol at 16..324 ms (III-D)",
    "prints no figure; the ratios are reported here",
    ("C2",),
    settings=lls.QUEUE_OF_LONG_RTT,
    bounds=NOTHING,
    reports=True,
)
def compatibility_at_different_rtts(runs: Runs) -> Checks:
    ratios = _by_rtt(runs, "first_to_second")
    lines = [f"standard / new at {rate}: {_spans(found, 3)}" for rate, found in ratios.items()]
    figure = Measured("least ratio of standard TCP to a new protocol", _least(ratios), log=True)
    yield from ()
    return Evidence("; ".join(lines), ratios, NO_FIGURE, figure)


def _by_rtt(runs: Runs, quantity: str) -> ByRtt:
    names = [name for name in lls.ALGORITHMS if runs.has(algorithm=name)]
    return {
        f"{rate} Mbit/s": {name: at.where(algorithm=name).means("rtt_ms", quantity) for name in names}
        for rate in runs.distinct("rate_mbps")
        for at in [runs.where(rate_mbps=rate)]
    }


def _spans(found: Mapping[str, Mapping[str, float]], digits: int) -> str:
    return ", ".join(
        f"{lls.TITLES[name]} {min(means.values()):.{digits}f}..{max(means.values()):.{digits}f}"
        for name, means in found.items()
    )


def _least(found: ByRtt) -> float:
    return min(mean for by_name in found.values() for means in by_name.values() for mean in means.values())
