"""Lopez Pacheco 2008: thesis on explicit-rate protocols in heterogeneous networks, chapters 3 to 6.

XCP beside TCP where the capacity varies, XCP-i through routers that are not XCP's, XCP-r under losses of
ACKs,
XCP's friendliness with TCP; the figures of VCP, JetMax and XCP of chapter 2; and what the thesis did not try.
"""

from __future__ import annotations

from longfat.suites.lopez2008_claims import CLAIMS
from longfat.suites.lopez2008_experiments import EXPERIMENTS
from longfat.suites.lopez2008_reduction import reduce_run
from longfat.suites.lopez2008_settings import PAPER
from longfat.suites.suite import Suite

SUITE = Suite(
    name="lopez2008",
    title="Explicit-rate protocols in heterogeneous networks",
    citation=PAPER,
    experiments=EXPERIMENTS,
    claims=CLAIMS,
    reduce=reduce_run,
)
