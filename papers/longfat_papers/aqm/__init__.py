"""Compares queues: what Lopez Pacheco's thesis (2.5.1.5) says about them, and the comparisons of RFC 7928.

Goodput against queueing delay, stability under changing load and capacity, fairness among aggressive and
gentle flows, and the number of flows that SRED estimates; kinds of senders, bursts, mixes of traffic, both
directions, and two queues in a row. Numbers of sections of RFC 7928 are those of its last draft.
"""

from __future__ import annotations

from longfat_papers.aqm.assumptions import ASSUMPTIONS, CLOSED
from longfat_papers.aqm.claims import CLAIMS
from longfat_papers.aqm.experiments import EXPERIMENTS
from longfat_papers.aqm.guideline_claims import CLAIMS as GUIDELINE_CLAIMS
from longfat_papers.aqm.guideline_experiments import EXPERIMENTS as GUIDELINE_EXPERIMENTS
from longfat_papers.aqm.reduction import reduce_run
from longfat_papers.aqm.settings import GUIDELINES, THESIS
from longfat_papers.kit.suite import Suite

SUITE = Suite(
    name="aqm",
    title="Active queue management compared",
    citation=f"{THESIS}; {GUIDELINES}",
    experiments=EXPERIMENTS + GUIDELINE_EXPERIMENTS,
    claims=CLAIMS + GUIDELINE_CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
    closed=CLOSED,
)
