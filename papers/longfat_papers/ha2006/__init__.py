"""Ha, Kim, Le, Rhee, Xu 2006: "A Step toward Realistic Performance Evaluation of High-Speed TCP Variants".

Seven metrics of two high-speed flows, each without and with background traffic, and the backup slides'
throughput histories.
"""

from __future__ import annotations

from longfat_papers.ha2006 import common

FIGURES = (
    "utilization",
    "stability",
    "loss",
    "rtt_fairness",
    "friendliness",
    "intra",
    "convergence",
    "histories",
)
"""In the order of the slides."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(common))
