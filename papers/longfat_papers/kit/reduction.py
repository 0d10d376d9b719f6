"""Reduces a run of long-lived flows on a dumbbell to a small row, in the worker that ran it.

A quantity is taken over one of four spans of time, named at the beginning of its column:
``shared``   from the start of the last flow to the end of the run (no name in the column),
``settled``  shared without its first 100 s, or its second half if that begins earlier,
``late``     the second half of shared,
``final``    the last 60 s.
The columns of flow i carry its number: ``throughput_1_bps``. A time that was never reached is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat.store.kept import kept_as

SETTLING_S = 100.0
FINAL_S = 60.0
STEP_SPAN_S = 10.0
UNFAIR_SPAN_S = 100.0
BURST_S = 1.0
LEAST_TRANSFER_S = 1e-6
HISTORY_S = 0.5
"""Sampling period of the stored histories."""

CONVERGENCE_LIMIT_S = 600.0
"""LLS Fig. 14: only the first ten minutes are searched for convergence, also in longer runs."""

Array = NDArray[np.float64]


@kept_as("longfat.suites.reduction.reduce_run", "cfa441211aa965c7")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities, with histories and backoffs under ``series``."""
    summary = result.summary
    flows = summary["flows"]
    names = [flow["name"] for flow in flows]
    columns = [result.flow(name) for name in names]
    time = columns[0]["time_s"]
    end = float(time[-1])
    shared = (max(float(flow["start_s"]) for flow in flows), end)
    spans = _spans(shared)
    row: dict[str, Any] = {"duration_s": end, "shared_start_s": shared[0]}
    received = [column["received_bytes"] for column in columns]
    for name, span in spans.items():
        rates = [metrics.throughput_bps(time, counter, span) for counter in received]
        prefix = "" if name == "shared" else f"{name}_"
        row |= {f"{prefix}throughput_{number}_bps": rate for number, rate in enumerate(rates, start=1)}
        row[f"{prefix}ratio"] = metrics.throughput_ratio(rates)
        row[f"{prefix}jain"] = metrics.jain(rates)
        row[f"{prefix}aggregate_bps"] = sum(rates)
        if len(rates) > 1:
            row[f"{prefix}first_to_second"] = rates[0] / rates[1] if rates[1] > 0.0 else None
    for number, (flow, column) in enumerate(zip(flows, columns, strict=True), start=1):
        row |= _flow_quantities(number, flow, column, spans)
    row |= _convergence(flows, columns, received)
    row["least_100s_ratio"] = metrics.least_windowed_ratio(time, received, shared, UNFAIR_SPAN_S)
    sent = sum(flow["packets_sent"] for flow in flows)
    row["loss_ratio"] = metrics.loss_ratio(sum(flow["packets_lost"] for flow in flows), sent)
    link = summary["links"][0]
    row["utilization"] = metrics.utilization(link["rate_bps"], row["aggregate_bps"])
    row["link_loss_ratio"] = link["loss_ratio"]
    row |= {f"queue_{key}_packets": link[f"queue_{key}_packets"] for key in ("mean", "limit")}
    row |= _background(summary.get("background", []), result, link["rate_bps"])
    row["packets"] = link["packets_in"]
    row["series"] = [history(name, column) for name, column in zip(names, columns, strict=True)]
    return row


def _spans(shared: tuple[float, float]) -> dict[str, tuple[float, float]]:
    begin, end = shared
    middle = 0.5 * (begin + end)
    return {
        "shared": shared,
        "settled": (min(begin + SETTLING_S, middle), end),
        "late": (middle, end),
        "final": (max(begin, end - FINAL_S), end),
    }


