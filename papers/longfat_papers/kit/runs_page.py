"""The page of an experiment's runs: what each was, what came out, and its scenario to run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import tomli_w

from longfat.errors import LongfatError
from longfat.report.page import render
from longfat.store.whole import read_table
from longfat_papers.kit import registry

MOST_RUNS = 500
"""Runs that a page lists; the table beside it has all."""
MOST_COLUMNS = 14
"""Coordinates and measured values on the page."""


def build(root: Path, suite: str, experiment: dict[str, Any]) -> str | None:
    """Writes the page of an experiment's runs below a suite's folder.

    Returns its address from the suite's page; None if the folder has no table of the runs.
    """
    name = experiment["name"]
    file = root / "experiments" / f"{name}.parquet"
    if not file.is_file():
        return None
    table = read_table(file)
    plain = [key for key in table.column_names if _is_plain(table[key].to_pylist())][:MOST_COLUMNS]
    rows = table.select(plain).slice(0, MOST_RUNS).to_pylist()
    scenarios = _scenarios(suite, name, experiment.get("mode", ""))
    if len(scenarios) != table.num_rows:
        scenarios = []  # the suite has changed since, or is not one of Longfat's
    render(
        file.parent,
        __package__,
        "runs.html.j2",
        file=f"{name}.html",
        suite=suite,
        title=f"{experiment.get('mirrors') or name}: runs",
        name=name,
        mode=experiment.get("mode", ""),
        headings=plain,
        rows=[[row[key] for key in plain] for row in rows],
        left=table.num_rows - len(rows),
        scenarios=scenarios[:MOST_RUNS],
        figures=[],
        provenance=experiment.get("provenance", {}),
    )
    return f"experiments/{quote(name)}.html"


def _is_plain(values: list[Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in values) and any(
        value is not None for value in values
    )


def _scenarios(suite: str, experiment: str, mode: Any) -> list[str]:
    """The scenario of each run as a file has it; none for a suite that does not come with Longfat."""
    try:
        if suite not in registry.names():
            return []
        found = registry.get(suite)
        return [tomli_w.dumps(dict(run.document)) for run in found.experiment(experiment).runs(mode)]
    except (LongfatError, AttributeError, StopIteration, KeyError, TypeError):
        return []
