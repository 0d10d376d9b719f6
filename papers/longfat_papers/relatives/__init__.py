"""The relatives: systems that the papers of the other suites name, with statements of their own papers.

RCP, TCP MaxNet and ERICA (explicit rates), CADPC/PTP, Tri-S, and the transports SABUL, Reliable Blast UDP and
Tsunami; and the thesis's mechanisms around the first three (Lopez Pacheco 2008, section 7.4).
"""

from __future__ import annotations

from longfat_papers.kit.suite import Suite
from longfat_papers.relatives.assumptions import ASSUMPTIONS, CLOSED
from longfat_papers.relatives.claims import CLAIMS
from longfat_papers.relatives.experiments import EXPERIMENTS
from longfat_papers.relatives.reduction import reduce_run
from longfat_papers.relatives.settings import THESIS

SUITE = Suite(
    name="relatives",
    title="The relatives: systems that the papers name",
    citation=f"The systems' own papers, in the claims; {THESIS}",
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
    closed=CLOSED,
)
