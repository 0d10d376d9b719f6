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

An algorithm may have more: `Options` lists the methods and attributes that the sender looks for when it makes
the object. With `on_delivery` (`ModelBased`) it learns delivery rates and controls the window in every phase.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, Protocol

from longfat.errors import InputError
from longfat.scenario import loading
from longfat.scenario.model import Algorithm as Spec


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
    def srtt_s(self) -> float | None:
        """The smoothed round-trip time (RFC 6298), or None before the first measurement."""

    @property
    def base_rtt_s(self) -> float | None:
        """The least round-trip time of this connection so far, or None before the first measurement."""

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

    @property
    def srtt_s(self) -> float | None:
        """The smoothed round-trip time (RFC 6298), or None before the first measurement."""

    @property
    def base_rtt_s(self) -> float | None:
        """The least round-trip time of this connection so far, or None before the first measurement."""


class Opening(Protocol):
    """What a model-based algorithm learns when the connection opens."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def rtt_s(self) -> float | None:
        """The round-trip time of the request, or None if it is unknown."""

    @property
    def selective(self) -> bool:
        """Whether the receiver acknowledges selectively; then several losses in a round trip are found."""


class Delivery(Protocol):
    """What one acknowledgement tells a model-based algorithm (draft-ietf-ccwg-bbr, "Delivery Rate Samples").

    The sample is that of the newest segment which the acknowledgement delivered: `rate`, `delivered`,
    `prior_delivered`, `app_limited`, `tx_in_flight`, `lost` and `rtt_s`.
    """

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def rate(self) -> float | None:
        """The delivery rate, segments per second.

        None if nothing was delivered, or in less time than the least round-trip time.
        """

    @property
    def delivered(self) -> int:
        """Segments delivered since that segment left; 0 if there is none."""

    @property
    def prior_delivered(self) -> int | None:
        """Segments that had been delivered when it left.

        A round trip is over once this reaches what `total_delivered` was when the round trip began.
        """

    @property
    def app_limited(self) -> bool:
        """Whether the window was not full when it left, so that the rate says little of the path."""

    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when it had left."""

    @property
    def lost(self) -> int:
        """Segments found lost since it left."""

    @property
    def rtt_s(self) -> float | None:
        """Its round-trip time, or None if it was sent twice."""

    @property
    def newly_delivered(self) -> int:
        """Segments that this acknowledgement is the first to report as received (cumulative and SACK)."""

    @property
    def newly_lost(self) -> int:
        """Segments that it showed to be lost."""

    @property
    def total_delivered(self) -> int:
        """All segments delivered so far."""

    @property
    def total_lost(self) -> int:
        """All segments found lost so far, each time that they were."""

    @property
    def prior_in_flight(self) -> int:
        """Segments in flight before it arrived."""

    @property
    def in_flight(self) -> int:
        """Segments in flight after it (the pipe of RFC 6675)."""

    @property
    def srtt_s(self) -> float | None:
        """The smoothed round-trip time (RFC 6298), or None before the first measurement."""

    @property
    def next_departure_s(self) -> float:
        """When pacing lets the next segment leave; it may have passed."""

    @property
    def window_limited(self) -> bool:
        """Whether the window, rather than pacing or the application, stopped the last transmission."""

    @property
    def may_grow(self) -> bool:
        """Whether the window stopped the last transmission, or would have without pacing."""

    @property
    def repair(self) -> Literal["recovery", "timeout"] | None:
        """What is being repaired after it (losses in fast recovery, those of a timeout), or nothing."""


class LostSegment(Protocol):
    """A segment that was found lost."""

    @property
    def now_s(self) -> float:
        """Simulated time."""

    @property
    def segment(self) -> int:
        """Its number, from 0 on."""

    @property
    def tx_in_flight(self) -> int:
        """Segments in flight when it had left."""

    @property
    def lost(self) -> int:
        """Segments found lost since it left, itself included."""

    @property
    def app_limited(self) -> bool:
        """Whether the window was not full when it left."""

    @property
    def total_delivered(self) -> int:
        """All segments delivered so far."""


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
        """Sets `window.cwnd` after new data was acknowledged outside of recovery.

        While something else limits the sender, such as pacing or the receiver, growth is taken back.
        """

    def on_congestion(self, event: Congestion, window: Window) -> None:
        """Sets `window.ssthresh`, to which recovery then shrinks `window.cwnd`."""


