"""Goodput against queueing delay (AQM-5)."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, SIGNALS, clouds
from longfat_papers.kit import Checks, Drawing, Evidence, Measured, Mode, Runs, above


@aq.PAPER.experiment("tradeoff", "RFC 7928, 2.7", "Goodput against queueing delay", grid=aq.COMPARED)
def like_flows(mode: Mode, **at: Any) -> aq.Table | None:
    return aq.scenario(mode, at, [aq.SACK | {"count": aq.FLOWS}])


@like_flows.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"{aq.FLOWS} like flows. {SETTING} The ellipses show one standard deviation of the two-dimensional "
        "normal distribution fitted to means over half a second (ten RTTs), of all repeats; points are their "
        f"centres. Upper left is better. Runs for each queue: {len(runs.distinct('repeat'))}.",
        tuple(clouds(title, runs.where(signal=signal), (0.5, 1.02)) for signal, title in SIGNALS.items()),
    )


@like_flows.claim(
    "5",
    f"{aq.FLOWS} like flows",
    "prints no value; goodput against queueing delay is reported here",
    **aq.REPORT,
)
def goodput_against_delay(runs: Runs) -> Checks:
    keys = ("goodput_share", "delay_ms")
    dropping = aq.means(runs, keys, signal=aq.DROPS)
    shares = {name: share for name, (share, _) in dropping.items()}
    for name, share in shares.items():
        if name != aq.DROP_TAIL:
            text = f"{aq.TITLES[name]}: goodput / capacity"
            yield above(text, share, shares[aq.DROP_TAIL], than="drop-tail's")
    values = {
        f"{name}, {signal}": [at.mean(key) for key in keys]
        for signal in runs.distinct("signal")
        for name in aq.TITLES
        if runs.has(queue=name, signal=signal)
        for at in [runs.where(queue=name, signal=signal)]
    }
    figure = Measured("least goodput / capacity of a queue that drops", min(shares.values()))
    return Evidence(aq.told(dropping, "{:.3f} at {:.1f} ms"), values, figure=figure)
