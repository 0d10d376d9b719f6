"""What theory says: response functions, AIMD's utilisation, RTT unfairness. Windows in packets.

A response function gives the mean congestion window of one flow that loses each packet with probability p.
"""

from __future__ import annotations

import math
from collections.abc import Callable

STANDARD_LOW_P_CONSTANT = 1.5
"""p W^2 of standard TCP without delayed ACK: W = sqrt(3 / (2 p)) (Mathis et al. 1997)."""

HSTCP_LOW_WINDOW = 38.0
HSTCP_LOW_P = 1e-3
HSTCP_HIGH_WINDOW = 83000.0
HSTCP_HIGH_P = 1e-7
"""RFC 3649, section 5: the two points that HighSpeed TCP's response function joins on a log-log scale."""

STCP_INCREASE = 0.01
STCP_DECREASE = 0.125
"""Kelly 2003: cwnd grows by .01 an ACKed segment and shrinks by an eighth."""


def standard_window(loss: float, *, byte_counting: bool = True) -> float:
    """Standard TCP (Mathis, Semke, Mahdavi, Ott 1997): sqrt(3/(2p)), or sqrt(3/(4p)) with delayed ACK.

    Byte counting (RFC 3465) undoes what delayed ACK takes from the growth, so it has the first form.
    """
    return math.sqrt((1.5 if byte_counting else 0.75) / loss)


def hstcp_low_p(low_window: float) -> float:
    """Loss at which standard TCP has ``low_window``: where HighSpeed TCP takes over (RFC 3649, 5)."""
    return STANDARD_LOW_P_CONSTANT / low_window**2


def hstcp_exponent(
    low_window: float = HSTCP_LOW_WINDOW,
    high_window: float = HSTCP_HIGH_WINDOW,
    low_p: float = HSTCP_LOW_P,
    high_p: float = HSTCP_HIGH_P,
) -> float:
    """S of RFC 3649, section 5: slope between the two points; -.835 with the defaults."""
    return math.log(high_window / low_window) / math.log(high_p / low_p)


def hstcp_window(
    loss: float,
    low_window: float = HSTCP_LOW_WINDOW,
    high_window: float = HSTCP_HIGH_WINDOW,
    low_p: float = HSTCP_LOW_P,
    high_p: float = HSTCP_HIGH_P,
) -> float:
    """HighSpeed TCP (RFC 3649, 5): Low_Window (p / Low_P)^S, about .12 / p^.835; standard above Low_P."""
    if loss > low_p:
        return standard_window(loss)
    return float(low_window * (loss / low_p) ** hstcp_exponent(low_window, high_window, low_p, high_p))


def stcp_window(
    loss: float, low_window: float = 16.0, increase: float = STCP_INCREASE, decrease: float = STCP_DECREASE
) -> float:
    """Scalable TCP (Kelly 2003): increase / (decrease p) = .08 / p; standard TCP below ``low_window``."""
    scalable = increase / (decrease * loss)
    standard = standard_window(loss)
    return scalable if max(scalable, standard) > low_window else standard


def throughput_bps(window_packets: float, rtt_s: float, packet_bytes: float = 1500.0) -> float:
    """Rate of a flow that sends ``window_packets`` every round-trip time."""
    return 8.0 * packet_bytes * window_packets / rtt_s


def sawtooth_utilization(queue_bdp: float, backoff: float = 0.5) -> float:
    """Utilisation of one AIMD flow on a drop-tail link whose queue holds ``queue_bdp`` BDPs.

    The window goes from backoff (1 + q) to (1 + q) BDP, one step a round. A round takes one propagation RTT
    while the pipe is not full and window / rate once it is; with q = 0 and halving the link is used to 3/4
    (Appenzeller, Keslassy, McKeown 2004 derive q = 1 for full use).
    """
    top = 1.0 + queue_bdp
    bottom = backoff * top
    if bottom >= 1.0:
        return 1.0
    underused = 1.0 - bottom
    full = 0.5 * (top * top - 1.0)
    return (0.5 * (1.0 - bottom * bottom) + full) / (underused + full)


def rtt_unfairness(rtt_long_s: float, rtt_short_s: float, exponent: float = 2.0) -> float:
    """Throughput of the long-RTT flow over that of the short one: (short / long)^exponent.

    2 for AIMD flows whose losses are synchronised: windows go as 1/RTT and rates as window/RTT (Shorten,
    Wirth, Leith 2006; LLS V-B); 1 for H-TCP's RTT scaling; 1/(1 - d) for a loss law c/p^d (LOP 2.4).
    """
    return math.pow(rtt_short_s / rtt_long_s, exponent)


RESPONSE_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "sack": standard_window,
    "hstcp": lambda loss: hstcp_window(loss, low_window=31.0, low_p=hstcp_low_p(31.0)),
    "stcp": stcp_window,
}
"""The response functions that LLS Fig. 13 draws, with the parameters of its Table II."""
