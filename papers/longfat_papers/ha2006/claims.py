"""The claims of HA as data, written down with their rules before anything was measured.

The figures of the slides were not available, and their text has no numbers; the numbers in the rules are
chosen here.
"""

from __future__ import annotations

from longfat_papers.ha2006 import bounds, rules
from longfat_papers.ha2006.settings import COMMON_SETTINGS, MEASURED, PAPER, TITLES
from longfat_papers.kit.claims import Claim, Paper
from longfat_papers.kit.suite import Data
from longfat_papers.kit.text import multiple, part, short

NUMBERS = "Numbers chosen here."
MEANS = "Mean over RTTs and repeats, over the time that both flows run, without and with background."
OF = f"the protocols whose results the slides show ({', '.join(TITLES[name] for name in MEASURED)})"


_claim = Paper[Data]("HA", PAPER, COMMON_SETTINGS, MEANS).claim


CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "1",
        "link utilization of two like flows",
        "better with background; with it most protocols are good",
        f"Each of {OF} is at most {short(bounds.SAME)} lower with background than without; more than "
        f"{part(bounds.MOST_SHARE)} of them reach at least {short(bounds.GOOD)} with it. {NUMBERS}",
        ("utilization",),
        rules.utilization,
        estimator=MEANS + " All traffic on the bottleneck counts.",
    ),
    _claim(
        "2",
        "stability: CoV of the rates of two like flows",
        "high without background, lower with it, except FAST slightly higher",
        "With background each protocol but FAST is lower and FAST is higher; without it the median of the "
        f"others is at least {short(bounds.HIGH_COV)}. {NUMBERS}",
        ("stability",),
        rules.stability,
        estimator=MEANS + " The CoV is that of each flow's goodput over seconds.",
    ),
    _claim(
        "3",
        "packet loss of two like flows, and of all traffic",
        "STCP is highest in both; background adds little",
        "STCP's loss is above every other's, for the two flows and for all traffic, without and with "
        f"background; background adds at most {short(bounds.ADDED_LOSS)} to each protocol's loss of all "
        f"traffic. {NUMBERS}",
        ("loss",),
        rules.loss,
    ),
    _claim(
        "4",
        "RTT fairness: a flow at 162 ms, one at 16 to 162 ms",
        "FAST nearly perfect without background, lowest with it",
        "Least over greatest throughput: without background FAST has at least "
        f"{short(bounds.NEARLY_PERFECT)} at each RTT; with background FAST's mean over the RTTs is below "
        f"every other's. {NUMBERS}",
        ("rtt",),
        rules.rtt_fairness,
    ),
    _claim(
        "5",
        "TCP friendliness: TCP SACK joined by another (Jain's index)",
        "better with background for all but STCP",
        "Each protocol but STCP is higher with background than without; STCP is at most "
        f"{short(bounds.SAME)} higher. {NUMBERS}",
        ("friendly",),
        rules.friendliness,
    ),
    _claim(
        "6",
        "intra-protocol fairness: two like flows (Jain's index)",
        "HSTCP, SACK TCP, STCP low without background, better with it; FAST falls significantly with it",
        f"HSTCP, TCP SACK and STCP are below {short(bounds.LOW_INDEX)} without background and higher with "
        f"it; FAST is at least {short(bounds.FALLS_BY)} lower with it. {NUMBERS}",
        ("intra",),
        rules.intra,
    ),
    _claim(
        "7",
        "convergence: the second flow at 80 % of the first one's rate",
        "HSTCP very slow without background, better with it; FAST much slower with it",
        f"HSTCP takes at least {bounds.SLOW_S:g} s without background and less with it. FAST takes more than "
        f"{multiple(bounds.MUCH_SLOWER)} as long with background as without. {NUMBERS}",
        ("convergence",),
        rules.convergence,
        estimator=(
            "Median over RTTs and repeats, where a time that is never reached counts as infinite; averages "
            "by LLS eq. (2)."
        ),
    ),
)
