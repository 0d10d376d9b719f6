"""The page of a run, built from what `longfat run --out` wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import documents
from longfat.errors import InputError, LongfatError
from longfat.figure import histories, uplot
from longfat.intervals import half_intervals
from longfat.report import columns
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
MOST_NUMBERS = 16_000
"""Values of one panel in the page."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat run --out` wrote; returns its path."""
    summary = read_summary(root / RUN_FILE)
    provenance = read(root / whole.PROVENANCE) if (root / whole.PROVENANCE).is_file() else {}
    scenario = root / "scenario.toml"
    first = summary["runs"][0] if "runs" in summary else summary
    tables = {name: read_series(root, name) for name in DRAWN}
    figures = histories.figures(first, tables, most=MOST_NUMBERS, most_links=histories.MOST_LINKS)
    drawn = [figure for figure in figures if any(panel.curves for panel in figure.panels)]
    files = [{"title": figure.title, "links": downloads(root, figure)} for figure in drawn]
    window_s = first.get("window_s")
    return render(
        root,
        __package__,
        "run.html.j2",
        title=_title(scenario),
        tables=_tables(summary, _scenario(scenario)),
        notes=_notes(summary.get("runs", [summary])),
        repeats=len(summary.get("runs", [])) or 1,
        scenario=_text(scenario) if scenario.is_file() else "",
        restricted=""
        if window_s in (None, [0.0, float(first["duration_s"])])
        else "{:g} s to {:g} s".format(*window_s),
        downloads=files,
        timeline=uplot.embedded(uplot.document(drawn)),
        captions=[figure.caption for figure in drawn if figure.caption],
        empty=histories.empty_queues(first, tables["links"]),
        figures=[],
        provenance=provenance,
        **uplot.assets(),
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


def _scenario(file: Path) -> Scenario | None:
    """The stored scenario; None where it cannot be read."""
    try:
        return Scenario.load(file)
    except LongfatError:
        return None


def _tables(whole: Mapping[str, Any], scenario: Scenario | None) -> list[dict[str, Any]]:
    """The tables of the page: title, columns as (heading, whether numeric), rows of cells.

    Below groups of flows, a folded table has every flow.
    """
    summary, halves = whole.get("mean", whole), half_intervals(whole)
    shown = []
    for table in columns.tables(whole, scenario, every_flow=False):
        shown.append(_table(table))
        if table.by_group:
            flows = next(columns.tables(whole, scenario, every_flow=True))
            shown.append(_table(flows) | {"title": "Every flow", "folded": True})
    metrics = {
        "title": "Metrics",
        "columns": [("all flows together", False), ("", True)],
        "rows": columns.metrics(
            summary["metrics"], halves.get("metrics"), scenario.meaningless_metrics() if scenario else ()
        ),
        "folded": False,
    }
    return [*shown, metrics]


def _table(table: columns.Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": [(column.heading, column.is_number) for column in table.columns],
        "rows": table.cells,
        "folded": False,
    }


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
