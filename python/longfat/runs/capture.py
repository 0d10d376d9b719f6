"""Captures of a run's packets: what is asked for, checked before the run, and what became of it."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from longfat import _core
from longfat.errors import InputError
from longfat.runs.overwriting import refuse_overwriting
from longfat.scenario.model import Scenario
from longfat.words import shown

SNAPLEN = 96
"""Bytes of a packet that a capture keeps unless told otherwise: all headers."""
LEAST_SNAPLEN, MOST_SNAPLEN = 80, 65535
"""The longest headers of IP and TCP, and the longest packet."""


@dataclass(frozen=True)
class Capture:
    """A capture that a run writes.

    Attributes:
        path: the pcapng file.
        snaplen: the most bytes of a packet that are kept; 0 keeps all.
        links: the links whose packets are recorded, by name; empty for all.
        scenario_file: the file of the scenario, which must not be written over, if there is one.
    """

    path: str | os.PathLike[str]
    snaplen: int = SNAPLEN
    links: Sequence[str] = ()
    scenario_file: str | os.PathLike[str] | None = None

    def check(self, scenario: Scenario) -> None:
        """Refuses what cannot be captured.

        Raises:
            InputError: there is no such link, the number of bytes is impossible, or the run reads the file.
        """
        if self.snaplen != 0 and not LEAST_SNAPLEN <= self.snaplen <= MOST_SNAPLEN:
            raise InputError(
                f"--snaplen {self.snaplen}: accepted: {LEAST_SNAPLEN} to {MOST_SNAPLEN} bytes,"
                " or 0 for whole packets"
            )
        if not os.fspath(self.path):
            raise InputError("--pcap: an empty name; accepted: a file")
        names = [link["name"] for link in scenario.plan["links"]]
        for name in self.links:
            if name not in names:
                raise InputError(f"--pcap-link {name}: there is no such link; accepted: {shown(names)}")
        refuse_overwriting("--pcap", [self.path], scenario, self.scenario_file)

    def asked(self) -> tuple[str, str, int, list[str]]:
        """What the core is given."""
        return os.fspath(self.path), f"Longfat {_core.version()}", self.snaplen, list(self.links)

    def refused(self, said: str) -> InputError:
        """The error of a file that cannot be written, for this reason."""
        return InputError(f"--pcap {os.fspath(self.path)}: {said}; accepted: a file that can be written")

    def told(self, written: dict[str, Any]) -> dict[str, Any]:
        """What the summary says about it."""
        return {"file": os.fspath(self.path), "complete": written["failure"] is None, **written}


@contextmanager
def awaited(*files: str | os.PathLike[str]) -> Iterator[None]:
    """Waits until each of these files that is a FIFO has a reader, which Ctrl-C ends; then yields.

    The core opens them again meanwhile, without a wait.
    """
    with ExitStack() as held:
        for file in filter(_is_fifo, files):
            held.callback(os.close, os.open(file, os.O_WRONLY))
        yield


def _is_fifo(file: str | os.PathLike[str]) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(file).st_mode)
    except (OSError, ValueError):
        return False


def doubt(capture: dict[str, Any]) -> str | None:
    """One line if the file lacks packets, from what the summary says about a capture."""
    if capture["complete"]:
        return None
    return (
        f"{capture['file']}: {capture['failure']}; it holds the first {capture['packets']} packets,"
        f" and {capture['missing']} are missing"
    )


def advice(scenario: Scenario, links: Sequence[str]) -> str | None:
    """One line on how to capture each packet once, if a capture of these links has some twice."""
    planned = scenario.plan
    names = [link["name"] for link in planned["links"]]
    recorded = {i for i, name in enumerate(names) if not links or name in links}
    connections = planned["flows"] + [part["flow"] for part in planned["background"]]
    for connection in connections:
        forward, reverse = connection["forward"], connection["reverse"]
        if any(len(recorded.intersection(way)) > 1 for way in (forward, reverse)):
            first, last = names[forward[0]], names[reverse[-1]]
            one = f"--pcap-link {shlex.quote(first)} --pcap-link {shlex.quote(last)}"
            return (
                "a packet that crosses several links is there once for each, which Wireshark takes for"
                f" retransmission; to capture it once: {one}"
            )
    return None
