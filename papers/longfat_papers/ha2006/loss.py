"""Losses of the flows and of all traffic (HA-3)."""

from __future__ import annotations

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Runs, above, at_most, mean_of

ADDED_LOSS = 0.001

pairs = ha.like_pairs("loss", "Packet loss rate", "Losses of the flows and of all traffic")


@pairs.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    ours = ha.panels(runs, "lost / sent", mean_of("loss_ratio"), of="the two flows", y_log=True)
    whole = ha.panels(runs, "lost / sent", mean_of("link_loss_ratio"), of="all traffic", y_log=True)
    return Drawing(
        "Packets lost over packets sent while both flows ran; a point is missing where none was lost. The "
        "slides: STCP has "
        "the highest in both; background adds little. " + ha.NO_RATE + ha.repeated(runs),
        (*ours, *whole),
    )


@pairs.claim(
    "3",
    "packet loss of two like flows, and of all traffic",
    published="STCP is highest in both; background adds little",
    bounds=ha.NUMBERS,
)
def stcp_loses_most(runs: Runs) -> Checks:
    own, whole = (ha.both(runs, quantity) for quantity in ("loss_ratio", "link_loss_ratio"))
    for text, losses in (("the flows,", own), ("all traffic,", whole)):
        for index, background in enumerate(ha.BACKGROUNDS):
            greatest = max(pair[index] for name, pair in losses.items() if name != "stcp")
            subject = f"{text} {background} background: STCP's"
            yield above(subject, losses["stcp"][index], greatest, than="every other's")
    for name, (before, after) in whole.items():
        subject = f"{ha.TITLES[name]}: what background adds to the loss of all traffic"
        yield at_most(subject, after - before, ADDED_LOSS)
    return Evidence(
        f"of the flows: {ha.listed(own)}; of all traffic: {ha.listed(whole)}",
        {"loss_ratio": own, "link_loss_ratio": whole},
        figure=ha.added("loss of all traffic that background adds, mean", runs, "link_loss_ratio"),
    )