def _flow_quantities(
    number: int,
    flow: Mapping[str, Any],
    column: Mapping[str, Array],
    spans: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    time, cwnd = column["time_s"], column["cwnd"]
    settled = _within(time, spans["settled"])
    late = _within(time, spans["late"])
    seconds = float(time[-1]) - float(flow["start_s"])
    return {
        f"start_{number}_s": flow["start_s"],
        f"loss_ratio_{number}": flow["loss_ratio"],
        f"srtt_{number}_s": flow["srtt_mean_s"],
        f"timeouts_{number}": flow["timeouts"],
        f"congestion_events_{number}": flow["congestion_events"],
        f"epoch_{number}_s": seconds / flow["congestion_events"] if flow["congestion_events"] else None,
        f"settled_cwnd_{number}": float(cwnd[settled].mean()),
        f"late_cwnd_cov_{number}": metrics.cov(cwnd[late]),
        f"largest_step_{number}": metrics.largest_step(time[settled], cwnd[settled], STEP_SPAN_S),
        f"cwnd_max_{number}": float(cwnd[settled].max()),
    }


def _convergence(
    flows: list[Mapping[str, Any]], columns: list[Mapping[str, Array]], received: list[Array]
) -> dict[str, Any]:
    if len(flows) < 2:
        return {}
    last = max(range(len(flows)), key=lambda index: (flows[index]["start_s"], index))
    first = min(range(len(flows)), key=lambda index: (flows[index]["start_s"], index))
    time, start, rtt = columns[last]["time_s"], float(flows[last]["start_s"]), float(flows[last]["rtt_s"])
    kept = time <= start + CONVERGENCE_LIMIT_S
    return {
        "convergence_80_s": metrics.convergence_80_s(
            time[kept], received[first][kept], received[last][kept], start, rtt
        ),
        "convergence_own_s": metrics.convergence_time_s(time[kept], received[last][kept], start, rtt),
    }


def _background(groups: list[Mapping[str, Any]], result: Any, rate_bps: float) -> dict[str, Any]:
    """Returns the mean load of the forward background and its maximum over a second, as shares of capacity.

    The bytes of a completed transfer are spread evenly over its duration. The names of groups carry their
    direction; reverse traffic loads another link.
    """
    forward = {group["name"]: group for group in groups if not group["name"].endswith("-reverse")}
    if not forward:
        return {}
    transfers = result.transfers
    kept = np.isin(np.asarray(transfers["name"].to_pylist(), dtype=object), list(forward))
    start, duration, size = (
        np.asarray(transfers[name], dtype=np.float64)[kept]
        for name in ("start_s", "completion_time_s", "bytes")
    )
    duration = np.maximum(duration, LEAST_TRANSFER_S)
    edges = np.arange(0.0, float((start + duration).max(initial=0.0)) + 2.0 * BURST_S, BURST_S)
    # The running total of a transfer is a ramp; differences of the summed ramps are the bytes of each second.
    total = np.zeros(edges.size)
    for begin, length, amount in zip(start, duration, size, strict=True):
        low = int(begin // BURST_S)
        high = int((begin + length) // BURST_S) + 2
        total[low:high] += amount * np.clip((edges[low:high] - begin) / length, 0.0, 1.0)
        total[high:] += amount
    bursts = np.diff(total) * 8.0 / BURST_S
    return {
        "background_share": sum(group["throughput_bps"] for group in forward.values()) / rate_bps,
        "background_peak_share": float(bursts.max(initial=0.0)) / rate_bps,
    }


def history(name: str, column: Mapping[str, Array]) -> dict[str, Any]:
    """Returns the stored history of a flow: cwnd and received bytes every `HISTORY_S`, and its backoffs."""
    time = column["time_s"]
    period = float(np.median(np.diff(time))) if time.size > 1 else HISTORY_S
    stride = max(1, round(HISTORY_S / period))
    low_s, before, after = metrics.backoffs(time, column["cwnd"])
    return {
        "name": name,
        "time_s": time[::stride].astype(np.float64),
        "cwnd": column["cwnd"][::stride].astype(np.float64),
        "received_bytes": column["received_bytes"][::stride].astype(np.float64),
        "backoffs": {"time_s": low_s, "before": before, "after": after},
    }


def _within(time: Array, span: tuple[float, float]) -> NDArray[np.bool_]:
    return np.asarray((time >= span[0]) & (time <= span[1]))
