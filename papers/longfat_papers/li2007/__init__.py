"""Li, Leith, Shorten 2007: "Experimental Evaluation of TCP Protocols for High-Speed Networks".

Two long-lived flows on a dumbbell, one flow under random loss, and web traffic beside them: Figs. 1 and 3 to
15, and two tests that the paper describes without a figure.
"""

from __future__ import annotations

from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Suite
from longfat_papers.li2007.assumptions import ASSUMPTIONS, CLOSED
from longfat_papers.li2007.claims import CLAIMS
from longfat_papers.li2007.experiments import EXPERIMENTS
from longfat_papers.li2007.settings import PAPER

SUITE = Suite(
    name="li2007",
    title="Experimental Evaluation of TCP Protocols for High-Speed Networks",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
    closed=CLOSED,
)
