"""Scenario files: what they may say, checked and typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat.scenario.bottleneck import Bottleneck
    from longfat.scenario.flow import Flow, Sample
    from longfat.scenario.model import Scenario
    from longfat.scenario.topology import Link, Node

__all__ = ["Bottleneck", "Flow", "Link", "Node", "Sample", "Scenario"]

_MODULES = {
    "Bottleneck": "bottleneck",
    "Flow": "flow",
    "Link": "topology",
    "Node": "topology",
    "Sample": "flow",
    "Scenario": "model",
}

__getattr__ = getter(__name__, _MODULES)
