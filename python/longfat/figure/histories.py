"""Figures of one run: cwnd, throughput and internals of its flows, queues of its links, over time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.style import LIMIT_STROKE

History = tuple[Sequence[float], Sequence[float]]
"""Times in seconds and values."""
UNKNOWN = "?"
"""How figures name the algorithm of a flow of a capture that does not say it."""
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
    """Returns the figure of the flows' cwnd; each flow is drawn from its start.

    Args:
        flows: the flows of a summary.
        histories: cwnd in segments, by flow name.
        span_s: duration of the run.
        title: the figure's title.
        window_s: the span that the results are restricted to; shaded unless it is the whole run.
    """
    panel = _flows_panel("cwnd, segments", flows, histories, span_s, window_s)
    return Figure("cwnd", "cwnd", title, _marking(panel), (panel,), columns=1)


def rtt_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """Returns the figure of the flows' smoothed round-trip times.

    Args:
        flows: the flows of a summary.
        histories: smoothed round-trip times in s, NaN before the first sample, by flow name.
        span_s: duration of the run.
        window_s: as for `cwnd_figure`.
    """
    in_ms = {name: (times, [1e3 * value for value in values]) for name, (times, values) in histories.items()}
    panel = _flows_panel("smoothed RTT, ms", flows, in_ms, span_s, window_s)
    return Figure("rtt", "rtt", "Smoothed round-trip time", _marking(panel), (panel,), columns=1)


def rate_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """Returns the figure of the flows' throughput, as means over bins.

    Args:
        flows: the flows of a summary.
        histories: IP bytes that reached the receiver so far, by flow name.
        span_s: duration of the run.
        window_s: as for `cwnd_figure`.
    """
    known = list(flows)
    times = next(iter(histories.values()), ((), ()))[0]
    period_s = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    least_s = max([period_s, *(flow["rtt_s"] for flow in known if flow.get("rtt_s"))])
    bin_s = round_bin(span_s, least_s)
    rates = {name: binned(history, bin_s) for name, history in histories.items()}
    panel = _flows_panel("throughput, Mbit/s", known, rates, span_s, window_s)
    caption = f"IP bytes that reach the receivers; means over {bin_s:g} s. {_marking(panel)}".strip()
    return Figure("throughput", "throughput", "Throughput", caption, (panel,), columns=1)


def queue_figure(
    links: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """Returns the figure of the links' queues, with the limit where a queue comes near it.

    Args:
        links: the links of a summary.
        histories: the queue in packets, by link name.
        span_s: duration of the run.
        window_s: as for `cwnd_figure`.
    """
    panels = []
    marked = _marked(span_s, window_s)
    for position, link in enumerate(links):
        time, queue = histories[link["name"]]
        curves = [Curve(link["name"], tuple(time), tuple(queue), None, None, "line", position)]
        limit = link.get("queue_limit_packets")
        title = f"Queue of {link['name']}"
        title += "" if limit is None else f", room for {limit:,.0f} packets"
        if limit is not None and max(queue, default=0.0) >= NEAR_LIMIT * limit:
            curves.append(Curve("limit", (0.0, span_s), (limit, limit), None, None, "theory", LIMIT_STROKE))
        # an empty queue does not need a fine scale
        y_range = None if max(queue, default=0.0) > 0.0 else (0.0, 1.0)
        panel = Panel(title, "time, s", "packets", tuple(curves), x_range=(0.0, span_s), y_range=y_range)
        panels.append(replace(panel, marked=marked))
    caption = _marking(panels[0]) if panels else ""
    return Figure("queue", "queue", "Queues", caption, tuple(panels), columns=1)


def round_bin(span_s: float, least_s: float) -> float:
    """Returns a round bin width that gives up to `MOST_RATE_BINS` bins, none shorter than `least_s`."""
    wanted = max(span_s / MOST_RATE_BINS, least_s)
    power = 10.0 ** math.floor(math.log10(wanted)) if wanted > 0.0 else 1.0
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1.0 - 1e-9))


def binned(history: History, bin_s: float) -> History:
    """Returns the rate in Mbit/s of a byte counter, at the middle of each full bin."""
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
        name, algorithm, start_s = flow["name"], flow["algorithm"] or UNKNOWN, flow.get("start_s") or 0.0
        met[algorithm] = met.get(algorithm, -1) + 1
        time, values = histories[name]
        if all(map(math.isnan, values)):
            continue  # a source without a cwnd
        begun = tuple(y if x >= start_s else math.nan for x, y in zip(time, values, strict=True))
        curves.append(
            Curve(f"{name} ({algorithm})", tuple(time), begun, None, algorithm, "line", met[algorithm])
        )
    marked = _marked(span_s, window_s)
    return Panel("", "time, s", label, tuple(curves), x_range=(0.0, span_s), marked=marked)


def _marked(span_s: float, window_s: Sequence[float] | None) -> tuple[float, float] | None:
    """The span of the results, or None if it is the whole run."""
    if window_s is None or (window_s[0] <= 0.0 and window_s[1] >= span_s):
        return None
    return window_s[0], window_s[1]


def _marking(panel: Panel) -> str:
    """The sentence about the shaded span in a caption."""
    return (
        f"Shaded: the span of the tables, {panel.marked[0]:g} s to {panel.marked[1]:g} s."
        if panel.marked
        else ""
    )
