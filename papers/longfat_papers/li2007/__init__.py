"""Li, Leith, Shorten 2007: "Experimental Evaluation of TCP Protocols for High-Speed Networks".

Two long-lived flows on a dumbbell, one flow under random loss, and web traffic beside them: Figs. 1 and 3 to
15, and two tests that the paper describes without a figure.
"""

from __future__ import annotations

from longfat_papers.li2007 import changes, common

FIGURES = (
    "refill",
    "fairness",
    "histories",
    "rtt_unfairness",
    "compatibility",
    "queues",
    "reports",
    "response",
    "convergence",
    "web",
    "unprinted",
)
"""In the order of the paper; `reports` has the claims about the runs of `unprinted`."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(changes))
