"""Baiocchi, Castellani, Vacirca 2007: "YeAH-TCP: Yet Another Highspeed TCP".

Two flows of one algorithm on a dumbbell of 500 Mbit/s, over the RTT, random loss, the buffer, the ratio of
the RTTs, and the length of the experiment, and beside standard TCP: Figs. 1 and 3 to 8, Table I, and the
fairness test of the text.
"""

from __future__ import annotations

from longfat_papers.yeah2007 import common

FIGURES = (
    "joined",
    "rtts",
    "losses",
    "buffers",
    "rtt_ratios",
    "fair_to_reno",
    "lengths",
)
"""In the order of the paper."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(common))
