"""The TCP connections of a capture, in the form of a run's result."""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat import _core
from longfat.errors import InputError
from longfat.numbers import finite
from longfat.runs import metrics
from longfat.runs.result import Array

if TYPE_CHECKING:
    import pyarrow

UNKNOWN = "?"
"""The algorithm of a flow of which a capture does not say it."""
NAMED = re.compile(
    r"^flow (?P<name>.*) \((?P<algorithm>[^()]*)\): (?P<sender>\S+) to (?P<receiver>\S+)$", re.M
)
"""How captures that Longfat writes name their flows, in the comment of the file."""


class Imported:
    """What `longfat.read_capture` returns: the flows of a capture, as a run's result has them.

    A flow is a TCP connection in the direction with more payload. Flows of captures that Longfat has written
    have their own names; others go by their addresses.
    """

    def __init__(self, file: str, output: dict[str, Any]) -> None:
        self.file = file
        self._output = output

    def __repr__(self) -> str:
        number = len(self._output["flows"])
        return f"<Imported {self.file}: {number} flow{'' if number == 1 else 's'}>"

    @functools.cached_property
    def _names(self) -> list[tuple[str, str]]:
        """The name and the algorithm of each flow."""
        known = {
            (match["sender"], match["receiver"]): (match["name"], match["algorithm"])
            for match in NAMED.finditer(self._output["comment"])
        }
        ends = [(flow["sender"], flow["receiver"]) for flow in self._output["flows"]]
        names: list[tuple[str, str]] = []
        for i, (sender, receiver) in enumerate(ends):
            name, algorithm = known.get((sender, receiver), (f"{sender} to {receiver}", UNKNOWN))
            again = ends[:i].count((sender, receiver))
            names.append((f"{name} ({again + 1})" if again else name, algorithm))
        return names

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `longfat import --json` prints, with a run's keys; None where it cannot know.

        `packets_lost` and `loss_ratio` are estimates: each segment that was sent again counts as a lost one.
        `cwnd_mean` is the mean of what was in flight, which is no more than the window.
        """
        flows = [
            {
                "name": name,
                "algorithm": algorithm,
                "rtt_s": flow["rtt_min_s"],
                "start_s": flow["start_s"],
                "throughput_bps": flow["throughput_bps"],
                "goodput_bps": flow["goodput_bps"],
                "packets_sent": flow["packets"],
                "packets_lost": flow["retransmits"],
                "retransmits": flow["retransmits"],
                "timeouts": None,
                "loss_ratio": flow["retransmits"] / flow["packets"],
                "cwnd_mean": float(np.mean(flight)) if len(flight := self._flight(flow)) else None,
                "rtt_mean_s": flow["rtt_mean_s"],
                "srtt_mean_s": flow["srtt_mean_s"],
                "rtt_samples": flow["rtt_samples"],
                "duration_s": flow["duration_s"],
                "completed_s": flow["start_s"] + flow["duration_s"] if flow["closed"] else None,
                "sender": flow["sender"],
                "receiver": flow["receiver"],
            }
            for (name, algorithm), flow in zip(self._names, self._output["flows"], strict=True)
        ]
        rates = [flow["throughput_bps"] for flow in flows]
        found: dict[str, Any] = finite(
            {
                "backend": "capture",
                "version": _core.version(),
                "file": self.file,
                "duration_s": self._output["duration_s"],
                "window_s": [0.0, self._output["duration_s"]],
                "flows": flows,
                "links": [],
                "background": [],
                "completion_times": [],
                "metrics": {
                    "jain": metrics.jain(rates),
                    "throughput_ratio": metrics.throughput_ratio(rates),
                    "convergence_time_s": None,
                    "convergence_80_s": None,
                    "cov": None,
                    "inefficiency": None,
                },
                "notes": self._notes(),
                "capture": {name: self._output[name] for name in ("packets", "others", "copies", "damage")},
            }
        )
        return found

    @staticmethod
    def _flight(flow: dict[str, Any]) -> Array:
        """What was in flight over time, packets."""
        bytes_out: Array = np.asarray(flow["series"]["flight_bytes"], dtype=np.float64)
        return bytes_out / float(flow["payload_bytes"])

    def _notes(self) -> list[str]:
        """What somebody has to know who reads the numbers."""
        output = self._output
        notes = []
        if output["damage"]:
            notes.append(
                f"{self.file}: {output['damage']}; the {output['packets']} packets before that were read"
            )
        if not output["flows"]:
            notes.append(f"{self.file}: no TCP connection with payload among {output['packets']} packets")
        if output["copies"]:
            notes.append(
                f"{output['copies']} packets are there from several interfaces; the first of each was counted"
            )
        late = [
            name for (name, _), flow in zip(self._names, output["flows"], strict=True) if not flow["opened"]
        ]
        if late:
            notes.append(f"flow {', '.join(late)}: open before the capture began")
        return notes

    @functools.cached_property
    def flows(self) -> pyarrow.Table:
        """The series of all flows in long form, with the columns time_s, name and the quantities of a run.

        `cwnd` is what was in flight, in packets.
        """
        import pyarrow

        columns: dict[str, list[Any]] = {"time_s": [], "name": []}
        for (name, _), flow in zip(self._names, self._output["flows"], strict=True):
            series = {key: np.asarray(values) for key, values in flow["series"].items()}
            series["cwnd"] = self._flight(flow)
            for key, values in series.items():
                columns.setdefault(key, []).append(values)
            columns["name"].append(np.full(len(series["time_s"]), name, dtype=object))
        arrays = {
            key: pyarrow.array(
                np.concatenate(parts) if parts else [],
                pyarrow.string() if key == "name" else pyarrow.float64(),
            )
            for key, parts in columns.items()
        }
        arrays["name"] = arrays["name"].dictionary_encode()
        return pyarrow.table(arrays)


def read_capture(path: str | os.PathLike[str]) -> Imported:
    """Reads the TCP connections of a capture: pcapng or pcap, of Ethernet, Linux's cooked links or raw IP.

    Raises:
        InputError: the file cannot be opened, or nothing of it can be read.
    """
    file = os.fspath(path)
    accepted = "accepted: a pcapng or pcap file"
    if Path(file).is_dir():
        raise InputError(f"{file}: is a folder; {accepted}")
    try:
        return Imported(file, _core.read_capture(file))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}; {accepted}") from None
