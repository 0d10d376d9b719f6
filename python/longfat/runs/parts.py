"""The parts of a result: its metrics, a flow, a link. Each has the values of the summary as typed attributes.

A flow and a link are also dictionaries of their series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, Never, Self, TypeAlias, TypeVar, cast, overload

from longfat.errors import InputError
from longfat.lazy import Module
from longfat.words import choice, shown, suggestion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = Module("numpy")

Array: TypeAlias = "NDArray[np.float64]"
Kind = TypeVar("Kind")


class Value(Generic[Kind]):
    """An attribute that is a value of the summary; None where the summary has no such key."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, part: None, owner: type) -> Self: ...
    @overload
    def __get__(self, part: _Part, owner: type) -> Kind: ...
    def __get__(self, part: _Part | None, owner: type) -> Self | Kind:
        if part is None:
            return self
        return cast(Kind, part._values().get(self.name))

    def __set__(self, part: _Part, value: Never) -> None:
        raise AttributeError(f"{self.name} is a result and cannot be set")


class _Part:
    """What has values of a summary as attributes."""

    def _values(self) -> Mapping[str, Any]:
        raise NotImplementedError

    @classmethod
    def names(cls) -> list[str]:
        """The names of the attributes that are values of the summary."""
        return [name for name, value in vars(cls).items() if isinstance(value, Value)]

    if not TYPE_CHECKING:  # mypy finds a misspelt name by itself

        def __getattr__(self, name: str) -> Any:
            raise AttributeError(f"{type(self).__name__} has no {name!r}{self._hint(name)}")

    def _hint(self, name: str) -> str:
        return suggestion(name, self.names())


class Metrics(_Part):
    """The metrics of a run's flows together, over the window; None where a metric is undefined."""

    jain = Value[float | None]("Jain's fairness index of the flows' throughputs, from 1/n to 1.")
    throughput_ratio = Value[float | None]("Least throughput divided by greatest throughput.")
    convergence_time_s = Value[float | None](
        "The time after the start of the flow that starts last until its short-term throughput first comes to"
        " 0.8 of its own long-term mean, s; None if it never does."
    )
    convergence_80_s = Value[float | None](
        "The time after the start of the flow that starts last until it runs at 80 % of the first flow's"
        " rate, s; None if it never does, or if all start together."
    )
    cov = Value[float | None](
        "The coefficient of variation of each flow's goodput in intervals of 1 s, as a mean over the flows."
    )
    inefficiency = Value[float | None](
        "1 - utilization of the bottleneck; of the busiest link where no link is the bottleneck."
    )

    def __init__(self, values: Mapping[str, float | None]) -> None:
        self._metrics = values

    def _values(self) -> Mapping[str, float | None]:
        return self._metrics

    def __repr__(self) -> str:
        return f"Metrics({', '.join(f'{name}={value!r}' for name, value in self._metrics.items())})"


class _Series(_Part, dict[str, Array]):
    """A flow or a link of a result: a dictionary of its series, and its entry of the summary.

    The entry is looked up when an attribute is read: a result may need series to make its summary.
    """

    def __init__(self, result: Any, table: str, name: str, columns: Mapping[str, bytes]) -> None:
        super().__init__({key: np.frombuffer(data, dtype="<f8") for key, data in columns.items()})
        self._result, self._table, self._name = result, table, name

    def _values(self) -> Mapping[str, Any]:
        entries: list[dict[str, Any]] = self._result.summary[self._table]
        return next(entry for entry in entries if entry["name"] == self._name)

    def __missing__(self, key: object) -> Array:
        what = f"{self._table[:-1]} {self._name}"
        if key in self.names():
            raise InputError(f"{what} has no series {shown(key)}: that is one value; accepted: .{key}")
        raise InputError(f"{what}: series {shown(key)}: {choice(key, list(self), what='series')}")

    def _hint(self, name: str) -> str:
        if name.startswith("_"):
            return ""
        return f'; its series is ["{name}"]' if name in self else super()._hint(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._result, self._table, self._name)


def _again(result: Any, table: str, name: str) -> _Series:
    """The flow or link of this name of a result that has travelled."""
    found: _Series = getattr(result, table[:-1])(name)
    return found


