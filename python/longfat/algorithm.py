"""The user's side of a congestion control written in Python.

An algorithm is any class whose instances have the two methods of `Algorithm`. One instance is made for each
flow. All windows are in segments, all times in seconds::

    class MyReno:
        def on_ack(self, ack, window):
            if window.in_slow_start():
                window.slow_start(ack.acked)
            else:
                window.cwnd += ack.acked / window.cwnd

        def on_congestion(self, event, window):
            window.ssthresh = window.cwnd / 2

Use it as `algorithm = "my_reno.py:MyReno"` in a scenario file (relative to that file), or hand over the class
itself from Python. `algorithm = { name = "my_reno.py:MyReno", gain = 2 }` calls `MyReno(gain=2)`. The shared
sender does everything else: it finds losses, retransmits and recovers, as it does for the native algorithms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, Protocol

from longfat.errors import InputError
from longfat.scenario.named import AlgorithmSpec


class Ack(Protocol):
    """What one acknowledgement told the sender."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def acked(self) -> float:
        """Segments that the window may count; in slow-start at most 2, without byte counting 1 (RFC 3465)."""

    @property
    def newly_delivered(self) -> int:
        """Segments that reached the receiver according to this one and none before (cumulative and SACK)."""

    @property
    def rtt_s(self) -> float | None:
        """The round-trip time that it measured, if it did."""

    @property
    def srtt_s(self) -> float:
        """The smoothed round-trip time (RFC 6298)."""

    @property
    def base_rtt_s(self) -> float:
        """The least round-trip time of this connection."""

    @property
    def in_flight(self) -> float:
        """Segments in flight after it (the pipe of RFC 6675)."""


class Congestion(Protocol):
    """A congestion event; there is one for each recovery episode."""

    @property
    def cause(self) -> Literal["loss", "mark", "timeout"]:
        """Segments were lost, a router marked one (RFC 3168), or the retransmission timer expired."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def in_flight(self) -> float:
        """Segments in flight when it was noticed."""


class Window(Protocol):
    """The window that an algorithm moves; cwnd has to stay from 1 to 1e9 segments."""

    cwnd: float
    ssthresh: float

    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh."""

    def slow_start(self, acked: float) -> None:
        """Grows cwnd as the flow's slow-start does (standard, or limited by RFC 3742), up to ssthresh."""


class Algorithm(Protocol):
    """What a user's own algorithm has to have."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """New data was acknowledged outside of recovery while the window was limiting: move `window.cwnd`."""

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """The window has to shrink: set `window.ssthresh`, to which recovery leads `window.cwnd`."""


def maker(flow: str, spec: AlgorithmSpec) -> Callable[[], Any]:
    """What makes this flow's algorithm. InputError if there is none, or it cannot be one."""
    try:
        factory = spec.loaded()
    except ValueError as error:
        raise InputError(f"flow {flow}: {error}") from None
    return functools.partial(factory, **spec.parameters) if spec.parameters else factory
