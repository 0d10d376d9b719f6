"""One flow's cwnd over time in a form that both sides share, and the quantities that are compared."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import longfat

COLUMNS = ("time_us", "state", "cwnd", "ssthresh", "srtt_us", "unacked", "sacked", "lost", "retrans")
"""Columns of the guest's samples."""
REDUCING = (2, 3, 4)
"""Linux's states CWR, Recovery and Loss (TCP_CA_*)."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """Samples at equal times; cwnd and ssthresh in segments.

    Attributes:
        reducing: whether cwnd is being reduced after a congestion event.
    """

    time_s: Array
    cwnd: Array
    ssthresh: Array
    srtt_s: Array
    reducing: NDArray[np.bool_]


@dataclass(frozen=True)
class Figures:
    """The quantities that are compared; None where there is nothing to measure.

    Attributes:
        mean_cwnd: time average, recoveries included, segments.
        backoff: mean over congestion events of ssthresh after the event over cwnd before it.
        growth: growth of cwnd between a recovery and the next congestion event, segments per second.
        events: congestion events per minute.
        srtt_ms: mean smoothed round-trip time.
    """

    mean_cwnd: float
    backoff: float | None
    growth: float | None
    events: float
    srtt_ms: float


def of_kernel(folder: Path) -> Trace:
    """Reads what a guest wrote."""
    rows = np.array(json.loads((folder / "trace.json").read_text())["samples"], dtype=np.float64)
    column = dict(zip(COLUMNS, rows.T, strict=True))
    return Trace(
        time_s=column["time_us"] / 1e6,
        cwnd=column["cwnd"],
        ssthresh=column["ssthresh"],
        srtt_s=column["srtt_us"] / 1e6,
        reducing=np.isin(column["state"], REDUCING),
    )


def of_longfat(result: longfat.Result) -> Trace:
    """Returns the only flow of a run with `sample.events`."""
    flow = result.flow("1")
    events = result.events.to_pydict()
    reducing = np.zeros(len(flow["time_s"]), dtype=bool)
    begun = None
    for time_s, event in zip(events["time_s"], events["event"], strict=True):
        if event in ("loss", "mark", "timeout") and begun is None:
            begun = time_s
        elif event in ("recovered", "undone") and begun is not None:
            reducing |= (flow["time_s"] >= begun) & (flow["time_s"] < time_s)
            begun = None
    if begun is not None:
        reducing |= flow["time_s"] >= begun
    return Trace(
        time_s=flow["time_s"],
        cwnd=flow["cwnd"],
        ssthresh=flow["ssthresh"],
        srtt_s=flow["srtt_s"],
        reducing=reducing,
    )


def figures(trace: Trace, begin_s: float, end_s: float) -> Figures:
    """Returns the quantities over [begin_s, end_s)."""
    inside = (trace.time_s >= begin_s) & (trace.time_s < end_s)
    cwnd, ssthresh, reducing = trace.cwnd[inside], trace.ssthresh[inside], trace.reducing[inside]
    # an event is the start of a reduction, or a new target within one
    steps = np.flatnonzero(reducing[1:] & (~reducing[:-1] | (ssthresh[1:] != ssthresh[:-1]))) + 1
    backoffs = [ssthresh[i] / cwnd[i - 1] for i in steps if not reducing[i - 1]]
    gained = lasted = 0.0
    ends = np.flatnonzero(reducing[:-1] & ~reducing[1:]) + 1
    for begin in ends:
        later = steps[steps > begin]
        if len(later):
            gained += cwnd[later[0] - 1] - cwnd[begin]
            lasted += trace.time_s[inside][later[0] - 1] - trace.time_s[inside][begin]
    return Figures(
        mean_cwnd=float(cwnd.mean()),
        backoff=float(np.mean(backoffs)) if backoffs else None,
        growth=gained / lasted if lasted > 0.0 else None,
        events=60.0 * len(steps) / (end_s - begin_s),
        srtt_ms=1e3 * float(trace.srtt_s[inside].mean()),
    )
