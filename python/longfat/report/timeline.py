"""The histories of a run as the page's data: panels over one axis of time, thinned to what a page can hold.

The script `timeline.js` draws them. Repeats become their mean with a 95 % confidence interval, and many flows
become quantiles, with each flow on request.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longfat.figure import style
from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.histories import NEAR_LIMIT, UNKNOWN, binned, round_bin
from longfat.figure.style import LIMIT_STROKE
from longfat.intervals import half_width_95

if TYPE_CHECKING:
    import pyarrow

Array = NDArray[np.float64]

MOST_NUMBERS = 16_000
"""Values of one panel in the page; a run with more is thinned to the least and greatest of each stretch."""
LEAST_POINTS = 300
"""Points of a line, however many lines a panel has."""
MOST_FLOWS = 200
"""Flows whose lines are in the page; the quantiles are those of all flows."""
FEW_FLOWS = 12
"""The most flows that are drawn as lines at first; more are drawn as quantiles."""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
MOST_LINKS = 12
"""Links with a panel: those with the longest queues."""
MOST_TICKS = 600
"""Places on the axis of time at which losses, drops and marks are counted."""
SHOWN_EVENTS = frozenset({"timeout", "recovered"})
"""Events of the log with ticks of their own; losses are counted without it too."""
DIGITS = 5
FILES = {"cwnd": "cwnd", "rtt": "rtt", "rate": "throughput", "queue": "queue", "capacity": "queue"}
FILES["internal"] = "internals"
"""The figures for papers by the kinds of panels."""
TITLES = {
    "cwnd": "Congestion window",
    "rtt": "Smoothed round-trip time",
    "throughput": "Throughput",
    "queue": "Queues",
    "internals": "Internals of the algorithms",
}
VARIES = 1e-9
"""A capacity whose extremes differ by more than this share varies."""


@dataclass(frozen=True)
class Grid:
    """A quantity over time: values[run, name, time], and NaN where there is none."""

    names: tuple[str, ...]
    times_s: Array
    values: Array

    def scaled(self, factor: float) -> Grid:
        """The same in another unit."""
        return Grid(self.names, self.times_s, self.values * factor)

    def means(self) -> Array:
        """The mean over the runs, [name, time]."""
        return _mean(self.values)

    def half_widths(self) -> Array | None:
        """Half of the 95 % confidence interval of the mean, [name, time]; None for a single run."""
        runs = self.values.shape[0]
        return None if runs < 2 else half_width_95(self.values)


def grid(table: pyarrow.Table, quantity: str, names: Sequence[str]) -> Grid:
    """Reads a quantity of a table in long form; runs are told apart by the column `seed`.

    Rows of a run whose times are not those of the first one are interpolated onto them.
    """
    import pyarrow.compute as pc

    seeds = table["seed"].unique().to_pylist() if "seed" in table.column_names else [None]
    keys = table["name"].cast("string")
    times: Array | None = None
    runs = []
    for seed in seeds:
        rows = []
        for name in names:
            chosen = pc.equal(keys, name)
            if seed is not None:
                chosen = pc.and_(chosen, pc.equal(table["seed"], seed))
            own = table.filter(chosen)
            time, value = (own[key].to_numpy().astype(float) for key in ("time_s", quantity))
            if times is None:
                times = time
            same = time.size == times.size and bool(np.all(time == times))
            rows.append(value if same else _onto(times, time, value))
        runs.append(rows)
    axis = np.empty(0) if times is None else times
    return Grid(tuple(names), axis, np.array(runs, dtype=float).reshape(len(seeds), len(names), axis.size))


def _onto(times: Array, own: Array, values: Array) -> Array:
    if own.size == 0:
        return np.full(times.size, np.nan)
    return np.interp(times, own, values, left=np.nan, right=np.nan)


def _mean(values: Array) -> Array:
    """The mean over the first axis of what is there; NaN where nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # nothing there
        mean: Array = np.nanmean(values, axis=0)
    return mean


