"""Figures over time of a run, or of the mean of its repeats: what its page, papers and terminals draw.

Few flows are a line each. Many flows are their quantiles, and a page shows each of them on request.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from longfat.errors import InputError
from longfat.figure.data import Band, Curve, Figure, History, Ticks
from longfat.figure.style import LIMIT_STROKE
from longfat.intervals import half_width_95
from longfat.words import choice, shown

if TYPE_CHECKING:
    import pyarrow

Array = NDArray[np.float64]

TITLES = {
    "cwnd": "Congestion window",
    "rtt": "Smoothed round-trip time",
    "throughput": "Throughput",
    "queue": "Queues",
    "internals": "Internals of the algorithms",
}
"""The figures by their names."""
UNKNOWN = "?"
"""How figures name the algorithm of a flow of a capture that does not say it."""
FEW_FLOWS = 12
"""The most flows that are drawn as lines; more are drawn as quantiles."""
QUANTILES = ((0.05, 0.95), (0.25, 0.75))
MOST_FLOWS = 200
"""Flows that are among the details; the quantiles are those of all flows."""
MOST_LINKS = 12
"""Links whose queues a page draws: those with the longest ones."""
MOST_TICKS = 600
"""Places on the axis of time at which losses, drops and marks are shown."""
LEAST_POINTS = 300
"""Points of a line, however many lines a panel has."""
SHOWN_EVENTS = frozenset({"timeout", "recovered"})
"""Events of the log with ticks of their own; losses are counted without it too."""
NEAR_LIMIT = 0.2
"""A queue's limit is drawn when the queue fills this share of it; else the queue could not be seen."""
CAPACITY_STROKE = 2
VARIES = 1e-9
"""A capacity whose extremes differ by more than this share varies."""
MOST_RATE_BINS = 200
"""Bins of a history of rates; fewer where a bin would be shorter than a round trip or a sample."""


def figures(
    summary: Mapping[str, Any],
    tables: Mapping[str, pyarrow.Table | None],
    wanted: Iterable[str] = tuple(TITLES),
    *,
    most: int | None = None,
    most_links: int | None = None,
) -> list[Figure]:
    """Returns the figures of a run; those of quantities that it does not have are left out, or have no curve.

    Args:
        summary: one run's, or the first of repeats. Its flows and links are those that are drawn.
        tables: the series `flows`, `links` and `internals` in long form, and the log `events`, with a column
            `seed` for repeats. Losses, drops, internals and events are those of the first run.
        wanted: which figures; names of `TITLES`. Without others, that of queues also shows empty ones.
        most: the numbers in a panel; longer histories keep the least and the greatest of each stretch. All
            if None.
        most_links: how many links have their queue drawn, those with the longest ones; all if None. A caption
            notes that there are more.

    Raises:
        InputError: there is no such figure.
    """
    names = tuple(wanted)
    for name in names:
        if name not in TITLES:
            raise InputError(f"figure {shown(name)}: {choice(name, tuple(TITLES), what='figure')}")
    run = _Run(summary, tables, most)
    filled = run.longest(empty=names == ("queue",)) if "queue" in names else []
    queues = filled[:most_links]
    left_out = len(filled) - len(queues)
    captions = {"queue": f"The {len(queues)} longest of {len(filled)} queues."} if left_out else {}
    drawn = {
        "cwnd": run.cwnd,
        "rtt": run.rtt,
        "throughput": run.throughput,
        "queue": lambda: run.queues(queues),
        "internals": run.internals,
    }
    return [
        Figure(
            name, name, TITLES[name], captions.get(name, ""), panels, columns=2 if name == "internals" else 1
        )
        for name in names
        for panels in [tuple(drawn[name]())]
        if panels
    ]


def empty_queues(summary: Mapping[str, Any], links: pyarrow.Table | None) -> list[str]:
    """The links in whose queue no sample found a packet.

    Args:
        summary: as in `figures`.
        links: the series of the links, in long form.
    """
    series = _Series(links)
    names = [link["name"] for link in summary["links"] if link["name"] in series.names]
    filled = series.grid("queue_packets", names).greatest() > 0.0
    return [name for name, is_filled in zip(names, filled.tolist(), strict=True) if not is_filled]