class FlowResult(_Series):
    """A flow of a result: `flow.throughput_bps` is a value over the window, `flow["cwnd"]` a series.

    The series are numpy arrays: time_s, cwnd and ssthresh in segments, srtt_s, and counters since the start
    of the run. A value is None where it is undefined or unknown; a series has NaN there.
    """

    name = Value[str]("Its name in results.")
    algorithm = Value[str]("The name of its algorithm.")
    rtt_s = Value[float]("Its two-way propagation delay, s.")
    start_s = Value[float]("When it starts, s.")
    throughput_bps = Value[float | None](
        "Rate of IP bytes that reached the receiver, duplicates included, bit/s; None if no part of its"
        " lifetime is in the window."
    )
    goodput_bps = Value[float | None](
        "Rate of payload delivered to the application in order, bit/s; None likewise."
    )
    packets_sent = Value[int]("Data packets sent, retransmissions included.")
    packets_lost = Value[int]("Data packets that the network dropped.")
    retransmits = Value[int]("Data packets sent again.")
    spurious_retransmits = Value[int]("Segments that reached the receiver twice.")
    timeouts = Value[int]("Retransmission timeouts.")
    congestion_events = Value[int]("Congestion events that the algorithm received.")
    loss_ratio = Value[float | None]("packets_lost / packets_sent; None if none was sent.")
    cwnd_mean = Value[float | None]("Mean of cwnd over time, segments; None without a window.")
    srtt_mean_s = Value[float | None]("Mean of the smoothed RTT over the samples, s; None if there is none.")
    connected = Value[bool | None](
        "Whether its connection request was answered before the window's end; None if it sends none."
    )
    delivered_s = Value[float | None](
        "When the receiving application had all its data, s; None if it never had, or that is unknown."
    )
    completed_s = Value[float | None]("When all its data were acknowledged, s; None if they never were.")
    delivery_time_s = Value[float | None]("From its start until delivered_s, s.")
    completion_time_s = Value[float | None]("From its start until completed_s, s.")

    def __repr__(self) -> str:
        return f"<FlowResult {self.name!r}: {self.algorithm}, {_mbps(self.throughput_bps)}>"


class LinkResult(_Series):
    """A link of a result: `link.utilization` is a value over the window, `link["queue_packets"]` a series.

    The series are numpy arrays: time_s, queue_packets and queue_bytes at that time, counters since the start
    of the run, and capacity_bps. A value is None where it is undefined or unknown; a series has NaN there.
    """

    name = Value[str]("Its name in results.")
    queue = Value[str]("The name of its queue.")
    router = Value[str | None]("The name of its router; None if it has none.")
    rate_bps = Value[float]("Its rate, bit/s; the mean if it varies.")
    utilization = Value[float | None]("Share of its rate that was used; None if that was 0 all the time.")
    packets_in = Value[int]("Packets that came to it.")
    packets_dropped = Value[int]("Packets that its queue dropped, for any of the next five reasons.")
    dropped_full = Value[int]("Dropped because the queue was full.")
    dropped_early = Value[int]("Dropped with a probability.")
    dropped_forced = Value[int]("Dropped because the average queue was too long (RED, CHOKe).")
    dropped_match = Value[int](
        "Dropped because of a queued packet of the same flow, and that packet (CHOKe)."
    )
    dropped_delay = Value[int]("Dropped because packets had waited too long for too long (CoDel).")
    packets_marked = Value[int]("Packets that its queue marked, for one of the next two reasons.")
    marked_early = Value[int]("Marked with a probability.")
    marked_delay = Value[int]("Marked because packets had waited too long for too long (CoDel).")
    packets_lost = Value[int]("Packets that the loss process dropped.")
    loss_ratio = Value[float | None]("(dropped + lost) / (in + lost); None if no packet came.")
    queue_mean_packets = Value[float | None]("Mean length of the queue over time, packets.")
    queue_std_packets = Value[float | None]("Standard deviation of the queue's length over time, packets.")
    queue_max_packets = Value[int]("The greatest length of the queue, packets.")
    queue_limit_packets = Value[int]("The most packets that it holds; a limit in bytes as packets of 1500.")
    sojourn_p50_s = Value[float | None]("Median of the time that packets waited, s; None if it sent none.")
    sojourn_p95_s = Value[float | None]("95th percentile of that time, s.")
    sojourn_p99_s = Value[float | None]("99th percentile of that time, s.")
    low_latency_mean_s = Value[float | None](
        "Mean time that packets waited in the low-latency queue of dualpi2, s; None if none did."
    )
    low_latency_p99_s = Value[float | None]("99th percentile of that time, s.")

    def __repr__(self) -> str:
        return f"<LinkResult {self.name!r}: {_mbps(self.rate_bps)}, queue {self.queue}>"


def named(result: Any, table: str, name: object, series: Mapping[str, Mapping[str, bytes]]) -> Any:
    """The flow or the link of this name of a result; InputError lists the names if there is none."""
    one, text = table[:-1], str(name)
    if text not in series:
        known = choice(text, list(series), what=one) if series else f"this run has no {one}"
        raise InputError(f"{one} {shown(text)}: {known}")
    return (FlowResult if one == "flow" else LinkResult)(result, table, text, series[text])


def _mbps(rate_bps: float | None) -> str:
    return "no rate" if rate_bps is None else f"{rate_bps / 1e6:.4g} Mbit/s"
