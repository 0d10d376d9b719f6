"""Captures of a run's packets: what is asked for, checked before the run, and what became of it."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, SupportsIndex

from longfat import _core
from longfat.errors import InputError
from longfat.runs.overwriting import refuse_overwriting
from longfat.scenario.model import Scenario
from longfat.words import shown

SNAPLEN = 96
"""Bytes of a packet that a capture keeps unless `snaplen` is given: all headers."""
LEAST_SNAPLEN, MOST_SNAPLEN = 80, 65535
"""The longest headers of IP and TCP, and the longest packet."""


@dataclass(frozen=True)
class Capture:
    """A capture of the packets of a run: `longfat.run("mine.toml", capture=Capture("mine.pcapng"))`.

    The results of the run are the same, but the run takes longer.

    Attributes:
        path: the pcapng file. An earlier one is replaced; it may be a FIFO.
        snaplen: the most bytes of a packet that are kept, 80 to 65535; 0 keeps all.
        links: the links whose packets are recorded, by name; empty for all.

    Raises:
        InputError: an attribute has another type.
    """

    path: str | os.PathLike[str]
    snaplen: int = SNAPLEN
    links: Sequence[str] = ()

    def __post_init__(self) -> None:
        refuse_no_path("Capture", self.path)
        if isinstance(self.snaplen, bool) or not isinstance(self.snaplen, SupportsIndex):
            raise InputError(
                f"Capture: snaplen = {shown(self.snaplen)}: this is not a whole number; "
                "accepted: a whole number of bytes"
            )
        links: object = self.links
        if isinstance(links, str) or not isinstance(links, Sequence):
            example = links if isinstance(links, str) else "bottleneck"
            raise InputError(
                f"Capture: links = {shown(links)}: this is not a list of names; "
                f'accepted: a list of names, such as ["{example}"]'
            )


def refuse_no_path(what: str, path: object) -> None:
    """Raises InputError if something is not the path of a file."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(
            f"{what}: path = {shown(path)}: this is not the name of a file; "
            "accepted: the name of a file, as text or as a Path"
        )


@dataclass(frozen=True)
class Recording:
    """A capture that a run writes, and what asked for it: the command line, or Python.

    Attributes:
        capture: what is asked for.
        scenario_file: the file of the scenario, which must not be written over, if there is one.
        by_flags: whether messages name the flags of the command line.
    """

    capture: Capture
    scenario_file: str | os.PathLike[str] | None = None
    by_flags: bool = False

    @property
    def path(self) -> str:
        """The file."""
        return os.fspath(self.capture.path)

    @property
    def name(self) -> str:
        """How messages name the capture."""
        return "--pcap" if self.by_flags else "capture"

    def check(self, scenario: Scenario) -> None:
        """Refuses what cannot be captured.

        Raises:
            InputError: there is no such link, the number of bytes is impossible, or the run reads the file.
        """
        snaplen, links = self.capture.snaplen, self.capture.links
        if snaplen != 0 and not LEAST_SNAPLEN <= snaplen <= MOST_SNAPLEN:
            what = f"--snaplen {snaplen}" if self.by_flags else f"Capture: snaplen = {shown(snaplen)}"
            raise InputError(
                f"{what}: it is out of range; "
                f"accepted: {LEAST_SNAPLEN} to {MOST_SNAPLEN} bytes, or 0 for whole packets"
            )
        if not self.path:
            raise InputError(f'{self.name} "" is an empty name; accepted: a file')
        names = [link["name"] for link in scenario.plan["links"]]
        for name in links:
            if name not in names:
                what = f"--pcap-link {name}" if self.by_flags else f"Capture: links: {shown(name)}"
                raise InputError(f"{what}: there is no such link; accepted: {shown(names)}")
        refuse_overwriting(self.name, [self.path], scenario, self.scenario_file)

    def core_args(self) -> tuple[str, str, int, list[str]]:
        """What the core is given."""
        return self.path, f"Longfat {_core.version()}", self.capture.snaplen, list(self.capture.links)

    def refused(self, said: str) -> InputError:
        """The error of a file that cannot be written, for this reason."""
        return InputError(f"{self.name} {self.path}: {said}; accepted: a file that can be written")

    def summary_entry(self, written: dict[str, Any]) -> dict[str, Any]:
        """What the summary says about it."""
        return {"file": self.path, "complete": written["failure"] is None, **written}


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
