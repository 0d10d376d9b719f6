"""The bounds of the claims about theory. Each makes the text of a rule and decides its check."""

from __future__ import annotations

TEN_GIGABIT_LOSS = 2e-10
"""LOP-2a, as the thesis prints it."""
TEN_GIGABIT_FACTOR = 1.1
SCALED_FACTOR = 1.1
CONSTANT_FACTOR = 1.2
STANDARD_D = 0.5
"""LOP-2a."""
D_FACTOR = 1.05
"""LOP-2a, LOP-2b: measured exponent d of a response function over that of its law."""

HSTCP_D, STCP_D = 0.82, 1.0
HSTCP_EXPONENT = 5.55
EXPONENT_FACTOR = 1.25
"""LOP-2b."""

STRONGLY = 0.5
"""LOP-2f: share of its throughput that TCP keeps."""

LAW_FACTOR = 1.25
"""LAW: measured window over the law's."""
SWITCH_FACTOR = 3.0
"""LAW: distance from a switch of modes from which windows are compared."""
