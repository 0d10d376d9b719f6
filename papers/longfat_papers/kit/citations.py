"""Citations that several suites share. What only one suite needs stays in its own settings."""

from __future__ import annotations

LOPEZ2008 = (
    "Lopez Pacheco: Propositions for a robust and inter-operable eXplicit Control Protocol on heterogeneous "
    "high speed networks, thesis, ENS Lyon, 2008"
)
