"""The bounds of the claims. Each makes the text of a rule and decides its check."""

from __future__ import annotations

SOON_RTTS = 10
"""RCP-1, ERI-2: round-trip times after which a share counts."""
SHARE_WITHIN = 0.1
"""RCP-1, ERI-2, ERI-4, MAX-1, CAD-1, CAD-2: greatest distance of a flow from its share, as a part of it."""
LONGER = 3.16
"""RCP-3: what is at least half an order of magnitude."""
NEAR_FACTOR = 2.0
"""RCP-4: distance from processor sharing."""
KEPT_SHARE = 0.9
"""MAX-2: of the max-min share."""
FULL = 0.9
"""MAX-3, TRI-1: of the capacity."""
QUEUE_SHARE = 0.1
"""MAX-3, ERI-3: mean queue, of the buffer."""
TARGET_WITHIN = 0.03
"""ERI-1: distance from the target utilization."""
TOTAL_WITHIN = 0.05
"""CAD-1: distance from n / (n + 1), as a part of it."""
HARMED_SHARE = 0.5
"""CAD-3, RBU-3, TSU-3: of TCP's fair share, which is less; SAB-3: which is kept."""
HELPED_FACTOR = 1.1
"""CAD-3: what is no help to TCP."""
QUEUE_FACTOR = 0.5
"""TRI-1: of NewReno's mean queue."""
FAIR = 0.95
"""TRI-2: Jain's index."""
FILLED = 0.8
"""SAB-1, RBU-1, TSU-1: of the link's rate."""
PREDICTED_FACTOR = 1.1
"""RBU-2."""
DELAY_RATIO = 0.8
"""SAB-2: lesser over greater rate."""
DEMONSTRATED_MBPS = 800.0
TCP_MBPS = 300.0
"""TSU-2: more than 800 Mbit/s; TCP "a few tens to a very few hundreds"."""
CLOUD_SHARE = 0.8
CLOUD_LOSS = 0.01
"""GEN-1 to GEN-3: of the cloud's rate, and of the packets."""
MIX_SHARE = 0.5
"""GEN-4 to GEN-6: of the fair share, both for the explicit flow and for TCP."""
ACKS_LOST_FACTOR = 2.0
ACKS_KEPT_SHARE = 0.95
"""GEN-7: packets and rate with losses of ACKs, against those without."""
