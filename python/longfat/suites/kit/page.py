"""The report page of a suite: its ledger, and a figure for each experiment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import UndefinedError

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entry, read, render
from longfat.store.ledger import LEDGER_FILE, read_ledger, tally
from longfat.suites.kit.folder import SUITE_FILE
from longfat.words import natural_order


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat suite` wrote and returns its path."""
    suite = read(root / SUITE_FILE, "suite", "title", "citation", "mode", "status")
    ledger = read_ledger(root / LEDGER_FILE) if (root / LEDGER_FILE).is_file() else []
    order = {name: index for index, name in enumerate(suite.get("order", []))}
    experiments = [read(path, "name", "runs", "figure") for path in (root / "experiments").glob("[!.]*.json")]
    experiments.sort(key=lambda item: (order.get(item["name"], len(order)), natural_order(item["name"])))
    figures = []
    for experiment in experiments:
        try:
            figure = Figure.from_json(experiment["figure"])
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError(
                f"{root / 'experiments' / experiment['name']}.json: damaged: no figure"
            ) from None
        figures.append(entry(root, figure, experiment))
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
    return render(
        root,
        __package__,
        "page.html.j2",
        title=suite["title"],
        suite=suite,
        unfinished=[name for name, status in statuses.items() if status != "complete"],
        origins=_origins(experiments),
        ledger=ledger,
        tally={verdict: count for verdict, count in tally(ledger).items() if count},
        figures=figures,
        provenance=suite.get("provenance", {}),
    )


def _origins(experiments: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Groups the experiments by the command that ran them."""
    found: dict[str, dict[str, Any]] = {}
    for experiment in experiments:
        made = experiment.get("provenance", {})
        origin = {"mode": experiment.get("mode", "")}
        origin |= {key: made.get(key, "") for key in ("version", "commit", "created")}
        found.setdefault(json.dumps(origin), origin | {"names": []})["names"].append(experiment["name"])
    return list(found.values())