@dataclass(frozen=True)
class _Grid:
    """A quantity over time: values[run, name, time], and NaN where there is none."""

    times_s: Array
    values: Array

    def scaled(self, factor: float) -> _Grid:
        return _Grid(self.times_s, self.values * factor)

    def means(self) -> Array:
        """The mean over the runs of what is there, [name, time]."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # nothing there
            mean: Array = np.nanmean(self.values, axis=0)
        return mean

    def greatest(self) -> Array:
        """The greatest value of each name, at least 0."""
        found: Array = np.nan_to_num(self.values).max(axis=(0, 2), initial=0.0)
        return found

    def only(self, place: int) -> _Grid:
        """One of the names."""
        return _Grid(self.times_s, self.values[:, [place]])


class _Series:
    """A table in long form; runs are told apart by the column `seed`."""

    def __init__(self, table: pyarrow.Table | None) -> None:
        self.columns = set() if table is None else set(table.column_names)
        self._table = table
        self._rows: dict[tuple[int, str], NDArray[np.intp]] = {}
        self.names: set[str] = set()
        self.runs = 1
        if table is None or not table.num_rows:
            return
        texts, places = _encoded(table["name"].cast("string"))
        self.names = set(texts)
        runs = np.zeros(table.num_rows, dtype=np.intp)
        if "seed" in self.columns:
            seeds, runs = _encoded(table["seed"])
            self.runs = len(seeds)
        both = runs * len(texts) + places
        order = np.argsort(both, kind="stable")
        ends = np.searchsorted(both[order], np.arange(self.runs * len(texts) + 1))
        for number in range(self.runs * len(texts)):
            run, place = divmod(number, len(texts))
            self._rows[run, texts[place]] = order[ends[number] : ends[number + 1]]

    def grid(self, quantity: str, names: Sequence[str]) -> _Grid:
        """A quantity of some names, whose times are those of the first one of the first run."""
        if self._table is None or not names or quantity not in self.columns:
            return _Grid(np.empty(0), np.empty((self.runs, len(names), 0)))
        times, values = (self._table[key].to_numpy().astype(float) for key in ("time_s", quantity))
        axis = times[self._rows[0, names[0]]]
        runs = [
            [_onto(axis, times[rows], values[rows]) for name in names for rows in [self._rows[run, name]]]
            for run in range(self.runs)
        ]
        return _Grid(axis, np.array(runs, dtype=float).reshape(self.runs, len(names), axis.size))


def _encoded(column: pyarrow.ChunkedArray) -> tuple[list[Any], NDArray[np.intp]]:
    """The different values of a column in their order, and the place among them of each row's."""
    encoded = column.combine_chunks().dictionary_encode()
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False).astype(np.intp)


def _onto(axis: Array, times: Array, values: Array) -> Array:
    """Values at the times of another run or flow."""
    if times.size == axis.size and np.all(times == axis):
        return values
    if times.size == 0:
        return np.full(axis.size, np.nan)
    return np.interp(axis, times, values, left=np.nan, right=np.nan)


