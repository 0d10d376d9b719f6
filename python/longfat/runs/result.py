"""The result of a run: the summary that scripts depend on, and series that stay in the core's bytes."""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import _core, extras
from longfat.errors import InputError
from longfat.lazy import Module, above
from longfat.numbers import finite
from longfat.runs import metrics, observations, parts
from longfat.scenario.model import Scenario
from longfat.units import TIME
from longfat.words import choice, shown

if TYPE_CHECKING:
    import numpy as np
    import pandas
    import polars
    import pyarrow
    from numpy.typing import NDArray

    from longfat.figure.data import Figure
else:
    np = Module("numpy")

TABLES = ("flows", "links", "internals", "events", "transfers")
"""The tables of a result."""
TRANSFERS = {"duration_s": "completion_time_s", "delivery_s": "delivery_time_s"}
"""The times of a transfer by their names in the core; they have the same names as those of a flow."""
Columns = Mapping[str, bytes]

REACHED = 0.05
"""A load is reached if the throughput differs from it by no more than this share."""
COV_SPAN_S = 1.0
"""The coefficient of variation is that of mean rates over spans of this length."""


class Result:
    """The result of one run. It pickles as the core's bytes, and makes tables when they are asked for.

    Attributes:
        scenario: what was run; `scenario.filled()` has every default written out.
        wall_s: the seconds that the core took.
    """

    def __init__(self, scenario: Scenario, output: Mapping[str, Any], wall_s: float) -> None:
        self.scenario = scenario
        self.wall_s = wall_s
        self._output = output

    def __getstate__(self) -> dict[str, Any]:
        return {"scenario": self.scenario, "wall_s": self.wall_s, "_output": self._output}

    def __repr__(self) -> str:
        flows = len(self._output["flows"])
        of = f" of {self.scenario.title!r}" if self.scenario.title else ""
        number = f"{flows} flow{'' if flows == 1 else 's'}"
        return f"<Result{of}: {number}, {TIME.write(self.scenario.duration)}, seed {self.scenario.seed}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: flows, metrics, and small plots."""
        return str(above("views.result_html")(self))

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `longfat run --json` prints: rates in bit/s, times in s, None where undefined."""
        core = self._output["summary"]
        summary = {
            "backend": "sim" if self.validity is None else "live",
            "version": _core.version(),
            "seed": self.scenario.seed,
            "duration_s": self.scenario.duration,
            "window_s": list(self.scenario.metrics_window_s()),
            "flows": core["flows"],
            "links": self._links(core["links"]),
            "background": [
                entry | {"load_bps": asked, "load_reached": asked and entry["throughput_bps"] / asked}
                for entry, asked in zip(core["background"], self._asked_bps(), strict=True)
            ],
            "completion_times": self._completion_times(core),
            "metrics": self._metrics(core),
            "notes": [
                *self.scenario.notes(),
                *self._misleading_rtts(),
                *observations.notes(core["flows"], self.scenario.metrics_window_s()),
                *self._output.get("changes", ()),
            ],
            "performance": {
                "wall_s": self.wall_s,
                "packets_per_s": core["packets"] / self.wall_s if self.wall_s > 0.0 else None,
                **self._machinery(core),
            },
        }
        if self.validity is not None:
            summary["validity"] = self.validity
        if self._output.get("programs"):
            ran = self._output["programs"]
            summary["programs"] = ran["programs"]
            summary["connections"] = [_flat(row) for row in ran["connections"]]
        if "messages" in core:
            summary["messages"] = core["messages"]
        summary |= {name: self._output[name] for name in ("capture", "qlog") if name in self._output}
        named: dict[str, Any] = finite(summary)
        for flow, part in zip(named["flows"], self._custom_names(), strict=True):
            flow["algorithm"] = part or flow["algorithm"]
        return named

    def _machinery(self, core: dict[str, Any]) -> dict[str, Any]:
        """The simulator's driver, and the server of each link, by its name; nothing for a live run."""
        if self.validity is not None:
            return {}
        names = (link["name"] for link in core["links"])
        return {"driver": core["driver"], "servers": dict(zip(names, core["servers"], strict=True))}

    def _links(self, links: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The links with the names of their queue and router, as flows have that of their algorithm."""
        named = {
            part["name"]: {
                "queue": part["queue"]["kind"],
                "router": part["router"] and part["router"]["kind"],
            }
            for part in self.scenario.plan["links"]
        }
        return [link | named[link["name"]] for link in links]

    @functools.cached_property
    def validity(self) -> dict[str, Any] | None:
        """For a live run, whether it is valid, with the checks, sysctls and more (docs/live.md)."""
        validity: dict[str, Any] | None = self._output.get("validity")
        return validity

    def _misleading_rtts(self) -> list[str]:
        """A line for each algorithm in Python that reads round-trip times with a receiver's waits in them."""
        readers = set(self._output.get("reads_rtt", ()))
        return [
            f"flow {name} reads ack.rtt_s, which includes the receiver's wait before a delayed ACK, "
            f'up to {TIME.write(keys.delayed_ack_timeout)}; rtt_samples = "last" leaves the wait out'
            for name, keys in self.scenario.flow_parts().items()
            if name in readers and keys.delayed_ack and keys.rtt_samples == "echoed"
        ]

    def _custom_names(self) -> list[str | None]:
        """The name of a user's own algorithm for each flow, without its folder; None for all others."""
        specs = [part.algorithm for part in self.scenario.flow_parts().values()]
        names = [None if spec.listed else Path(spec.name).name for spec in specs]
        return [name and name.removeprefix("unknown.py:").removeprefix("<stdin>:") for name in names]

    def _asked_bps(self) -> list[float | None]:
        """The load that each background of the plan asks for, as a mean over the window."""
        scenario, loads = self.scenario, self.scenario.network().asked_bps
        begin, end = scenario.metrics_window_s()
        found: list[float | None] = []
        for part, asked in zip(scenario.background, loads, strict=True):
            until = end if part.stop is None else min(max(part.stop, begin), end)
            share = (until - begin) / (end - begin)
            found += [asked * share if asked and share else None] * (2 if part.direction == "both" else 1)
        return found

    def _completion_times(self, core: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Completion times by background and size, for transfers that began in the window."""
        if not any(self._output["transfers"].values()):
            return []
        begin, end = self.scenario.metrics_window_s()
        columns = {key: np.frombuffer(data, dtype="<f8") for key, data in self._output["transfers"].items()}
        within = (columns["start_s"] >= begin) & (columns["start_s"] <= end)
        found = []
        for i, entry in enumerate(core["background"]):
            own = within & (columns["group"] == i)
            rows = metrics.completion_times(
                *(columns[key][own] for key in ("duration_s", "bytes", "delivery_s"))
            )
            found += [{"background": entry["name"]} | row for row in rows]
        return found

    def _metrics(self, core: Mapping[str, Any]) -> dict[str, float | None]:
        """Metrics of the flows together: fairness over all, convergence of the one that starts last."""
        flows = core["flows"]
        # a flow that did not run within the window has no rate
        rates = [flow["throughput_bps"] for flow in flows if flow["throughput_bps"] is not None]
        convergence_s = convergence_80_s = None
        if flows:
            first = min(flows, key=lambda flow: flow["start_s"])
            last = max(flows, key=lambda flow: flow["start_s"])
            time, delivered = self._seen(last["name"])
            convergence_s = metrics.convergence_time_s(time, delivered, last["start_s"], last["rtt_s"])
            if last["start_s"] > first["start_s"]:
                convergence_80_s = metrics.convergence_80_s(
                    time, self._seen(first["name"])[1], delivered, last["start_s"], last["rtt_s"]
                )
        variations = [self._variation(flow["name"], flow["start_s"]) for flow in flows]
        link = core["links"][0]
        if self.scenario.link:  # no key says which one is the bottleneck
            link = max(core["links"], key=lambda link: link["utilization"] or 0.0)
        used_bps = math.nan if link["utilization"] is None else link["utilization"] * link["rate_bps"]
        return {
            "jain": metrics.jain(rates),
            "throughput_ratio": metrics.throughput_ratio(rates),
            "convergence_time_s": convergence_s,
            "convergence_80_s": convergence_80_s,
            "cov": metrics.mean(variations) if variations else None,
            "inefficiency": metrics.inefficiency(link["rate_bps"], used_bps),
        }

    def _seen(self, name: str) -> tuple[bytes, bytes]:
        """The times of a flow and what it had delivered by then, up to the end of the window."""
        series = self._output["flows"][name]
        end = self.scenario.metrics_window_s()[1]
        seen = 8 * bisect_right(memoryview(series["time_s"]).cast("d"), end)
        return series["time_s"][:seen], series["delivered_bytes"][:seen]

    def _variation(self, name: str, start_s: float) -> float:
        """The coefficient of variation of a flow's rate within the window, from its start on."""
        series = self._output["flows"][name]
        begin, end = self.scenario.metrics_window_s()
        window_s = max(begin, start_s), end
        return metrics.rate_variation(series["time_s"], series["delivered_bytes"], window_s, COV_SPAN_S)

    @functools.cached_property
    def metrics(self) -> parts.Metrics:
        """The metrics of the flows together as attributes, such as `result.metrics.jain`."""
        return parts.Metrics(self.summary["metrics"])

    def flow(self, name: str | int) -> parts.FlowResult:
        """Returns a flow: `result.flow("1").throughput_bps` is a value, `result.flow("1")["cwnd"]` a series.

        Raises:
            InputError: there is no flow of this name; the message lists those that there are.
        """
        found: parts.FlowResult = parts.named(self, "flows", name, self._output["flows"])
        return found

    def link(self, name: str) -> parts.LinkResult:
        """Returns a link: `link.utilization` is a value, `link["queue_packets"]` a series.

        Raises:
            InputError: there is no link of this name; the message lists those that there are.
        """
        found: parts.LinkResult = parts.named(self, "links", name, self._output["links"])
        return found

    @functools.cached_property
    def flows(self) -> pyarrow.Table:
        """The series of all flows in long form, with the columns time_s, name and the quantities."""
        return _long(self._output["flows"])

    @functools.cached_property
    def links(self) -> pyarrow.Table:
        """The series of all links in long form, with the columns time_s, name and the quantities."""
        return _long(self._output["links"])

    @property
    def has_internals(self) -> bool:
        """Whether an algorithm has said something of itself, by `record` or because the scenario asks."""
        return bool(self._output.get("internals"))

    @functools.cached_property
    def internals(self) -> pyarrow.Table:
        """What the flows' algorithms knew of themselves, with the columns time_s, name, quantity, value.

        Empty unless `sample.internals` is set; an algorithm in Python is asked in any case. The name of a
        quantity ends in its unit.
        """
        import pyarrow

        tables = [
            table.set_column(1, "quantity", table["name"]).add_column(
                1, "name", pyarrow.array([flow] * table.num_rows, pyarrow.string()).dictionary_encode()
            )
            for flow, quantities in self._output.get("internals", {}).items()
            for table in [_long(quantities)]
        ]
        if not tables:
            names = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
            number = pyarrow.float64()
            columns = [("time_s", number), ("name", names), ("quantity", names), ("value", number)]
            return pyarrow.schema(columns).empty_table()
        return pyarrow.concat_tables(tables).unify_dictionaries()

    @functools.cached_property
    def transfers(self) -> pyarrow.Table:
        """Every background connection that completed, with name, start_s, bytes, and the times that it took.

        completion_time_s is until the last ACK, delivery_time_s until the receiver had its last byte.
        """
        import pyarrow

        columns = {key: np.frombuffer(data, dtype="<f8") for key, data in self._output["transfers"].items()}
        names = [entry["name"] for entry in self.summary["background"]]
        name = _named(columns.pop("group", np.empty(0)).astype(np.int32), _texts(names))
        numbers = {TRANSFERS.get(key, key): _numbers(column) for key, column in columns.items()}
        return pyarrow.table({"name": name, **numbers})

    @functools.cached_property
    def events(self) -> pyarrow.Table:
        """The flows' log, if `sample.events` is set; columns are time_s, name, event, cwnd in segments."""
        import pyarrow

        log = self._output["events"]
        texts = pyarrow.array(log["texts"], pyarrow.string())
        columns = {
            key: texts.take(pyarrow.array(np.frombuffer(log[key], dtype="<i4")))
            if key in ("name", "event")
            else pyarrow.array(np.frombuffer(log[key], dtype="<f8"))
            for key in ("time_s", "name", "event", "cwnd")
        }
        return pyarrow.table(columns)

    def to_pandas(self, table: str = "flows") -> pandas.DataFrame:
        """`flows`, `links`, `internals`, `transfers` or `events` as a pandas frame.

        Raises:
            InputError: there is no such table, or pandas is not installed.
        """
        return extras.to_pandas(self._table(table))

    def to_polars(self, table: str = "flows") -> polars.DataFrame:
        """`flows`, `links`, `internals`, `transfers` or `events` as a polars frame.

        Raises:
            InputError: there is no such table, or polars is not installed.
        """
        return extras.to_polars(self._table(table))

    def _table(self, name: str) -> pyarrow.Table:
        if name not in TABLES:
            raise InputError(f"table {shown(name)}: {choice(name, TABLES, what='table')}")
        return getattr(self, name)

    def save(self, folder: Path | str) -> Path:
        """Writes what `longfat run --out` writes into a folder, and returns its path.

        Raises:
            InputError: the folder cannot be written, or holds something else.
        """
        path: Path = above("views.save")(self, folder)
        return path

    def report(self, folder: Path | str) -> Path:
        """Writes the run into a folder with its page, as `longfat report` does; returns the page's path.

        Raises:
            InputError: as `save`.
        """
        path: Path = above("views.report")(self, folder)
        return path

    def figures(
        self,
        wanted: Sequence[str] = ("cwnd", "rtt", "throughput", "queue", "internals"),
        *,
        names: Sequence[str] | None = None,
        most: int | None = None,
        most_links: int | None = None,
    ) -> list[Figure]:
        """Returns the figures over time as data, which the page, `plot` and the terminal draw.

        Args:
            wanted: which figures: of flows "cwnd", "rtt", "throughput" and "internals", of links "queue".
            names: the flows to show (of "queue" alone, the links); all if None.
            most: the numbers in a panel; longer histories keep the least and the greatest of each stretch.
                All if None.
            most_links: how many links have their queue drawn, the longest ones; all if None.

        Raises:
            InputError: there is no such figure, or a name is of no flow (of no link, for "queue" alone).
        """
        from longfat.figure import histories

        key = "links" if tuple(wanted) == ("queue",) else "flows"
        kept = _wanted(names, [entry["name"] for entry in self.summary[key]], key[:-1])
        summary = self.summary
        if kept is not None:
            summary = {**summary, key: [entry for entry in summary[key] if entry["name"] in kept]}
        tables = {"flows": self.flows, "links": self.links, "events": self.events}
        if self.has_internals:
            tables["internals"] = self.internals
        return histories.figures(summary, tables, wanted, most=most, most_links=most_links)

    def plot(self, *, names: Sequence[str] | None = None, interactive: bool = False) -> Any:
        """Draws cwnd, RTT, throughput and queues over time.

        Args:
            names: the flows to show; all if None. More than 12 are shown as their quantiles.
            interactive: whether to return panels for a notebook that zoom together and show values at the
                pointer, in place of a matplotlib figure.

        Raises:
            InputError: a name is of no flow (of no link, for `plot_queue`).
        """
        return self._drawn(("cwnd", "rtt", "throughput", "queue"), names, interactive)

    def plot_cwnd(self, *, names: Sequence[str] | None = None, interactive: bool = False) -> Any:
        """Draws the congestion windows over time; arguments as those of `plot`."""
        return self._drawn(("cwnd",), names, interactive)

    def plot_rtt(self, *, names: Sequence[str] | None = None, interactive: bool = False) -> Any:
        """Draws the smoothed round-trip times over time; arguments as those of `plot`."""
        return self._drawn(("rtt",), names, interactive)

    def plot_throughput(self, *, names: Sequence[str] | None = None, interactive: bool = False) -> Any:
        """Draws the flows' throughput over time; arguments as those of `plot`."""
        return self._drawn(("throughput",), names, interactive)

    def plot_queue(self, *, names: Sequence[str] | None = None, interactive: bool = False) -> Any:
        """Draws the links' queues over time, or those of the links named; otherwise as `plot`."""
        return self._drawn(("queue",), names, interactive)

    def _drawn(self, wanted: Sequence[str], names: Sequence[str] | None, interactive: bool) -> Any:
        figures = self.figures(wanted, names=names)
        if interactive:
            return above("views.Panels")(self, wanted, names)
        from longfat.figure import matplotlib
        from longfat.figure.data import joined

        return matplotlib.draw(joined(figures, self.scenario.title or ""))


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A connection of a program, with both ways in one table: "a_to_b_bytes" and so on.

    Ports that its protocol does not have, and rates over no time, are None; the core has 0.
    """
    flat = {key: value for key, value in row.items() if not isinstance(value, Mapping)}
    if row["protocol"] not in ("tcp", "udp"):
        flat |= {"a_port": None, "b_port": None}
    for way in ("a_to_b", "b_to_a"):
        flat |= {f"{way}_{key}": value for key, value in row[way].items()}
        if row["first_s"] == row["last_s"]:
            flat[f"{way}_throughput_bps"] = None
    return flat


def _wanted(names: Sequence[str] | None, known: Sequence[str], one: str) -> list[str] | None:
    """The names to draw as text, all of which exist; None stays None."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(
            f"names = {shown(names)}: this is not a list of names; "
            f'accepted: a list of names, such as ["{(*known, "1")[0]}"]'
        )
    wanted = [str(name) for name in names]
    for name in wanted:
        if name not in known:
            raise InputError(f'names: "{name}": {choice(name, known, what=one)}')
    return wanted


def _long(series: Mapping[str, Columns]) -> pyarrow.Table:
    """A table with one chunk per name, whose numbers stay where the core wrote them."""
    import pyarrow

    names, chunks = _texts(list(series)), []
    for i, columns in enumerate(series.values()):
        arrays = {key: _numbers(data) for key, data in columns.items()}
        time_s = arrays.pop("time_s")
        name = _named(np.full(len(time_s), i, dtype=np.int32), names)
        chunks.append(pyarrow.table({"time_s": time_s, "name": name, **arrays}))
    if not chunks:
        return pyarrow.table({"time_s": _numbers(b""), "name": _named(np.empty(0, dtype=np.int32), names)})
    return pyarrow.concat_tables(chunks)


# pyarrow.array would copy, and import pandas if it is there, which takes longer than a short run.
def _numbers(data: bytes | NDArray[np.float64]) -> pyarrow.Array:
    """The numbers of eight bytes each, where they are."""
    import pyarrow

    buffer = pyarrow.py_buffer(data)
    return pyarrow.Array.from_buffers(pyarrow.float64(), buffer.size // 8, [None, buffer])


def _texts(texts: Sequence[str]) -> pyarrow.Array:
    """The texts as a column."""
    import pyarrow

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pyarrow.py_buffer(ends), pyarrow.py_buffer(b"".join(encoded))]
    return pyarrow.Array.from_buffers(pyarrow.string(), len(encoded), buffers)


def _named(index: NDArray[np.int32], names: pyarrow.Array) -> pyarrow.Array:
    """Some of these names, by their places among them."""
    import pyarrow

    indices = pyarrow.Array.from_buffers(pyarrow.int32(), len(index), [None, pyarrow.py_buffer(index)])
    return pyarrow.DictionaryArray.from_arrays(indices, names)


def unreached_loads(background: list[dict[str, Any]]) -> list[str]:
    """Returns a line for each load that was not reached, with the loads asked for, reached and offered.

    Args:
        background: the entries of a summary, or of the mean of several.
    """
    return [
        f"{entry['name']}: a load of {_mbps(entry['load_bps'])} was asked for, "
        f"{_mbps(entry['throughput_bps'])} ({entry['load_reached']:.1%} of it) was reached; "
        f"{_mbps(entry['offered_bps'])} was offered"
        for entry in background
        if entry["load_reached"] is not None and abs(entry["load_reached"] - 1.0) > REACHED
    ]


def _mbps(rate_bps: float) -> str:
    return f"{rate_bps / 1e6:.4g} Mbit/s"
