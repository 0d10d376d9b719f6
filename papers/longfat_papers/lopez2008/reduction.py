"""Reduces a run to the flows' rates, windows and losses over time, drops and queues.

Datagram flows, and flows that only discover clouds, are not measured. ``bin_s`` is the sampling period; lists
over time have one value for each bin and begin at 0 s.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat_papers.kit.claims import Measured
from longfat_papers.kit.suite import Runs
from longfat_papers.lopez2008.settings import CROSS, DATAGRAMS, ONE_MBPS, ONE_RTT_MS, SCOUT

UNMEASURED = (DATAGRAMS, SCOUT, CROSS)
Array = NDArray[np.float64]


@kept_as("longfat.suites.lopez2008_reduction.reduce_run", "ea1e09105b62d1f5")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row about each measured flow and, for drops, each link.

    `rates_mbps`, `cwnd` and `lost` hold a list over time for each flow; `lost` counts packets of the flow
    that the network dropped. `queue` is the first link's, in packets.
    """
    summary = result.summary
    flows = [flow for flow in summary["flows"] if not flow["name"].startswith(UNMEASURED)]
    columns = [result.flow(flow["name"]) for flow in flows]
    time = columns[0]["time_s"]
    links = summary["links"]
    first = result.link(links[0]["name"])
    bin_s = float(np.median(np.diff(time)))
    rates = [8e-6 / bin_s * np.diff(column["received_bytes"]) for column in columns]
    return {
        "bin_s": bin_s,
        "names": [flow["name"] for flow in flows],
        "starts_s": [float(flow["start_s"]) for flow in flows],
        "means_mbps": [1e-6 * flow["throughput_bps"] for flow in flows],
        "megabytes": [1e-6 * float(column["received_bytes"][-1]) for column in columns],
        "sent": [flow["packets_sent"] for flow in flows],
        "lost_ratio": metrics.loss_ratio(
            sum(flow["packets_lost"] for flow in flows), sum(flow["packets_sent"] for flow in flows)
        ),
        "timeouts": [flow["timeouts"] for flow in flows],
        "jain": metrics.jain([flow["throughput_bps"] for flow in flows]),
        "rates_mbps": [rate.round(3).tolist() for rate in rates],
        "cwnd": [column["cwnd"][1:].round(2).tolist() for column in columns],
        "lost": [np.diff(column["packets_lost"]).tolist() for column in columns],
        "queue": _at(first["time_s"], first["queue_packets"], time[1:]).tolist(),
        "links": [link["name"] for link in links],
        "dropped": [float(result.link(link["name"])["packets_dropped"][-1]) for link in links],
        "utilizations": [link["utilization"] for link in links],
        "queue_limit": links[0]["queue_limit_packets"],
        "packets": max(link["packets_in"] for link in links),
    }


def _at(time: Array, values: Array, moments: Array) -> Array:
    return np.asarray(np.interp(moments, time, values).round(1), dtype=np.float64)


class Row:
    """A reduced run, whose quantities are selected by flow and time."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.bin_s = float(row["bin_s"])
        self.names: list[str] = list(row["names"])

    def among(self, prefix: str = "") -> list[int]:
        """Returns the position of the flow of that name, or of all flows with this prefix."""
        if prefix in self.names:
            return [self.names.index(prefix)]
        return [index for index, name in enumerate(self.names) if name.startswith(prefix)]

    def edges_s(self) -> Array:
        """Returns the ends of the bins."""
        count = len(self.row["rates_mbps"][0])
        return np.asarray(self.bin_s * np.arange(1, count + 1), dtype=np.float64)

    def rate_mbps(self, span_s: tuple[float, float], prefix: str = "") -> float:
        """Returns the mean rate in a span of all flows with this prefix together."""
        return sum(float(np.mean(self._cut("rates_mbps", index, span_s))) for index in self.among(prefix))

    def rates_mbps(self, span_s: tuple[float, float], prefix: str = "") -> list[float]:
        """Returns the mean rate in a span of each flow with this prefix."""
        return [float(np.mean(self._cut("rates_mbps", index, span_s))) for index in self.among(prefix)]

    def summed_mbps(self, prefix: str = "") -> Array:
        """Returns the rate over time of all flows with this prefix together."""
        found = [self.row["rates_mbps"][index] for index in self.among(prefix)]
        return np.asarray(np.sum(found, axis=0), dtype=np.float64)

    def lost(self, span_s: tuple[float, float], prefix: str = "") -> float:
        """Returns the packets that all flows with this prefix lost in a span."""
        return sum(float(np.sum(self._cut("lost", index, span_s))) for index in self.among(prefix))

    def cwnd(self, span_s: tuple[float, float], prefix: str = "") -> float:
        """Returns the mean cwnd in a span of the first flow with this prefix, in segments."""
        return float(np.mean(self._cut("cwnd", self.among(prefix)[0], span_s)))

    def queue(self, span_s: tuple[float, float]) -> float:
        """Returns the greatest sample of the first link's queue in a span, packets."""
        low, high = self._bins(span_s)
        return float(np.max(self.row["queue"][low:high], initial=0.0))

    def idle_s(self, span_s: tuple[float, float], index: int) -> float:
        """Returns the longest time in a span in which nothing of a flow arrived."""
        busy = [0.0, *np.flatnonzero(np.asarray(self._cut("rates_mbps", index, span_s)) > 0.0) + 1.0]
        length = float(len(self._cut("rates_mbps", index, span_s)))
        return self.bin_s * float(np.diff([*busy, length + 1.0]).max() - 1.0)

    def dropped(self) -> float:
        """Returns the packets that all links dropped in the whole run, of measured and other flows."""
        return float(sum(self.row["dropped"]))

    def each(self, key: str, prefix: str = "") -> list[float]:
        """Returns a quantity of each flow with this prefix."""
        return [float(self.row[key][index]) for index in self.among(prefix)]

    def _cut(self, key: str, index: int, span_s: tuple[float, float]) -> Sequence[float]:
        low, high = self._bins(span_s)
        values: Sequence[float] = self.row[key][index][low:high]
        return values

    def _bins(self, span_s: tuple[float, float]) -> tuple[int, int]:
        return round(span_s[0] / self.bin_s), round(span_s[1] / self.bin_s)


def rows(runs: Runs, **coordinates: Any) -> list[Row]:
    """Returns the reduced runs at some coordinates, one for each repeat."""
    return [Row(row) for row in runs.where(**coordinates)]


def mean(values: Iterable[float]) -> float:
    """Returns the mean over repeats."""
    return float(np.mean(list(values)))


def filled(row: Row) -> list[float]:
    """Returns the share of `ONE_MBPS` that arrives in each of 15 RTTs from one after the first data on."""
    rtt_s = 1e-3 * ONE_RTT_MS
    first = float(row.edges_s()[np.flatnonzero(row.summed_mbps() > 0.0)[0]])
    return [
        row.rate_mbps((first + number * rtt_s, first + (number + 1) * rtt_s)) / ONE_MBPS
        for number in range(1, 16)
    ]


def figure(
    label: str, values: Iterable[float], published: float | None = None, *, log: bool = False
) -> Measured:
    """Returns the one number of a claim: the mean over repeats of these values, with its standard error."""
    value, stderr = metrics.mean_stderr(list(values))
    return Measured(label, value, stderr, published, log)
