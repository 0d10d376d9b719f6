"""The claims of HA as data, written down with their rules before anything was measured.

The figures of the slides were not available, and their text has no numbers; the numbers in the rules are
chosen here.
"""

from __future__ import annotations

from longfat.suites.ha2006 import bounds, rules
from longfat.suites.ha2006.settings import COMMON_SETTINGS, MEASURED, PAPER, TITLES
from longfat.suites.kit.claims import Claim, Paper
from longfat.suites.kit.suite import Data
from longfat.suites.kit.text import multiple, part, short

NUMBERS = "Numbers chosen here."
MEANS = "Mean over RTTs and repeats, over the time that both flows run, without and with background."
OF = f"the protocols whose results the slides show ({', '.join(TITLES[name] for name in MEASURED)})"


_claim = Paper[Data]("HA", PAPER, COMMON_SETTINGS, MEANS).claim


CLAIMS: tuple[Claim[Data], ...] = (
    _claim(
        "1",
        "link utilization of two like flows",
        "better with background; most protocols good with it",
        f"Of {OF}: each at most {short(bounds.SAME)} lower with background than without; more than "
        f"{part(bounds.MOST_SHARE)} of them at least {short(bounds.GOOD)} with it. {NUMBERS}",
        ("utilization",),
        rules.utilization,
        estimator=MEANS + " All traffic on the bottleneck.",
    ),
    _claim(
        "2",
        "stability: CoV of the rates of two like flows",
        "high without background, lower with it, except FAST slightly higher",
        "Each but FAST lower with background, FAST higher; the median of the others without background at "
        f"least {short(bounds.HIGH_COV)}. {NUMBERS}",
        ("stability",),
        rules.stability,
        estimator=MEANS + " Of each flow's goodput over seconds.",
    ),
    _claim(
        "3",
        "packet loss of two like flows, and of all traffic",
        "STCP highest in both; little more with background",
        "STCP's loss above every other's, of the two flows and of all traffic, without and with background; "
        f"background adds at most {short(bounds.ADDED_LOSS)} to each protocol's loss of all traffic. "
        f"{NUMBERS}",
        ("loss",),
        rules.loss,
    ),
    _claim(
        "4",
        "RTT fairness: a flow at 162 ms, one at 16 to 162 ms",
        "FAST nearly perfect without background, lowest with it",
        f"Least over greatest throughput: FAST's without background at least {short(bounds.NEARLY_PERFECT)} "
        f"at each RTT; with background FAST's mean over the RTTs below every other's. {NUMBERS}",
        ("rtt",),
        rules.rtt_fairness,
    ),
    _claim(
        "5",
        "TCP friendliness: TCP SACK joined by another (Jain's index)",
        "better with background for all but STCP",
        f"Each but STCP higher with background than without; STCP at most {short(bounds.SAME)} higher. "
        f"{NUMBERS}",
        ("friendly",),
        rules.friendliness,
    ),
    _claim(
        "6",
        "intra-protocol fairness: two like flows (Jain's index)",
        "HSTCP, SACK TCP, STCP low without background, better with it; FAST falls significantly with it",
        f"HSTCP, TCP SACK and STCP below {short(bounds.LOW_INDEX)} without background and higher with it; "
        f"FAST at least {short(bounds.FALLS_BY)} lower with it. {NUMBERS}",
        ("intra",),
        rules.intra,
    ),
    _claim(
        "7",
        "convergence: the second flow at 80 % of the first one's rate",
        "HSTCP very slow without background, better with it; FAST much slower with it",
        f"HSTCP: at least {bounds.SLOW_S:g} s without background, less with it. FAST: with background more "
        f"than {multiple(bounds.MUCH_SLOWER)} as long as without. {NUMBERS}",
        ("convergence",),
        rules.convergence,
        estimator="Median over RTTs and repeats, never reached counts as infinite; averages of LLS eq. (2).",
    ),
)
