"""Tests that the paper describes without a figure (III-E-ii, III-D); `reports` has their claims."""

from __future__ import annotations

from itertools import chain

from longfat_papers.kit import Drawing, Mode, Run, Runs
from longfat_papers.li2007 import common as lls

NO_FIGURE = " The paper describes this test and prints no figure for it."

efficiency = lls.PAPER.experiment("E2", "III-E-ii", "Efficiency and RTT")(lls.like_flows)


@efficiency.drawing
def efficiency_drawing(runs: Runs, mode: Mode) -> Drawing:
    used = lls.rate_panels(
        runs,
        "utilization",
        "share of the capacity",
        "Throughput of both flows, {} Mbit/s",
        y_range=(0.0, 1.05),
    )
    lost = lls.rate_panels(runs, "loss_ratio", "lost / sent", "Packet loss, {} Mbit/s", y_log=True)
    return Drawing(
        f"Two like flows, queue 20 % BDP, no web traffic.{lls.repeated(runs)}{NO_FIGURE}",
        tuple(chain(*zip(used, lost, strict=True))),
    )


@lls.PAPER.experiment("C2", "III-D", "Backward compatibility at different RTTs")
def compatibility(mode: Mode) -> list[Run]:
    """III-D with the tests of III-C-ii: standard TCP at 162 ms, a new protocol at 16 to 324 ms."""
    return lls.pairs(
        mode,
        lambda name, rtt: (("reno", lls.LONG_RTT_MS), (name, rtt)),
        lls.NEW,
        lambda rate: (42,) if mode == "quick" and rate == lls.HIGH_MBPS else lls.RTTS_MS,
    )


@compatibility.drawing
def compatibility_drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Throughput of standard TCP ({lls.LONG_RTT_MS} ms) over that of the new protocol. Queue 20 % of "
        f"standard TCP's BDP, no web traffic.{lls.repeated(runs)}{NO_FIGURE}",
        lls.standard_panels(runs, lls.RTT_2_AXIS),
        title=f"Standard TCP at {lls.LONG_RTT_MS} ms joined by a new protocol at another RTT",
    )
