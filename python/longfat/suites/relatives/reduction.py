"""Reduces a run to the rates of its flows over time, its queue, its losses, and completion times by size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.runs import metrics
from longfat.store.kept import kept_as
from longfat.suites.kit.claims import Measured
from longfat.suites.kit.suite import Runs
from longfat.suites.relatives.settings import (
    OTHER,
    SCOUT,
    SHORT_BINS,
    SHORT_COUNTED,
    SHORT_LOAD,
    SHORT_RTT_MS,
)
from longfat.units import PACKET_BITS

Array = NDArray[np.float64]


@kept_as("longfat.suites.relatives_reduction.reduce_run", "1")
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


def _short(result: Any, end_s: float) -> dict[str, float]:
    """Returns completion times by size, of the flows that began early enough to end within the run."""
    transfers = result.transfers
    start, duration, size = (
        np.asarray(transfers[name], dtype=np.float64) for name in ("start_s", "completion_time_s", "bytes")
    )
    packets = np.ceil(size / result.scenario.background[0].mss)
    counted = (start >= SHORT_COUNTED[0] * end_s) & (start < SHORT_COUNTED[1] * end_s)
    row: dict[str, float] = {}
    for number, (least, most) in enumerate(SHORT_BINS, start=1):
        chosen = counted & (packets >= least) & (packets < most)
        row[f"short_{number}_flows"] = float(chosen.sum())
        if chosen.any():
            row[f"short_{number}_s"] = float(duration[chosen].mean())
            row[f"short_{number}_packets"] = float(packets[chosen].mean())
    return row


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

    def edges_s(self) -> tuple[float, ...]:
        """Returns the ends of the bins."""
        return tuple(self.bin_s * (number + 1) for number in range(len(self.row["queue"])))

    def rates_mbps(self, span_s: tuple[float, float], prefix: str = "") -> list[float]:
        """Returns the mean rate in a span of each flow with this prefix; NaN if the span is empty."""
        return [self._mean(self.row["rates_mbps"][index], span_s) for index in self.among(prefix)]

    def rate_mbps(self, span_s: tuple[float, float], prefix: str = "") -> float:
        """Returns the mean rate in a span of all flows with this prefix together."""
        return sum(self.rates_mbps(span_s, prefix))

    def queue_share(self, span_s: tuple[float, float]) -> float:
        """Returns the mean queue of the first link in a span, as a share of its buffer."""
        return self.queue(span_s) / float(self.row["queue_limit"])

    def queue(self, span_s: tuple[float, float]) -> float:
        """Returns the mean queue of the first link in a span, packets."""
        return self._mean(self.row["queue"], span_s)

    def last_start_s(self) -> float:
        """Returns when the last flow began."""
        return max(map(float, self.row["starts_s"]))

    def end_s(self) -> float:
        """Returns when the run ended."""
        return self.bin_s * len(self.row["queue"])

    def loss_ratio(self) -> float:
        """Returns the share of the flows' packets that the network dropped."""
        return metrics.loss_ratio(sum(self.row["lost"]), sum(self.row["sent"]))

    def _mean(self, values: Sequence[float], span_s: tuple[float, float]) -> float:
        low, high = (round(end / self.bin_s) for end in span_s)
        chosen = values[low:high]
        return float(np.mean(chosen)) if len(chosen) else float("nan")


def rows(runs: Runs, **coordinates: Any) -> list[Row]:
    """Returns the reduced runs at some coordinates, one for each repeat."""
    return [Row(row) for row in runs.where(**coordinates)]


def sharing_s(packets: float, mbps: float) -> float:
    """Returns a flow's completion time under processor sharing of a link at the load `SHORT_LOAD`.

    One and a half round-trip times, and the flow's bits at what the others leave on average, C (1 - load).
    """
    left_bps = 1e6 * mbps * (1.0 - SHORT_LOAD)
    return 1.5e-3 * SHORT_RTT_MS + packets * PACKET_BITS / left_bps


def mean(values: Iterable[float]) -> float:
    """Returns the mean over repeats; NaN if there are none."""
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def figure_of(
    label: str, values: Iterable[float], published: float | None = None, *, log: bool = False
) -> Measured:
    """Returns the one number of a claim, the mean over repeats with its standard error."""
    value, stderr = metrics.mean_stderr(list(values))
    return Measured(label, value, stderr, published, log)
