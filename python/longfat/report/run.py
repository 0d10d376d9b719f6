"""The page of a run, built from what `longfat run --out` wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat import documents
from longfat.errors import InputError
from longfat.figure import histories
from longfat.figure.data import Figure
from longfat.report import columns
from longfat.report.page import entry, read, render
from longfat.store.whole import read_table, read_text

if TYPE_CHECKING:
    import pyarrow

    from longfat.figure.histories import History

RUN_FILE = "summary.json"
INTERNALS_FILE = "internals.parquet"
ADDED = "received_bytes"
"""A column that folders of older versions may lack; their pages omit its figure."""
MOST_POINTS = 4000
"""The longest history on the page; finer ones are thinned."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat run --out` wrote; returns its path."""
    summary = _summary(root / RUN_FILE)
    provenance = read(root / "provenance.json") if (root / "provenance.json").is_file() else {}
    scenario = root / "scenario.toml"
    figures = []
    for figure in _run_figures(root, summary):
        figures.append(entry(root, figure, {"name": figure.name, "runs": 1}))
    return render(
        root,
        __package__,
        "run.html.j2",
        title=_title(scenario),
        tables=_tables(summary.get("mean", summary)),
        repeats=len(summary.get("runs", [])) or 1,
        scenario=_text(scenario) if scenario.is_file() else "",
        figures=figures,
        provenance=provenance,
    )


def _text(scenario: Path) -> str:
    try:
        return read_text(scenario)
    except (OSError, ValueError):
        raise InputError(f"{scenario}: cannot be read as a stored scenario") from None


def _title(scenario: Path) -> str:
    """The title in the stored scenario, or a text that says there is none."""
    try:
        title = documents.toml(read_text(scenario)).get("title")
    except (OSError, ValueError):
        title = None
    return title if isinstance(title, str) and title else "Run without a title"


def _tables(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of the page: title, columns as (heading, whether numeric), rows of cells."""
    shown = [
        {
            "title": title,
            "columns": [(column.heading, column.is_number) for column in listed],
            "rows": columns.rows(listed, summary[key]),
        }
        for title, key, listed in columns.RUN_TABLES
        if summary.get(key)
    ]
    metrics = {
        "title": "Metrics",
        "columns": [("all flows together", False), ("", True)],
        "rows": columns.metrics(summary["metrics"]),
    }
    return [*shown, metrics]


def _run_figures(root: Path, summary: Mapping[str, Any]) -> list[Figure]:
    """Returns cwnd, throughput and internals of flows and the queue of every link, for the first seed."""
    first = summary["runs"][0] if "runs" in summary else summary
    found = []
    for file, quantity, key, drawn in (
        ("flows.parquet", "cwnd", "flows", histories.cwnd_figure),
        ("flows.parquet", "received_bytes", "flows", histories.rate_figure),
        ("links.parquet", "queue_packets", "links", histories.queue_figure),
    ):
        if (root / file).is_file() and not (quantity == ADDED and _lacks(root / file, ADDED)):
            series = _long(root / file, quantity)
            named = [entry for entry in first[key] if entry["name"] in series]
            found.append(drawn(named, series, first["duration_s"], window_s=first.get("window_s")))
    if (root / INTERNALS_FILE).is_file():
        quantities = _internals(root / INTERNALS_FILE)
        figure = histories.internals_figure(
            first["flows"], quantities, first["duration_s"], window_s=first.get("window_s")
        )
        found.append(figure)
    return [figure for figure in found if any(panel.curves for panel in figure.panels)]


def _lacks(path: Path, quantity: str) -> bool:
    """Whether a table is readable and lacks this column."""
    import pyarrow.parquet as pq

    try:
        return quantity not in pq.read_schema(path).names
    except (OSError, ValueError):
        return False  # the next reader reports it


def _internals(path: Path) -> dict[str, dict[str, History]]:
    """Reads the values of each quantity over time, by flow, thinned for the page."""
    import pyarrow.compute as pc

    table = _first_seed(path, {"name", "time_s", "quantity", "value"})
    quantities = table["quantity"].cast("string")
    return {
        quantity: _by_name(table.filter(pc.equal(quantities, quantity)), "value")
        for quantity in quantities.unique().to_pylist()
    }


def _long(path: Path, quantity: str) -> dict[str, History]:
    """Reads a quantity over time, by name, from a long table and thins it for the page."""
    return _by_name(_first_seed(path, {"name", "time_s", quantity}), quantity)


def _first_seed(path: Path, wanted: set[str]) -> pyarrow.Table:
    """Reads the rows of the first run; raises `InputError` if the file is damaged or lacks a column."""
    import pyarrow.compute as pc

    try:
        table = read_table(path)
        lacking = wanted - set(table.column_names)
        if lacking:
            raise ValueError(f"damaged: no column {min(lacking)}")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    if "seed" in table.column_names and table.num_rows:
        table = table.filter(pc.equal(table["seed"], table["seed"][0]))
    return table


def _by_name(table: pyarrow.Table, quantity: str) -> dict[str, History]:
    import pyarrow.compute as pc

    names = table["name"].cast("string")
    found = {}
    for name in dict.fromkeys(names.unique().to_pylist()):
        rows = table.filter(pc.equal(names, name))
        stride = max(1, math.ceil(rows.num_rows / MOST_POINTS))
        time, values = (rows[key].to_numpy()[::stride].tolist() for key in ("time_s", quantity))
        found[name] = (tuple(time), tuple(values))
    return found


def _summary(path: Path) -> dict[str, Any]:
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
        and all(isinstance(flow.get("algorithm"), str) for flow in value["flows"])
        and isinstance(value.get("metrics"), dict)
        and (mean or isinstance(value.get("duration_s"), int | float))
    )
