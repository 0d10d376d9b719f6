"""Reduces a run of the theory suite in the worker."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Runs


@kept_as("longfat.suites.theory_reduction.reduce", "d458dd9df2dbbbd2")
def reduce(result: Any) -> dict[str, Any]:
    """Returns the row of `reduce_run`, or the mean window of a flow of limited length."""
    if result.scenario.flow[0].bytes is not None:
        return _response(result)
    row = reduce_run(result)
    del row["series"]
    rates = [flow["throughput_bps"] for flow in result.summary["flows"]]
    return row | {"run_jain": metrics.jain(rates), "unfairness": _unfairness(row)}


def rtt_exponent(runs: Runs, name: str) -> tuple[float, float]:
    """Returns the mean and standard error of an algorithm's exponent over ratios and repeats."""
    return metrics.mean_stderr(runs.where(algorithm=name).values("unfairness"))


def _response(result: Any) -> dict[str, Any]:
    """Returns packets received per round-trip time over their later half, and the losses of the whole run."""
    series = result.flow("1")
    flow = result.summary["flows"][0]
    time, received = series["time_s"], series["received_bytes"]
    total = float(received[-1])
    last = int(np.searchsorted(received, total))
    middle_s = float(np.interp(0.5 * total, received[: last + 1], time[: last + 1]))
    seconds = float(time[last]) - middle_s
    packets = 0.5 * total / result.scenario.packet_bytes
    return {
        "window": packets * flow["rtt_s"] / seconds if seconds > 0.0 else math.nan,
        "losses": flow["packets_lost"],
        "timeouts": flow["timeouts"],
        "packets": result.summary["links"][0]["packets_in"],
    }


def _unfairness(row: dict[str, Any]) -> float | None:
    """Returns the exponent x of (R1 / R2)^x from throughputs and measured RTTs; flow 1 has the longer RTT."""
    long_s, short_s = row.get("srtt_1_s"), row.get("srtt_2_s")
    if not long_s or not short_s or long_s <= short_s:
        return None
    long_bps, short_bps = row["late_throughput_1_bps"], row["late_throughput_2_bps"]
    if not long_bps > 0.0 or not short_bps > 0.0:
        return None
    return math.log(short_bps / long_bps) / math.log(long_s / short_s)
