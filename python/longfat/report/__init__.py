"""The report: one self-contained page, and figures for papers, rebuilt from stored results alone.

`build` takes a directory that `longfat suite`, `screen`, `sweep` or `run --out` wrote. The page works
offline: the script that draws its figures is in it.
"""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, UndefinedError

from longfat import columns, plots
from longfat.claims import LEDGER_FILE, natural_order, read_ledger, tally
from longfat.errors import InputError
from longfat.suites.figure import Figure

PAGE = "index.html"
FIGURES = "figures"
SUITE_FILE = "suite.json"
RUN_FILE = "summary.json"
SCREEN_FILE = "screen.json"
SWEEP_FILE = "sweep.json"
COMPARE_FILE = "compare.json"
MOST_FAILURES = 20
"""Of a sweep, on its page; the table has all."""
ADDED = "received_bytes"
"""A column that folders of older runs may lack; they go without its figure."""
MOST_POINTS = 4000
"""Of a history on the page; finer ones are thinned for it."""


def build(directory: Path | str) -> Path:
    """Writes index.html and figures/ into a directory of stored results; returns the page's path.

    Raises `InputError` when the directory holds no stored results, or they cannot be read.
    """
    root = Path(directory)
    if (root / SUITE_FILE).is_file():
        return _suite_page(root)
    if (root / SCREEN_FILE).is_file():
        return _screen_page(root)
    if (root / COMPARE_FILE).is_file():
        return _compare_page(root)
    if (root / SWEEP_FILE).is_file():
        return _sweep_page(root)
    if (root / RUN_FILE).is_file():
        return _run_page(root)
    raise InputError(
        f"{root}: no stored results; accepted: a directory written by `longfat suite`, `longfat screen`, "
        "`longfat sweep` or `longfat run --out`"
    )


