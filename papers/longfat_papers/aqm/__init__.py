"""Compares queues: what Lopez Pacheco's thesis (2.5.1.5) says about them, and the comparisons of RFC 7928.

Goodput against queueing delay, stability under changing load and capacity, fairness among aggressive and
gentle flows, and the number of flows that SRED estimates; kinds of senders, bursts, mixes of traffic, both
directions, and two queues in a row. Numbers of sections of RFC 7928 are those of its last draft. The RFC
prints no results, so its claims report; their checks compare with drop-tail and make no verdict.
"""

from __future__ import annotations

from dataclasses import replace

from longfat.words import natural_order
from longfat_papers.aqm import common

FIGURES = (
    "tradeoff",
    "dynamics",
    "fairness",
    "choke",
    "sred",
    "senders",
    "categories",
    "bursts",
    "levels",
    "mix",
    "bidirectional",
    "two_queues",
)
"""First those about the thesis, then the other tests of RFC 7928, each in its order."""

_suite = common.PAPER.suite(__name__, FIGURES, vars(common))
SUITE = replace(_suite, claims=tuple(sorted(_suite.claims, key=lambda claim: natural_order(claim.id))))
