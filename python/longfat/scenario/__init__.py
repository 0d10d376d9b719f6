"""Scenario files: what they may say, checked and typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario
    from longfat.scenario.tables import (
        Bottleneck,
        Bulk,
        Flow,
        Link,
        Node,
        Onoff,
        Program,
        Sample,
        Short,
        Surge,
        Web,
    )

__all__ = [
    "Bottleneck",
    "Bulk",
    "Flow",
    "Link",
    "Node",
    "Onoff",
    "Program",
    "Sample",
    "Scenario",
    "Short",
    "Surge",
    "Web",
]

_MODULES = {**dict.fromkeys(__all__, "tables"), "Scenario": "model"}

__getattr__ = getter(__name__, _MODULES)
