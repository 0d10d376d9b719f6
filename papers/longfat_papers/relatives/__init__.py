"""The relatives: systems that the papers of the other suites name, with statements of their own papers.

RCP, TCP MaxNet and ERICA (explicit rates), CADPC/PTP, Tri-S, and the transports SABUL, Reliable Blast UDP and
Tsunami; and the thesis's mechanisms around the first three (Lopez Pacheco 2008, section 7.4).
"""

from __future__ import annotations

from longfat_papers.relatives import common

FIGURES = (
    "rcp",
    "maxnet",
    "erica",
    "cadpc",
    "tri_s",
    "blasts",
    "thesis",
)
"""A file for each system and what its paper says; the three blasts share their runs."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(common))
