"""The bounds of the claims of the draft. Each makes the text of a rule and decides its check."""

from __future__ import annotations

EXPENSE = 0.01
"""EVAL-5.1: share of its throughput that an algorithm loses with the smallest buffer."""
MARGIN = 0.01
"""EVAL-6.1: how far gain and utilization are above 1, and loss is below 1."""
ERRORS = 2.0
"""EVAL-6.1: how many standard errors over repeats they are off 1 at least."""
MANY = 0.5
"""EVAL-5.1, EVAL-6.1: share of the algorithms."""
