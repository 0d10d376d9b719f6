"""Baiocchi, Castellani, Vacirca 2007: "YeAH-TCP: Yet Another Highspeed TCP".

Two flows of one algorithm on a dumbbell of 500 Mbit/s, over the RTT, random loss, the buffer, the ratio of
the RTTs, and the length of the experiment, and beside standard TCP: Figs. 1 and 3 to 8, Table I, and the
fairness test of the text.
"""

from __future__ import annotations

from longfat_papers.kit.suite import Suite
from longfat_papers.yeah2007.assumptions import ASSUMPTIONS
from longfat_papers.yeah2007.claims import CLAIMS
from longfat_papers.yeah2007.experiments import EXPERIMENTS
from longfat_papers.yeah2007.reduction import reduce_run
from longfat_papers.yeah2007.settings import PAPER

SUITE = Suite(
    name="yeah2007",
    title="YeAH-TCP: Yet Another Highspeed TCP",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
)
