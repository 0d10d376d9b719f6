"""The TCP connections of a capture, in the form of a run's result."""

from __future__ import annotations

import collections
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
from longfat.runs.parts import Array

if TYPE_CHECKING:
    import pyarrow

NAMED = re.compile(
    r"^flow (?P<name>.*) \((?P<algorithm>[^()]*)\): (?P<sender>\S+) to (?P<receiver>\S+)$", re.M
)
"""How captures that Longfat writes name their flows, in the comment of the file."""

STANDARD_INPUT = "-"
"""The file that stands for standard input."""
LISTED = 10
"""The most flows that a note names."""
MOSTLY_IDLE = 0.5
"""Flows without data in flight for more than this part of their lives are named in a note (chosen here)."""
LEAST_IDLE_S = 1.0
"""If that is longer than this."""
ELSEWHERE = {"flows", "duration_s", "comment"}
"""What the core returns that the summary does not have under `capture`."""
COUNTED = {
    "missed": "the program that captured reports {} packets that it missed",
    "unseen_bytes": "{} bytes were acknowledged that the capture does not show: packets are missing in it",
    "copies": "{} packets are there from several interfaces; the first of each was counted",
    "mirrored": "{} packets are there twice from one interface, within 1 ms; the first of each was counted",
    "cut_options": "{} TCP headers are cut within their options: selective acknowledgements and timestamps "
    "may be missing in them, and what was in flight may be less",
    "untimed": "{} packets have no time (simple packet blocks): rates and round-trip times of their flows "
    "are unknown",
    "undescribed": "{} packets are of an interface that the file does not describe: read as Ethernet or IP, "
    "with times in microseconds or nanoseconds",
    "steps_back": "steps of the clock back: {}, of up to {step_back_s:.4g} s; time goes on as if there were "
    "none, and no round trip across a step counts",
    "steps_forward": "steps of the clock forward: {}, of up to {step_forward_s:.4g} s; time goes on as if "
    "there were none, and no round trip across a step counts",
    "strays": "{} packets have a time that is far from those before and after; they count at the time before",
    "probes": "{} keepalives and probes of closed windows do not count as data",
    "minor_packets": "{} packets with payload are left out: the other direction of their connections carried "
    "more than ten times as much",
    "without_payload": "{} connections are left out: no payload of theirs was captured",
}
"""What notes say about counts that are not 0."""


def _listed(names: list[str]) -> str:
    """The first of these names, and how many there are beside them."""
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more} others" if more > 0 else "")


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
    def _names(self) -> list[tuple[str, str | None]]:
        """The name and the algorithm of each flow; None where the capture does not say it."""
        known: dict[tuple[str, str], tuple[str, str | None]] = {
            (match["sender"], match["receiver"]): (match["name"], match["algorithm"])
            for match in NAMED.finditer(self._output["comment"])
        }
        seen: collections.Counter[tuple[str, str]] = collections.Counter()
        names: list[tuple[str, str | None]] = []
        for flow in self._output["flows"]:
            ends = flow["sender"], flow["receiver"]
            name, algorithm = known.get(ends, (f"{ends[0]} to {ends[1]}", None))
            seen[ends] += 1
            names.append((f"{name} ({seen[ends]})" if seen[ends] > 1 else name, algorithm))
        return names

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """The object that `longfat import --json` prints, with a run's keys; None where it cannot know.

        `packets_lost` and `loss_ratio` are estimates: each segment that was sent again counts as a lost one.
        `cwnd_mean` is the mean of what was in flight while there was something, which is no more than the
        window. `in_flight_s` is how long that was, and `throughput_in_flight_bps` the throughput over it.
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
                "cwnd_mean": flow["flight_bytes"] / flow["payload_bytes"],
                "in_flight_s": flow["busy_s"],
                "throughput_in_flight_bps": flow["busy_bps"],
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
                "capture": {name: value for name, value in self._output.items() if name not in ELSEWHERE},
            }
        )
        return found

    @staticmethod
    def _flight(flow: dict[str, Any]) -> Array:
        """What was in flight over time, packets."""
        bytes_out: Array = np.asarray(flow["series"]["flight_bytes"], dtype=np.float64)
        return bytes_out / float(flow["payload_bytes"])

    def _notes(self) -> list[str]:
        """What a reader of the numbers has to know: what was left out, and what is uncertain."""
        output = self._output
        notes = []
        if output["damage"]:
            notes.append(
                f"{self.file}: {output['damage']}; the {output['packets']} packets before that were read"
            )
        if not output["flows"]:
            notes.append(f"{self.file}: no TCP connection with payload among {output['packets']} packets")
        if output["left_out"]:
            reasons = (f"{count} packets {reason}" for reason, count in output["left_out"].items())
            notes.append(f"left out: {', '.join(reasons)}")
        notes += [text.format(output[key], **output) for key, text in COUNTED.items() if output[key]]
        long = sum(flow["long_packets"] for flow in output["flows"])
        if long:
            notes.append(
                f"{long} packets are longer than a segment, as network cards with offload show them; each "
                "counts as the segments that it carries"
            )
        return notes + self._notes_on_flows()

    def _notes_on_flows(self) -> list[str]:
        """What holds for some flows only."""
        named = [(name, flow) for (name, _), flow in zip(self._names, self._output["flows"], strict=True)]
        notes = []
        if late := [name for name, flow in named if not flow["opened"]]:
            notes.append(f"flow {_listed(late)}: open before the capture began")
        if deaf := [name for name, flow in named if not flow["heard"]]:
            notes.append(
                f"flow {_listed(deaf)}: no packet of the receiver was captured; rates are those of what was "
                "sent, and round-trip times and what was in flight are unknown"
            )
        if idle := [
            f"{name} ({flow['busy_s']:.3g} of {flow['duration_s']:.3g} s, "
            f"{flow['busy_bps'] / 1e6:.3g} Mbit/s)"
            for name, flow in named
            if flow["duration_s"] - flow["busy_s"] > max(LEAST_IDLE_S, flow["duration_s"] * MOSTLY_IDLE)
        ]:
            notes.append(
                f"mostly idle; the time with data in flight, and the throughput over it: {_listed(idle)}"
            )
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
    """Reads the TCP connections of a capture: pcapng or pcap, also compressed with gzip, zstd or xz.

    Args:
        path: the file; "-" is standard input.

    Raises:
        InputError: the file cannot be opened, or nothing of it can be read.
    """
    file = os.fspath(path)
    accepted = "accepted: a pcapng or pcap file, also compressed with gzip, zstd or xz"
    if not file:
        raise InputError(f'"" is an empty name; {accepted}')
    if Path(file).is_dir():
        raise InputError(f"{file} is a folder; {accepted}")
    source = None if file == STANDARD_INPUT else file
    file = source or "standard input"
    try:
        return Imported(file, _core.read_capture(source))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: {error}; {accepted}") from None
