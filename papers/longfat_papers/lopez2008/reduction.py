"""Reduces a run to the flows' rates, windows and losses over time, drops and queues.

Datagram flows, and flows that only discover clouds, are not measured. ``bin_s`` is the sampling period; lists
over time have one value for each bin and begin at 0 s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat_papers.kit import Runs, kept_as

DATAGRAMS, SCOUT, CROSS = "udp", "scout", "cross"
"""Prefixes of the names of flows that are not measured."""

Array = NDArray[np.float64]
Span = tuple[float, float]
"""Begin and end, in s."""


@kept_as("longfat.suites.lopez2008_reduction.reduce_run", "ea1e09105b62d1f5")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row with lists about its measured flows, and about its links.

    `rates_mbps`, `cwnd` and `lost` hold a list over time for each flow; `lost` counts packets of the flow
    that the network dropped, `dropped` those of all flows at each link. `queue` is the first link's, in
    packets.
    """
    summary = result.summary
    flows = [flow for flow in summary["flows"] if not flow["name"].startswith((DATAGRAMS, SCOUT, CROSS))]
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
        "queue": np.interp(time[1:], first["time_s"], first["queue_packets"]).round(1).tolist(),
        "links": [link["name"] for link in links],
        "dropped": [float(result.link(link["name"])["packets_dropped"][-1]) for link in links],
        "utilizations": [link["utilization"] for link in links],
        "queue_limit": links[0]["queue_limit_packets"],
        "packets": max(link["packets_in"] for link in links),
    }


class Row:
    """A reduced run, whose quantities are selected by flow and time."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.bin_s = float(row["bin_s"])
        self.names: list[str] = list(row["names"])
        self.bins = len(row["rates_mbps"][0])
        self.end_s = self.bin_s * self.bins

    def among(self, prefix: str = "") -> list[int]:
        """Returns the position of the flow of that name, or of all flows with this prefix."""
        if prefix in self.names:
            return [self.names.index(prefix)]
        return [index for index, name in enumerate(self.names) if name.startswith(prefix)]

    def edges_s(self) -> Array:
        """Returns the ends of the bins."""
        return np.asarray(self.bin_s * np.arange(1, self.bins + 1), dtype=np.float64)

    def rate_mbps(self, span_s: Span, prefix: str = "") -> float:
        """Returns the mean rate in a span of all flows with this prefix together."""
        return sum(self.rates_mbps(span_s, prefix))

    def rates_mbps(self, span_s: Span, prefix: str = "") -> list[float]:
        """Returns the mean rate in a span of each flow with this prefix."""
        return [float(np.mean(self._cut("rates_mbps", index, span_s))) for index in self.among(prefix)]

    def summed_mbps(self, prefix: str = "") -> Array:
        """Returns the rate over time of all flows with this prefix together."""
        found = [self.row["rates_mbps"][index] for index in self.among(prefix)]
        return np.asarray(np.sum(found, axis=0), dtype=np.float64)

    def lost(self, span_s: Span, prefix: str = "") -> float:
        """Returns the packets that all flows with this prefix lost in a span."""
        return sum(float(np.sum(self._cut("lost", index, span_s))) for index in self.among(prefix))

    def cwnd(self, span_s: Span, prefix: str = "") -> float:
        """Returns the mean cwnd in a span of the first flow with this prefix, in segments."""
        return float(np.mean(self._cut("cwnd", self.among(prefix)[0], span_s)))

    def queue(self, span_s: Span) -> float:
        """Returns the greatest sample of the first link's queue in a span, packets."""
        return float(np.max(self.row["queue"][self._bins(span_s)], initial=0.0))

    def silence_s(self, span_s: Span) -> float:
        """Returns the longest time in a span in which nothing of some flow arrived."""
        found = (np.asarray(self._cut("rates_mbps", index, span_s)) for index in self.among())
        busy = ([0.0, *np.flatnonzero(rates > 0.0) + 1.0, rates.size + 1.0] for rates in found)
        return self.bin_s * max(float(np.diff(edges).max() - 1.0) for edges in busy)

    def dropped(self) -> float:
        """Returns the packets of all measured flows that were dropped in the whole run."""
        return self.lost((0.0, self.end_s))

    def timeouts(self) -> float:
        """Returns the timeouts of all flows."""
        return float(sum(self.row["timeouts"]))

    def each(self, key: str, prefix: str = "") -> list[float]:
        """Returns a quantity of each flow with this prefix."""
        return [float(self.row[key][index]) for index in self.among(prefix)]

    def filled(self, mbps: float, rtt_s: float) -> list[float]:
        """Returns the share of a rate that arrives in each of 15 RTTs from one after the first data on."""
        first = float(self.edges_s()[np.flatnonzero(self.summed_mbps() > 0.0)[0]])
        edges = [first + number * rtt_s for number in range(1, 17)]
        return [self.rate_mbps(span) / mbps for span in pairwise(edges)]

    def _cut(self, key: str, index: int, span_s: Span) -> Sequence[float]:
        values: Sequence[float] = self.row[key][index][self._bins(span_s)]
        return values

    def _bins(self, span_s: Span) -> slice:
        return slice(round(span_s[0] / self.bin_s), round(span_s[1] / self.bin_s))


def rows(runs: Runs, **coordinates: Any) -> list[Row]:
    """Returns the reduced runs at some coordinates, one for each repeat."""
    return [Row(row) for row in runs.where(**coordinates)]


def dropped(runs: Runs) -> float:
    """Returns the packets of all measured flows that were dropped in the worst repeat."""
    return max(Row(row).dropped() for row in runs)
