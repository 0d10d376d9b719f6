"""Standard TCP's additive increase and multiplicative decrease (RFC 5681) as a user-defined algorithm.

Run it beside the native one: longfat run examples/my-reno.toml
"""

from longfat.algorithm import Ack, Congestion, Window


class MyReno:
    """Adds one segment per round-trip time and halves the window after a loss."""

    def __init__(self, increase: float = 1.0, decrease: float = 0.5) -> None:
        self.increase = increase
        self.decrease = decrease

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Slow-starts below ssthresh; above it adds `increase` segments per acknowledged window."""
        if window.in_slow_start():
            window.slow_start(ack.acked)
        else:
            window.cwnd += self.increase * ack.acked / window.cwnd

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Treats losses, marks and timeouts alike."""
        window.ssthresh = (1.0 - self.decrease) * window.cwnd
