"""The page of a run, built from what `longfat run --out` wrote."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import documents
from longfat.errors import InputError, LongfatError
from longfat.intervals import half_intervals
from longfat.report import columns, timeline
from longfat.report.page import downloads, read, render
from longfat.runs.observations import of_runs
from longfat.scenario.model import Scenario
from longfat.store import whole
from longfat.store.whole import read_table, read_text

if TYPE_CHECKING:
    import pyarrow


RUN_FILE = "summary.json"
COLUMNS = {
    "flows": {"name", "time_s", "cwnd"},
    "links": {"name", "time_s", "queue_packets"},
    "internals": {"name", "time_s", "quantity", "value"},
    "events": {"name", "time_s", "event"},
    "transfers": {"name", "start_s", "completion_time_s", "bytes"},
}
"""The columns that the tables of a folder have in every version; its page omits what others would show."""
DRAWN = ("flows", "links", "internals", "events")
"""The tables that the page is made of."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat run --out` wrote; returns its path."""
    summary = read_summary(root / RUN_FILE)
    provenance = read(root / whole.PROVENANCE) if (root / whole.PROVENANCE).is_file() else {}
    scenario = root / "scenario.toml"
    first = summary["runs"][0] if "runs" in summary else summary
    tables = {name: read_series(root, name) for name in DRAWN}
    data = timeline.document(first, **tables)
    files = [{"title": figure.title, "links": downloads(root, figure)} for figure in timeline.figures(data)]
    window_s = data["window_s"]
    return render(
        root,
        __package__,
        "run.html.j2",
        title=_title(scenario),
        tables=_tables(summary, _meaningless(scenario)),
        notes=_notes(summary.get("runs", [summary])),
        repeats=len(summary.get("runs", [])) or 1,
        scenario=_text(scenario) if scenario.is_file() else "",
        restricted="" if window_s in (None, [0.0, data["span_s"]]) else "{:g} s to {:g} s".format(*window_s),
        downloads=files,
        timeline=timeline.embedded(data),
        empty=data["empty"],
        figures=[],
        provenance=provenance,
        **assets(),
    )


def _text(scenario: Path) -> str:
    try:
        return read_text(scenario)
    except (OSError, ValueError):
        raise InputError(f"{scenario}: cannot be read as a stored scenario") from None


def _notes(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The notes of the runs; none of a folder whose summaries hold no texts there."""
    whole = all(
        isinstance(run.get("notes"), list) and all(isinstance(note, str) for note in run["notes"])
        for run in runs
    )
    return of_runs(runs) if whole else []


def _title(scenario: Path) -> str:
    """The title in the stored scenario, or a text that says there is none."""
    try:
        title = documents.toml(read_text(scenario)).get("title")
    except (OSError, ValueError):
        title = None
    return title if isinstance(title, str) and title else "Run without a title"


def _meaningless(scenario: Path) -> tuple[str, ...]:
    """The metrics that the stored scenario gives no meaning; none where it cannot be read."""
    try:
        return Scenario.load(scenario).meaningless_metrics()
    except LongfatError:
        return ()


def _tables(whole: Mapping[str, Any], meaningless: tuple[str, ...]) -> list[dict[str, Any]]:
    """The tables of the page: title, columns as (heading, whether numeric), rows of cells."""
    shown = [
        {"title": title, "columns": [(column.heading, column.is_number) for column in listed], "rows": cells}
        for title, listed, cells in columns.run_tables(whole)
    ]
    means, halves = whole.get("mean", whole), half_intervals(whole)
    metrics = {
        "title": "Metrics",
        "columns": [("all flows together", False), ("", True)],
        "rows": columns.metrics(means["metrics"], halves.get("metrics"), meaningless),
    }
    return [*shown, metrics]


def read_series(root: Path, name: str) -> pyarrow.Table | None:
    """Reads a table of the folder, None if there is none or it is empty: a run may be without flows.

    Raises:
        InputError: the table is damaged, or lacks a column.
    """
    path = root / f"{name}.parquet"
    if not path.is_file():
        return None
    try:
        table = read_table(path)
        if not table.num_rows:
            return None
        lacking = COLUMNS[name] - set(table.column_names)
        if lacking:
            raise ValueError(f"it is damaged: it has no column {min(lacking)}")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    return table


def assets() -> dict[str, str]:
    """The script and the style of the panels, and uPlot, which draws them: all of it is in the page."""
    own = resources.files(__package__)
    # found, not imported: the package that brings uPlot imports IPython
    package = importlib.util.find_spec("uplot")
    if package is None or not package.submodule_search_locations:
        raise LongfatError("uPlot, which draws the page, is not installed; pip install uplot-python")
    drawer = Path(package.submodule_search_locations[0]) / "static"
    return {
        "script": own.joinpath("timeline.js").read_text(encoding="utf-8"),
        "style": (drawer / "uPlot.min.css").read_text(encoding="utf-8")
        + own.joinpath("timeline.css").read_text(encoding="utf-8"),
        "uplot": (drawer / "uPlot.iife.js").read_text(encoding="utf-8"),
    }


def read_summary(path: Path) -> dict[str, Any]:
    """Reads the summary of a run or of repeats, and checks that the page can be made from it."""
    summary = read(path)
    runs = summary.get("runs", [summary])
    whole = isinstance(runs, list) and bool(runs) and all(map(_is_summary, runs))
    if not whole or ("runs" in summary and not _is_summary(summary.get("mean"), mean=True)):
        raise InputError(
            f"{path}: damaged: not the summary of a run; accepted: what `longfat run --out` wrote"
        )
    return summary


def _is_summary(value: Any, *, mean: bool = False) -> bool:
    return (
        isinstance(value, dict)
        and all(
            isinstance(value.get(key), list)
            and all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in value[key])
            for key in ("flows", "links", "background")
        )
        and all(isinstance(flow.get("algorithm"), str | None) for flow in value["flows"])
        and isinstance(value.get("metrics"), dict)
        and (mean or isinstance(value.get("duration_s"), int | float))
    )
