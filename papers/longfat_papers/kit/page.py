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
from longfat.words import natural_order, shown
from longfat_papers.kit import runs_page, turns
from longfat_papers.kit.effects import headline_text
from longfat_papers.kit.folder import ASSUMPTIONS_FILE, LIVE, SUITE_FILE, read_assumptions, read_history


def build(root: Path, jobs: int | None = None) -> Path:
    """Builds the page of a folder that `longfat suite` wrote, by ``jobs`` processes; returns its path."""
    suite = read(root / SUITE_FILE, "suite", "title", "citation", "mode", "status")
    ledger = read_ledger(root / LEDGER_FILE) if (root / LEDGER_FILE).is_file() else []
    order = {name: index for index, name in enumerate(suite.get("order", []))}
    paths = (root / "experiments").glob("[!.]*.json")
    experiments = [_named(path, read(path, "name", "runs", "figure")) for path in paths]
    experiments.sort(key=lambda item: (order.get(item["name"], len(order)), natural_order(item["name"])))
    assumptions = read_assumptions(root) if (root / ASSUMPTIONS_FILE).is_file() else None
    readings = _readings(root, assumptions)
    shown = [(_figure(root, experiment), experiment) for experiment in experiments]
    of_live = _live(root, order)
    drawn = entries(root, [*readings, *shown, *of_live], jobs)
    figures = drawn[len(readings) : len(readings) + len(shown)]
    live = drawn[len(readings) + len(shown) :]
    for figure, experiment in zip(figures, experiments, strict=True):
        address = runs_page.build(root, suite["suite"], experiment)
        if address is not None:
            number = experiment["runs"]
            link = {"label": f"{number} run{'' if number == 1 else 's'}", "href": address}
            figure["links"] = [link, *figure["links"]]
    try:
        came = [*experiments, *({**each, "name": f"{each['name']} (live)"} for _, each in of_live[::2])]
        return _render_suite(root, suite, ledger, came, figures, live, assumptions, drawn[: len(readings)])
    except UndefinedError as error:
        raise InputError(f"{root / SUITE_FILE}: damaged: {error}") from None


def _named(path: Path, experiment: dict[str, Any]) -> dict[str, Any]:
    """An experiment whose name is that of its file, from which other names are made."""
    if experiment["name"] != path.stem:
        raise InputError(f"{path}: damaged: its name is {shown(experiment['name'])}; accepted: {path.stem}")
    return experiment


def _figure(root: Path, experiment: dict[str, Any]) -> Figure:
    try:
        return Figure.from_json(experiment["figure"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{root / 'experiments' / experiment['name']}.json: damaged: no figure") from None


def _live(root: Path, order: dict[str, int]) -> list[tuple[Figure, dict[str, Any]]]:
    """Returns two figures for each experiment between real hosts: theirs, then those of the simulator."""
    paths = (root / LIVE).glob("[!.]*.json")
    found = [_named(path, read(path, "name", "runs", "figures", "divided", "kernel")) for path in paths]
    found.sort(key=lambda item: (order.get(item["name"], len(order)), natural_order(item["name"])))
    shown = []
    for experiment in found:
        words = {
            "live": f"between real hosts, Linux {experiment['kernel']}",
            "simulated": "the same files in the simulator",
        }
        by = experiment["divided"]
        note = f" Rates were divided by {by}; the figure has them multiplied again." if by else ""
        for side in words:
            try:
                figure = Figure.from_json(experiment["figures"][side])
            except (KeyError, TypeError, ValueError, AttributeError):
                raise InputError(f"{root / LIVE / experiment['name']}.json: damaged: no figure") from None
            figure = replace(
                figure,
                name=f"{figure.name}-{side}",
                title=f"{figure.title}: {words[side]}",
                caption=figure.caption + note,
            )
            shown.append((figure, experiment))
    return shown


def _readings(root: Path, assumptions: dict[str, Any] | None) -> list[tuple[Figure, dict[str, Any]]]:
    """Returns a tornado figure for each claim on which readings bear, and how many runs it shows."""
    claims = assumptions["claims"] if assumptions else []
    try:
        return [
            (
                turns.tornado(item),
                {
                    "mode": item["mode"],
                    "runs": sum(each["runs"] for each in item["readings"] + item["pairs"]),
                },
            )
            for item in claims
            if item["readings"]
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{root / ASSUMPTIONS_FILE}: damaged: no readings of a suite") from None


def _render_suite(
    root: Path,
    suite: dict[str, Any],
    ledger: list[dict[str, Any]],
    experiments: list[dict[str, Any]],
    figures: list[dict[str, Any]],
    live: list[dict[str, Any]],
    assumptions: dict[str, Any] | None,
    readings: list[dict[str, Any]],
) -> Path:
    statuses = suite.get("experiments", {})
    live_rows = [row["live"] for row in ledger if "live" in row]
    entries = assumptions["claims"] if assumptions else []
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
        figures=[*readings, *figures, *live],
        experiments=figures,
        live=live,
        has_live=bool(live_rows),
        live_tally={verdict: count for verdict, count in tally(live_rows).items() if count},
        kernels=sorted(
            {row["kernel"] for row in live_rows if row["verdict"] != "not measured"}, key=natural_order
        ),
        named={figure["name"]: figure["mirrors"] or figure["name"] for figure in figures},
        history={key: found for key, found in read_history(root).items() if len(found) > 1},
        readings=readings,
        assumptions=assumptions,
        headline=headline_text(assumptions["headline"]) if assumptions else "",
        outcomes={item["id"]: turns.told(item) for item in entries},
        closed={item["id"]: item["closed"] for item in entries if item["closed"]},
        provenance=suite.get("provenance") or suite.get("live", {}).get("provenance", {}),
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
