"""The bounds of LLS's claims. Each makes the text of a rule and decides its check."""

from __future__ import annotations

FAIR = 0.95
"""F3a, F9: least ratio of throughputs that share to within 5 %."""
UNFAIR = 0.05
"""F3b, F7: unfairness, which is 1 less the ratio, above which flows share less evenly than that."""
CONVERGED = 0.8
"""F4, F8, F11: the paper's own 80 %."""

REFILL_RTTS = 8000.0
REFILL_S = 800.0
REFILL_FACTOR = 1.1
REFILL_MBPS = 218.0
REFILL_MBPS_FACTOR = 1.2
"""F1."""

BACKOFF_RTTS = 100
"""F5a, F5b: mean time between backoffs, LLS's averaging time."""
RAPID_COV = 0.1
"""F5a: coefficient of variation of cwnd."""
ABRUPT_STEP = 0.3
"""F5b: change of cwnd between neighbouring means over 10 s."""
LOCKED_RATIO = 0.5
"""F5b: ratio of throughputs over 100 s."""

LOWEST_RATIO = {"reno": 0.02, "htcp": 0.2, "hstcp": 0.003, "fast": 0.003}
"""F10: long over short throughput, as the paper prints it."""
LOWEST_FACTOR = {"reno": 2.0, "htcp": 2.0, "hstcp": 3.0, "fast": 3.0}
EXPONENT = {"htcp": 1.0, "reno": 2.0}
"""F10: of the ratio over that of the RTTs."""
EXPONENT_MARGIN = {"htcp": 0.3, "reno": 0.4}

FULL_USE_WITHIN = 0.005
"""F12a: of the capacity; at full use nobody can win."""
COLLAPSED = 0.8
"""F12b: share of the throughput at the usual queue, below which throughput has collapsed."""
COLLAPSING_PERCENT = (1.0, 3.0)
"""F12b: largest queue at which throughput collapses, % BDP."""
FAST_COLLAPSING_PERCENT = 8.0
LOSS_RISE = 30.0
"""F12b: loss at the smallest queue over that at the usual one."""

FILLED_BELOW = 0.8
"""F13: share of the BDP up to which theory's window is compared."""
SWITCH_FACTOR = 3.0
"""F13: distance from the mode switch from which it is compared."""
THEORY_FACTOR = 1.5

SLOW_S = 100.0
"""F14a: Scalable-TCP, HS-TCP and BIC-TCP need longer."""
LEVEL_S = (15.0, 60.0)
LEVEL_FACTOR = 2.0
"""F14a: H-TCP's time levels off."""
SMALLEST_SHARE = 0.5
"""F14a: share of the RTTs at which FAST-TCP is the fastest."""
SLOW_LINK_FACTOR = 2.0
"""F14b."""

WEB_FACTOR = 1.5
LOAD_PERCENT = (1.0, 2.0)
BURST_PERCENT = (5.0, 20.0)
"""F15."""