class _Run:
    """The panels of a run."""

    def __init__(
        self, summary: Mapping[str, Any], tables: Mapping[str, pyarrow.Table | None], most: int | None
    ) -> None:
        self._flow_series, self._link_series = _Series(tables.get("flows")), _Series(tables.get("links"))
        self._internals, self._events = tables.get("internals"), tables.get("events")
        self._flows = [flow for flow in summary["flows"] if flow["name"] in self._flow_series.names]
        self._links = [link for link in summary["links"] if link["name"] in self._link_series.names]
        self._names = [flow["name"] for flow in self._flows]
        self._most = most
        self._span_s = float(summary["duration_s"])
        begin, end = summary.get("window_s") or (0.0, self._span_s)
        self._marked = None if begin <= 0.0 and end >= self._span_s else (begin, end)

    def cwnd(self) -> Iterator[History]:
        grid = self._begun("cwnd")
        losses = self._flow_series.grid("packets_lost", self._names)
        ticks = [*_ticks(losses, "loss", self._names), *_logged(self._events, self._names)]
        yield self._of_flows(grid, "", "cwnd, segments", ticks=ticks, thresholds=self._begun("ssthresh"))

    def rtt(self) -> Iterator[History]:
        yield self._of_flows(self._begun("srtt_s").scaled(1e3), "", "smoothed RTT, ms", from_zero=False)

    def throughput(self) -> Iterator[History]:
        """The gain of the counters of bytes, as means over bins no shorter than a round trip."""
        counted = self._flow_series.grid("received_bytes", self._names)
        periods = np.diff(counted.times_s)
        period_s = float(np.median(periods)) if periods.size else 0.0
        bin_s = round_bin(self._span_s, max([period_s, *(flow.get("rtt_s") or 0.0 for flow in self._flows)]))
        binned_runs = [[binned((counted.times_s, own), bin_s) for own in run] for run in counted.values]
        times = np.asarray(binned_runs[0][0][0] if self._flows else (), dtype=float)
        rates = np.array([[rate for _, rate in run] for run in binned_runs], dtype=float)
        shape = (len(binned_runs), len(self._names), times.size)
        yield self._of_flows(_Grid(times, rates.reshape(shape)), "", "throughput, Mbit/s")

    def longest(self, *, empty: bool) -> list[int]:
        """The places of the links, the longest queues first; of links without a packet only if `empty`."""
        greatest = self._link_series.grid("queue_packets", [link["name"] for link in self._links]).greatest()
        return [place for place in np.argsort(-greatest, kind="stable").tolist() if greatest[place] or empty]

    def queues(self, places: Sequence[int]) -> Iterator[History]:
        """A panel for the queue of each of these links, and for its capacity if that varies."""
        names = [link["name"] for link in self._links]
        queues = self._link_series.grid("queue_packets", names)
        capacities = self._link_series.grid("capacity_bps", names).scaled(1e-6)
        counters = {
            label: self._link_series.grid(column, names)
            for label, column in (("drop", "packets_dropped"), ("mark", "packets_marked"))
        }
        greatest = queues.greatest()
        for place in places:
            name, limit = names[place], self._links[place].get("queue_limit_packets")
            room = "" if limit is None else f", room for {limit:,.0f} packets"
            ticks = [
                tick for label, grid in counters.items() for tick in _ticks(grid.only(place), label, [""])
            ]
            curves = self._curves(queues.only(place), [Curve("queue", (), (), kind="line")], self._most)
            ends = (0.0, self._span_s)
            line = (limit, limit)
            bound = () if limit is None else (Curve("limit", ends, line, None, None, "theory", LIMIT_STROKE),)
            is_near = limit is not None and greatest[place] >= NEAR_LIMIT * limit
            yield self._panel(
                f"Queue of {name}{room}",
                "queue, packets",
                (*curves, *(bound if is_near else ())),
                details=() if is_near else bound,
                ticks=tuple(ticks),
                y_range=None if greatest[place] else (0.0, 1.0),  # an empty queue does not need a fine scale
            )
            if place < capacities.values.shape[1] and _varies(capacities.values[:, place]):
                look = Curve("capacity", (), (), kind="line", stroke=CAPACITY_STROKE)
                curves = self._curves(capacities.only(place), [look], self._most)
                yield self._panel(f"Capacity of {name}", "capacity, Mbit/s", curves)

    def internals(self) -> Iterator[History]:
        """A panel for each quantity that algorithms said of themselves."""
        if self._internals is None or not self._internals.num_rows:
            return
        import pyarrow.compute as pc

        table = _first_run(self._internals)
        quantities = table["quantity"].cast("string")
        for quantity in quantities.unique().to_pylist():
            series = _Series(table.filter(pc.equal(quantities, quantity)))
            flows = [flow for flow in self._flows if flow["name"] in series.names]
            grid = series.grid("value", [flow["name"] for flow in flows])
            yield self._of_flows(grid, quantity, quantity, from_zero=False, flows=flows)

    def _begun(self, quantity: str) -> _Grid:
        """A quantity of the flows, each from its start on."""
        series = self._flow_series.grid(quantity, self._names)
        starts = np.array([flow.get("start_s") or 0.0 for flow in self._flows])
        return _Grid(series.times_s, np.where(series.times_s >= starts[:, None], series.values, np.nan))

    def _panel(self, title: str, label: str, curves: Sequence[Curve], **more: Any) -> History:
        ends = (0.0, self._span_s)
        return History(title, "time, s", label, tuple(curves), x_range=ends, marked=self._marked, **more)

    def _of_flows(
        self,
        grid: _Grid,
        title: str,
        label: str,
        *,
        from_zero: bool = True,
        ticks: Sequence[Ticks] = (),
        thresholds: _Grid | None = None,
        flows: Sequence[Mapping[str, Any]] | None = None,
    ) -> History:
        """A panel with a line for each flow, or the quantiles of many, for whom the lines are details."""
        flows = self._flows if flows is None else flows
        looks = list(self._looks(flows))
        if len(flows) <= FEW_FLOWS:
            curves = self._curves(grid, looks, self._points(len(looks)))
            details = () if thresholds is None else tuple(_bounds(thresholds, grid, looks, curves))
        else:
            looks = looks[:MOST_FLOWS]
            points = self._points(len(looks) + 1 + 2 * len(QUANTILES))
            curves, details = self._quantiles(grid, points), self._curves(grid, looks, points)
        return self._panel(title, label, curves, details=details, ticks=tuple(ticks), from_zero=from_zero)

    def _looks(self, flows: Sequence[Mapping[str, Any]]) -> Iterator[Curve]:
        """A curve without values for each flow; flows of one algorithm differ in their stroke."""
        met = dict.fromkeys((flow["algorithm"] or UNKNOWN for flow in self._flows), -1)
        wanted = {flow["name"] for flow in flows}
        for flow in self._flows:
            name, algorithm = flow["name"], flow["algorithm"] or UNKNOWN
            met[algorithm] += 1
            if name in wanted:
                label = f"{name} ({algorithm})"
                yield Curve(label, (), (), None, algorithm, "line", met[algorithm], flow=name)

    def _curves(self, grid: _Grid, looks: Sequence[Curve], points: int | None) -> tuple[Curve, ...]:
        """A line for each of the first names, with the interval of repeats; none of one without a value."""
        means = grid.means()[: len(looks)]
        halves = half_width_95(grid.values[:, : len(looks)]) if len(grid.values) > 1 else None
        times, at = thin(grid.times_s, means, points)
        kept = np.take_along_axis(means, at, axis=1)
        widths = None if halves is None else np.take_along_axis(halves, at, axis=1)
        x = tuple(times.tolist())
        return tuple(
            replace(
                look,
                x=x,
                y=tuple(y.tolist()),
                error=None if widths is None else tuple(widths[number].tolist()),
            )
            for number, (look, y) in enumerate(zip(looks, kept, strict=True))
            if not np.all(np.isnan(y))
        )

    def _quantiles(self, grid: _Grid, points: int | None) -> tuple[Curve, ...]:
        means = grid.means()
        if np.all(np.isnan(means)):
            return ()  # a source without such a quantity
        shares = [0.5, *(share for ends in QUANTILES for share in ends)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # before the first start
            found = np.nanquantile(means, shares, axis=0)
        times, at = thin(grid.times_s, found, points)
        median, *ends = (tuple(row.tolist()) for row in np.take_along_axis(found, at, axis=1))
        bands = tuple(
            Band(f"{100 * low:.0f} % to {100 * high:.0f} %", ends[2 * i], ends[2 * i + 1])
            for i, (low, high) in enumerate(QUANTILES)
        )
        label = f"median of {len(means)} flows"
        return (Curve(label, tuple(times.tolist()), median, None, None, "line", LIMIT_STROKE, bands=bands),)

    def _points(self, rows: int) -> int | None:
        """The most points of a line in a panel with this many lines."""
        most = self._most
        return None if most is None else max(min(LEAST_POINTS, most), most // max(1, rows))


def thin(times_s: Array, rows: Array, most: int | None) -> tuple[Array, NDArray[np.intp]]:
    """Chooses at most `most` points of each row: the least and the greatest of each stretch of time.

    Args:
        times_s: the times of the points, in order.
        rows: the values, [row, time].
        most: the number of points to keep; all if None.

    Returns:
        The times at which the chosen points are drawn, and their places, [row, point].
    """
    size = times_s.size
    if most is None or size <= most:
        return times_s, np.broadcast_to(np.arange(size), rows.shape)
    stretch = math.ceil(2 * size / most)
    count = math.ceil(size / stretch)
    padded = np.full((rows.shape[0], count * stretch), np.nan)
    padded[:, :size] = rows
    cut = padded.reshape(rows.shape[0], count, stretch)
    least = np.where(np.isnan(cut), np.inf, cut).argmin(axis=2)
    greatest = np.where(np.isnan(cut), -np.inf, cut).argmax(axis=2)
    both = np.sort(np.stack([least, greatest], axis=2), axis=2)
    places = both + stretch * np.arange(count)[:, None]
    begins = times_s[::stretch]
    ends = np.append(begins[1:], times_s[-1])
    drawn_s = np.stack([begins, 0.5 * (begins + ends)], axis=1).ravel()
    return drawn_s, places.reshape(rows.shape[0], -1)


def round_bin(span_s: float, least_s: float) -> float:
    """Returns a round bin width that gives up to `MOST_RATE_BINS` bins, none shorter than `least_s`."""
    wanted = max(span_s / MOST_RATE_BINS, least_s)
    power = 10.0 ** math.floor(math.log10(wanted)) if wanted > 0.0 else 1.0
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1.0 - 1e-9))


