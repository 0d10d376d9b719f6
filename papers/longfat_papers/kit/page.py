"""The report page of a suite: its ledger, what the paper leaves open, and a figure for each experiment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entries, read, render
from longfat.store.ledger import LEDGER_FILE, read_ledger, tally
from longfat.words import natural_order
from longfat.words import shown as shown_value
from longfat_papers.kit import runs_page, turns
from longfat_papers.kit.effects import headline_text
from longfat_papers.kit.folder import (
    ASSUMPTIONS_FILE,
    EXPERIMENTS,
    LIVE,
    SUITE_FILE,
    read_assumptions,
    read_history,
)
from longfat_papers.kit.text import counted

SIDES = {"live": "between real hosts, Linux {}", "simulated": "the same files in the simulator"}
"""What is shown of an experiment between real hosts, in words; {} is the kernel."""


def build(root: Path, jobs: int | None = None) -> Path:
    """Builds the page of a folder that `longfat suite` wrote, by ``jobs`` processes; returns its path."""
    suite = read(root / SUITE_FILE, "suite", "title", "citation", "mode", "status")
    ledger = read_ledger(root / LEDGER_FILE) if (root / LEDGER_FILE).is_file() else []
    assumptions = read_assumptions(root) or None
    claims = assumptions["claims"] if assumptions else []
    order = {name: index for index, name in enumerate(suite.get("order", []))}
    experiments = _stored(root / EXPERIMENTS, order, "figure")
    live = _stored(root / LIVE, order, "figures", "divided", "kernel")
    tornados = _tornados(root, claims)
    figures = [(_figure(root / EXPERIMENTS, each, each["figure"]), each) for each in experiments]
    beside = [(_live_figure(root, each, side), each) for each in live for side in SIDES]
    drawn = entries(root, [*tornados, *figures, *beside], jobs)
    ends = (len(tornados), len(tornados) + len(figures))
    of_readings, shown, of_live = drawn[: ends[0]], drawn[ends[0] : ends[1]], drawn[ends[1] :]
    for figure, experiment in zip(shown, experiments, strict=True):
        address = runs_page.build(root, suite["suite"], experiment)
        if address is not None:
            link = {"label": counted(experiment["runs"], "run"), "href": address}
            figure["links"] = [link, *figure["links"]]
    live_rows = [row["live"] for row in ledger if "live" in row]
    kernels = {row["kernel"] for row in live_rows if row["verdict"] != "not measured"}
    try:
        return render(
            root,
            __package__,
            "page.html.j2",
            title=suite["title"],
            suite=suite,
            unfinished=[
                name for name, status in suite.get("experiments", {}).items() if status != "complete"
            ],
            origins=_origins([*experiments, *({**each, "name": f"{each['name']} (live)"} for each in live)]),
            ledger=ledger,
            tally={verdict: count for verdict, count in tally(ledger).items() if count},
            figures=[*of_readings, *shown, *of_live],
            experiments=shown,
            live=of_live,
            has_live=bool(live_rows),
            live_tally={verdict: count for verdict, count in tally(live_rows).items() if count},
            kernels=sorted(kernels, key=natural_order),
            named={figure["name"]: figure["mirrors"] or figure["name"] for figure in shown},
            history={key: found for key, found in read_history(root).items() if len(found) > 1},
            readings=of_readings,
            assumptions=assumptions,
            headline=headline_text(assumptions["headline"]) if assumptions else "",
            outcomes={item["id"]: turns.told(item) for item in claims},
            closed={item["id"]: item["closed"] for item in claims if item["closed"]},
            provenance=suite.get("provenance") or suite.get("live", {}).get("provenance", {}),
        )
    except UndefinedError as error:
        raise InputError(f"{root / SUITE_FILE}: damaged: {error}") from None


def _stored(folder: Path, order: dict[str, int], *keys: str) -> list[dict[str, Any]]:
    """Returns the experiments of a folder in order; each has the name of its file, for names made of it."""
    found = []
    for path in folder.glob("[!.]*.json"):
        experiment = read(path, "name", "runs", *keys)
        if experiment["name"] != path.stem:
            wrong = shown_value(experiment["name"])
            raise InputError(f"{path}: damaged: its name is {wrong}; accepted: {path.stem}")
        found.append(experiment)
    return sorted(found, key=lambda each: (order.get(each["name"], len(order)), natural_order(each["name"])))


def _figure(folder: Path, experiment: dict[str, Any], stored: Any) -> Figure:
    try:
        return Figure.from_json(stored)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{folder / experiment['name']}.json: damaged: no figure") from None


def _live_figure(root: Path, experiment: dict[str, Any], side: str) -> Figure:
    """Returns the figure of an experiment between real hosts, or of the same files in the simulator."""
    figures = experiment["figures"]
    figure = _figure(root / LIVE, experiment, figures.get(side) if isinstance(figures, dict) else None)
    by, title = experiment["divided"], f"{figure.title}: {SIDES[side].format(experiment['kernel'])}"
    note = f" Rates were divided by {by}; the figure has them multiplied again." if by else ""
    return replace(figure, name=f"{figure.name}-{side}", title=title, caption=figure.caption + note)


def _tornados(root: Path, claims: list[dict[str, Any]]) -> list[tuple[Figure, dict[str, Any]]]:
    """Returns a tornado figure for each claim on which readings bear, and how many runs it shows."""
    try:
        return [
            (turns.tornado(item), {"mode": item["mode"], "runs": sum(each["runs"] for each in every)})
            for item in claims
            if item["readings"]
            for every in [item["readings"] + item["pairs"]]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{root / ASSUMPTIONS_FILE}: damaged: no readings of a suite") from None


def _origins(experiments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Groups the experiments by the command that ran them."""
    found: dict[str, dict[str, Any]] = {}
    for experiment in experiments:
        made = experiment.get("provenance", {})
        origin = {"mode": experiment.get("mode", "")}
        origin |= {key: made.get(key, "") for key in ("version", "commit", "created")}
        found.setdefault(json.dumps(origin), origin | {"names": []})["names"].append(experiment["name"])
    return list(found.values())
