"""A run as an object: it goes on step by step, can be looked at and changed, and ends in a result."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from longfat import _core
from longfat.errors import InputError
from longfat.runs import memory
from longfat.runs.result import Result
from longfat.runs.simulate import Ready, Source, load, name_of
from longfat.scenario.model import RATES_BPS
from longfat.units import RATE, TIME, Dimension, to_float
from longfat.words import choice, shown

Part = TypeVar("Part")

MOST_CWND = 1e8
"""The greatest window that a flow can be given, segments; the algorithm may grow it to the core's limit."""
NS_PER_S = 1_000_000_000
LONGEST_S = 1e18
"""Beyond the end of every run: a longer time means the same, and its nanoseconds may not be finite."""


class Simulation:
    """A run of a scenario that goes on step by step.

    At each pause it can be looked at, and flows and links can be changed. A run that nobody changes gives the
    same bytes as `longfat.run`, whatever the steps. Ctrl-C ends it for good. For example::

        sim = longfat.Simulation("scenarios/two-hstcp.toml")
        while not sim.done:
            sim.step("100 ms")
            print(sim.now_s, sim.flows["1"].cwnd, sim.link("bottleneck").queue_packets)
        result = sim.result()

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        rates: whether the rates of links can be set. Without that a run is somewhat faster.

    Raises:
        InputError: the scenario is refused.
        AlgorithmError: a user's own algorithm failed.
    """

    # a misspelt name is refused
    __slots__ = (
        "_changed",
        "_core",
        "_done",
        "_end_ns",
        "_last",
        "_now_ns",
        "_ready",
        "_result",
        "_wall_s",
        "flows",
        "links",
        "scenario",
    )

    def __init__(
        self,
        source: Source,
        *,
        seed: int | None = None,
        window: tuple[str, str] | None = None,
        rates: bool = True,
    ) -> None:
        self.scenario = load(source, seed=seed, window=window)
        self._ready = Ready.of(self.scenario, name_of(source))
        self._wall_s = 0.0
        self._result: Result | None = None
        self._last: tuple[list[list[float]], list[list[float]]] | None = None
        self._changed: dict[str, int] = {}
        with self._ready.map_errors():
            ready = self._ready
            self._core = _core.Stepper(self.scenario.core, ready.algorithms, rates, ready.memory_bytes)
        self._now_ns, self._end_ns, self._done = 0, self._core.end_ns, False
        planned = self.scenario.plan
        self.flows: Mapping[str, Flow] = Named(
            "flow", {flow["name"]: Flow(self, i, flow) for i, flow in enumerate(planned["flows"])}
        )
        """The flows by their names in results. Those of background traffic have none."""
        self.links: Mapping[str, Link] = Named(
            "link", {link["name"]: Link(self, i, link["name"]) for i, link in enumerate(planned["links"])}
        )
        """The links by their names in results."""

    def __repr__(self) -> str:
        span = f"{TIME.write(self.now_s)} of {TIME.write(self._end_ns / NS_PER_S)}"
        return f"<Simulation of {self.scenario.title!r} at {span}>"

    @property
    def now_s(self) -> float:
        """The time at which the run pauses. Nothing has happened at this time yet, except at the end."""
        return self._now_ns / NS_PER_S

    @property
    def done(self) -> bool:
        """Whether the run has ended."""
        return self._done

    def step(self, span: str | float) -> None:
        """Goes on for a span of time, or to the end if that is nearer.

        Args:
            span: a time such as "10 ms", or seconds.

        Raises:
            InputError: the span is not a time above 0, or the simulation has ended.
            AlgorithmError: a user's own algorithm failed.
        """
        span_ns = _ns(span, "step")
        if span_ns <= 0:
            raise InputError(
                f'step: {shown(span)}: this is not a time above 0; accepted: a time such as "10 ms"'
            )
        self._advance(min(self._now_ns + span_ns, self._end_ns))

    def run_until(self, time: str | float) -> None:
        """Goes on to a time of the run.

        Args:
            time: a time such as "2.5 s", or seconds.

        Raises:
            InputError: the time has passed, is after the end, or the simulation has ended.
            AlgorithmError: a user's own algorithm failed.
        """
        to_ns = _ns(time, "run_until")
        if not self._done and not self._now_ns <= to_ns <= self._end_ns:
            span = f"from {TIME.write(self.now_s)} to {TIME.write(self._end_ns / NS_PER_S)}"
            raise InputError(
                f"run_until: {shown(time)}: it is not a time that is left; accepted: a time {span}"
            )
        self._advance(to_ns)

    def run(self) -> Result:
        """Goes on to the end, unless it has come, and returns the result."""
        if not self._done:
            self._advance(self._end_ns)
        return self.result()

    def _advance(self, to_ns: int) -> None:
        if self._done:
            raise InputError(
                f"the simulation has ended at {TIME.write(self.now_s)}; make a new one to begin again"
            )
        begin = time.perf_counter()
        with self._ready.map_errors():
            self._done = self._core.advance(to_ns)
        self._now_ns = min(to_ns, self._end_ns)
        self._wall_s += time.perf_counter() - begin

    def link(self, name: str) -> Link:
        """Returns the link of this name; InputError names the nearest if there is none."""
        return self.links[name]

    def snapshot(self) -> dict[str, Any]:
        """Returns the state at this moment: time_s, and the `state` of each flow and link."""
        return {
            "time_s": self.now_s,
            "flows": {name: flow.state() for name, flow in self.flows.items()},
            "links": {name: link.state() for name, link in self.links.items()},
        }

    def result(self) -> Result:
        """Returns what `longfat.run` would have returned; notes say which flows and links were changed.

        Raises:
            InputError: the simulation has not ended.
        """
        if not self._done:
            end = TIME.write(self._end_ns / NS_PER_S)
            raise InputError(
                f"there is no result at {TIME.write(self.now_s)}; accepted: after the end at {end}"
            )
        if self._result is None:
            self._last = (
                [self._core.flow(i) for i in range(len(self.flows))],
                [self._core.link(i) for i in range(len(self.links))],
            )
            output = self._core.finish()
            output["changes"] = [
                f"{what} was changed from outside, for the first time at {TIME.write(at_ns / NS_PER_S)}"
                for what, at_ns in self._changed.items()
            ]
            self._result = Result(self.scenario, output, self._wall_s)
        return self._result

    def _refuse_end(self, what: str) -> None:
        if self._done:
            raise InputError(
                f"{what} cannot be changed: the simulation has ended; make a new one to begin again"
            )

    def _note_change(self, what: str) -> None:
        self._changed.setdefault(what, self._now_ns)


