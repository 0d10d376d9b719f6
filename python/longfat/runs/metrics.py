"""Metrics: pure functions on numbers and numpy arrays, each with its source.

Times are in seconds and rates in bit/s; counters are cumulative bytes sampled at ``time_s``. A metric without
a value for its input (no delivery, a window without samples) is NaN; a time that was never reached is None.
Nothing here knows scenarios, files or plots. The core computes what every run needs, so that a short run does
not import numpy.

Sources: LLS is Li, Leith, Shorten, "Experimental Evaluation of TCP Protocols for High-Speed Networks",
IEEE/ACM ToN 2007; HA is Ha et al., PFLDnet 2006; LOP is Lopez Pacheco's thesis, 2008; RFC 5166 names the
metrics in general.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from longfat import _core
from longfat.intervals import deviation
from longfat.lazy import Module

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = Module("numpy")

Array: TypeAlias = "NDArray[np.float64]"

LLS_SAMPLING_S = 0.1
"""The sampling interval delta of LLS eq. (2)."""

LLS_AVERAGING_RTTS = 100.0
"""LLS III-A chooses lambda so that the average covers about this many round-trip times."""

LLS_EPSILON = 0.8
"""LLS III-A: the factor of the 80 % convergence time."""

HA_SHARE = 0.8
"""HA: the second flow has converged once it reaches this share of the first one's rate."""


def throughput_bps(time_s: ArrayLike, delivered_bytes: ArrayLike, window_s: tuple[float, float]) -> float:
    """Average rate over a window (LLS eq. 1 over a finite time): 8 x bytes delivered in it over its length.

    The counter is interpolated at the window's ends. For payload bytes that reached the application the same
    quotient is the goodput (RFC 5166, 2.1.1).
    """
    begin, end = window_s
    time = _array(time_s)
    counter = _array(delivered_bytes)
    if time.size < 2 or not end > begin:
        return math.nan
    low, high = np.interp([begin, end], time, counter)
    return float(8.0 * (high - low) / (end - begin))


def short_term_throughput_bps(
    time_s: ArrayLike, delivered_bytes: ArrayLike, rtt_s: float, sampling_s: float = LLS_SAMPLING_S
) -> tuple[Array, Array]:
    """Short-term average throughput, LLS eq. (2), on a grid of ``sampling_s``: (times, bit/s).

    The average fades with lambda = delta / (100 RTT) and starts at zero, as a flow does. Without a
    round-trip time nothing is averaged.
    """
    samples = _samples(time_s, delivered_bytes)
    columns = _core.short_term_throughput_bps(samples, LLS_AVERAGING_RTTS * rtt_s, sampling_s)
    grid, average = (np.frombuffer(column, dtype="<f8") for column in columns)
    return grid, average


def convergence_time_s(
    time_s: ArrayLike,
    delivered_bytes: ArrayLike,
    start_s: float,
    rtt_s: float,
    epsilon: float = LLS_EPSILON,
) -> float | None:
    """LLS III-A: the epsilon-convergence time of a flow that started at ``start_s``.

    The time after its start until its short-term average throughput first comes within a factor epsilon of
    its own long-term average (over the rest of the samples). A new flow starts at zero, so this is the first
    time at or above epsilon times the average; the metric does not show whether it diverges again later, as
    LLS V-F says too.
    """
    samples = _samples(time_s, delivered_bytes)
    return _core.convergence_time_s(samples, start_s, LLS_AVERAGING_RTTS * rtt_s, LLS_SAMPLING_S, epsilon)


def convergence_80_s(
    time_s: ArrayLike,
    delivered_first: ArrayLike,
    delivered_second: ArrayLike,
    start_second_s: float,
    rtt_s: float,
    share: float = HA_SHARE,
) -> float | None:
    """HA: the time after its start until the second flow runs at 80 % of the first one's rate.

    Both rates are LLS's short-term averages (eq. 2). This is also the "80 % fairness ratio" in the caption of
    LLS Fig. 14, whose missing points are runs that never reach it.
    """
    first, second = (_samples(time_s, delivered) for delivered in (delivered_first, delivered_second))
    averaging_s = LLS_AVERAGING_RTTS * rtt_s
    return _core.time_to_share_s(second, first, start_second_s, averaging_s, LLS_SAMPLING_S, share)


def rate_variation(
    time_s: ArrayLike, delivered_bytes: ArrayLike, window_s: tuple[float, float], span_s: float
) -> float:
    """`cov` of a flow's mean rates over whole spans of a window."""
    return _core.rate_variation(_samples(time_s, delivered_bytes), window_s, span_s)


