"""Scenario files: what they may say, checked and typed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used: the registry alone does not need the model."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
