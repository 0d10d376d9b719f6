"""The bounds of the thesis's claims. Each makes the text of a rule and decides its check."""

from __future__ import annotations

FAIR = 0.95
"""2c to 2e, 5b: Jain's index."""
EFFICIENT = 0.05
"""3a to 3c: inefficiency."""
NEAR = 0.1
"""3a, 3b, 3d, 5e: around a number of the thesis."""

FIRST_VCP_MBPS = 40.0
VCP_FAIR_S = (20.0, 150.0)
"""2c."""
USED = 0.9
"""2d, 2e: share of the link."""

NEWRENO_NEAR = 0.4
HSTCP_FAR = 0.3
HSTCP_STEPS_FAR = 0.35
"""3a, 3b, 3d: inefficiencies that the thesis prints."""
NEVER_MBPS = 500.0
"""3b."""
OVERSHOOT_PACKETS = 1000.0
"""3d."""

MEGABYTES = {"a": 215.0, "b": 223.8, "c": 52.4}
"""4a, as the thesis prints them."""
MEGABYTES_FACTOR = 1.05
UNSTABLE_FACTOR = 1.5
UNSTABLE_LOSS = 0.01
"""4a: the third case."""
SAME_RATE = 0.03
"""4b: distance from the rate without clouds, as a share of it."""
MERGE_I_MBPS = (266.0, 300.0)
MERGE_J_MBPS = (95.0, 101.0)
"""4c: 5 % below the numbers, up to the clouds' rates."""
BEHIND_100_MBPS = (45.0, 52.0)
K_OVER_I = (1.0, 1.2)
"""4d."""
FORK_MBPS = (237.5, 255.0)
"""4e."""
ERRORS_MEGABYTES = {
    ("newreno", "i"): 329.0,
    ("newreno", "j"): 172.0,
    ("xcp", "i"): 675.4,
    ("xcp", "j"): 240.7,
}
"""4f, as the thesis prints them."""
ERRORS_FACTOR = 1.15
LEAST_J_MBPS = 75.0

LOST_FACTOR = 2.0
"""5a to 5c."""
RATES_MBPS = {("xcp", 0.0): (83.5, 87.5), ("xcp-r", 0.1): (82.0, 89.5)}
"""5a, 5c: least and greatest mean rate of a flow, as the thesis prints them."""
WIDER = 0.05
"""5a, 5c: of either end of that range."""
TAKES_OVER_MBPS = 400.0
SILENT_S = 2.0
EVEN_AGAIN_S = (7.5, 30.0)
"""5b."""
NOT_SILENT_S = 1.0
"""5c."""
TIMEOUTS = 1.0
"""5d."""
FILLED = (0.7, 0.91)
"""5e: after one RTT and after two, as the thesis reckons."""
FULL = 0.95
"""5e: after ten."""
MIRROR_WITHIN = 0.05
FIRST_OFF = 0.2
"""5f: shares of XCP's rate."""

FALLEN_MBPS = 60.0
LEFT_SEGMENTS = 2.0
"""6a."""
KEPT_SHARE = 0.5
TCP_SHARE = 1.1
"""6b: of XCP's target, and of TCP's."""
FIGURE_FACTOR = 1.3
"""6c, 6d: a rate read off a figure."""
SAME_MBPS = 50.0
"""6e."""
