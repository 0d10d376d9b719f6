"""Reduces a run to the rates of its flows over time, its queue, its losses, and completion times by size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat_papers.kit import Runs, kept_as

Array = NDArray[np.float64]

OTHER, SCOUT = "udp", "scout"
"""Prefixes of the names of flows that are not measured."""
SHORT_BINS = ((5, 30), (30, 300), (300, 3000))
"""Packets of the flows whose completion times are averaged together."""
SHORT_COUNTED = (0.2, 0.7)
"""Shares of the run between which a counted flow begins: most of them end within it."""


@kept_as("longfat.suites.relatives_reduction.reduce_run", "2")
def reduce_run(result: Any) -> dict[str, Any]:
    """Reduces a Result to one row about each measured flow and the first link.

    - `rates_mbps`: IP bytes that arrived, for each flow a list over time; `queue`: the first link's, packets.
    - `goodputs_mbps`: payload handed over, until the flow was complete or the run ended.
    - `sent`, `lost`: packets of each flow, and those of them that the network dropped.
    - `short_1_s`, `short_1_packets`, `short_1_flows` and so on: mean completion time, mean size and number of
      the background's flows in each of `SHORT_BINS`.
    """
    summary = result.summary
    flows = [flow for flow in summary["flows"] if not flow["name"].startswith((OTHER, SCOUT))]
    columns = [result.flow(flow["name"]) for flow in flows]
    link = summary["links"][0]
    first = result.link(link["name"])
    time = np.asarray(columns[0]["time_s"] if columns else first["time_s"], dtype=np.float64)
    bin_s = float(np.median(np.diff(time)))
    end_s = float(time[-1])
    queue = np.interp(time[1:], first["time_s"], first["queue_packets"])
    return {
        "bin_s": bin_s,
        "names": [flow["name"] for flow in flows],
        "starts_s": [float(flow["start_s"]) for flow in flows],
        "rates_mbps": [
            (8e-6 / bin_s * np.diff(column["received_bytes"])).round(3).tolist() for column in columns
        ],
        "goodputs_mbps": [
            _goodput_mbps(flow, column, end_s) for flow, column in zip(flows, columns, strict=True)
        ],
        "sent": [flow["packets_sent"] for flow in flows],
        "lost": [flow["packets_lost"] for flow in flows],
        "timeouts": [flow["timeouts"] for flow in flows],
        "queue": queue.round(1).tolist(),
        "queue_limit": link["queue_limit_packets"],
        "links": [one["name"] for one in summary["links"]],
        "dropped": [one["packets_dropped"] for one in summary["links"]],
        "packets": max(one["packets_in"] for one in summary["links"]),
        **(_short(result, end_s) if summary.get("background") else {}),
    }


def _goodput_mbps(flow: Mapping[str, Any], column: Mapping[str, Array], end_s: float) -> float:
    """Returns the payload over the time that it took, or over the time until the end of the run."""
    ended_s = flow.get("completed_s")
    seconds = (end_s if ended_s is None else float(ended_s)) - float(flow["start_s"])
    return 8e-6 * float(column["delivered_bytes"][-1]) / seconds if seconds > 0.0 else 0.0


def _short(result: Any, end_s: float) -> dict[str, float | None]:
    """Returns completion times by size, of the flows that began early enough to end within the run."""
    start, duration, size = (
        np.asarray(result.transfers[name], dtype=np.float64)
        for name in ("start_s", "completion_time_s", "bytes")
    )
    packets = np.ceil(size / result.scenario.background[0].mss)
    counted = (start >= SHORT_COUNTED[0] * end_s) & (start < SHORT_COUNTED[1] * end_s)
    row: dict[str, float | None] = {}
    for number, (least, most) in enumerate(SHORT_BINS, start=1):
        chosen = counted & (packets >= least) & (packets < most)
        row[f"short_{number}_flows"] = float(chosen.sum())
        any_ended = bool(chosen.any())
        row[f"short_{number}_s"] = float(duration[chosen].mean()) if any_ended else None
        row[f"short_{number}_packets"] = float(packets[chosen].mean()) if any_ended else None
    return row


class Row:
    """A reduced run, whose quantities are selected by flow and time: by default its second half."""

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row, self.names = row, list(row["names"])
        self.bin_s = float(row["bin_s"])
        self.end_s = self.bin_s * len(row["queue"])

    def __getitem__(self, key: str) -> Any:
        return self.row[key]

    def among(self, prefix: str) -> list[int]:
        """Returns the position of the flow of that name, or of all flows with this prefix."""
        if prefix in self.names:
            return [self.names.index(prefix)]
        return [index for index, name in enumerate(self.names) if name.startswith(prefix)]

    def rates(self, prefix: str = "", from_s: float | None = None, to_s: float | None = None) -> list[float]:
        """Returns the mean rate, Mbit/s, of each flow with this prefix; NaN if no time is chosen."""
        return [self._mean(self["rates_mbps"][index], from_s, to_s) for index in self.among(prefix)]

    def rate(self, prefix: str = "", from_s: float | None = None) -> float:
        """Returns the mean rate, Mbit/s, of all flows with this prefix together."""
        return sum(self.rates(prefix, from_s))

    def queue(self, from_s: float | None = None) -> float:
        """Returns the mean queue of the first link, packets."""
        return self._mean(self["queue"], from_s)

    def queue_share(self, from_s: float | None = None) -> float:
        """Returns the mean queue of the first link, as a share of its buffer."""
        return self.queue(from_s) / float(self["queue_limit"])

    def goodput(self) -> float:
        """Returns the goodput of the first flow, Mbit/s."""
        return float(self["goodputs_mbps"][0])

    def loss_ratio(self) -> float:
        """Returns the share of the flows' packets that the network dropped."""
        return metrics.loss_ratio(sum(self["lost"]), sum(self["sent"]))

    def _mean(self, values: Sequence[float], from_s: float | None, to_s: float | None = None) -> float:
        ends = (0.5 * self.end_s if from_s is None else from_s, self.end_s if to_s is None else to_s)
        low, high = (round(end / self.bin_s) for end in ends)
        chosen = values[low:high]
        return float(np.mean(chosen)) if len(chosen) else math.nan


def rows(runs: Runs, **coordinates: Any) -> list[Row]:
    """Returns the reduced runs at some coordinates, one for each repeat."""
    return [Row(row) for row in runs.where(**coordinates)]