def binned(
    history: tuple[Sequence[float] | Array, Sequence[float] | Array], bin_s: float
) -> tuple[Sequence[float], Sequence[float]]:
    """Returns the rate in Mbit/s of a byte counter over time, at the middle of each full bin."""
    time, counted = (np.asarray(column, dtype=np.float64) for column in history)
    if time.size < 2:
        return (), ()
    edges = bin_s * np.arange(math.floor(time[0] / bin_s), math.floor(time[-1] / bin_s + 1e-6) + 1)
    rates = np.diff(np.interp(edges, time, counted)) * 8e-6 / bin_s
    return (0.5 * (edges[:-1] + edges[1:])).tolist(), rates.tolist()


def _bounds(
    thresholds: _Grid, windows: _Grid, looks: Sequence[Curve], curves: Sequence[Curve]
) -> Iterator[Curve]:
    """The slow-start thresholds of the first run; none where one is above twice every window."""
    if not curves or not thresholds.times_s.size:
        return
    times = curves[0].x
    at = np.maximum(np.searchsorted(thresholds.times_s, times, side="right") - 1, 0)
    limits = thresholds.values[0]  # a mean of infinities says nothing
    for look, window, limit in zip(looks, windows.means(), limits, strict=True):
        greatest = np.nanmax(window) if np.any(np.isfinite(window)) else 0.0
        shown = np.where(limit <= 2.0 * greatest, limit, np.nan)
        if np.any(np.isfinite(shown)):
            y = tuple(shown[at].tolist())
            label = f"{look.flow}, ssthresh"
            yield Curve(label, times, y, None, look.algorithm, "theory", look.stroke, flow=look.flow)