class ModelBased(Protocol):
    """The method that makes an algorithm model-based; it needs neither `on_ack` nor `on_congestion`.

    The sender's own growth and reductions are left out, and `on_ack` is not called. Only a timeout sets the
    window, to what is in flight and one segment more.
    """

    def on_delivery(self, sample: Delivery, window: Window) -> None:
        """Sets `window.cwnd` after each acknowledgement in every phase, once losses have been found."""


class Options(Protocol):
    """What an algorithm may have besides. No class needs all of it, so do not inherit from this one.

    The sender looks for each when it makes the object, so an attribute that changes later has to be set in
    `__init__`. It reads `pacing_rate`, `send_quantum` and `holds_back` then and after each call of a method.
    Each may be an attribute, a property, or a method without arguments.
    """

    pacing_rate: float | None
    """The rate at which segments leave, in segments per second; None sends as acknowledgements arrive."""

    send_quantum: float
    """The most segments that leave together where there is a pacing rate; 1 by default."""

    sending_times: Literal["round-trips", "round-trips-and-losses"] | None
    """Keeps the time at which each segment left; read once.

    `ack.rtt_s` is then the time of the last segment acknowledged, without the wait of delayed ACKs, or None
    if that segment was sent twice. With "round-trips-and-losses" the sender also repeats the first
    unacknowledged segment once it is older than a fine-grained timeout, as TCP Vegas does.
    """

    timer_period_s: float
    """The period of `on_timer` in seconds, at least 1e-6; read once."""

    def on_timer(self, now_s: float, window: Window) -> None:
        """Sets `window.cwnd` when the periodic timer has expired; not called in recovery."""

    def on_sample(self, ack: Ack) -> None:
        """Measures; called for every acknowledgement, also in recovery, before `on_ack` or `on_delivery`."""

    def on_recovered(self, now_s: float, window: Window) -> None:
        """Sets `window.cwnd` after the repair of losses; it is the window to continue with."""

    def on_undo(self, window: Window) -> None:
        """Restores its own state: the last timeout was spurious.

        The sender has restored the window, unless the algorithm is model-based.
        """

    holds_back: bool
    """Whether a model-based algorithm keeps the path from being filled; samples are then `app_limited`."""

    def on_open(self, opening: Opening, window: Window) -> None:
        """Model-based: the connection is open."""

    def on_lost(self, lost: LostSegment, window: Window) -> None:
        """Model-based: a segment was found lost; on an acknowledgement, before its `on_delivery`."""

    def on_timeout(self, now_s: float, window: Window) -> None:
        """Model-based: the retransmission timer has expired, and the sender has set `window.cwnd`."""

    def on_restart(self, now_s: float, window: Window) -> None:
        """Model-based: a segment is about to leave an idle sender that the application has been limiting."""


def maker(flow: str, spec: Spec) -> Callable[[], Any]:
    """Returns the factory of this flow's algorithm; InputError if there is none or it is no algorithm."""
    try:
        factory = spec.loaded()
    except ValueError as error:
        raise InputError(f"flow {flow}: {error}") from None
    make = functools.partial(factory, **spec.parameters) if spec.parameters else factory
    return make if isinstance(factory, type) else Maker(f"flow {flow}: {spec.name}", make)


class Maker:
    """Calls a user's function that makes algorithms, and refuses what is none: only a call can show it.

    Attributes:
        refused: the error of the last call, if it returned no algorithm.
    """

    def __init__(self, name: str, make: Callable[[], Any]) -> None:
        self._name, self._make = name, make
        self.refused: InputError | None = None

    def __call__(self) -> Any:
        """Makes an algorithm. Raises InputError if it is none, or what the function raises."""
        self.refused = None
        made = self._make()
        try:
            loading.check_made(made, self._name)
        except ValueError as error:
            self.refused = InputError(str(error))
            raise self.refused from None
        return made
