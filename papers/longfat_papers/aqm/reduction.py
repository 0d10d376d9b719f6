"""Reduces a run behind a queue to what the ellipses, phases and shares need."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit.waits import mean_wait_ms

PAGE, SEGMENT, SHORT, BULK, VOICE, BACK = "page", "segment", "short", "bulk", "voice", "back"
"""Classes of traffic. The names of their flows begin with them; flows of `BACK` send the other way."""
UPSTREAM = "upstream"
"""The queue before the shared one."""

SPAN_S = 0.5
"""Goodput and delay are compared over spans this long: ten times the RTT of 50 ms, as RFC 7928 suggests."""

PHASES = 3

ZOMBIES_MEMORY_PACKETS = 4000.0
"""SRED's list has 1000 entries, and an arrival replaces one with probability 1/4."""

Array = NDArray[np.float64]
Flow = Mapping[str, Any]


@kept_as("longfat.suites.aqm_reduction.reduce_run", "4")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities. Shares are of the capacity, ratios of the arrived packets.

    - `delay_ms`: the backlog over the capacity, mean over the scenario's window; `delay_std_ms`: the
      deviation of its samples.
    - `goodput_var`, `delay_var` (ms^2), `covariance`: over spans of `SPAN_S`.
    - `delay_ms_1` and so on: in each third of the run. `delay_ms_high`, `delay_ms_low`: while a varying
      capacity is in its upper or lower half.
    - `wait_ms`: the mean wait by Little's law, which is the mean backlog over the carried rate. The backlog
      over the current capacity says little where the capacity soon changes.
    - `last_share`: the throughput of the last flow. `first_goodput_share`, `last_goodput_share`: the goodput
      of the first and of the last flow; `first_loss_ratio`, `last_loss_ratio`: lost over sent packets.
    - `below_min`: the share of time that the queue is below RED's lower threshold, if that is given.
    - `flows_effective`: 1 / sum of squared shares, see `effective_flows`.
    - `second_wait_ms`, `second_drop_ratio`: of the queue of the other direction, or of the one before.
      `ack_drop_ratio`: of the ACKs in both directions.
    - `share_NAME`, `lost_NAME`: goodput, and lost over sent packets, of each class of flows (`class_of`).
      `completion_s_NAME`, `finished_NAME`: mean completion time of the pages, segments or short flows
      that ended, and their share.

    All but the last two lines are about flows in the forward direction.
    """
    summary = result.summary
    link = summary["links"][0]
    flows = [flow for flow in summary["flows"] if class_of(flow["name"]) != BACK]
    capacity_bps = float(link["rate_bps"])
    series = result.link(link["name"])
    time = series["time_s"]
    first = result.scenario.link[0] if result.scenario.link else result.scenario.bottleneck
    least = first.queue.parameters.get("min")
    capacities = capacity_at(result.scenario.plan["links"][0], time)
    delay = series["queue_bytes"] * 8e3 / capacities
    begin, end = summary["window_s"]
    seen = (time >= begin) & (time <= end)
    spans, goodput, waits = _spans(result, flows, (begin, end), time, delay, capacity_bps)
    spread = np.cov(np.vstack((waits, goodput)), bias=True)
    estimates = series["flows_estimated"][seen]
    known = estimates[np.isfinite(estimates)]
    mean, deviation = metrics.mean_std(delay[seen])
    rates = [flow["goodput_bps"] for flow in flows]
    ends: dict[str, float] = {}
    for name, rate, flow in (("first", rates[0], flows[0]), ("last", rates[-1], flows[-1])):
        ends |= {f"{name}_goodput_share": rate / capacity_bps, f"{name}_loss_ratio": _lost([flow])}
    return {
        "goodput_share": float(goodput.mean()),
        "delay_ms": mean,
        "delay_std_ms": deviation,
        "wait_ms": mean_wait_ms(series, link, (begin, end), capacity_bps),
        "span_delay_ms": float(waits.mean()),
        "delay_var": float(spread[0, 0]),
        "goodput_var": float(spread[1, 1]),
        "covariance": float(spread[0, 1]),
        "drop_ratio": _dropped(link),
        "mark_ratio": metrics.loss_ratio(link["packets_marked"], link["packets_in"]),
        "jain": metrics.jain(rates),
        "last_share": flows[-1]["throughput_bps"] / capacity_bps,
        **ends,
        "flows_estimated": float(known.mean()) if known.size else None,
        "flows_effective": _flows_effective(result, flows, begin, capacity_bps),
        "below_min": None if least is None else float((series["queue_packets"][seen] < least).mean()),
        **_phases(series, delay, begin),
        **_levels(series, delay, capacities, seen),
        **_second_queue(result, (begin, end)),
        **_classes(result, (begin, end), capacity_bps),
        "history_s": spans.round(3).tolist(),
        "history_ms": waits.round(3).tolist(),
        "packets": link["packets_in"],
    }


def _lost(flows: Iterable[Flow]) -> float:
    lost, sent = (sum(flow[key] for flow in flows) for key in ("packets_lost", "packets_sent"))
    return metrics.loss_ratio(lost, sent)


def _dropped(link: Mapping[str, Any]) -> float:
    return metrics.loss_ratio(link["packets_dropped"], link["packets_in"])


def class_of(name: str) -> str:
    """Returns the class of a flow, which its name begins with; empty for a name that begins with a number."""
    first = name.split("-")[0]
    return "" if first.isdigit() else first


def _second_queue(result: Any, window: tuple[float, float]) -> dict[str, float]:
    """Returns delay and drops of the queue of the other direction, or of the one before the shared one."""
    summary = result.summary
    backward = any(class_of(flow["name"]) == BACK for flow in summary["flows"])
    name = "reverse" if backward else UPSTREAM
    link = next((link for link in summary["links"] if link["name"] == name), None)
    if link is None:
        return {}
    wait_ms = mean_wait_ms(result.link(name), link, window, link["rate_bps"])
    row = {"second_wait_ms": wait_ms, "second_drop_ratio": _dropped(link)}
    return row | ({"ack_drop_ratio": _ack_drop_ratio(summary, link)} if backward else {})


def _ack_drop_ratio(summary: Mapping[str, Any], reverse: Mapping[str, Any]) -> float:
    """Returns dropped over arrived ACKs of the links of both directions.

    What a link carries beside the data of one direction are the ACKs of the other. A sender learns of a drop
    about a round trip later, so at each end of the window some drops of data count for ACKs, or the other way
    round: a few packets. A sender that takes packets for lost which are not makes the ratio smaller. It is
    not clamped at 0.
    """
    arrived, dropped = (
        sum(link[of_link] for link in (summary["links"][0], reverse))
        - sum(flow[of_flow] for flow in summary["flows"])
        for of_link, of_flow in (("packets_in", "packets_sent"), ("packets_dropped", "packets_lost"))
    )
    return metrics.loss_ratio(dropped, arrived)


def _classes(result: Any, window: tuple[float, float], capacity_bps: float) -> dict[str, float | None]:
    of_class: dict[str, list[Flow]] = {}
    for flow in result.summary["flows"]:
        of_class.setdefault(class_of(flow["name"]), []).append(flow)
    of_class.pop("", None)
    row: dict[str, float | None] = {}
    for name, flows in of_class.items():
        delivered = sum(_delivered(result, flow, window)[0] for flow in flows)
        row[f"share_{name}"] = 8.0 * float(delivered) / ((window[1] - window[0]) * capacity_bps)
        row[f"lost_{name}"] = _lost(flows)
        if name in (PAGE, SEGMENT, SHORT):
            row |= _completion(name, flows)
    return row


def _delivered(result: Any, flow: Flow, edges: Any) -> Array:
    """Returns the bytes of a flow that arrive between these times."""
    columns = result.flow(flow["name"])
    return np.diff(np.interp(edges, columns["time_s"], columns["delivered_bytes"]))


def _completion(name: str, flows: Sequence[Flow]) -> dict[str, float | None]:
    """Returns how long pages, segments or short flows took; flows that start together are one."""
    ends: dict[float, list[float | None]] = {}
    for flow in flows:
        ends.setdefault(flow["start_s"], []).append(flow["completed_s"])
    took = []
    for start, found in ends.items():
        times = [time for time in found if time is not None]
        if len(times) == len(found):
            took.append(max(times) - start)
    return {
        f"completion_s_{name}": float(np.mean(took)) if took else None,
        f"finished_{name}": len(took) / len(ends),
    }


def _spans(
    result: Any,
    flows: Sequence[Flow],
    window: tuple[float, float],
    time: Array,
    delay: Array,
    capacity: float,
) -> tuple[Array, Array, Array]:
    """Returns the middles of the spans, and in each the goodput over the capacity and the mean delay."""
    edges = np.arange(window[0], window[1] + 1e-9, SPAN_S)
    goodput = np.zeros(edges.size - 1)
    for flow in flows:
        goodput += _delivered(result, flow, edges)
    index = np.searchsorted(edges, time, side="right") - 1
    inside = (index >= 0) & (index < goodput.size)
    count = np.bincount(index[inside], minlength=goodput.size)
    waits = np.bincount(index[inside], weights=delay[inside], minlength=goodput.size) / np.maximum(count, 1)
    return edges[:-1] + 0.5 * SPAN_S, goodput * 8.0 / (SPAN_S * capacity), waits


def _phases(series: dict[str, Array], delay: Array, settled_s: float) -> dict[str, float]:
    """Returns mean delay, its deviation and the drop ratio in each third of the run, after settling."""
    time = series["time_s"]
    edges = np.linspace(0.0, float(time[-1]), PHASES + 1)
    edges[0] = settled_s
    row: dict[str, float] = {}
    for number, (low, high) in enumerate(pairwise(edges), start=1):
        mean, deviation = metrics.mean_std(delay[(time >= low) & (time <= high)])
        arrived, dropped = (
            float(np.diff(np.interp([low, high], time, series[key]))[0])
            for key in ("packets_in", "packets_dropped")
        )
        row[f"delay_ms_{number}"] = mean
        row[f"delay_std_ms_{number}"] = deviation
        row[f"drop_ratio_{number}"] = metrics.loss_ratio(dropped, arrived)
    return row


def capacity_at(link: Mapping[str, Any], time_s: Array) -> Array:
    """Returns a link's capacity at these times, bit/s; that of a plan, constant or in steps."""
    if link["capacity"] is None:
        return np.full(time_s.size, float(link["rate_bps"]))
    times, rates = np.array(link["capacity"]["steps"]).T
    return np.asarray(rates[np.searchsorted(times, time_s, side="right") - 1], dtype=np.float64)


