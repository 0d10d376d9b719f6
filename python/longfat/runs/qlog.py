"""Logs of a run's senders in qlog: what is asked for, checked before the run, and what became of it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import _core
from longfat.errors import InputError
from longfat.runs.capture import refuse_no_path
from longfat.runs.overwriting import refuse_overwriting
from longfat.scenario.model import Scenario
from longfat.words import choice, shown

VERSIONS = ("current", "0.3")
MOST_FILES = 256
"""One file a flow, all open at the same time: fewer than a process may have."""


@dataclass(frozen=True)
class Qlog:
    """Logs of what the senders of a run do: `longfat.run("mine.toml", qlog=Qlog("mine.sqlog"))`.

    There is one file for one flow, otherwise one for each. Only the simulator writes them.

    Attributes:
        path: the file. With several flows, a dash and the flow's name go before its suffix.
        version: "current" for the drafts of today, or "0.3" of 2022, which qvis reads.

    Raises:
        InputError: an attribute has another type, or there is no such version.
    """

    path: str | os.PathLike[str]
    version: str = VERSIONS[0]

    def __post_init__(self) -> None:
        refuse_no_path("Qlog", self.path)
        if self.version not in VERSIONS:
            raise InputError(
                f"Qlog: version = {shown(self.version)}: {choice(self.version, VERSIONS, what='version')}"
            )


@dataclass(frozen=True)
class Logging:
    """Logs that a run writes, and what asked for them: the command line, or Python.

    Attributes:
        qlog: what is asked for.
        scenario_file: the file of the scenario, which must not be written over, if there is one.
        by_flags: whether messages name the flags of the command line.
    """

    qlog: Qlog
    scenario_file: str | os.PathLike[str] | None = None
    by_flags: bool = False

    @property
    def path(self) -> str:
        """The file of a single flow."""
        return os.fspath(self.qlog.path)

    @property
    def name(self) -> str:
        """How messages name the logs."""
        return "--qlog" if self.by_flags else "qlog"

    def check(self, scenario: Scenario) -> None:
        """Refuses what cannot be logged.

        Raises:
            InputError: no flow runs over TCP, there are too many, or the run reads one of the files.
        """
        if not self.path:
            raise InputError(f'{self.name} "" is an empty name; accepted: a file')
        flows = scenario.flow_parts()
        if len(flows) > MOST_FILES:
            raise InputError(
                f"{self.name}: {len(flows)} flows need a file each; accepted: up to {MOST_FILES} flows"
            )
        if not any(part.algorithm.transport == "tcp" for part in flows.values()):
            raise InputError(f"{self.name}: no flow runs over TCP; accepted: a scenario with such a flow")
        refuse_overwriting(self.name, self.files(scenario).values(), scenario, self.scenario_file)

    def files(self, scenario: Scenario) -> dict[str, str]:
        """The file of each flow, by the flow's name."""
        names = scenario.flow_names()
        if len(names) == 1:
            return {names[0]: self.path}
        path = Path(self.path)
        found: dict[str, str] = {}
        for name in names:
            plain = re.sub(r"[^\w.-]", "_", name)
            file = str(path.with_name(f"{path.stem}-{plain}{path.suffix}"))
            number = 2
            while file in found.values():
                file = str(path.with_name(f"{path.stem}-{plain}-{number}{path.suffix}"))
                number += 1
            found[name] = file
        return found

    def core_args(self, scenario: Scenario) -> tuple[list[str], str, str]:
        """What the core is given."""
        return list(self.files(scenario).values()), f"Longfat {_core.version()}", self.qlog.version

    def refused(self, said: str) -> InputError:
        """The error of a file that cannot be written, for this reason."""
        return InputError(f"{self.name} {self.path}: {said}; accepted: a file that can be written")

    def summary_entry(self, scenario: Scenario, failure: str | None) -> dict[str, Any]:
        """What the summary says about it."""
        parts = scenario.flow_parts().items()
        over_tcp = {name for name, part in parts if part.algorithm.transport == "tcp"}
        files = {name: file for name, file in self.files(scenario).items() if name in over_tcp}
        return {"files": files, "complete": failure is None, "failure": failure}


def doubt(qlog: dict[str, Any]) -> str | None:
    """One line if a log is not whole, from what the summary says about the logs."""
    if qlog["complete"]:
        return None
    return f"{next(iter(qlog['files'].values()))}: {qlog['failure']}; what happened after that is missing"
