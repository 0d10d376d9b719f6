"""Compares theory about congestion controls on long fat networks with their behaviour here.

Response functions of every algorithm in the registry against their laws, the exponents of RTT unfairness,
measurements for the seven requirements of the thesis's section 2.4.1, and the claims of its chapter 2 about
end-to-end protocols.
"""

from __future__ import annotations

from longfat_papers.kit.suite import Suite
from longfat_papers.theory.assumptions import ASSUMPTIONS, CLOSED
from longfat_papers.theory.claims import CLAIMS
from longfat_papers.theory.experiments import EXPERIMENTS
from longfat_papers.theory.reduction import reduce
from longfat_papers.theory.settings import THESIS

SUITE = Suite(
    name="theory",
    title="Congestion controls and their theory",
    citation=THESIS + ", chapter 2; the sources of the laws",
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce,
    assumptions=ASSUMPTIONS,
    closed=CLOSED,
)
