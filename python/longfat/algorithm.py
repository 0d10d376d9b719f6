"""The user's side of a congestion control written in Python.

An algorithm is any class whose instances have the two methods of `Algorithm`. Each flow gets an instance of
its own. All windows are in segments, all times in seconds::

    class MyReno:
        def on_ack(self, ack, window):
            if window.in_slow_start():
                window.slow_start(ack.acked)
            else:
                window.cwnd += ack.acked / window.cwnd

        def on_congestion(self, event, window):
            window.ssthresh = window.cwnd / 2

Use it as `algorithm = "my_reno.py:MyReno"` in a scenario file (relative to that file), or pass the class
itself from Python. `algorithm = { name = "my_reno.py:MyReno", gain = 2 }` calls `MyReno(gain=2)`. The shared
sender does everything else: it detects losses, retransmits and recovers, as for the native algorithms.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, Protocol

from longfat.errors import InputError
from longfat.scenario.named import AlgorithmSpec


class Ack(Protocol):
    """What the sender learned from one acknowledgement."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def acked(self) -> float:
        """Segments that growth may count, at most 2 in slow-start and 1 without byte counting (RFC 3465)."""

    @property
    def newly_delivered(self) -> int:
        """Segments that this acknowledgement is the first to report as received (cumulative and SACK)."""

    @property
    def rtt_s(self) -> float | None:
        """The round-trip time that it measured, or None."""

    @property
    def srtt_s(self) -> float:
        """The smoothed round-trip time (RFC 6298)."""

    @property
    def base_rtt_s(self) -> float:
        """The least round-trip time of this connection so far."""

    @property
    def in_flight(self) -> float:
        """Segments in flight after it (the pipe of RFC 6675)."""


class Congestion(Protocol):
    """A congestion event; each recovery episode has one."""

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
    """The window that an algorithm sets; cwnd must stay between 1 and 1e9 segments."""

    cwnd: float
    ssthresh: float

    def in_slow_start(self) -> bool:
        """Whether cwnd is below ssthresh."""

    def slow_start(self, acked: float) -> None:
        """Grows cwnd as the flow's slow-start does (standard, or limited by RFC 3742), up to ssthresh."""

    def record(self, name: str, value: float) -> None:
        """Sets a quantity of the algorithm; `Result.internals` has a series of it.

        A name has up to 64 bytes and ends in its unit; an algorithm has up to 64 of them.
        """


class Algorithm(Protocol):
    """The methods of a user's own algorithm."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Sets `window.cwnd` after new data was acknowledged outside of recovery while cwnd was the limit."""

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Sets `window.ssthresh`, to which recovery then shrinks `window.cwnd`."""


def maker(flow: str, spec: AlgorithmSpec) -> Callable[[], Any]:
    """Returns the factory of this flow's algorithm; InputError if there is none or it is no algorithm."""
    try:
        factory = spec.loaded()
    except ValueError as error:
        raise InputError(f"flow {flow}: {error}") from None
    return functools.partial(factory, **spec.parameters) if spec.parameters else factory