def jain(rates: ArrayLike) -> float:
    """Jain's fairness index (Jain, Chiu, Hawe 1984; RFC 5166, 2.3.1): (sum x)^2 / (n sum x^2), in 1/n..1."""
    x = _floats(rates)
    squares = len(x) * _core.sum([rate * rate for rate in x])
    return _core.sum(x) ** 2 / squares if squares > 0.0 else math.nan


def throughput_ratio(rates: ArrayLike) -> float:
    """Least over greatest throughput (LLS Figs. 3, 10, 11, 15): 1 is equal sharing, 0 starvation."""
    x = _floats(rates)
    if any(map(math.isnan, x)):
        return math.nan
    return min(x) / max(x) if x and max(x) > 0.0 else math.nan


def mean(values: ArrayLike) -> float:
    """The mean; NaN of nothing."""
    x = _floats(values)
    return _core.sum(x) / len(x) if x else math.nan


def utilization(capacity_bps: float, delivered_bps: float) -> float:
    """Share of a link's capacity that was used (LLS III-E)."""
    return delivered_bps / capacity_bps if capacity_bps > 0.0 else math.nan


def inefficiency(capacity_bps: float, delivered_bps: float) -> float:
    """LOP eq. (3.5): 1 - delivered / available, both over the same time (see `inefficiency_between`)."""
    return 1.0 - utilization(capacity_bps, delivered_bps)


def inefficiency_between(
    time_s: ArrayLike, capacity_bps: ArrayLike, delivered_bytes: ArrayLike, window_s: tuple[float, float]
) -> float:
    """LOP eqs. (3.5) to (3.7): `inefficiency` of a window, from samples of capacity and of a counter.

    B_ab, what was available, is the integral of the capacity, straight between samples; T_ab is what the
    counter gained. The samples must reach over the window.
    """
    time, capacity = _array(time_s), _array(capacity_bps)
    begin, end = window_s
    if time.size < 2 or not (time[0] <= begin < end <= time[-1]):
        return math.nan
    inner = (time > begin) & (time < end)
    grid = np.concatenate(([begin], time[inner], [end]))
    mean_bps = float(np.trapezoid(np.interp(grid, time, capacity), grid)) / (end - begin)
    return inefficiency(mean_bps, throughput_bps(time, delivered_bytes, window_s))


def completion_times(
    duration_s: ArrayLike, size_bytes: ArrayLike, delivery_s: ArrayLike | None = None
) -> list[dict[str, float]]:
    """Flow completion times by decades of size (RFC 5166, 2.1.2: transfer times for short flows).

    Returns a row for each decade [10^k, 10^(k+1)) bytes that has transfers: its ends, their number, and the
    mean, median, 95 % and 99 % points of their times in seconds. Transfers that never ended are left
    out, so on an overloaded path the times of large ones are too small. With the times after which receivers
    had everything, their mean and points follow, ``delivery_mean_s`` and so on; NaN where one is unknown.
    """
    duration, size = _array(duration_s), _array(size_bytes)
    delivery = None if delivery_s is None else _array(delivery_s)
    if not size.size:
        return []
    # Comparing with the ends, not with logarithms, puts 1000 bytes into their own decade.
    ends = 10.0 ** np.arange(0, math.ceil(math.log10(size.max())) + 2)
    rows = []
    for low, high in itertools.pairwise(ends.tolist()):
        within = (size >= low) & (size < high)
        if not within.any():
            continue
        row = {"from_bytes": low, "below_bytes": high, "transfers": int(within.sum())}
        row |= _points(duration[within])
        if delivery is not None:
            row |= {f"delivery_{key}": value for key, value in _points(delivery[within]).items()}
        rows.append(row)
    return rows


def _points(times: Array) -> dict[str, float]:
    """The mean, median, 95 % and 99 % points of times."""
    p50, p95, p99 = np.percentile(times, [50, 95, 99]).tolist()
    return {"mean_s": float(times.mean()), "p50_s": p50, "p95_s": p95, "p99_s": p99}


def loss_ratio(lost: float, sent: float) -> float:
    """Packets lost over packets sent (RFC 5166, 2.1.3); NaN when nothing was sent.

    Both count events of the same span of time. In a span no longer than a packet's way, losses of packets
    sent before it can exceed the packets sent in it. The ratio is then above 1 and is not clamped: that would
    hide that the span is too short.
    """
    return lost / sent if sent > 0.0 else math.nan


def cov(values: ArrayLike) -> float:
    """Coefficient of variation: standard deviation over mean, HA's measure of (in)stability."""
    return _core.variation(_array(values).tobytes())


