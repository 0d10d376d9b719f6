"""Paths of a comparison beside its grid: scenario files, and traces of a link's rate.

Every algorithm runs on each path. In a scenario file it takes the place of each flow's algorithm; everything
else stays, background traffic too; what names no stack has that of the comparison. Over a trace there are
two flows, as in the trial "pair".
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat import documents
from longfat.compare.columns import COLUMNS, FIRST_START_S, LATE_START_S, WINDOW_FROM
from longfat.compare.estimate import Row, Value, number, over_repeats, to_json
from longfat.errors import InputError, ScenarioError
from longfat.scenario.model import Scenario
from longfat.study.grid import FIRST_SEED
from longfat.units import TIME

TRIAL = "path"
"""The trial of rows that a path gave, in runs.parquet."""
ON_PATHS = ("utilization", "loss_ratio", "queueing_delay_ms", "jain")
"""The columns of the table of paths; others need runs that a path does not have."""


@dataclass(frozen=True)
class FilePath:
    """A path from a file: its name in the table, and the tables of its scenario."""

    label: str
    tables: Mapping[str, Any]
    base: Path
    rtt_s: float | None
    """The round-trip time of the grid, over a trace."""

    def scenario(self, algorithm: Any, stack: str) -> Scenario:
        """Returns what runs on this path; InputError where the algorithm does not go with it."""
        tables = copy.deepcopy(dict(self.tables))
        tables["seed"] = FIRST_SEED
        tables["flow"] = [
            {key: value for key, value in flow.items() if key != "variant"} | {"algorithm": algorithm}
            for flow in tables["flow"]
        ]
        return Scenario.from_dict(tables, source=f"compare, {self.label}", base=self.base, stack=stack)


def read(files: Sequence[str], rtts_s: Sequence[float], duration_s: float) -> tuple[FilePath, ...]:
    """Reads the paths.

    Args:
        files: scenario files (.toml), and traces in Mahimahi's format (any other name).
        rtts_s: round-trip times of the flows over a trace.
        duration_s: length of a run over a trace.

    Raises:
        InputError: one line that says what is wrong and what is accepted.
    """
    if len(set(files)) < len(files):
        raise InputError("--path: the same file is given twice; accepted: each file once")
    names = [Path(file).name for file in files]
    found: list[FilePath] = []
    for file, name in zip(files, names, strict=True):
        label = name if names.count(name) == 1 else file
        is_scenario = file.endswith(".toml")
        found += [_of_scenario(file, label)] if is_scenario else _of_trace(file, label, rtts_s, duration_s)
    return tuple(found)


def _of_scenario(file: str, label: str) -> FilePath:
    if not Scenario.load(file).flow:
        raise InputError(
            f"--path {file}: it has no [[flow]]; accepted: a scenario with flows, whose algorithm is replaced"
        )
    return FilePath(label, documents.toml(documents.text(file)), Path(file).parent, None)


def _of_trace(file: str, label: str, rtts_s: Sequence[float], duration_s: float) -> list[FilePath]:
    tables = {"duration": "1 s", "bottleneck": {"rate": {"trace": file}}, "flow": [{"rtt": "100 ms"}]}
    try:
        Scenario(tables)
    except ScenarioError as error:
        what = error.problems[0].partition(f"trace {file}")[2].removeprefix(": ").removeprefix(", ")
        what = what.removesuffix(", relative to the scenario's folder")
        raise InputError(f"--path {file}: {what}, or a scenario file whose name ends in .toml") from None
    early, late = (TIME.write(share * duration_s) for share in LATE_START_S)
    starts = (["0 s", TIME.write(FIRST_START_S)], [early, late])
    return [
        FilePath(
            f"{label}, {TIME.write(rtt_s)}",
            {
                "duration": TIME.write(duration_s),
                "window": [TIME.write(WINDOW_FROM * duration_s), TIME.write(duration_s)],
                "bottleneck": {"rate": {"trace": Path(file).name}},
                "flow": [{"rtt": TIME.write(rtt_s), "start": {"uniform": start}} for start in starts],
            },
            Path(file).parent,
            rtt_s,
        )
        for rtt_s in rtts_s
    ]


def table(rows: Sequence[Row], labels: Sequence[str], algorithms: Sequence[str]) -> list[dict[str, Any]]:
    """Returns the cells of each path and algorithm: means over repeats with their intervals."""
    cells: list[dict[str, Any]] = []
    for label in labels:
        for name in algorithms:
            found = [row for row in rows if row.get("path") == label and row["algorithm"] == name]
            entry: dict[str, Any] = {"path": label, "algorithm": name}
            for column in COLUMNS:
                if column.key in ON_PATHS:
                    values = [Value(number(row[column.figure])) for row in found]
                    entry[column.key] = to_json(column, over_repeats(column, values))
            cells.append(entry)
    return cells
