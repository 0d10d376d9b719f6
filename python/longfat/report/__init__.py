"""The report: one self-contained page, and figures for papers, rebuilt from stored results alone.

`build` takes a directory that `longfat suite` or `longfat run --out` wrote. The page works offline: the
script that draws its figures is in it.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from longfat import plots
from longfat.claims import LEDGER_FILE, natural_order, read_ledger, tally
from longfat.errors import InputError
from longfat.suites.figure import Curve, Figure, Panel

PAGE = "index.html"
FIGURES = "figures"
SUITE_FILE = "suite.json"
RUN_FILE = "summary.json"
MOST_POINTS = 4000
"""Of a history on the page; finer ones are thinned for it."""


def build(directory: Path | str) -> Path:
    """Writes index.html and figures/ into a directory of stored results; returns the page's path.

    Raises `InputError` when the directory holds no stored results, or they cannot be read.
    """
    root = Path(directory)
    if (root / SUITE_FILE).is_file():
        return _suite_page(root)
    if (root / RUN_FILE).is_file():
        return _run_page(root)
    raise InputError(
        f"{root}: no stored results; accepted: a directory written by `longfat suite` or `longfat run --out`"
    )


def _suite_page(root: Path) -> Path:
    suite = _read(root / SUITE_FILE)
    ledger = read_ledger(root / LEDGER_FILE) if (root / LEDGER_FILE).is_file() else []
    order = {name: index for index, name in enumerate(suite.get("order", []))}
    experiments = [_read(path) for path in (root / "experiments").glob("[!.]*.json")]
    experiments.sort(key=lambda item: (order.get(item["name"], len(order)), natural_order(item["name"])))
    figures = []
    for experiment in experiments:
        figure = Figure.from_json(experiment["figure"])
        files = plots.save(figure, root / FIGURES)
        figures.append(_entry(figure, files, experiment))
    return _render(
        root,
        "suite.html.j2",
        title=suite["title"],
        suite=suite,
        ledger=ledger,
        tally={verdict: count for verdict, count in tally(ledger).items() if count},
        figures=figures,
        provenance=suite.get("provenance", {}),
    )


def _run_page(root: Path) -> Path:
    summary = _read(root / RUN_FILE)
    provenance = _read(root / "provenance.json") if (root / "provenance.json").is_file() else {}
    scenario = root / "scenario.toml"
    figures = []
    for figure in _run_figures(root, summary):
        figures.append(_entry(figure, plots.save(figure, root / FIGURES), {"name": figure.name, "runs": 1}))
    shown = summary.get("mean", summary)
    return _render(
        root,
        "run.html.j2",
        title="Run",
        summary=shown,
        repeats=len(summary.get("runs", [])) or 1,
        scenario=scenario.read_text(encoding="utf-8") if scenario.is_file() else "",
        figures=figures,
        provenance=provenance,
    )


def _run_figures(root: Path, summary: Mapping[str, Any]) -> list[Figure]:
    """Draws cwnd of every flow and queue of every link, of the first seed if there are several."""
    found = []
    flows = (summary["runs"][0] if "runs" in summary else summary)["flows"]
    algorithms = {flow["name"]: flow["algorithm"] for flow in flows}
    if (root / "flows.parquet").is_file():
        columns = _long(root / "flows.parquet", "cwnd")
        met: dict[str, int] = {}
        curves = []
        for name, (time, cwnd) in columns.items():
            algorithm = algorithms.get(name, "")
            met[algorithm] = met.get(algorithm, -1) + 1
            curves.append(Curve(f"{name} ({algorithm})", time, cwnd, None, algorithm, "line", met[algorithm]))
        panel = Panel("", "time, s", "cwnd, packets", tuple(curves))
        found.append(Figure("cwnd", "cwnd", "Congestion windows", "", (panel,), columns=1))
    if (root / "links.parquet").is_file():
        columns = _long(root / "links.parquet", "queue_packets")
        queues = tuple(
            Panel(name, "time, s", "packets", (Curve(name, time, queue, None, None, "line"),))
            for name, (time, queue) in columns.items()
        )
        found.append(Figure("queue", "queue", "Queues", "", queues, columns=1))
    return found


def _long(path: Path, quantity: str) -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    """A quantity over time by name, out of a long table; thinned for the page."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
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
    }


def _render(root: Path, template: str, **values: Any) -> Path:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
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


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read as stored results") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: cannot be read as stored results")
    return document
