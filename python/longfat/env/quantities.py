"""What a monitor interval is measured by: the quantities that observations and rewards are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ORCA_LOSS_WEIGHT = 5.0
"""Orca's zeta, the weight of a lost byte against a delivered one (rl-module/envwrapper.py)."""
ORCA_DELAY_MARGIN = 1.25
"""Orca's beta, the multiple of the least RTT up to which a delay costs nothing (`delay_margin_coef`)."""
LINUX_PACING_GAIN = 1.2
"""Linux paces at this multiple of cwnd / srtt after slow start (sysctl net.ipv4.tcp_pacing_ca_ratio)."""
MOST_PACING = 10.0
"""Orca's observation of the pacing rate goes no further (rl-module/envwrapper.py)."""
MOST_SEND_RATIO = 1000.0
"""From here on Aurora's send ratio is 1, as if nothing had been sent (src/common/sender_obs.py)."""


@dataclass(frozen=True)
class Interval:
    """What senders have seen in a monitor interval: arrays with one value for each environment."""

    span_s: Array
    """How long it was."""
    sent: Array
    """Packets sent, retransmissions included."""
    delivered: Array
    """Packets that the receiver has reported for the first time."""
    lost: Array
    """Packets found lost, and sent again."""
    rtts: Array
    """Round-trip times measured."""
    rtt_s: Array
    """Their mean; NaN without any."""
    rtt_increase_s: Array
    """The mean of their second half less that of their first half; NaN if there are fewer than two."""
    srtt_s: Array
    """The smoothed round-trip time at its end."""
    base_rtt_s: Array
    """The least round-trip time since the connection began."""
    cwnd: Array
    """The congestion window at its end, segments."""
    packet_bits: Array
    """A full packet of IP, bits."""
    least_rtt_s: Array
    """The least `rtt_s` of the episode so far; NaN if there is none."""
    most_pps: Array
    """The greatest throughput of an interval of the episode so far, packets per second."""

    @cached_property
    def throughput_pps(self) -> Array:
        """Packets delivered per second."""
        return ratio(self.delivered, self.span_s)

    @cached_property
    def send_pps(self) -> Array:
        """Packets sent per second."""
        return ratio(self.sent, self.span_s)

    @cached_property
    def loss_pps(self) -> Array:
        """Packets lost per second."""
        return ratio(self.lost, self.span_s)


def ratio(a: Array, b: Array, otherwise: float = 0.0) -> Array:
    """Returns a / b, or another value where b is 0 or one of them is unknown (NaN)."""
    found: Array = np.divide(a, b, out=np.full(np.shape(a), otherwise), where=(b > 0.0) & ~np.isnan(a))
    return found


@dataclass(frozen=True)
class Quantity:
    """Something that is computed from a monitor interval; rewards and observations can have one of yours."""

    name: str
    """Its name, as in QUANTITIES."""
    meaning: str
    """What it is, in a few words."""
    limits: tuple[float, float]
    """An observation stays within these."""
    of: Callable[[Interval], Array]
    """Computes it for all environments at once."""
    at_rest: float = 0.0
    """Its value in the history before the first interval."""


def _delay_metric(seen: Interval) -> Array:
    return np.minimum(1.0, ratio(ORCA_DELAY_MARGIN * seen.base_rtt_s, seen.srtt_s, 1.0))


def _send_ratio(seen: Interval) -> Array:
    sent, got = seen.send_pps, seen.throughput_pps
    return np.where(sent < MOST_SEND_RATIO * got, ratio(sent, got, 1.0), 1.0)


def _latency_ratio(seen: Interval) -> Array:
    return np.maximum(1.0, ratio(seen.rtt_s, seen.least_rtt_s, 1.0))


def _pacing(seen: Interval) -> Array:
    pacing = ratio(LINUX_PACING_GAIN * seen.cwnd, seen.srtt_s)
    return np.minimum(MOST_PACING, ratio(pacing, seen.most_pps))


def _power(seen: Interval) -> Array:
    gain = seen.throughput_pps - ORCA_LOSS_WEIGHT * seen.loss_pps
    return ratio(gain, seen.most_pps) * _delay_metric(seen)


QUANTITIES: Mapping[str, Quantity] = {
    quantity.name: quantity
    for quantity in (
        Quantity("throughput_pps", "packets delivered per second", (0.0, 1e9), lambda i: i.throughput_pps),
        Quantity(
            "throughput_bps",
            "IP bits delivered per second",
            (0.0, 1e13),
            lambda i: i.throughput_pps * i.packet_bits,
        ),
        Quantity("send_rate_pps", "packets sent per second", (0.0, 1e9), lambda i: i.send_pps),
        Quantity(
            "loss_share",
            "packets lost, of those lost or delivered",
            (0.0, 1.0),
            lambda i: ratio(i.lost, i.lost + i.delivered),
        ),
        Quantity("latency_s", "mean RTT; 0 without any", (0.0, 100.0), lambda i: np.nan_to_num(i.rtt_s)),
        Quantity(
            "latency_gradient",
            "increase of the RTT from the first to the second half, per second of the interval",
            (-1.0, 10.0),
            lambda i: ratio(i.rtt_increase_s, i.span_s),
        ),
        Quantity(
            "latency_ratio",
            "mean RTT, of the least of the episode",
            (1.0, 10_000.0),
            _latency_ratio,
            at_rest=1.0,
        ),
        Quantity("send_ratio", "packets sent per packet delivered", (0.0, 1000.0), _send_ratio, at_rest=1.0),
        Quantity(
            "throughput_of_best",
            "throughput, of the greatest of the episode",
            (0.0, 1.0),
            lambda i: ratio(i.throughput_pps, i.most_pps),
        ),
        Quantity(
            "pacing_of_best",
            "1.2 cwnd / srtt, of the greatest throughput of the episode, up to 10",
            (0.0, MOST_PACING),
            _pacing,
        ),
        Quantity(
            "loss_of_best",
            "5 times the packets lost per second, of the greatest throughput of the episode",
            (0.0, 1e6),
            lambda i: ratio(ORCA_LOSS_WEIGHT * i.loss_pps, i.most_pps),
        ),
        Quantity("rtts_of_cwnd", "RTTs measured, of cwnd", (0.0, 1e6), lambda i: ratio(i.rtts, i.cwnd)),
        Quantity("interval_s", "length of the interval", (0.0, 1e6), lambda i: i.span_s),
        Quantity(
            "least_rtt_of_srtt",
            "least RTT, of the smoothed RTT",
            (0.0, 1.0),
            lambda i: ratio(i.base_rtt_s, i.srtt_s, 1.0),
            at_rest=1.0,
        ),
        Quantity(
            "delay_metric",
            "1 up to 1.25 times the least RTT, then 1.25 times the least RTT, of the smoothed RTT",
            (0.0, 1.0),
            _delay_metric,
            at_rest=1.0,
        ),
        Quantity("cwnd", "congestion window, segments", (0.0, 1e9), lambda i: i.cwnd),
        Quantity(
            "power", "throughput less 5 times the losses, of the best, by delay_metric", (-1e6, 1.0), _power
        ),
    )
}
"""The quantities by their names."""
