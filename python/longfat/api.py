"""Runs scenarios from Python: `longfat.run`, in the simulator or live, and `longfat.run_many`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from longfat.errors import InputError
from longfat.runs import simulate
from longfat.runs.capture import SNAPLEN, Capture
from longfat.runs.qlog import VERSIONS, Qlog
from longfat.runs.result import Result
from longfat.runs.simulate import Source, load, run_many

__all__ = ["run", "run_many"]


def run(
    source: Source,
    *,
    seed: int | None = None,
    window: tuple[str, str] | None = None,
    backend: Literal["sim", "live"] = "sim",
    traffic: str = "longfat",
    pcap: str | os.PathLike[str] | None = None,
    snaplen: int = SNAPLEN,
    pcap_links: Sequence[str] = (),
    qlog: str | os.PathLike[str] | None = None,
    qlog_version: str = VERSIONS[0],
) -> Result:
    """Runs a scenario in the simulator, or live. It releases the GIL, and Ctrl-C ends the run.

    Args:
        source: a Scenario, the path of a scenario file, or nested tables as in one.
        seed: replaces the scenario's seed.
        window: times such as ("100 s", "600 s"); every metric is restricted to them.
        backend: "sim", or "live" for this machine's own TCP in real time (docs/live.md).
        traffic: what carries live flows over TCP: "longfat", its own traffic, or "iperf3".
        pcap: a pcapng file for the packets of the run (docs/guide/packets.md), told in the summary.
        snaplen: the most bytes of a packet that the capture keeps; 0 keeps all.
        pcap_links: the names of the links to capture; all if empty.
        qlog: a file for what the sender of each flow does, in qlog; with several flows, one for each.
        qlog_version: "current" for the drafts of today, "0.3" for tools that read only that.

    Raises:
        InputError: the scenario is refused, or the capture cannot be written.
        AlgorithmError: a user's own algorithm failed.
        LongfatError: a live run ended early.
    """
    scenario = load(source, seed=seed, window=window)
    file = source if isinstance(source, (str, os.PathLike)) else None
    capture = None if pcap is None else Capture(pcap, snaplen, tuple(pcap_links), file)
    if backend == "live":
        from longfat.live import programs
        from longfat.live import run as live

        named = "scenario" if file is None else os.fspath(file)
        if qlog is not None:
            raise InputError("qlog: a kernel does not tell that much; accepted: the simulator")
        return live.run(scenario, named, traffic, user=programs.user(), capture=capture)
    if traffic != "longfat":
        from longfat.live import traffic as traffics

        traffics.refuse_unknown(traffic, backend)
    logs = None if qlog is None else Qlog(qlog, qlog_version, file)
    return simulate.run(scenario, capture=capture, qlog=logs)
