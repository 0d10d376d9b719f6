"""What is kept of a run behind a queue: small to send back, enough for the ellipses, phases and shares."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat import metrics

SPAN_S = 0.5
"""Goodput and delay are compared over this long: ten times the RTT of 50 ms, as RFC 7928 suggests."""

PHASES = 3

Array = NDArray[np.float64]


def reduce_run(result: Any) -> dict[str, Any]:
    """A Result as one row of figures. Shares are of the capacity, ratios of the packets that came.

    `delay_ms` is the backlog over the capacity, mean over the window of figures, `delay_std_ms` the deviation
    of its samples; `goodput_var`, `delay_var` (ms^2) and `covariance` are over spans of `SPAN_S`;
    `delay_ms_1` and the like are of each third of the run. `last_share` is the throughput of the flow that
    is named last.
    """
    summary = result.summary
    link, flows = summary["links"][0], summary["flows"]
    capacity_bps = float(link["rate_bps"])
    series = result.link(link["name"])
    time, delay = series["time_s"], series["queue_bytes"] * 8e3 / capacity_bps
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
        "span_delay_ms": float(waits.mean()),
        "delay_var": float(spread[0, 0]),
        "goodput_var": float(spread[1, 1]),
        "covariance": float(spread[0, 1]),
        "drop_ratio": metrics.loss_ratio(link["packets_dropped"], link["packets_in"]),
        "mark_ratio": metrics.loss_ratio(link["packets_marked"], link["packets_in"]),
        "jain": metrics.jain(rates),
        "last_share": flows[-1]["throughput_bps"] / capacity_bps,
        "flows_estimated": float(known.mean()) if known.size else None,
        **_phases(series, delay, begin),
        "history_s": spans.round(3).tolist(),
        "history_ms": waits.round(3).tolist(),
        "packets": link["packets_in"],
    }


def _spans(
    result: Any, window: tuple[float, float], time: Array, delay: Array, capacity_bps: float
) -> tuple[Array, Array, Array]:
    """Middles of the spans, and in each the goodput of all flows over the capacity, and the mean delay."""
    edges = np.arange(window[0], window[1] + 1e-9, SPAN_S)
    goodput = np.zeros(edges.size - 1)
    for flow in result.summary["flows"]:
        columns = result.flow(flow["name"])
        goodput += np.diff(np.interp(edges, columns["time_s"], columns["delivered_bytes"]))
    place = np.searchsorted(edges, time, side="right") - 1
    inside = (place >= 0) & (place < goodput.size)
    count = np.bincount(place[inside], minlength=goodput.size)
    waits = np.bincount(place[inside], weights=delay[inside], minlength=goodput.size) / np.maximum(count, 1)
    return edges[:-1] + 0.5 * SPAN_S, goodput * 8.0 / (SPAN_S * capacity_bps), waits


def _phases(series: dict[str, Array], delay: Array, settled_s: float) -> dict[str, float]:
    """Mean delay, its deviation, and the drop ratio of each third of the run, without its beginning."""
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