def _ticks(counters: _Grid, label: str, flows: Sequence[str]) -> list[Ticks]:
    """Where counters of the first run rise, in stretches of the axis of time."""
    times = counters.times_s
    if not times.size:
        return []
    stretch = max(1, math.ceil(times.size / MOST_TICKS))
    found = []
    for flow, counter in zip(flows[:MOST_FLOWS], counters.values[0], strict=False):
        rises = np.diff(np.nan_to_num(counter), prepend=0.0)
        sums = np.add.reduceat(rises, np.arange(0, times.size, stretch))
        at = tuple(times[::stretch][sums > 0.0].tolist())
        if at:
            found.append(Ticks(label, at, flow))
    return found


def _logged(events: pyarrow.Table | None, names: Sequence[str]) -> list[Ticks]:
    """The events of the first run by flow and kind."""
    if events is None or not events.num_rows:
        return []
    found: dict[tuple[str, str], list[float]] = {}
    columns = (_first_run(events)[key].to_pylist() for key in ("time_s", "name", "event"))
    for time, name, kind in zip(*columns, strict=True):
        found.setdefault((name, kind), []).append(time)
    known = set(names[:MOST_FLOWS])
    return [
        Ticks(kind, tuple(times[:MOST_TICKS]), name)
        for (name, kind), times in found.items()
        if name in known and kind in SHOWN_EVENTS
    ]


def _first_run(table: pyarrow.Table) -> pyarrow.Table:
    import pyarrow.compute as pc

    if "seed" not in table.column_names:
        return table
    return table.filter(pc.equal(table["seed"], table["seed"][0])).drop_columns(["seed"])


def _varies(values: Array) -> bool:
    finite = values[np.isfinite(values)]
    return bool(finite.size and np.ptp(finite) > VARIES * np.max(finite))
