"""Refuses to write a capture or a log over a file that the run reads."""

from __future__ import annotations

import os
from collections.abc import Iterable

from longfat.errors import InputError
from longfat.scenario.model import Scenario


def refuse_overwriting(
    option: str,
    written: Iterable[str | os.PathLike[str]],
    scenario: Scenario,
    scenario_file: str | os.PathLike[str] | None,
) -> None:
    """Refuses to write over what the run reads: its scenario, its traces, and algorithms of one's own.

    Raises:
        InputError: one of these files is among those that are `written`.
    """
    read = [source.path for source in scenario.traces()]
    read += [file for flow in scenario.flow if (file := flow.algorithm.file)]
    if scenario_file not in (None, "-"):
        read.append(os.fspath(scenario_file))
    for name in (os.fspath(file) for file in written):
        for other in read:
            if os.path.exists(name) and os.path.exists(other) and os.path.samefile(name, other):
                raise InputError(f"{option} {name}: the run reads this file; accepted: another one")
