"""Compares theory about congestion controls on long fat networks with their behaviour here.

Response functions of every algorithm in the registry against their laws, the exponents of RTT unfairness,
measurements for the seven requirements of the thesis's section 2.4.1, and the claims of its chapter 2 about
end-to-end protocols.
"""

from __future__ import annotations

from longfat_papers.theory import common

FIGURES = (
    "response",
    "scaled",
    "unfairness",
    "requirements",
    "laws",
)

SUITE = common.PAPER.suite(__name__, FIGURES, vars(common))
