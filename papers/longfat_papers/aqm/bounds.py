"""The bounds of the claims about queues. Each makes the text of a rule and decides its check."""

from __future__ import annotations

LOW_MS = 20.0
LOW_DROPS = 0.02
STEADY_FACTOR = 2.0
"""AQM-1, AQM-6: delay and drop ratio that are low, and greatest over least where they are stable."""
MARGIN = 0.05
"""AQM-2: Jain's index against drop-tail's."""
NEAR_FACTOR = 1.25
"""AQM-4: estimated over true number of flows."""
CLOSE_FACTOR = 1.1
"""AQM-8: estimated over effective number of flows."""
