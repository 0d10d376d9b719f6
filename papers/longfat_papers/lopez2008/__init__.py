"""Lopez Pacheco 2008: thesis on explicit-rate protocols in heterogeneous networks, chapters 3 to 6.

XCP and TCP on a varying capacity, XCP-i through routers that do not speak XCP, XCP-r under losses of ACKs,
and XCP's friendliness with TCP; the figures of VCP, JetMax and XCP from chapter 2; and what the thesis did
not try.
"""

from __future__ import annotations

from longfat_papers.kit.suite import Suite
from longfat_papers.lopez2008.assumptions import ASSUMPTIONS
from longfat_papers.lopez2008.claims import CLAIMS
from longfat_papers.lopez2008.experiments import EXPERIMENTS
from longfat_papers.lopez2008.hosts import HOSTS
from longfat_papers.lopez2008.reduction import reduce_run
from longfat_papers.lopez2008.settings import PAPER

SUITE = Suite(
    name="lopez2008",
    title="Explicit-rate protocols in heterogeneous networks",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
    assumptions=ASSUMPTIONS,
    hosts=HOSTS,
)
