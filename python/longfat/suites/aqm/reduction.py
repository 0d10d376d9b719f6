"""Reduces a run behind a queue to what the ellipses, phases and shares need."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat.scenario.capacity import VaryingRate
from longfat.store.kept import kept_as

SPAN_S = 0.5
"""Goodput and delay are compared over spans this long: ten times the RTT of 50 ms, as RFC 7928 suggests."""

PHASES = 3

ZOMBIES_MEMORY_PACKETS = 4000.0
"""SRED's list has 1000 entries, and an arrival replaces one with probability 1/4."""

Array = NDArray[np.float64]


@kept_as("longfat.suites.aqm_reduction.reduce_run", "48495839c06c1d3f")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities. Shares are of the capacity, ratios of the arrived packets.

    - `delay_ms`: the backlog over the capacity, mean over the scenario's window; `delay_std_ms`: the
      deviation of its samples.
    - `goodput_var`, `delay_var` (ms^2), `covariance`: over spans of `SPAN_S`.
    - `delay_ms_1` and so on: in each third of the run. `delay_ms_high`, `delay_ms_low`: while a varying
      capacity is in its upper or lower half.
    - `wait_ms`: the mean wait by Little's law, which is the mean backlog over the carried rate. The backlog
      over the current capacity says little where the capacity soon changes.
    - `last_share`: the throughput of the last flow.
    - `below_min`: the share of time that the queue is below RED's lower threshold, if that is given.
    - `flows_effective`: 1 / sum of squared shares, see `effective_flows`.
    """
    summary = result.summary
    link, flows = summary["links"][0], summary["flows"]
    capacity_bps = float(link["rate_bps"])
    series = result.link(link["name"])
    time = series["time_s"]
    capacities = capacity_at(result.scenario.bottleneck.rate, time)
    delay = series["queue_bytes"] * 8e3 / capacities
    begin, end = summary["window_s"]
    seen = (time >= begin) & (time <= end)
    spans, goodput, waits = _spans(result, (begin, end), time, delay, capacity_bps)
    spread = np.cov(np.vstack((waits, goodput)), bias=True)
    estimates = series["flows_estimated"][seen]
    known = estimates[np.isfinite(estimates)]
    mean, deviation = metrics.mean_std(delay[seen])
    rates = [flow["goodput_bps"] for flow in flows]
    return {
        "goodput_share": float(goodput.mean()),
        "delay_ms": mean,
        "delay_std_ms": deviation,
        "wait_ms": 8e3 * float(series["queue_bytes"][seen].mean()) / (link["utilization"] * capacity_bps),
        "span_delay_ms": float(waits.mean()),
        "delay_var": float(spread[0, 0]),
        "goodput_var": float(spread[1, 1]),
        "covariance": float(spread[0, 1]),
        "drop_ratio": metrics.loss_ratio(link["packets_dropped"], link["packets_in"]),
        "mark_ratio": metrics.loss_ratio(link["packets_marked"], link["packets_in"]),
        "jain": metrics.jain(rates),
        "last_share": flows[-1]["throughput_bps"] / capacity_bps,
        "flows_estimated": float(known.mean()) if known.size else None,
        "flows_effective": _flows_effective(result, begin, capacity_bps),
        "below_min": _below_min(result.scenario.bottleneck.queue.parameters, series["queue_packets"][seen]),
        **_phases(series, delay, begin),
        **_levels(series, delay, capacities, seen),
        "history_s": spans.round(3).tolist(),
        "history_ms": waits.round(3).tolist(),
        "packets": link["packets_in"],
    }


def _spans(
    result: Any, window: tuple[float, float], time: Array, delay: Array, capacity_bps: float
) -> tuple[Array, Array, Array]:
    """Returns the middles of the spans, and in each the goodput over the capacity and the mean delay."""
    edges = np.arange(window[0], window[1] + 1e-9, SPAN_S)
    goodput = np.zeros(edges.size - 1)
    for flow in result.summary["flows"]:
        columns = result.flow(flow["name"])
        goodput += np.diff(np.interp(edges, columns["time_s"], columns["delivered_bytes"]))
    index = np.searchsorted(edges, time, side="right") - 1
    inside = (index >= 0) & (index < goodput.size)
    count = np.bincount(index[inside], minlength=goodput.size)
    waits = np.bincount(index[inside], weights=delay[inside], minlength=goodput.size) / np.maximum(count, 1)
    return edges[:-1] + 0.5 * SPAN_S, goodput * 8.0 / (SPAN_S * capacity_bps), waits


def _phases(series: dict[str, Array], delay: Array, settled_s: float) -> dict[str, float]:
    """Returns mean delay, its deviation and the drop ratio in each third of the run, after settling."""
    time = series["time_s"]
    edges = np.linspace(0.0, float(time[-1]), PHASES + 1)
    edges[0] = settled_s
    row: dict[str, float] = {}
    for number in range(PHASES):
        low, high = edges[number], edges[number + 1]
        inside = (time >= low) & (time <= high)
        mean, deviation = metrics.mean_std(delay[inside])
        came, dropped = (
            float(np.diff(np.interp([low, high], time, series[key]))[0])
            for key in ("packets_in", "packets_dropped")
        )
        row[f"delay_ms_{number + 1}"] = mean
        row[f"delay_std_ms_{number + 1}"] = deviation
        row[f"drop_ratio_{number + 1}"] = metrics.loss_ratio(dropped, came)
    return row


def capacity_at(rate: float, time_s: Array) -> Array:
    """Returns a link's capacity at these times, bit/s; `rate` is constant or varies in steps."""
    if not isinstance(rate, VaryingRate):
        return np.full(time_s.size, float(rate))
    times, rates = np.array(rate.plan["steps"]).T
    return np.asarray(rates[np.searchsorted(times, time_s, side="right") - 1], dtype=np.float64)


