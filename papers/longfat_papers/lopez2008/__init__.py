"""Lopez Pacheco 2008: thesis on explicit-rate protocols in heterogeneous networks, chapters 3 to 6.

XCP and TCP on a varying capacity, XCP-i through routers that do not speak XCP, XCP-r under losses of ACKs,
and XCP's friendliness with TCP; the figures of VCP, JetMax and XCP from chapter 2; and what the thesis did
not try.
"""

from __future__ import annotations

from longfat_papers.lopez2008 import changes, common
from longfat_papers.lopez2008.hosts import HOSTS

FIGURES = (
    "related",
    "varying",
    "unaware",
    "clouds",
    "errors",
    "hidden",
    "acks",
    "one",
    "formula",
    "one_two",
    "ten",
    "beyond",
)
"""In the order of the thesis; then what it did not try."""

SUITE = common.PAPER.suite(__name__, FIGURES, vars(changes), HOSTS)
