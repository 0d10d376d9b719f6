"""The page of a dossier: ten lines, then each section of RFC 9743, then the limits of the method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.assess import cells
from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entries, read, render

DOSSIER_FILE = "dossier.json"
CLASSES = {"addressed": "reproduced", "text needed": "partly", "not applicable": "not-measured"}
"""The colours of the statuses, by the classes that pages share."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat assess` wrote; returns its path."""
    path = root / DOSSIER_FILE
    document = read(
        path, "criteria", "failures", "headline", "baselines", "stack", "limits", "performance", "provenance"
    )
    try:
        figures = [
            (row["section"], Figure.from_json(figure))
            for row in document["criteria"]
            for figure in row["figures"]
        ]
        drawn: dict[str, list[dict[str, Any]]] = {row["section"]: [] for row in document["criteria"]}
        shown = entries(root, [(figure, {"runs": 0}) for _, figure in figures])
        for (section, _), entry in zip(figures, shown, strict=True):
            drawn[section].append(entry)
        tables = {
            (row["section"], experiment["name"]): _rows(row, experiment["name"])
            for row in document["criteria"]
            for experiment in row["experiments"]
        }
        lived = {
            (row["section"], experiment["name"]): list(cells.live_table(row, experiment["name"]))
            for row in document["criteria"]
            for experiment in row["experiments"]
        }
        lived_at = {
            (row["section"], name): cells.live_points(row, name)
            for row in document["criteria"]
            for name in row.get("live", {}).get("ran", {})
        }
        return render(
            root,
            __package__,
            "page.html.j2",
            title=f"{document['algorithm']}, assessed by RFC 9743",
            dossier=document,
            classes=CLASSES,
            failures=[cells.failure_line(each) for each in document["failures"]],
            tables=tables,
            lived=lived,
            lived_at=lived_at,
            live_runs=cells.live_runs(document["live"]) if "live" in document else "",
            carriers=cells.carriers(document["live"]) if "live" in document else "",
            drawn=drawn,
            figures=[],
            repeats=cells.repeats(document),
            provenance=document["provenance"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: it is damaged; accepted: what `longfat assess` wrote") from None


def _rows(row: dict[str, Any], experiment: str) -> list[dict[str, Any]]:
    """The lines of an experiment's table: for each number its cells, and those of its points."""
    found = []
    for key, texts in cells.table(row, experiment):
        own = row["measured"][key]
        points = [
            [point["at"], cells.value(own | point)]
            + [cells.value(own | other[key]["points"][i]) for other in row["baseline"].values()]
            for i, point in enumerate(own["points"])
        ]
        found.append({"label": own["label"], "cells": texts, "points": points if len(points) > 1 else []})
    return found