def _levels(series: dict[str, Array], delay: Array, capacities: Array, seen: Any) -> dict[str, float]:
    """Returns mean delay and drop ratio while a varying capacity is in its upper and its lower half."""
    if capacities.max() == capacities.min():
        return {}
    middle = 0.5 * (capacities.max() + capacities.min())
    arrived, dropped = (np.diff(series[key], prepend=0.0) for key in ("packets_in", "packets_dropped"))
    row = {}
    for level, at in (("high", seen & (capacities > middle)), ("low", seen & (capacities <= middle))):
        row[f"delay_ms_{level}"] = float(delay[at].mean())
        row[f"drop_ratio_{level}"] = metrics.loss_ratio(float(dropped[at].sum()), float(arrived[at].sum()))
    return row


def _flows_effective(result: Any, flows: Sequence[Flow], begin_s: float, capacity_bps: float) -> float:
    columns = [result.flow(flow["name"]) for flow in flows]
    received = np.diff(np.vstack([column["received_bytes"] for column in columns]), axis=1)
    memory_s = ZOMBIES_MEMORY_PACKETS * 12e3 / capacity_bps
    return effective_flows(columns[0]["time_s"], received, begin_s, memory_s)


def effective_flows(time_s: Array, received_bytes: Array, begin_s: float, memory_s: float) -> float:
    """Returns 1 / sum of squared shares, as seen by a list that forgets over `memory_s`.

    SRED's 1 / P estimates this for unlike flows (Ott, Lakshman, Wong 1999, proposition 1). The probability
    that a packet belongs to the same flow as one drawn from the recent past is the sum, over the flows, of
    the share now times the share then. The past is weighted with exp(-age / memory_s).

    ``time_s`` are the edges of the intervals, ``received_bytes`` has the bytes of each flow (row) in each
    (column), and the average starts at ``begin_s``.
    """
    past = np.zeros(received_bytes.shape[0])
    chances = []
    for i in range(received_bytes.shape[1]):
        now = received_bytes[:, i]
        if time_s[i] >= begin_s and now.sum() > 0.0 and past.sum() > 0.0:
            chances.append(float(now @ past) / float(now.sum() * past.sum()))
        past = past * math.exp(-(time_s[i + 1] - time_s[i]) / memory_s) + now
    return 1.0 / float(np.mean(chances)) if chances and np.mean(chances) > 0.0 else math.nan
