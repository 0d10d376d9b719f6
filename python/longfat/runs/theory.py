"""What theory says: response functions, AIMD's utilisation, RTT unfairness. Windows in packets.

A response function gives the mean congestion window of one flow that loses each packet with probability p.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

STANDARD_LOW_P_CONSTANT = 1.5
"""p W^2 of standard TCP without delayed ACK: W = sqrt(3 / (2 p)) (Mathis et al. 1997)."""

STANDARD_BACKOFF = 0.5
"""The share of its window that a loss leaves to standard TCP."""

LOP_PACKET_BYTES = 1024.0
"""LOP 3.1.3.1: the usual MSS; it does not count headers."""

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

    Byte counting (RFC 3465) makes up for what delayed ACK takes from the growth, so it gives the first form.
    """
    return math.sqrt((1.5 if byte_counting else 0.75) / loss)


def hstcp_low_p(low_window: float) -> float:
    """The loss at which standard TCP has ``low_window`` and HighSpeed TCP takes over (RFC 3649, 5)."""
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


CUBIC_C = 0.4
CUBIC_BETA = 0.7
"""RFC 9438, sections 4.1 and 4.6: segments/s^3, and the share of the window that remains after a loss."""

LTCP_THRESHOLD = 50.0
LTCP_DECREASE = 0.15
"""Bhandarkar, Jain, Reddy 2006: W_T, where the second layer begins, and beta."""

MULTCP_FLOWS = 16
"""The number of standard flows that the algorithm ptcp stands for by default."""

HYBLA_RTT_S = 0.025
"""Caini, Firrincieli 2004: RTT0, the round-trip time of the reference connection."""

CTCP_ALPHA, CTCP_BETA, CTCP_K = 0.125, 0.5, 0.75
"""Tan, Song, Zhang, Sridharan 2006: growth alpha W^k a round trip, and the share that a loss takes."""


def aimd_window(loss: float, increase: float, decrease: float) -> float:
    """AIMD(a, b): sqrt(a (2 - b) / (2 b p)) (Floyd, Handley, Padhye 2000); a = 1, b = .5 is standard TCP."""
    return math.sqrt(increase * (2.0 - decrease) / (2.0 * decrease * loss))


def hybla_window(loss: float, rtt_s: float) -> float:
    """Hybla: AIMD(rho^2, 1/2), rho = RTT / RTT0; the rate does not depend on the round-trip time."""
    return aimd_window(loss, max(rtt_s / HYBLA_RTT_S, 1.0) ** 2, 0.5)


def cubic_window(loss: float, rtt_s: float, c: float = CUBIC_C, beta: float = CUBIC_BETA) -> float:
    """CUBIC under periodic losses (RFC 9438, eq. 5), standard TCP in its Reno-friendly region."""
    cubic: float = (c * (3.0 + beta) / (4.0 * (1.0 - beta))) ** 0.25 * (rtt_s / loss) ** 0.75
    return max(cubic, standard_window(loss))


def ltcp_window(loss: float, threshold: float = LTCP_THRESHOLD, decrease: float = LTCP_DECREASE) -> float:
    """LTCP: AIMD(K, beta) with K the layer in which that window lies, W_K = W_T K (K + 1) (K - 1) / 6.

    This follows from the rule of Bhandarkar, Jain, Reddy 2006; with many layers it goes as p^-.6.
    """
    window = standard_window(loss)
    layer = 2
    while (found := aimd_window(loss, layer, decrease)) >= threshold * layer * (layer * layer - 1) / 6.0:
        window = max(window, found)
        layer += 1
    return window


def ctcp_window(loss: float, alpha: float = CTCP_ALPHA, beta: float = CTCP_BETA, k: float = CTCP_K) -> float:
    """Compound TCP without a queue: alpha W^k a round trip, beta W at a loss, so p^-1/(2 - k); or standard.

    The integral of that rule (Tan, Song, Zhang, Sridharan 2006) over the packets between two losses.
    """
    bottom = 1.0 - beta
    packets = alpha * (2.0 - k) / (loss * (1.0 - bottom ** (2.0 - k)))
    top = packets ** (1.0 / (2.0 - k))
    rounds = top ** (1.0 - k) * (1.0 - bottom ** (1.0 - k)) / (alpha * (1.0 - k))
    return max(float(1.0 / (loss * rounds)), standard_window(loss))


def standard_loss(window_packets: float) -> float:
    """The loss probability that standard TCP needs for a mean window: 3 / (2 W^2)."""
    return STANDARD_LOW_P_CONSTANT / window_packets**2


def throughput_bps(window_packets: float, rtt_s: float, packet_bytes: float = 1500.0) -> float:
    """Rate of a flow that sends ``window_packets`` every round-trip time."""
    return 8.0 * packet_bytes * window_packets / rtt_s


def sawtooth_utilization(queue_bdp: float, backoff: float = STANDARD_BACKOFF) -> float:
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


