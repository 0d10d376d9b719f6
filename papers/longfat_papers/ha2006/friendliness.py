"""A flow of TCP SACK joined by one of another protocol (HA-5)."""

from __future__ import annotations

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Run, Runs, above, at_most, mean_of

SAME = 0.005
"""Two indices count as equal if they differ by no more than this."""
NEW = tuple(name for name in ha.MEASURED if name != "reno")


@ha.PAPER.experiment("friendly", "TCP Friendliness", "Beside TCP SACK")
def beside_sack(mode: Mode) -> list[Run]:
    names = [name for name in ha.shown(mode) if name != "reno"]
    return ha.pairs(mode, names, ha.RTTS_MS[mode], lambda name, rtt: (("reno", rtt), (name, rtt)))


@beside_sack.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    return ha.metric(
        "Jain's index of the throughputs of TCP SACK and of a flow that joins it, for each RTT. The slides: "
        "better with background for all but STCP.",
        runs,
        "Jain's index",
        mean_of("jain"),
        y_range=(0.45, 1.02),
    )


@beside_sack.claim(
    "5",
    "TCP friendliness: TCP SACK joined by another (Jain's index)",
    published="better with background for all but STCP",
    bounds=ha.NUMBERS,
)
def background_helps_all_but_stcp(runs: Runs) -> Checks:
    jain = ha.both(runs, "jain", NEW)
    for name, (before, after) in jain.items():
        text = f"{ha.TITLES[name]}: with background"
        if name == "stcp":
            yield at_most(text, after, before + SAME, than=f"{SAME:g} more than without")
        else:
            yield above(text, after, before, than="without")
    return Evidence(
        ha.listed(jain),
        {"jain": jain},
        figure=ha.added(
            "Jain's index beside SACK with background less without, mean of all but STCP",
            runs,
            "jain",
            tuple(name for name in NEW if name != "stcp"),
        ),
    )
