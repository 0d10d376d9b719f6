"""Scenario files: what they may say, checked and typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario

__all__ = ["Scenario"]

__getattr__ = getter(__name__, {"Scenario": "model"})
"""Names that are imported when they are first used."""
