"""Link utilization (HA-1)."""

from __future__ import annotations

import math

from longfat_papers.ha2006 import common as ha
from longfat_papers.kit import Checks, Drawing, Evidence, Mode, Runs, at_least, mean_of

SAME = 0.005
"""Two utilizations count as equal if they differ by no more than this."""
GOOD = 0.9
MOST_SHARE = 0.5
"""Most are more than this share of the protocols."""

pairs = ha.like_pairs("utilization", "Link Utilization", "Use of the link by all traffic")


@pairs.drawing
def drawing(runs: Runs, mode: Mode) -> Drawing:
    shares = runs.where(background=ha.WITH).values("background_share")
    return ha.metric(
        "Share of the capacity that all traffic used while both flows ran, for each RTT of the pair. The "
        f"background used {100.0 * shares.min():.0f} to {100.0 * shares.max():.0f} % of it. The slides: "
        "better with background, good for most.",
        runs,
        "share of the capacity",
        mean_of("utilization"),
        y_range=(0.0, 1.05),
    )


@pairs.claim(
    "1",
    "link utilization of two like flows",
    published="better with background; with it most protocols are good",
    estimator=ha.MEANS + " All traffic on the bottleneck counts.",
    bounds=ha.NUMBERS,
)
def better_with_background(runs: Runs) -> Checks:
    used = ha.both(runs, "utilization")
    for name, (before, after) in used.items():
        yield at_least(f"{ha.TITLES[name]}: with background less without", after - before, -SAME)
    good = sum(after >= GOOD for _, after in used.values())
    most = math.floor(MOST_SHARE * len(used)) + 1
    yield at_least(f"protocols that use {GOOD:g} with background", float(good), float(most))
    return Evidence(
        ha.listed(used),
        {"utilization": used},
        figure=ha.added("utilization with background less without, mean", runs, "utilization"),
    )
