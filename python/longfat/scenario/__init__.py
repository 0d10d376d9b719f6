"""Scenario files: what they may say, checked and typed."""

from __future__ import annotations

from longfat.scenario.model import Scenario

__all__ = ["Scenario"]
