"""The bounds of HA's claims. Each makes the text of a rule and decides its check."""

from __future__ import annotations

SAME = 0.005
"""HA-1, HA-5: two utilizations or indices count as equal if they differ by no more than this."""
GOOD = 0.9
"""HA-1: utilization."""
MOST_SHARE = 0.5
"""HA-1: "most" are more than this share of the protocols."""
HIGH_COV = 0.2
"""HA-2."""
ADDED_LOSS = 0.001
"""HA-3."""
NEARLY_PERFECT = 0.9
"""HA-4: ratio of throughputs."""
LOW_INDEX = 0.9
FALLS_BY = 0.05
"""HA-6."""
SLOW_S = 200.0
MUCH_SLOWER = 2.0
"""HA-7."""