def _levels(series: dict[str, Array], delay: Array, capacities: Array, seen: Any) -> dict[str, float]:
    """Returns mean delay and drop ratio while a varying capacity is in its upper and its lower half."""
    middle = 0.5 * (capacities.max() + capacities.min())
    if capacities.max() == capacities.min():
        return {}
    came, dropped = (np.diff(series[key], prepend=0.0) for key in ("packets_in", "packets_dropped"))
    row = {}
    for level, at in (("high", seen & (capacities > middle)), ("low", seen & (capacities <= middle))):
        row[f"delay_ms_{level}"] = float(delay[at].mean())
        row[f"drop_ratio_{level}"] = metrics.loss_ratio(float(dropped[at].sum()), float(came[at].sum()))
    return row


def _below_min(parameters: dict[str, Any], queue_packets: Array) -> float | None:
    least = parameters.get("min")
    return None if least is None else float((queue_packets < least).mean())


def _flows_effective(result: Any, begin_s: float, capacity_bps: float) -> float:
    columns = [result.flow(flow["name"]) for flow in result.summary["flows"]]
    time = columns[0]["time_s"]
    received = np.diff(np.vstack([column["received_bytes"] for column in columns]), axis=1)
    memory_s = ZOMBIES_MEMORY_PACKETS * 12e3 / capacity_bps
    return effective_flows(time, received, begin_s, memory_s)


def effective_flows(time_s: Array, received_bytes: Array, begin_s: float, memory_s: float) -> float:
    """Returns 1 / sum of squared shares, as seen by a list that forgets over `memory_s`.

    SRED's 1 / P estimates this for unlike flows (Ott, Lakshman, Wong 1999, proposition 1). The probability
    that a packet belongs to the same flow as one drawn from the recent past is the sum, over the flows, of
    the share now times the share then.

    Args:
        time_s: edges of the intervals.
        received_bytes: bytes of each flow (row) in each interval (column).
        begin_s: start of the average.
        memory_s: the past is weighted with exp(-age / memory_s).
    """
    past = np.zeros(received_bytes.shape[0])
    chances = []
    for i in range(received_bytes.shape[1]):
        now = received_bytes[:, i]
        if time_s[i] >= begin_s and now.sum() > 0.0 and past.sum() > 0.0:
            chances.append(float(now @ past) / float(now.sum() * past.sum()))
        past = past * math.exp(-(time_s[i + 1] - time_s[i]) / memory_s) + now
    return 1.0 / float(np.mean(chances)) if chances and np.mean(chances) > 0.0 else math.nan
