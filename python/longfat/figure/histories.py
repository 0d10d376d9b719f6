"""Figures of one run: cwnd and throughput of its flows, queues of its links, over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.style import LIMIT_STROKE

History = tuple[Sequence[float], Sequence[float]]
"""Times in seconds and values."""
NEAR_LIMIT = 0.2
"""A queue's limit is drawn when the queue fills this share of it; else the queue could not be seen."""
MOST_RATE_BINS = 200
"""Bins of a history of rates; fewer where a bin would be shorter than a round trip or a sample."""


def cwnd_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    title: str = "Congestion window",
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's flows with their histories of cwnd; a flow is drawn from its start on.

    Args:
        flows: of a summary.
        histories: of cwnd, segments, by the flows' names.
        span_s: length of the run.
        title: of the figure.
        window_s: what a summary's figures are restricted to; marked unless it is the whole run.
    """
    panel = _flows_panel("cwnd, segments", flows, histories, span_s, window_s)
    return Figure("cwnd", "cwnd", title, _marking(panel), (panel,), columns=1)


def rate_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's flows with their throughput: means over bins of their counters' gain.

    Args:
        flows: of a summary.
        histories: of the bytes of IP that have reached the receivers, by the flows' names.
        span_s: length of the run.
        window_s: as of `cwnd_figure`.
    """
    known = list(flows)
    times = next(iter(histories.values()), ((), ()))[0]
    period_s = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    least_s = max([period_s, *(flow["rtt_s"] for flow in known if flow.get("rtt_s"))])
    bin_s = _round_bin(span_s, least_s)
    rates = {name: _binned(history, bin_s) for name, history in histories.items()}
    panel = _flows_panel("throughput, Mbit/s", known, rates, span_s, window_s)
    caption = f"Of IP that reached the receivers; means over {bin_s:g} s. {_marking(panel)}".strip()
    return Figure("throughput", "throughput", "Throughput", caption, (panel,), columns=1)


def queue_figure(
    links: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's links with their histories of the queue, and its limit where that is near.

    Args:
        links: of a summary.
        histories: of the queue, packets, by the links' names.
        span_s: length of the run.
        window_s: as of `cwnd_figure`.
    """
    panels = []
    marked = _marked(span_s, window_s)
    for position, link in enumerate(links):
        time, queue = histories[link["name"]]
        curves = [Curve(link["name"], tuple(time), tuple(queue), None, None, "line", position)]
        limit = link.get("queue_limit_packets")
        title = link["name"] if limit is None else f"{link['name']}, room for {limit:,.0f} packets"
        if limit is not None and max(queue, default=0.0) >= NEAR_LIMIT * limit:
            curves.append(Curve("limit", (0.0, span_s), (limit, limit), None, None, "theory", LIMIT_STROKE))
        # an empty queue needs no fine scale
        y_range = None if max(queue, default=0.0) > 0.0 else (0.0, 1.0)
        panel = Panel(title, "time, s", "packets", tuple(curves), x_range=(0.0, span_s), y_range=y_range)
        panels.append(replace(panel, marked=marked))
    caption = _marking(panels[0]) if panels else ""
    return Figure("queue", "queue", "Queues", caption, tuple(panels), columns=1)


def _round_bin(span_s: float, least_s: float) -> float:
    """A round width that gives a run up to `MOST_RATE_BINS`, none of them shorter than `least_s`."""
    wanted = max(span_s / MOST_RATE_BINS, least_s)
    power = 10.0 ** math.floor(math.log10(wanted)) if wanted > 0.0 else 1.0
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1.0 - 1e-9))


def _binned(history: History, bin_s: float) -> History:
    """The rate in Mbit/s of a counter of bytes, in the middle of each whole bin."""
    import numpy as np

    time, counted = (np.asarray(column, dtype=np.float64) for column in history)
    if time.size < 2:
        return (), ()
    edges = bin_s * np.arange(math.floor(time[0] / bin_s), math.floor(time[-1] / bin_s + 1e-6) + 1)
    rates = np.diff(np.interp(edges, time, counted)) * 8e-6 / bin_s
    return (0.5 * (edges[:-1] + edges[1:])).tolist(), rates.tolist()


def _flows_panel(
    label: str,
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    window_s: Sequence[float] | None,
) -> Panel:
    curves = []
    met: dict[str, int] = {}
    for flow in flows:
        name, algorithm, start_s = flow["name"], flow["algorithm"], flow.get("start_s") or 0.0
        met[algorithm] = met.get(algorithm, -1) + 1
        time, values = histories[name]
        if all(map(math.isnan, values)):
            continue  # a source without a window
        begun = tuple(y if x >= start_s else math.nan for x, y in zip(time, values, strict=True))
        curves.append(
            Curve(f"{name} ({algorithm})", tuple(time), begun, None, algorithm, "line", met[algorithm])
        )
    marked = _marked(span_s, window_s)
    return Panel("", "time, s", label, tuple(curves), x_range=(0.0, span_s), marked=marked)


def _marked(span_s: float, window_s: Sequence[float] | None) -> tuple[float, float] | None:
    """The window of the figures, unless it is the whole run."""
    if window_s is None or (window_s[0] <= 0.0 and window_s[1] >= span_s):
        return None
    return window_s[0], window_s[1]


def _marking(panel: Panel) -> str:
    """What a caption says of the mark."""
    return (
        f"Shaded: what the tables are of, {panel.marked[0]:g} s to {panel.marked[1]:g} s."
        if panel.marked
        else ""
    )