class Named(dict[str, Part], Generic[Part]):
    """Parts of a simulation by their names; a name that there is not raises InputError with the nearest."""

    def __init__(self, what: str, parts: Mapping[str, Part]) -> None:
        super().__init__(parts)
        self._what = what

    def __missing__(self, name: object) -> Part:
        if str(name) in self:
            return self[str(name)]
        raise InputError(f"{self._what} {shown(name)}: {choice(str(name), list(self), what=self._what)}")


class Flow:
    """A flow of a simulation: its state now, which can be changed."""

    __slots__ = ("_index", "_packet_bits", "_simulation", "name")

    def __init__(self, simulation: Simulation, index: int, flow: Mapping[str, Any]) -> None:
        self.name: str = flow["name"]
        """Its name in results."""
        self._simulation = simulation
        self._index = index
        self._packet_bits = 8.0 * (flow["transport"]["mss"] + flow["header_bytes"])

    def __repr__(self) -> str:
        cwnd, srtt_s = self.cwnd, self.srtt_s
        window = "no cwnd" if cwnd is None else f"cwnd {cwnd:.6g}"
        return f"<Flow {self.name!r}: {window}, {'no RTT yet' if srtt_s is None else f'srtt {srtt_s:.6g} s'}>"

    def _state(self) -> list[float]:
        if self._simulation._last is not None:
            return self._simulation._last[0][self._index]
        with self._simulation._ready.map_errors():
            return self._simulation._core.flow(self._index)

    def state(self) -> dict[str, float | None]:
        """Returns the quantities of a sample of the flow: cwnd and ssthresh (segments), srtt_s, counters.

        What is not known, or not set yet, is None.
        """
        return dict(zip(_core.Stepper.FLOW, map(_known, self._state()), strict=True))

    @property
    def cwnd(self) -> float | None:
        """The congestion window, segments; None over UDP."""
        return _known(self._state()[CWND])

    @property
    def ssthresh(self) -> float | None:
        """The slow-start threshold, segments; None before the first loss, as it is not set, and over UDP."""
        return _known(self._state()[SSTHRESH])

    @property
    def srtt_s(self) -> float | None:
        """The smoothed round-trip time; None before the first measurement."""
        return _known(self._state()[SRTT])

    def set(
        self,
        *,
        cwnd: float | None = None,
        pacing_rate: str | float | None = None,
        hold: bool = False,
    ) -> None:
        """Changes the window, the pacing rate or both, and sends what may leave now.

        The algorithm goes on from there: it learns of acknowledgements and losses as before. It moves a
        window that is not held, and has no say over a pacing rate that was set.

        Args:
            cwnd: the window, segments, from 1 to 1e8, and no more than the run's memory has room for.
            pacing_rate: IP bits per second, such as "5 Mbit/s" or 5e6.
            hold: keeps the window until it is set again or released, also at losses and timeouts.

        Raises:
            InputError: a value is out of range, the flow is not over TCP, or the simulation has ended.
        """
        who = f"flow {self.name}"
        if cwnd is None and (pacing_rate is None or hold):
            raise InputError(
                f"{who}: there is nothing to set; accepted: cwnd, pacing_rate or both; hold goes with cwnd"
            )
        if cwnd is not None and not _is_number(cwnd, 1.0, MOST_CWND):
            raise InputError(
                f"{who}: cwnd = {shown(cwnd)}: this is no window; accepted: segments from 1 to {MOST_CWND:g}"
            )
        most = self._simulation._ready.memory_bytes / memory.PACKET_BYTES
        if cwnd is not None and cwnd > most:
            told = (
                f"it is more than the run's memory has room for; accepted: up to {math.floor(most)} segments"
            )
            raise InputError(f"{who}: cwnd = {shown(cwnd)}: {told}")
        rate = None if pacing_rate is None else _bps(pacing_rate, f"{who}: pacing_rate") / self._packet_bits
        self._simulation._refuse_end(who)
        try:
            with self._simulation._ready.map_errors():
                self._note(self._simulation._core.steer(self._index, cwnd, hold, rate))
        except TypeError:  # the numbers are known to be numbers
            raise InputError(
                f"{who}: hold = {shown(hold)}: this is not a switch; accepted: True or False"
            ) from None

    def release(self) -> None:
        """Leaves the window and the pacing rate to the algorithm again.

        Raises:
            InputError: the flow is not over TCP, or the simulation has ended.
        """
        self._simulation._refuse_end(f"flow {self.name}")
        with self._simulation._ready.map_errors():
            self._note(self._simulation._core.release(self._index))

    def _note(self, steered: bool) -> None:
        if not steered:
            raise InputError(f"flow {self.name} has no window: UDP carries it; accepted: a flow over TCP")
        self._simulation._note_change(f"flow {self.name}")


