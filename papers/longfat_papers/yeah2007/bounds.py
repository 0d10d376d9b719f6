"""The bounds of YeAH's claims. Each makes the text of a rule and decides its check."""

from __future__ import annotations

STEEP_S = 60.0
JOINED_RATIO = 0.8
YIELDED = 0.75
"""F1: share of YeAH's cwnd that is left once it has yielded."""
RENO_BACKOFF = (0.4, 0.6)
"""F1: the share of Reno's window that remains after a loss, on average."""
RENO_RATIO = 0.5

RENO_QUEUE = 0.25
"""F3: least share of the buffer."""
ALIKE_FACTOR = 1.5
"""F3: queues like Reno's."""
FULL = 0.95
"""F3, F4, F6: share of the link, or of the capacity used elsewhere."""
STEADY_FACTOR = 2.0
"""F3: greatest over least queue of H-TCP."""
QUEUE_COV = (1, 2)
"""F3: deviation over mean, as the paper says."""

TABLE_FACTOR = 3.0
"""T1."""

NEAR_EXTREME = 0.01
"""F5: distance from the lowest and the highest utilization."""
HIGH_LOSS_SHARE = 0.5
"""F5: share of its utilization that YeAH keeps at most."""

SMALL_BUFFER_SHARE = 0.9
"""F6: share of its utilization that a loss-based protocol keeps at most."""
RENO_BELOW_BDP = 0.98
"""F6: greatest utilization of Reno below a BDP."""

FAIR = 0.95
"""F7: least index at ratio 1."""
STAYS_FAIR = 0.9
"""F7: index above ratio 1."""

LOSS_BASED_RATIO = (4.0, 8.4)
"""FR: 5 to 7, give or take a fifth."""
MANY_RENO_RATIO = 2.0
FRIENDLY_RATIO = (0.7, 1.4)

ALIKE_EFFICIENCY = 0.02
FIRST_EFFICIENCY = (0.15, 0.25)
LAST_EFFICIENCY = (0.85, 0.9)
"""F8a."""
SEPARATE_EFFICIENCY = 0.2
"""F8b."""