def growing_rate_bps(
    since_s: float, rtt_s: float, cwnd_packets: float = 0.0, packet_bytes: float = LOP_PACKET_BYTES
) -> float:
    """Rate of standard TCP so long after it had ``cwnd_packets``, without losses: LOP (3.1), (3.2), (3.4)."""
    return 8.0 * packet_bytes / rtt_s**2 * (rtt_s * cwnd_packets + since_s)


def sine_capacity_bps(time_s: float, most_bps: float, least_bps: float, period_s: float) -> float:
    """Capacity that varies as a sine, LOP (3.8): greatest at 0 s, least half a period later."""
    swing = 0.5 * (most_bps - least_bps)
    return most_bps - swing + swing * math.sin(2.0 * math.pi * time_s / period_s + 0.5 * math.pi)


def sawtooth_under_bps(
    capacity_bps: Callable[[float], float],
    times_s: Sequence[float],
    rtt_s: float,
    first_bps: float,
    packet_bytes: float = LOP_PACKET_BYTES,
) -> list[float]:
    """The model of LOP 3.1.3.1, Fig. 3.3: standard TCP's rate below a capacity that varies, at these times.

    The rate grows along the line of (3.4) and is halved where it meets the capacity: no slow-start, no
    queue, no timeouts. The halving repeats where the capacity falls by more than half between two times.
    """
    rates: list[float] = []
    rate, before_s = first_bps, times_s[0] if times_s else 0.0
    for time_s in times_s:
        rate += growing_rate_bps(time_s - before_s, rtt_s, packet_bytes=packet_bytes)
        while rate > capacity_bps(time_s):
            rate *= STANDARD_BACKOFF
        rates.append(rate)
        before_s = time_s
    return rates


RESPONSE_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "reno": standard_window,
    "hstcp": lambda loss: hstcp_window(loss, low_window=31.0, low_p=hstcp_low_p(31.0)),
    "stcp": stcp_window,
}
"""The response functions in LLS Fig. 13, with the parameters of its Table II."""


@dataclass(frozen=True)
class Law:
    """A published response function: the mean window of one flow, and its form c R^e / p^d at low loss.

    ``window`` takes the loss probability and the round-trip time in seconds. ``switch`` are windows near
    which the law changes from one form to another and is not exact. A law that ``heeds_delay`` holds while no
    queue builds, and says nothing about flows that share one.
    """

    window: Callable[[float, float], float]
    d: float
    source: str
    e: float = 0.0
    switch: tuple[float, ...] = ()
    heeds_delay: bool = False

    @property
    def unfairness(self) -> float:
        """Exponent of RTT unfairness under synchronised losses: (1 - e) / (1 - d), LOP (2.20) for e = 0.

        NaN for a law that heeds delay.
        """
        if self.heeds_delay:
            return math.nan
        return (1.0 - self.e) / (1.0 - self.d) if self.d < 1.0 else math.inf


def _standard(loss: float, rtt_s: float) -> float:
    return standard_window(loss)


def _hstcp(loss: float, rtt_s: float) -> float:
    return hstcp_window(loss)


def _stcp(loss: float, rtt_s: float) -> float:
    return stcp_window(loss)


_MATHIS = "Mathis, Semke, Mahdavi, Ott 1997"
LAWS: dict[str, Law] = {
    "reno": Law(_standard, 0.5, _MATHIS),
    "newreno": Law(_standard, 0.5, _MATHIS),
    "reno-classic": Law(_standard, 0.5, _MATHIS),
    "hstcp": Law(_hstcp, -hstcp_exponent(), "RFC 3649, section 5", switch=(HSTCP_LOW_WINDOW,)),
    "hstcp-lp": Law(
        _hstcp,
        -hstcp_exponent(),
        "RFC 3649, section 5: its growth and backoff",
        switch=(HSTCP_LOW_WINDOW,),
        heeds_delay=True,
    ),
    "stcp": Law(_stcp, 1.0, "Kelly 2003", switch=(16.0,)),
    "yeah": Law(
        _stcp,
        1.0,
        "Kelly 2003: the fast mode of Baiocchi, Castellani, Vacirca 2007",
        switch=(16.0,),
        heeds_delay=True,
    ),
    "cubic": Law(cubic_window, 0.75, "RFC 9438, eq. 5", e=0.75, switch=(59.0,)),
    "ltcp": Law(
        lambda loss, rtt_s: ltcp_window(loss), 0.6, "Bhandarkar, Jain, Reddy 2006", switch=(LTCP_THRESHOLD,)
    ),
    "ctcp": Law(
        lambda loss, rtt_s: ctcp_window(loss),
        1.0 / (2.0 - CTCP_K),
        "Tan, Song, Zhang, Sridharan 2006",
        switch=(41.0,),
        heeds_delay=True,
    ),
    "ptcp": Law(
        lambda loss, rtt_s: aimd_window(loss, MULTCP_FLOWS, 0.5 / MULTCP_FLOWS),
        0.5,
        "Crowcroft, Oechslin 1998: n standard flows as one",
    ),
    "hybla": Law(
        hybla_window,
        0.5,
        "Caini, Firrincieli 2004: the rate of standard TCP at an RTT of 25 ms",
        e=1.0,
    ),
}
"""The laws by name in the registry, each with its default parameters."""