class Link:
    """A link of a simulation: its state now, and its rate, which can be set."""

    __slots__ = ("_index", "_simulation", "name")

    def __init__(self, simulation: Simulation, index: int, name: str) -> None:
        self.name = name
        """Its name in results."""
        self._simulation = simulation
        self._index = index

    def __repr__(self) -> str:
        return f"<Link {self.name!r}: {RATE.write(self.rate)}, {self.queue_packets:g} packets wait>"

    def _state(self) -> list[float]:
        if self._simulation._last is not None:
            return self._simulation._last[1][self._index]
        with self._simulation._ready.map_errors():
            return self._simulation._core.link(self._index)

    def state(self) -> dict[str, float | None]:
        """Returns the quantities of a sample of the link: queue_packets, counters, capacity_bps and more.

        What its queue does not measure is None.
        """
        return dict(zip(_core.Stepper.LINK, map(_known, self._state()), strict=True))

    @property
    def queue_packets(self) -> float:
        """Packets that wait."""
        return self._state()[QUEUE]

    @property
    def rate(self) -> float:
        """The rate at this moment, bit/s. Set it to a rate such as "50 Mbit/s" or 50e6.

        The packet whose transmission has begun leaves as if nothing had happened. Buffers and the parameters
        of queues stay as they are. Raises InputError if the rate varies by itself, or if a router knows it.
        """
        return self._state()[CAPACITY]

    @rate.setter
    def rate(self, rate: str | float) -> None:
        rate_bps = _bps(rate, f"link {self.name}: rate")
        what = f"link {self.name}"
        self._simulation._refuse_end(what)
        with self._simulation._ready.map_errors():
            refused = self._simulation._core.set_rate(self._index, rate_bps)
        if refused is not None:
            raise InputError(f"{what}: {refused}")
        self._simulation._note_change(what)


CWND, SSTHRESH, SRTT = map(_core.Stepper.FLOW.index, ("cwnd", "ssthresh", "srtt_s"))
QUEUE, CAPACITY = map(_core.Stepper.LINK.index, ("queue_packets", "capacity_bps"))


def _known(value: float) -> float | None:
    """A value of the core's, in which a number that is not finite stands for none."""
    return value if math.isfinite(value) else None


def _is_number(value: Any, least: float, greatest: float) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= greatest


def _bps(value: str | float, what: str) -> float:
    rate = value if _is_number(value, *RATES_BPS) else None
    try:
        if rate is None:
            rate = RATE.within(_si(RATE, value), RATES_BPS)
    except ValueError as error:
        raise InputError(f"{what} = {shown(value)}: {error}") from None
    return float(rate)


def _ns(value: str | float, what: str) -> int:
    try:
        return _cached_ns(value)
    except TypeError:  # a value without a hash, such as a list
        raise InputError(f"{what}: {shown(value)}: this is not a time; accepted: {TIME.accepted}") from None
    except ValueError as error:
        raise InputError(f"{what}: {shown(value)}: {error}") from None


@functools.lru_cache(maxsize=1024)
def _cached_ns(value: str | float) -> int:
    """Cached, since the steps of a run are mostly the same."""
    seconds = _si(TIME, value)
    if not math.isfinite(seconds):
        raise ValueError(f"this is not a time; accepted: {TIME.accepted}")
    return round(min(max(seconds, -LONGEST_S), LONGEST_S) * NS_PER_S)


def _si(dimension: Dimension, value: str | float) -> float:
    """A quantity with a unit, or a number that is in the SI unit."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return to_float(value)
    return dimension.parse(value)
