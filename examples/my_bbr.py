"""A toy of a model-based algorithm: it sends at the bandwidth that it has measured, with two BDP in flight.

It has the idea of BBR (Cardwell et al. 2016) without most of its rules; `algorithm = "bbr"` has them all. Run
it beside standard TCP where packets are lost at random: longfat run examples/my-bbr.toml
"""

from collections import deque

from longfat.algorithm import Delivery, Opening, Window

STARTUP_GAIN = 2.89  # 2 / ln 2: the rate doubles in each round trip
GAINS = (1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)  # one in each round trip


class MyBbr:
    """Paces at the greatest delivery rate of the last ten round trips; probes for more in one of eight."""

    def __init__(self, cwnd_gain: float = 2.0) -> None:
        self.cwnd_gain = cwnd_gain
        self.pacing_rate: float | None = None
        self.rates = deque([0.0], maxlen=10)  # the greatest of each round trip, segments per second
        self.min_rtt_s = float("inf")
        self.round_end = 0
        self.rounds = 0
        self.full_bw = 0.0
        self.rounds_without_growth = 0
        self.is_drained = False

    def on_open(self, opening: Opening, window: Window) -> None:
        """Spreads the first window over a round trip, if its time is known."""
        if opening.rtt_s:
            self.min_rtt_s = opening.rtt_s
            self.pacing_rate = STARTUP_GAIN * window.cwnd / opening.rtt_s

    def on_delivery(self, sample: Delivery, window: Window) -> None:
        """Measures, and sets the pacing rate and the window from what is known of the path."""
        if sample.rtt_s is not None:
            self.min_rtt_s = min(self.min_rtt_s, sample.rtt_s)
        if sample.rate is not None and (not sample.app_limited or sample.rate > max(self.rates)):
            self.rates[-1] = max(self.rates[-1], sample.rate)
        if sample.prior_delivered is not None and sample.prior_delivered >= self.round_end:
            self.round_end = sample.total_delivered
            self.end_round(sample)
        bandwidth = max(self.rates)
        if bandwidth > 0.0:
            self.pacing_rate = self.gain(sample.in_flight) * bandwidth
            gain = self.cwnd_gain if self.is_full else STARTUP_GAIN
            window.cwnd = max(4.0, gain * bandwidth * self.min_rtt_s)
        window.record("bandwidth_packets_per_s", bandwidth)

    @property
    def is_full(self) -> bool:
        """Whether the bandwidth has stopped growing, by a quarter in three round trips."""
        return self.rounds_without_growth >= 3

    def end_round(self, sample: Delivery) -> None:
        """Begins a round trip with a greatest rate of its own."""
        self.rounds += 1
        if max(self.rates) >= 1.25 * self.full_bw:
            self.full_bw = max(self.rates)
            self.rounds_without_growth = 0
        elif not sample.app_limited:
            self.rounds_without_growth += 1
        self.rates.append(0.0)

    def gain(self, in_flight: int) -> float:
        """Returns the gain of the pacing rate: high until the path is full, low until the queue has gone."""
        if not self.is_full:
            return STARTUP_GAIN
        self.is_drained |= in_flight <= max(self.rates) * self.min_rtt_s
        return GAINS[self.rounds % len(GAINS)] if self.is_drained else 1.0 / STARTUP_GAIN
