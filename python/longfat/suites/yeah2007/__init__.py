"""Baiocchi, Castellani, Vacirca 2007: "YeAH-TCP: Yet Another Highspeed TCP".

Two flows of one algorithm on a dumbbell of 500 Mbit/s: over the RTT, random loss, the buffer, the ratio of
the RTTs, beside standard TCP, over the length of the experiment. Figs. 1 and 3 to 8, Table I, and the text's
fairness test.
"""

from __future__ import annotations

from longfat.suites.kit.suite import Suite
from longfat.suites.yeah2007.claims import CLAIMS
from longfat.suites.yeah2007.experiments import EXPERIMENTS
from longfat.suites.yeah2007.reduction import reduce_run
from longfat.suites.yeah2007.settings import PAPER

SUITE = Suite(
    name="yeah2007",
    title="YeAH-TCP: Yet Another Highspeed TCP",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
)
