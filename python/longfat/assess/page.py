"""The page of a dossier: ten lines, then each section of RFC 9743, then the limits of the method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.assess import cells, drawing
from longfat.figure.data import Figure
from longfat.study import page

DOSSIER_FILE = "dossier.json"
KEYS = ("criteria", "failures", "headline", "baselines", "stack", "limits", "performance")
CLASSES = {"addressed": "reproduced", "text needed": "partly", "not applicable": "not-measured"}
"""The colours of the statuses, by the classes that pages share."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat assess` wrote; returns its path."""
    return page.build(root / DOSSIER_FILE, "assess", __package__, KEYS, _shown)


def _shown(document: dict[str, Any]) -> dict[str, Any]:
    return {
        "title": f"{document['algorithm']}, assessed by RFC 9743",
        "dossier": document,
        "classes": CLASSES,
        "cells": cells,
        "drawn": {
            row["section"]: [
                {"title": figure.title, "caption": figure.caption, "panels": drawing.svg(figure)}
                for figure in map(Figure.from_json, row["figures"])
            ]
            for row in document["criteria"]
        },
        "figures": [],
    }
