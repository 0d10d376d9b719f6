"""What a dossier stores of one run: a few numbers, computed in the worker.

The name of a flow says what it is (`networks`): "own-3" is the third flow of the role "own".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.numbers import finite
from longfat.runs import metrics
from longfat.runs.result import Result
from longfat.runs.simulate import run
from longfat.scenario.model import Scenario
from longfat.store.kept import kept_as

Array = NDArray[np.float64]

ROLES = ("own", "other", "short", "media")
FULL = 0.8
"""Share of the link's rate that counts as having reached it (chosen here, after Ha et al. 2006)."""
REACH_SPAN_S = 1.0
"""The span of the throughput that has to reach it (chosen here)."""
HEAVY_LOSS = 0.1
"""The loss ratio above which a second counts as one of heavy loss (chosen here)."""
LEAST_GAPS = 3
"""Gaps between packets that a factor of backoff needs."""


def task(scenario: Scenario) -> dict[str, Any]:
    """A worker's task: runs a scenario and returns its numbers."""
    return measure(run(scenario))


@kept_as("longfat.assess.measure.numbers", "3")
def measure(result: Result) -> dict[str, Any]:
    """Returns the numbers of a run over its span of results; None for what was never reached or seen."""
    summary = result.summary
    link = summary["links"][0]
    begin, end = summary["window_s"]
    packet_bits = 8.0 * result.scenario.packet_bytes
    found: dict[str, Any] = {
        "utilization": link["utilization"],
        "queue_s": link["queue_mean_packets"] * packet_bits / link["rate_bps"],
        "queue_p99_s": link.get("sojourn_p99_s"),
        "jain": summary["metrics"]["jain"],
        "packets": link["packets_in"],
    }
    groups = {role: [f for f in summary["flows"] if f["name"].partition("-")[0] == role] for role in ROLES}
    total = sum(len(flows) for flows in groups.values())
    for role, flows in groups.items():
        if flows:
            rate = sum(flow["throughput_bps"] or 0.0 for flow in flows)
            lost, sent = (sum(flow[key] for flow in flows) for key in ("packets_lost", "packets_sent"))
            found |= {
                f"{role}_bps": rate,
                f"{role}_of_fair": rate / (link["rate_bps"] * len(flows) / total),
                f"{role}_of_link": rate / link["rate_bps"],
                f"{role}_loss": metrics.loss_ratio(lost, sent),
                f"{role}_sent": sent,
                f"{role}_again": sum(flow["retransmits"] for flow in flows) / sent if sent else None,
                f"{role}_spurious": sum(flow["spurious_retransmits"] for flow in flows) / sent
                if sent
                else None,
                f"{role}_rtt_s": metrics.mean(
                    [s for flow in flows if (s := flow["srtt_mean_s"]) is not None]
                ),
            }
    found |= _convergence(groups["own"], summary)
    found |= _transfers(groups["short"], summary["duration_s"])
    found["assessed_sent"] = sum(
        float(result.flow(f["name"])["packets_sent"][-1]) for f in groups["own"] or groups["short"]
    )
    if groups["own"]:
        found |= _over_time(result, groups["own"], (begin, end), link["rate_bps"])
    numbers: dict[str, Any] = finite(found)
    return numbers


def _convergence(own: Sequence[dict[str, Any]], summary: dict[str, Any]) -> dict[str, Any]:
    """When the later of two flows has its share; the length of the observation if it never has."""
    if len(own) != 2:
        return {}
    watched_s = summary["duration_s"] - max(flow["start_s"] for flow in own)
    reached_s = summary["metrics"]["convergence_80_s"]
    return {"converges_s": watched_s if reached_s is None else reached_s, "converged": reached_s is not None}


def _transfers(short: Sequence[dict[str, Any]], duration_s: float) -> dict[str, Any]:
    """Completion times; a transfer that does not end counts until the end of the run."""
    if not short:
        return {}
    times = [(flow["completed_s"] or duration_s) - flow["start_s"] for flow in short]
    ended = sum(flow["completed_s"] is not None for flow in short)
    return {
        "completion_s": float(np.mean(times)),
        "completion_last_s": float(np.max(times)),
        "completed": ended / len(short),
    }


def _over_time(
    result: Result, own: Sequence[dict[str, Any]], window_s: tuple[float, float], rate_bps: float
) -> dict[str, Any]:
    """What only the samples of the assessed flows tell."""
    begin, end = window_s
    series = [result.flow(flow["name"]) for flow in own]
    time = series[0]["time_s"]
    sent, lost, received = (
        np.sum([one[key] for one in series], axis=0)
        for key in ("packets_sent", "packets_lost", "received_bytes")
    )
    inside = (time >= begin) & (time <= end)
    packets = float(sent[inside][-1] - sent[inside][0]) if inside.any() else 0.0
    rtt_s = own[0]["rtt_s"]
    return {
        "packets_per_rtt": packets * rtt_s / (end - begin) / len(own),
        "packets_per_s": packets / (end - begin) / len(own),
        "backoff": backoff(time[inside], sent[inside]),
        "reach_s": reached(time, received, begin, rate_bps),
        "heavy_loss_s": heavy_loss(time[inside], sent[inside], lost[inside]),
    }


def backoff(time_s: Array, sent: Array) -> float | None:
    """Returns by which factor the gaps between packets grow: the median of the factors of neighbours.

    Packets within a period of sampling count as sent together.
    """
    instants = time_s[1:][np.diff(sent) > 0.0]
    gaps = np.diff(instants)
    if gaps.size < LEAST_GAPS:
        return None
    return float(np.median(gaps[1:] / gaps[:-1]))


def reached(time_s: Array, received_bytes: Array, begin_s: float, rate_bps: float) -> float | None:
    """Returns how long after `begin_s` the throughput over a second first is `FULL` of the rate."""
    ends = time_s[time_s >= begin_s + REACH_SPAN_S]
    if not ends.size:
        return None
    before = np.interp(ends - REACH_SPAN_S, time_s, received_bytes)
    rates = 8.0 * (np.interp(ends, time_s, received_bytes) - before) / REACH_SPAN_S
    full = np.flatnonzero(rates >= FULL * rate_bps)
    return float(ends[full[0]] - begin_s) if full.size else None


def heavy_loss(time_s: Array, sent: Array, lost: Array) -> float:
    """Returns in how many seconds more than `HEAVY_LOSS` of what was sent was lost."""
    if time_s.size < 2:
        return 0.0
    marks = np.arange(time_s[0], time_s[-1] + 1e-9, 1.0)
    of_sent, of_lost = (np.diff(np.interp(marks, time_s, values)) for values in (sent, lost))
    return float(np.sum(of_lost > HEAVY_LOSS * np.maximum(of_sent, 1.0)))