def document(
    summary: Mapping[str, Any],
    flows: pyarrow.Table | None,
    links: pyarrow.Table | None,
    internals: pyarrow.Table | None = None,
    events: pyarrow.Table | None = None,
) -> dict[str, Any]:
    """Returns what `timeline.js` draws.

    Args:
        summary: one run's, or the first of repeats.
        flows: the series of the flows, in long form; None if the folder has none.
        links: those of the links.
        internals: what the algorithms said of themselves.
        events: the log of the flows.
    """
    span_s = float(summary["duration_s"])
    known = _present(summary["flows"], flows)
    panels: list[dict[str, Any]] = []
    if flows is not None and known:
        panels += _flow_panels(known, flows, events, span_s)
    if links is not None:
        panels += _link_panels(_present(summary["links"], links), links)
    if internals is not None:
        panels += _internal_panels(known, internals)
    runs = len(flows["seed"].unique()) if flows is not None and "seed" in flows.column_names else 1
    return {
        "span_s": span_s,
        "window_s": summary.get("window_s"),
        "runs": runs,
        "flows": _looks(known[:MOST_FLOWS]),
        "all_flows": len(known),
        "quantiles": len(known) > FEW_FLOWS,
        "panels": panels,
        "empty": _always_empty(summary["links"], links),
    }


def figures(data: Mapping[str, Any]) -> list[Figure]:
    """Returns the figures for papers of what the page draws: those of flows, links and internals.

    Args:
        data: what `document` returns.
    """
    found: dict[str, list[Panel]] = {}
    for panel in data["panels"]:
        if panel["series"]:
            found.setdefault(FILES[panel["key"].partition("-")[0]], []).append(_panel(panel, data))
    return [
        Figure(
            name,
            name,
            TITLES[name],
            "",
            tuple(replace(panel, title=panel.title if len(panels) > 1 else "") for panel in panels),
            columns=2 if name == "internals" else 1,
        )
        for name, panels in found.items()
    ]


def _panel(panel: Mapping[str, Any], data: Mapping[str, Any]) -> Panel:
    """A panel for papers: its lines with intervals, and the limit of a queue that comes near it."""
    rows = {(row["role"], row[panel["of"]]): _read(row["y"]) for row in panel["series"] if panel["of"] in row}
    times, span_s = tuple(panel["t"]), data["span_s"]
    met: dict[str, int] = {}
    curves = []
    for (role, number), values in rows.items():
        if role != "line":
            continue
        label, algorithm = panel["title"], None
        if panel["of"] == "flow":
            flow = data["flows"][number]
            label, algorithm = f"{flow['name']} ({flow['algorithm']})", flow["algorithm"]
        stroke = met[label if algorithm is None else algorithm] = met.get(algorithm or label, -1) + 1
        high = rows.get(("high", number))
        half = None if high is None else tuple((high - values).tolist())
        curves.append(Curve(label, times, tuple(values.tolist()), half, algorithm, "line", stroke))
    limit = panel.get("limit")
    if limit and any(y >= NEAR_LIMIT * limit for curve in curves for y in curve.y):
        curves.append(Curve("limit", (0.0, span_s), (limit, limit), None, None, "theory", LIMIT_STROKE))
    window_s = data["window_s"]
    return Panel(
        panel["title"],
        "time, s",
        f"{panel['short']}, {panel['unit']}" if panel["unit"] else panel["short"],
        tuple(curves),
        x_range=(0.0, span_s),
        marked=None if window_s in (None, [0.0, span_s]) else (window_s[0], window_s[1]),
    )


def _read(values: Sequence[float | None]) -> Array:
    return np.array([math.nan if value is None else value for value in values])


