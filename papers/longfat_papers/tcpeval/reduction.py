"""Reduces a run of the draft's suite, in the worker that ran it, to the metrics that the draft asks for."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat import _core
from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit.waits import mean_wait_ms
from longfat_papers.tcpeval import networks as nw

Array = NDArray[np.float64]
Row = dict[str, Any]

BOTTLENECKS = {nw.DOWN: ("bottleneck", *nw.LOT), "up": ("reverse", *(f"{name}-back" for name in nw.LOT))}
"""Names of the congested links in each direction."""
LEAST_TRANSFER_S = 1e-9


@kept_as("longfat.suites.tcpeval.reduction.reduce_run", "2")
def reduce_run(result: Any) -> Row:
    """Reduces a Result to one row of quantities over the scenario's window.

    - `utilization`, `drop_ratio` (dropped over arrived packets), `delay_ms` (mean wait of the packets): of
      the bottlenecks from right to left, as a mean (drop_ratio: of all their packets); with `up_` from left
      to right.
    - `active`: mean number of connections from right to left, over those that completed.
    - `goodput_bps_NAME`: payload of the traffic of that name from right to left. `transfer_s_NAME`: mean
      completion time; `transfer_bps_NAME_1` and so on: mean of size / completion time in each quartile of
      file sizes, the smallest first.
    - `throughput_1_bps`, `throughput_2_bps`, `ratio` (second / first), `fairness` (lesser / greater): of two
      flows, from the later start on.
    - `reached_N_s`: time until the receiver has delivered byte 1500 10^N of the flow `new`.
    - `window_P_s`: time from the transient until the window of the flow `test` is P % of the BDP;
      `step_packets`: its greatest growth within one smoothed RTT until 90 %. `cross_dropped`: dropped packets
      of the cross traffic.
    """
    summary = result.summary
    begin, end = summary["window_s"]
    row: Row = {}
    for way, names in BOTTLENECKS.items():
        links = [link for link in summary["links"] if link["name"] in names]
        row |= _links(result, links, (begin, end), "" if way == nw.DOWN else f"{way}_")
    row |= _traffic(result, (begin, end))
    flows = {flow["name"]: flow for flow in summary["flows"]}
    if {"first", "second"} <= set(flows):
        row |= _pair(result, flows, end)
    if "new" in flows:
        row |= _ramp(result.flow("new"), flows["new"]["start_s"])
    if "test" in flows:
        crossing = [flow for name, flow in flows.items() if name.startswith("cross")]
        row |= _transient(result.flow("test"), crossing)
    down = (link for link in summary["links"] if link["name"] in BOTTLENECKS[nw.DOWN])
    return row | {"packets": sum(link["packets_in"] for link in down)}


def _links(result: Any, links: list[Row], window: tuple[float, float], prefix: str) -> Row:
    waits = [mean_wait_ms(result.link(link["name"]), link, window, link["rate_bps"]) for link in links]
    dropped, arrived = (sum(link[key] for link in links) for key in ("packets_dropped", "packets_in"))
    return {
        f"{prefix}utilization": float(np.mean([link["utilization"] for link in links])),
        f"{prefix}drop_ratio": metrics.loss_ratio(dropped, arrived),
        f"{prefix}delay_ms": float(np.mean(waits)),
    }


def _traffic(result: Any, window: tuple[float, float]) -> Row:
    """Returns the quantities of the traffic from right to left, by the first part of the names."""
    entries = [entry for entry in result.summary["background"] if f"-{nw.DOWN}-" in entry["name"]]
    if not entries:
        return {}
    span_s = window[1] - window[0]
    table = result.transfers
    coded = table["name"].combine_chunks()
    codes, known = coded.indices.to_numpy(), coded.dictionary.to_pylist()
    start, duration, size = (
        np.asarray(table[name], dtype=np.float64) for name in ("start_s", "completion_time_s", "bytes")
    )
    duration = np.maximum(duration, LEAST_TRANSFER_S)
    row: Row = {}
    active_s = 0.0
    for camp in dict.fromkeys(entry["name"].split("-")[0] for entry in entries):
        own = [entry for entry in entries if entry["name"].split("-")[0] == camp]
        row[f"goodput_bps_{camp}"] = 8.0 * sum(entry["bytes_delivered"] for entry in own) / span_s
        wanted = [known.index(entry["name"]) for entry in own if entry["name"] in known]
        of_camp = np.isin(codes, wanted)
        inside = np.clip(start + duration, *window) - np.clip(start, *window)
        active_s += float(inside[of_camp].sum())
        began = of_camp & (start >= window[0])
        row[f"transfer_s_{camp}"] = float(duration[began].mean()) if began.any() else None
        quartile = np.searchsorted(quartile_edges(), size[began])
        rate = 8.0 * size[began] / duration[began]
        for number in range(nw.QUARTILES):
            at = quartile == number
            row[f"transfer_bps_{camp}_{number + 1}"] = float(rate[at].mean()) if at.any() else None
    return row | {"active": active_s / span_s}


LARGEST_BYTES = 10e6
"""The largest file of short flows by default."""


@cache
def quartile_edges() -> tuple[float, ...]:
    """Returns the sizes in bytes that divide the files into `nw.QUARTILES` parts of equal number."""
    edges = []
    for number in range(1, nw.QUARTILES):
        low, high = 1.0, LARGEST_BYTES
        while high / low > 1.0 + 1e-9:
            middle = math.sqrt(low * high)
            above = _core.larger_files(middle) > 1.0 - number / nw.QUARTILES
            low, high = (middle, high) if above else (low, middle)
        edges.append(low)
    return tuple(edges)


def _pair(result: Any, flows: Mapping[str, Row], end: float) -> Row:
    later = max(float(flow["start_s"]) for flow in flows.values())
    both = [result.flow(name) for name in ("first", "second")]
    first, second = (metrics.throughput_bps(at["time_s"], at["received_bytes"], (later, end)) for at in both)
    return {
        "throughput_1_bps": first,
        "throughput_2_bps": second,
        "ratio": second / first if first > 0.0 else None,
        "fairness": metrics.throughput_ratio([first, second]),
    }


def _ramp(series: Mapping[str, Array], start_s: float) -> Row:
    time, delivered = series["time_s"], series["delivered_bytes"]
    row: Row = {}
    for power in range(1, nw.MOST_POWER + 1):
        reached = int(np.searchsorted(delivered, nw.BYTES_UNIT * 10.0**power))
        row[f"reached_{power}_s"] = float(time[reached]) - start_s if reached < delivered.size else None
    return row


def _transient(series: Mapping[str, Array], crossing: Iterable[Row]) -> Row:
    seen = series["time_s"] >= nw.TRANSIENT_S
    time, cwnd = series["time_s"][seen] - nw.TRANSIENT_S, series["cwnd"][seen]
    row: Row = {"cross_dropped": float(sum(flow["packets_lost"] for flow in crossing))}
    for share in nw.BDP_SHARES:
        reached = np.flatnonzero(cwnd >= share / 100.0 * nw.BDP_PACKETS)
        row[f"window_{share}_s"] = float(time[reached[0]]) if reached.size else None
    last = row[f"window_{nw.BDP_SHARES[-1]}_s"]
    growing = time <= (time[-1] if last is None else last)
    rtt_before = np.interp((time - series["srtt_s"][seen])[growing], time, cwnd)
    row["step_packets"] = float((cwnd[growing] - rtt_before).max())
    return row
