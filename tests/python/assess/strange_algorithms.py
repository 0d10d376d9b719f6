"""Algorithms that a dossier has to tell apart, or to survive."""


class Deaf:
    """Grows as RFC 5681 does and never reduces."""

    def on_ack(self, ack, window):
        if window.in_slow_start():
            window.slow_start(ack.acked)
        else:
            window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, event, window):
        window.ssthresh = window.cwnd


class Timid:
    """Grows by a tenth of a segment in a round trip, and falls to two segments."""

    def on_ack(self, ack, window):
        window.cwnd += 0.1 * ack.acked / window.cwnd

    def on_congestion(self, event, window):
        window.ssthresh = 2.0


class Breaks(Deaf):
    """Raises an exception at the first timeout."""

    def on_congestion(self, event, window):
        if event.cause == "timeout":
            raise ValueError("no idea what to do")
        window.ssthresh = window.cwnd / 2


class AlwaysBreaks(Deaf):
    """Raises an exception at the first acknowledgement; each says another window."""

    def on_ack(self, ack, window):
        raise ValueError(f"a window of {window.cwnd + ack.now_s}")


class Silent:
    """Paces at a segment in a year: a connection opens, and nothing follows."""

    pacing_rate = 3e-8

    def on_open(self, opening, window):
        pass

    def on_delivery(self, sample, window):
        pass


class Never:
    """Cannot be made."""

    def __init__(self):
        raise ValueError("not today")
