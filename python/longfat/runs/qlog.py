"""Logs of a run's senders in qlog: what is asked for, checked before the run, and what became of it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import _core
from longfat.errors import InputError
from longfat.runs.overwriting import refuse_overwriting
from longfat.scenario.model import Scenario

VERSIONS = ("current", "0.3")
MOST_FILES = 256
"""One file a flow, all open at the same time: fewer than a process may have."""


@dataclass(frozen=True)
class Qlog:
    """Logs that a run writes: one file if it has one flow, otherwise one for each.

    Attributes:
        path: the file. With several flows, a dash and the flow's name go before its suffix.
        version: "current" for the drafts of today, or "0.3" of 2022, which qvis reads.
        scenario_file: the file of the scenario, which must not be written over, if there is one.
    """

    path: str | os.PathLike[str]
    version: str = VERSIONS[0]
    scenario_file: str | os.PathLike[str] | None = None

    def check(self, scenario: Scenario) -> None:
        """Refuses what cannot be logged.

        Raises:
            InputError: no flow runs over TCP, there are too many, there is no such version, or the run reads
                one of the files.
        """
        if not os.fspath(self.path):
            raise InputError("--qlog: an empty name; accepted: a file")
        if self.version not in VERSIONS:
            raise InputError(f"--qlog-version {self.version}: accepted: {' or '.join(VERSIONS)}")
        flows = scenario.flow_parts()
        if len(flows) > MOST_FILES:
            raise InputError(
                f"--qlog: {len(flows)} flows need a file each; accepted: up to {MOST_FILES} flows"
            )
        if not any(part.algorithm.transport == "tcp" for part in flows.values()):
            raise InputError("--qlog: accepted: a scenario with a flow over TCP")
        refuse_overwriting("--qlog", self.files(scenario).values(), scenario, self.scenario_file)

    def files(self, scenario: Scenario) -> dict[str, str]:
        """The file of each flow, by the flow's name."""
        names = scenario.flow_names()
        if len(names) == 1:
            return {names[0]: os.fspath(self.path)}
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

    def asked(self, scenario: Scenario) -> tuple[list[str], str, str]:
        """What the core is given."""
        return list(self.files(scenario).values()), f"Longfat {_core.version()}", self.version

    def refused(self, said: str) -> InputError:
        """The error of a file that cannot be written, for this reason."""
        return InputError(f"--qlog {os.fspath(self.path)}: {said}; accepted: a file that can be written")

    def told(self, scenario: Scenario, failure: str | None) -> dict[str, Any]:
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
