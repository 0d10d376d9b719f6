"""Reduces a run to what YeAH's figures need, in addition to `longfat_papers.kit.reduction`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit import reduction

EFFICIENCY_S = (100, 200, 300, 450, 600, 900, 1200, 1500, 1800)
"""Lengths of Fig. 8's experiments; a shorter experiment is the beginning of a longer one."""


@kept_as("longfat.suites.yeah2007_reduction.reduce_run", "5fc98e83b50b1f62")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row of quantities.

    Adds to the kit's row: the bottleneck's queue (mean over the buffer, deviation over the mean), packets
    dropped by the buffer over those that arrived, the goodput of all flows but the last, the rate of the web
    traffic, and the efficiency up to each of `EFFICIENCY_S`. If events were logged, it also adds the share of
    the first flow's window that losses left, in the later half of the time that all flows run.
    """
    row = reduction.reduce_run(result)
    link, flows = result.summary["links"][0], result.summary["flows"]
    mean, deviation = metrics.mean_std(result.link("bottleneck")["queue_packets"])
    arrived = link["packets_in"]
    row |= {
        "queue_share": mean / link["queue_limit_packets"],
        "queue_cov": deviation / mean if mean > 0.0 else None,
        "overflow_ratio": link["packets_dropped"] / arrived if arrived else 0.0,
        "others_goodput_bps": sum(flow["goodput_bps"] or 0.0 for flow in flows[:-1]),
        "web_bps": sum(group["throughput_bps"] for group in result.summary["background"]),
    }
    columns = [result.flow(flow["name"]) for flow in flows]
    end = float(columns[0]["time_s"][-1])
    for seconds in (length for length in EFFICIENCY_S if length <= end):
        rates = [
            metrics.throughput_bps(column["time_s"], column["received_bytes"], (0.0, seconds))
            for column in columns
        ]
        row[f"efficiency_{seconds}"] = metrics.utilization(link["rate_bps"], sum(rates))
    later_s = 0.5 * (row["shared_start_s"] + row["duration_s"])
    left = _left_by_losses(result.events.to_pylist(), flows[0]["name"], later_s)
    row["late_loss_factor_1"] = float(np.mean(left)) if left else None
    return row


def _left_by_losses(events: list[dict[str, Any]], name: str, from_s: float) -> list[float]:
    """Returns cwnd after recovery over cwnd before the loss, for each loss of a flow after a time."""
    own = [event for event in events if event["name"] == name and event["event"] in ("loss", "recovered")]
    return [
        after["cwnd"] / before["cwnd"]
        for before, after in pairwise(own)
        if (before["event"], after["event"]) == ("loss", "recovered") and before["time_s"] >= from_s
    ]
