"""The bounds of the claims of the draft. Each makes the text of a rule and decides its check."""

from __future__ import annotations

EXPENSE = 0.01
"""EVAL-5.1: share of its throughput that an algorithm loses with the smallest buffer."""
NEAR_FACTOR = 2.0
"""EVAL-A: measured number of flows over that of the M/M/1 queue."""
MARGIN = 0.01
"""EVAL-6.1: gain above 1, and loss below 1."""
MANY = 0.5
"""EVAL-6.1: share of the algorithms."""