def mean_std(values: ArrayLike) -> tuple[float, float]:
    """Mean and population standard deviation of evenly spaced samples, such as a queue's length."""
    x = _array(values)
    return (float(x.mean()), float(x.std())) if x.size else (math.nan, math.nan)


def mean_stderr(values: ArrayLike) -> tuple[float, float]:
    """Mean over repeats and its standard error s / sqrt(n), as LLS IV-F; NaN error for one repeat.

    The error of repeats that are equal up to rounding is 0.
    """
    x = _array(values)
    if not x.size:
        return math.nan, math.nan
    error = float(deviation(x)) / math.sqrt(x.size) if x.size > 1 else math.nan
    return float(x.mean()), error


def mean_stderr_reached(values: ArrayLike) -> tuple[float, float]:
    """`mean_stderr` over the repeats that reached a time (NaN: never); NaN if most of them did not."""
    x = _array(values)
    reached = x[np.isfinite(x)]
    if not reached.size or 2 * reached.size < x.size:
        return math.nan, math.nan
    return mean_stderr(reached)


def backoffs(time_s: ArrayLike, cwnd: ArrayLike, least: float = 0.03) -> tuple[Array, Array, Array]:
    """Multiplicative decreases seen in a sampled cwnd: (time of the low point, cwnd before, cwnd after).

    Consecutive falling samples are one backoff, since rate halving takes a round-trip time; a fall by less
    than ``least`` of the window is none.
    """
    time = _array(time_s)
    window = _array(cwnd)
    if window.size < 2:
        return np.empty(0), np.empty(0), np.empty(0)
    falling = np.concatenate(([False], np.diff(window) < 0.0, [False]))
    edges = np.flatnonzero(np.diff(falling.astype(np.int8)))
    tops, lows = edges[0::2], edges[1::2]
    deep = window[lows] <= (1.0 - least) * window[tops]
    tops, lows = tops[deep], lows[deep]
    return time[lows], window[tops], window[lows]


def largest_step(time_s: ArrayLike, values: ArrayLike, span_s: float) -> float:
    """Largest relative change between means of neighbouring spans: max |b - a| / max(a, b), in 0..1."""
    time = _array(time_s)
    series = _array(values)
    if time.size < 2 or time[-1] - time[0] < 2.0 * span_s:
        return math.nan
    means = _span_means(time, series, span_s)
    before, after = means[:-1], means[1:]
    top = np.maximum(before, after)
    steps = np.divide(np.abs(after - before), top, out=np.zeros_like(top), where=top > 0.0)
    return float(steps.max())


def least_windowed_ratio(
    time_s: ArrayLike, delivered: Sequence[ArrayLike], window_s: tuple[float, float], span_s: float
) -> float:
    """Least throughput ratio over consecutive spans of ``span_s``: how unfair it gets for that long."""
    begin, end = window_s
    spans = int((end - begin) // span_s)
    ratios = []
    for index in range(spans):
        span = (begin + index * span_s, begin + (index + 1) * span_s)
        ratios.append(throughput_ratio([throughput_bps(time_s, counter, span) for counter in delivered]))
    return min(ratios, default=math.nan)


def log_slope(x: ArrayLike, y: ArrayLike) -> float:
    """Least-squares slope of log y over log x: the exponent of a power law."""
    xs, ys = _array(x), _array(y)
    good = (xs > 0.0) & (ys > 0.0)
    if np.unique(xs[good]).size < 2:
        return math.nan
    return float(np.polyfit(np.log(xs[good]), np.log(ys[good]), 1)[0])


def _array(values: ArrayLike) -> Array:
    return np.asarray(values, dtype=np.float64)


def _floats(values: ArrayLike) -> list[float]:
    """Numbers as the core takes them; None is NaN."""
    given = values if isinstance(values, list) else _array(values).tolist()
    return [math.nan if value is None else float(value) for value in given]


def _samples(time_s: ArrayLike, counter: ArrayLike) -> tuple[bytes, bytes]:
    """A sampled counter as the core takes it, and returns those of a run: the bytes of both columns."""
    time, values = (each if isinstance(each, bytes) else _array(each).tobytes() for each in (time_s, counter))
    return time, values


def _span_means(time: Array, series: Array, span_s: float) -> Array:
    index = ((time - time[0]) // span_s).astype(np.int64)
    counts = np.bincount(index)
    whole = int((time[-1] - time[0]) // span_s)
    sums = np.bincount(index, weights=series)
    return np.asarray(sums[:whole] / np.maximum(counts[:whole], 1), dtype=np.float64)
