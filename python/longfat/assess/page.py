"""The page of a dossier: ten lines, then each section of RFC 9743, then the limits of the method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.assess import drawing, markdown
from longfat.assess.table import repeats
from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import read, render

DOSSIER_FILE = "dossier.json"
CLASSES = {"addressed": "reproduced", "text needed": "partly", "not applicable": "not-measured"}
"""The colours of the statuses, by the classes that pages share."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat assess` wrote; returns its path."""
    path = root / DOSSIER_FILE
    document = read(path, "criteria", "headline", "baselines", "limits", "performance", "provenance")
    try:
        drawn = {
            row["section"]: [
                {"title": figure.title, "caption": figure.caption, "panels": drawing.svg(figure)}
                for figure in map(Figure.from_json, row["figures"])
            ]
            for row in document["criteria"]
        }
        tables = {
            (row["section"], experiment["name"]): _rows(row, experiment["name"])
            for row in document["criteria"]
            for experiment in row["experiments"]
        }
        lived = {
            (row["section"], experiment["name"]): list(markdown.live_table(row, experiment["name"]))
            for row in document["criteria"]
            for experiment in row["experiments"]
        }
        return render(
            root,
            __package__,
            "page.html.j2",
            title=f"{document['algorithm']}, assessed by RFC 9743",
            dossier=document,
            classes=CLASSES,
            tables=tables,
            lived=lived,
            drawn=drawn,
            figures=[],
            repeats=repeats(document),
            provenance=document["provenance"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: damaged; accepted: what `longfat assess` wrote") from None


def _rows(row: dict[str, Any], experiment: str) -> list[dict[str, Any]]:
    """The lines of an experiment's table: for each number its cells, and those of its points."""
    found = []
    for key, cells in markdown.table(row, experiment):
        own = row["measured"][key]
        points = [
            [point["at"], markdown.value(own | point)]
            + [markdown.value(own | other[key]["points"][i]) for other in row["baseline"].values()]
            for i, point in enumerate(own["points"])
        ]
        found.append({"label": own["label"], "cells": cells, "points": points if len(points) > 1 else []})
    return found