def _suite_page(root: Path) -> Path:
    suite = _read(root / SUITE_FILE, "suite", "title", "citation", "mode", "status")
    ledger = read_ledger(root / LEDGER_FILE) if (root / LEDGER_FILE).is_file() else []
    order = {name: index for index, name in enumerate(suite.get("order", []))}
    experiments = [
        _read(path, "name", "runs", "figure") for path in (root / "experiments").glob("[!.]*.json")
    ]
    experiments.sort(key=lambda item: (order.get(item["name"], len(order)), natural_order(item["name"])))
    figures = []
    for experiment in experiments:
        try:
            figure = Figure.from_json(experiment["figure"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"{root / 'experiments' / experiment['name']}.json: damaged: no figure"
            ) from None
        files = plots.save(figure, root / FIGURES)
        figures.append(_entry(figure, files, experiment))
    try:
        return _render_suite(root, suite, ledger, experiments, figures)
    except UndefinedError as error:
        raise InputError(f"{root / SUITE_FILE}: damaged: {error}") from None


def _render_suite(
    root: Path,
    suite: dict[str, Any],
    ledger: list[dict[str, Any]],
    experiments: list[dict[str, Any]],
    figures: list[dict[str, Any]],
) -> Path:
    statuses = suite.get("experiments", {})
    return _render(
        root,
        "suite.html.j2",
        title=suite["title"],
        suite=suite,
        unfinished=[name for name, status in statuses.items() if status != "complete"],
        origins=_origins(experiments),
        ledger=ledger,
        tally={verdict: count for verdict, count in tally(ledger).items() if count},
        figures=figures,
        provenance=suite.get("provenance", {}),
    )


def _screen_page(root: Path) -> Path:
    from longfat.screen import command

    path = root / SCREEN_FILE
    screen = _read(path, "grid", "columns", "algorithms", "skipped", "figure", "performance", "provenance")
    try:
        figure = Figure.from_json(screen["figure"])
        headings, rows = command.cells(screen)
        values = {"used": command.used(screen), "notes": command.notes(screen)}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: damaged; accepted: what `longfat screen` wrote") from None
    files = plots.save(figure, root / FIGURES)
    return _render(
        root,
        "screen.html.j2",
        title=", ".join(row[0] for row in rows),
        headings=headings,
        rows=rows,
        screen=screen,
        figures=[_entry(figure, files, {"name": figure.name, "runs": screen["performance"]["runs"]})],
        provenance=screen["provenance"],
        **values,
    )


def _sweep_page(root: Path) -> Path:
    from longfat.sweep import figures, open_sweep

    swept = open_sweep(root)
    document = swept.document
    drawn = [
        _entry(figure, plots.save(figure, root / FIGURES), {"name": figure.name, "runs": document["runs"]})
        for figure in (figures.page(swept) if swept.runs.num_rows else [])
    ]
    failures = swept.failures.to_pylist()
    return _render(
        root,
        "sweep.html.j2",
        title=document["title"] or "Sweep",
        sweep=document,
        axes=[
            (" & ".join(axis["keys"]), [_step(step) for step in axis["values"]]) for axis in document["axes"]
        ],
        failures=failures[:MOST_FAILURES],
        figures=drawn,
        provenance=document["provenance"],
    )


def _compare_page(root: Path) -> Path:
    from longfat.live import doubts

    document = _read(root / COMPARE_FILE, "live", "figure", "scenario", "provenance")
    try:
        figure = Figure.from_json(document["figure"])
        lines = doubts(document["live"])
        valid = sum(run["validity"]["valid"] for run in document["live"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{root / COMPARE_FILE}: damaged; accepted: what `longfat compare` wrote") from None
    files = plots.save(figure, root / FIGURES)
    runs = len(document["live"])
    return _render(
        root,
        "compare.html.j2",
        title=figure.title,
        valid=valid,
        runs=runs,
        doubts=lines,
        scenario=document["scenario"],
        figures=[_entry(figure, files, {"name": figure.name, "runs": 2 * runs})],
        provenance=document["provenance"],
    )


def _step(step: list[Any]) -> str:
    return " & ".join(str(value) for value in step)


def _run_page(root: Path) -> Path:
    summary = _read_summary(root / RUN_FILE)
    provenance = _read(root / "provenance.json") if (root / "provenance.json").is_file() else {}
    scenario = root / "scenario.toml"
    figures = []
    for figure in _run_figures(root, summary):
        figures.append(_entry(figure, plots.save(figure, root / FIGURES), {"name": figure.name, "runs": 1}))
    return _render(
        root,
        "run.html.j2",
        title=_title(scenario),
        tables=_tables(summary.get("mean", summary)),
        repeats=len(summary.get("runs", [])) or 1,
        scenario=scenario.read_text(encoding="utf-8") if scenario.is_file() else "",
        figures=figures,
        provenance=provenance,
    )


def _title(scenario: Path) -> str:
    """The stored scenario's own, or a word for the lack of one."""
    try:
        title = tomllib.loads(scenario.read_text(encoding="utf-8")).get("title")
    except (OSError, ValueError):
        title = None
    return title if isinstance(title, str) and title else "Run without a title"


def _tables(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tables of the page: heading, columns as (heading, whether numbers), rows of cells."""
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
        "columns": [("of the flows together", False), ("", True)],
        "rows": columns.metrics(summary["metrics"]),
    }
    return [*shown, metrics]


def _run_figures(root: Path, summary: Mapping[str, Any]) -> list[Figure]:
    """Draws cwnd and throughput of every flow and queue of every link, of the first seed of several."""
    first = summary["runs"][0] if "runs" in summary else summary
    found = []
    for file, quantity, key, drawn in (
        ("flows.parquet", "cwnd", "flows", plots.cwnd_figure),
        ("flows.parquet", "received_bytes", "flows", plots.rate_figure),
        ("links.parquet", "queue_packets", "links", plots.queue_figure),
    ):
        if (root / file).is_file() and not (quantity == ADDED and _lacks(root / file, ADDED)):
            histories = _long(root / file, quantity)
            named = [entry for entry in first[key] if entry["name"] in histories]
            found.append(drawn(named, histories, first["duration_s"], window_s=first.get("window_s")))
    return [figure for figure in found if any(panel.curves for panel in figure.panels)]


def _lacks(path: Path, quantity: str) -> bool:
    """Whether a table can be read and has no such column."""
    import pyarrow.parquet as pq

    try:
        return quantity not in pq.read_schema(path).names
    except (OSError, ValueError):
        return False  # told by whoever reads it next


def _long(path: Path, quantity: str) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """A quantity over time by name, out of a long table; thinned for the page."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
        lacking = {"name", "time_s", quantity} - set(table.column_names)
        if lacking:
            raise ValueError(f"damaged: no column {min(lacking)}")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    if "seed" in table.column_names and table.num_rows:
        table = table.filter(pc.equal(table["seed"], table["seed"][0]))
    names = table["name"].cast("string")
    found = {}
    for name in dict.fromkeys(names.unique().to_pylist()):
        rows = table.filter(pc.equal(names, name))
        stride = max(1, math.ceil(rows.num_rows / MOST_POINTS))
        time, values = (rows[key].to_numpy()[::stride].tolist() for key in ("time_s", quantity))
        found[name] = (tuple(time), tuple(values))
    return found


def _entry(figure: Figure, files: list[Path], experiment: Mapping[str, Any]) -> dict[str, Any]:
    links = [{"label": path.suffix[1:].upper(), "href": f"{FIGURES}/{path.name}"} for path in files]
    return {
        "name": figure.name,
        "mirrors": figure.mirrors,
        "title": figure.title,
        "caption": figure.caption,
        "mode": experiment.get("mode", ""),
        "runs": experiment["runs"],
        "links": links,
        "plot": plots.plotly_figure(figure),
        "least_pixels": plots.least_pixels(figure),
        "table": figure.table,
    }


def _render(root: Path, template: str, **values: Any) -> Path:
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FunctionLoader(_template), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["number"] = _number
    text = environment.get_template(template).render(plotlyjs=get_plotlyjs(), **values)
    path = root / PAGE
    scratch = root / f".{PAGE}.{os.getpid()}"
    try:
        scratch.write_text(text, encoding="utf-8")
        scratch.replace(path)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return path


def _template(name: str) -> str:
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")


def _number(value: Any, digits: int = 4) -> str:
    """A figure for a table: a dash where there is none."""
    if value is None:
        return "–"
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:.{digits}g}"
        if isinstance(value, float)
        else str(value)
    )


def _read_summary(path: Path) -> dict[str, Any]:
    """A run's summary, or that of repeats, with all that the page is made of."""
    summary = _read(path)
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


def _origins(experiments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Experiments by the command that made them."""
    found: dict[str, dict[str, Any]] = {}
    for experiment in experiments:
        made = experiment.get("provenance", {})
        origin = {"mode": experiment.get("mode", "")}
        origin |= {key: made.get(key, "") for key in ("version", "commit", "created")}
        found.setdefault(json.dumps(origin), origin | {"names": []})["names"].append(experiment["name"])
    return list(found.values())


def _read(path: Path, *keys: str) -> dict[str, Any]:
    """A stored object that has these keys."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read as stored results") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: cannot be read as stored results")
    lacking = [key for key in keys if key not in document]
    if lacking:
        raise InputError(f"{path}: damaged: it has no {lacking[0]}")
    return document