def _looks(flows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Names, algorithms, and colours on light and on dark pages."""
    met: dict[str, int] = {}
    found = []
    for flow in flows:
        algorithm = flow["algorithm"] or UNKNOWN
        number = met[algorithm] = met.get(algorithm, -1) + 1
        light = style.flow_colour(algorithm, number)
        colours = [light, style.on_dark(light)]
        found.append({"name": flow["name"], "algorithm": algorithm, "colours": colours})
    return found


def _present(entries: Iterable[Mapping[str, Any]], table: pyarrow.Table | None) -> list[Mapping[str, Any]]:
    names = set() if table is None else set(table["name"].cast("string").unique().to_pylist())
    return [entry for entry in entries if entry["name"] in names]


def _flow_panels(
    flows: Sequence[Mapping[str, Any]], table: pyarrow.Table, events: pyarrow.Table | None, span_s: float
) -> Iterator[dict[str, Any]]:
    names = [flow["name"] for flow in flows]
    held = set(table.column_names)
    losses = _ticks(grid(table, "packets_lost", names), "loss", "flow") if "packets_lost" in held else []
    cwnd = _begun(grid(table, "cwnd", names), flows)
    panel = _lines("cwnd", "Congestion window", "segments", cwnd, short="cwnd")
    if "ssthresh" in held and panel["series"]:
        panel["series"] += _thresholds(_begun(grid(table, "ssthresh", names), flows), cwnd, panel["t"])
    yield panel | {"ticks": [*losses, *(_logged(events, names) if events is not None else [])]}
    if "srtt_s" in held:
        rtt = _begun(grid(table, "srtt_s", names), flows).scaled(1e3)
        yield _lines("rtt", "Smoothed round-trip time", "ms", rtt, short="RTT") | {"from_zero": False}
    if "received_bytes" in held:
        counted = grid(table, "received_bytes", names)
        yield _lines("rate", "Throughput", "Mbit/s", _rates(counted, flows, span_s), short="throughput")


def _begun(series: Grid, flows: Sequence[Mapping[str, Any]]) -> Grid:
    """A quantity of flows, each from its start on."""
    starts = np.array([flow.get("start_s") or 0.0 for flow in flows])
    values = np.where(series.times_s >= starts[:, None], series.values, np.nan)
    return Grid(series.names, series.times_s, values)


def _rates(counted: Grid, flows: Sequence[Mapping[str, Any]], span_s: float) -> Grid:
    """The rates of byte counters in Mbit/s, as means over bins no shorter than a round trip."""
    periods = np.diff(counted.times_s)
    period_s = float(np.median(periods)) if periods.size else 0.0
    least_s = max([period_s, *(flow.get("rtt_s") or 0.0 for flow in flows)])
    bin_s = round_bin(span_s, least_s)
    runs = [
        [binned((counted.times_s.tolist(), own.tolist()), bin_s) for own in run] for run in counted.values
    ]
    times = np.asarray(runs[0][0][0], dtype=float)
    values = np.array([[rate for _, rate in run] for run in runs], dtype=float)
    return Grid(counted.names, times, values.reshape(len(runs), len(counted.names), times.size))


def _lines(
    key: str, title: str, unit: str, series: Grid, of: str = "flow", short: str = ""
) -> dict[str, Any]:
    """A panel with a line for each name; with intervals of repeats, and quantiles where names are many."""
    means, widths = series.means(), series.half_widths()
    rows: list[tuple[dict[str, Any], Array]] = []
    for number, mean in enumerate(means[:MOST_FLOWS]):
        if np.all(np.isnan(mean)):
            continue  # a source without such a quantity
        rows.append(({of: number, "role": "line"}, mean))
        if widths is not None and len(series.names) <= FEW_FLOWS:
            least = 0.0 if np.nanmin(mean) >= 0.0 else -np.inf  # no window or rate is below zero
            rows.append(({of: number, "role": "low"}, np.maximum(mean - widths[number], least)))
            rows.append(({of: number, "role": "high"}, mean + widths[number]))
    if of == "flow" and len(series.names) > FEW_FLOWS and rows:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # before the first start
            found = np.nanquantile(means, QUANTILES, axis=0)
        rows += [({"role": "quantile", "at": at}, row) for at, row in zip(QUANTILES, found, strict=True)]
    panel = {"key": key, "title": title, "short": short or title, "unit": unit, "of": of, "ticks": []}
    return panel | _thinned(series.times_s, rows)


def _thinned(times_s: Array, rows: Sequence[tuple[dict[str, Any], Array]]) -> dict[str, Any]:
    if not rows:
        return {"t": [], "series": []}
    values = np.array([row for _, row in rows])
    kept_s, kept = thin(times_s, values, max(LEAST_POINTS, MOST_NUMBERS // len(rows)))
    series = [head | {"y": _written(row)} for (head, _), row in zip(rows, kept, strict=True)]
    return {"t": _written(kept_s, 7), "series": series}


def thin(times_s: Array, rows: Array, most: int) -> tuple[Array, Array]:
    """Returns at most `most` points of each row: the least and the greatest of each stretch of time.

    Args:
        times_s: the times of the points, in order.
        rows: the values, [row, time].
        most: the number of points to keep.
    """
    size = times_s.size
    if size <= most:
        return times_s, rows
    stretch = math.ceil(2 * size / most)
    count = math.ceil(size / stretch)
    padded = np.full((rows.shape[0], count * stretch), np.nan)
    padded[:, :size] = rows
    cut = padded.reshape(rows.shape[0], count, stretch)
    low, high = np.where(np.isnan(cut), np.inf, cut), np.where(np.isnan(cut), -np.inf, cut)
    least, greatest = low.min(axis=2), high.max(axis=2)
    first = low.argmin(axis=2) <= high.argmax(axis=2)
    kept = np.empty((rows.shape[0], count, 2))
    kept[:, :, 0] = np.where(first, least, greatest)
    kept[:, :, 1] = np.where(first, greatest, least)
    kept[~np.isfinite(kept)] = np.nan
    begins = times_s[::stretch]
    ends = np.append(begins[1:], times_s[-1])
    places = np.stack([begins, 0.5 * (begins + ends)], axis=1).ravel()
    return places, kept.reshape(rows.shape[0], -1)


def _thresholds(ssthresh: Grid, cwnd: Grid, times: Sequence[float]) -> list[dict[str, Any]]:
    """The slow-start thresholds at the panel's times, for few flows; none where it is above every window."""
    if len(cwnd.names) > FEW_FLOWS:
        return []
    windows, limits = cwnd.means(), ssthresh.values[0]  # a mean of infinities says nothing
    found = []
    for number, (window, limit) in enumerate(zip(windows, limits, strict=True)):
        greatest = np.nanmax(window) if np.any(np.isfinite(window)) else 0.0
        shown = np.where(limit <= 2.0 * greatest, limit, np.nan)
        if np.any(np.isfinite(shown)):
            at = np.searchsorted(ssthresh.times_s, times, side="right") - 1
            found.append({"flow": number, "role": "ssthresh", "y": _written(shown[np.maximum(at, 0)])})
    return found


def _ticks(counters: Grid, label: str, of: str) -> list[dict[str, Any]]:
    """Where counters of the first run rise, and by how much, in stretches of the axis of time."""
    return [
        {of: number, "label": label, **_rises(counters.times_s, row)}
        for number, row in enumerate(counters.values[0][:MOST_FLOWS])
        if row.size and np.nanmax(row, initial=0.0) > 0.0
    ]


def _rises(times_s: Array, counter: Array) -> dict[str, Any]:
    rises = np.diff(np.nan_to_num(counter), prepend=0.0)
    stretch = max(1, math.ceil(times_s.size / MOST_TICKS))
    sums = np.add.reduceat(rises, np.arange(0, times_s.size, stretch))
    at = np.flatnonzero(sums > 0.0)
    return {"t": _written(times_s[::stretch][at], 7), "n": [int(n) for n in sums[at]]}


def _logged(events: pyarrow.Table, names: Sequence[str]) -> list[dict[str, Any]]:
    """The events of the first run by flow and kind."""
    import pyarrow.compute as pc

    if "seed" in events.column_names and events.num_rows:
        events = events.filter(pc.equal(events["seed"], events["seed"][0]))
    found: dict[tuple[str, str], list[float]] = {}
    columns = (events[key].to_pylist() for key in ("time_s", "name", "event"))
    for time, name, kind in zip(*columns, strict=True):
        found.setdefault((name, kind), []).append(time)
    numbers = {name: number for number, name in enumerate(names[:MOST_FLOWS])}
    return [
        {"flow": numbers[name], "label": kind, "t": _written(np.array(times[:MOST_TICKS]), 7)}
        for (name, kind), times in found.items()
        if name in numbers and kind in SHOWN_EVENTS
    ]


def _link_panels(links: Sequence[Mapping[str, Any]], table: pyarrow.Table) -> Iterator[dict[str, Any]]:
    names = [link["name"] for link in links]
    if not names:
        return
    queues = grid(table, "queue_packets", names)
    order = np.argsort(-np.nan_to_num(queues.means()).max(axis=1, initial=0.0), kind="stable")[:MOST_LINKS]
    counters = {
        label: grid(table, column, names)
        for label, column in (("drop", "packets_dropped"), ("mark", "packets_marked"))
        if column in table.column_names
    }
    capacities = grid(table, "capacity_bps", names) if "capacity_bps" in table.column_names else None
    for place in map(int, order):
        name, link = names[place], links[place]
        if not np.nan_to_num(queues.values[:, place]).any():
            continue  # never a packet
        own = Grid((name,), queues.times_s, queues.values[:, [place], :])
        panel = _lines(f"queue-{place}", f"Queue of {name}", "packets", own, "link")
        panel["ticks"] = [
            tick
            for label, counter in counters.items()
            for tick in _ticks(Grid((name,), counter.times_s, counter.values[:, [place], :]), label, "link")
        ]
        yield panel | {"limit": link.get("queue_limit_packets")}
        if capacities is not None:
            capacity = Grid((name,), capacities.times_s, capacities.values[:, [place], :] / 1e6)
            if _varies(capacity.values):
                yield _lines(f"capacity-{place}", f"Capacity of {name}", "Mbit/s", capacity, "link")


def _always_empty(entries: Iterable[Mapping[str, Any]], table: pyarrow.Table | None) -> list[str]:
    """The links in whose queue no sample found a packet; they have no panel."""
    names = [link["name"] for link in _present(entries, table)]
    if table is None or not names:
        return []
    filled = np.nan_to_num(grid(table, "queue_packets", names).values).max(axis=(0, 2), initial=0.0) > 0.0
    return [name for name, is_filled in zip(names, filled.tolist(), strict=True) if not is_filled]


def _varies(values: Array) -> bool:
    finite = values[np.isfinite(values)]
    return bool(finite.size and np.ptp(finite) > VARIES * np.max(finite))


def _internal_panels(flows: Sequence[Mapping[str, Any]], table: pyarrow.Table) -> Iterator[dict[str, Any]]:
    """A panel for each quantity that algorithms said of themselves, of the first run."""
    import pyarrow.compute as pc

    if "seed" in table.column_names and table.num_rows:
        table = table.filter(pc.equal(table["seed"], table["seed"][0])).drop_columns(["seed"])
    quantities = table["quantity"].cast("string")
    numbers = {flow["name"]: number for number, flow in enumerate(flows)}
    for position, quantity in enumerate(dict.fromkeys(quantities.unique().to_pylist())):
        rows = table.filter(pc.equal(quantities, quantity))
        present = set(rows["name"].cast("string").unique().to_pylist())
        names = [name for name in numbers if name in present]
        panel = _lines(f"internal-{position}", quantity, "", grid(rows, "value", names))
        for series in panel["series"]:
            if "flow" in series:
                series["flow"] = numbers[names[series["flow"]]]
        yield panel | {"from_zero": False}


def _written(values: Array | Sequence[float], digits: int = DIGITS) -> list[float | None]:
    """Values with this number of significant digits; None where there is none."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in map(float, values)]


def embedded(value: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
