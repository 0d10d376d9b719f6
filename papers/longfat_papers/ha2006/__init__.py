"""Ha, Kim, Le, Rhee, Xu 2006: "A Step toward Realistic Performance Evaluation of High-Speed TCP Variants".

Seven metrics of two high-speed flows, each without and with background traffic, and the backup slides'
throughput histories.
"""

from __future__ import annotations

from longfat_papers.ha2006.assumptions import ASSUMPTIONS
from longfat_papers.ha2006.claims import CLAIMS
from longfat_papers.ha2006.experiments import EXPERIMENTS
from longfat_papers.ha2006.reduction import reduce_run
from longfat_papers.ha2006.settings import MEASURED, PAPER
from longfat_papers.kit.suite import Suite

SUITE = Suite(
    name="ha2006",
    title="A Step toward Realistic Performance Evaluation of High-Speed TCP Variants",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
    counts=lambda run: run.coordinates["algorithm"] in MEASURED,
)
