"""Standard TCP's additive increase and multiplicative decrease as a user's own algorithm (RFC 5681).

Run it beside the native one: longfat run examples/my-reno.toml
"""

from longfat.algorithm import Ack, Congestion, Window


class MyReno:
    """One segment more each round-trip time; half the window after a loss."""

    def __init__(self, increase: float = 1.0, decrease: float = 0.5) -> None:
        self.increase = increase
        self.decrease = decrease

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Slow-start below ssthresh; above it `increase` segments for each window of acknowledged ones."""
        if window.in_slow_start():
            window.slow_start(ack.acked)
        else:
            window.cwnd += self.increase * ack.acked / window.cwnd

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Loss, mark or timeout alike."""
        window.ssthresh = (1.0 - self.decrease) * window.cwnd
