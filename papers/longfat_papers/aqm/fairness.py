"""Fairness among TCP flows (AQM-2)."""

from __future__ import annotations

from typing import Any

from longfat_papers.aqm import common as aq
from longfat_papers.aqm.drawing import SETTING, SIGNALS, over_queues
from longfat_papers.kit import CHOSEN_HERE, Checks, Drawing, Evidence, Measured, Mode, Runs, Setting
from longfat_papers.kit.checks import at_least, at_most
from longfat_papers.kit.curves import repeats

NEAR_MS, FAR_MS = 20, 100
MARGIN = 0.05
"""Jain's index against drop-tail's."""
MIXES = {
    "like": f"{aq.FLOWS} like flows",
    "RTTs": f"RTTs of {NEAR_MS} and {FAR_MS} ms",
    "aggressive": "half of them Scalable TCP",
}


@aq.PAPER.experiment(
    "fairness",
    "RFC 7928, 5.2 and 6; thesis 2.5.1.5",
    "Fairness among TCP flows",
    grid={"mix": tuple(MIXES), **aq.COMPARED},
)
def mixes(mode: Mode, **at: Any) -> aq.Table | None:
    half = aq.SACK | {"count": aq.FLOWS // 2}
    flows = {
        "like": [aq.SACK | {"count": aq.FLOWS}],
        "RTTs": [
            half | {"name": "near", "rtt": f"{NEAR_MS} ms"},
            half | {"name": "far", "rtt": f"{FAR_MS} ms"},
        ],
        "aggressive": [half | {"name": "gentle"}, half | {"name": "aggressive", "algorithm": "stcp"}],
    }
    return aq.scenario(mode, at, flows[at["mix"]])


@mixes.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return Drawing(
        f"Jain's index of the goodputs of {aq.FLOWS} flows: like flows; half at {NEAR_MS} ms and half at "
        f"{FAR_MS} ms; half standard and half Scalable TCP. {SETTING}" + repeats(runs),
        tuple(
            over_queues(
                "Jain's index",
                [(text, runs.where(signal=signal, mix=mix), "jain") for mix, text in MIXES.items()],
                title,
                y_range=(0.3, 1.02),
            )
            for signal, title in SIGNALS.items()
        ),
    )


@mixes.claim(
    "2",
    "fairness of mixes of flows, against drop-tail",
    "in some scenarios AQM improves fairness, in others it degrades it seriously",
    paper=aq.THESIS,
    settings=(
        Setting(
            "mixes",
            f"{aq.FLOWS} flows: alike; half at 20 and half at 100 ms; half TCP SACK and half Scalable TCP",
            CHOSEN_HERE,
        ),
    ),
    bounds="Cases are RED, CHOKe, BLUE and SRED in the three mixes. " + aq.NUMBERS,
)
def fairer_here_and_less_fair_there(runs: Runs) -> Checks:
    jain = {mix: aq.means(runs, ("jain",), signal=aq.DROPS, mix=mix) for mix in runs.distinct("mix")}
    gains = {
        (name, mix): jain[mix][name][0] - jain[mix][aq.DROP_TAIL][0] for name in aq.TITLES for mix in jain
    }
    of_thesis = [pair for pair in gains if pair[0] in aq.OF_THE_THESIS]
    best, worst = max(of_thesis, key=gains.__getitem__), min(of_thesis, key=gains.__getitem__)
    titled = {(name, mix): f"{aq.TITLES[name]}, {mix}" for name, mix in gains}
    yield at_least("best case: Jain's index less drop-tail's", gains[best], MARGIN)
    yield at_most("worst case: Jain's index less drop-tail's", gains[worst], -MARGIN)
    return Evidence(
        f"from {gains[worst]:+.3f} ({titled[worst]}) to {gains[best]:+.3f} ({titled[best]})",
        {f"{name}, {mix}": gain for (name, mix), gain in gains.items()},
        figure=Measured(
            "lesser of the greatest gain and the greatest loss of Jain's index",
            min(gains[best], -gains[worst]),
        ),
    )
