"""The page of a dossier: ten lines, then each section of RFC 9743, then the limits of the method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.assess import cells
from longfat.figure.data import Figure
from longfat.report.page import entries
from longfat.study import page

DOSSIER_FILE = "dossier.json"
KEYS = ("criteria", "failures", "headline", "baselines", "stack", "limits", "performance")
CLASSES = {"addressed": "reproduced", "text needed": "partly", "not applicable": "not-measured"}
"""The colours of the statuses, by the classes that pages share."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat assess` wrote; returns its path."""

    def shown(document: dict[str, Any]) -> dict[str, Any]:
        figures = [
            (row["section"], Figure.from_json(figure))
            for row in document["criteria"]
            for figure in row["figures"]
        ]
        drawn: dict[str, list[dict[str, Any]]] = {row["section"]: [] for row in document["criteria"]}
        made = entries(root, [(figure, {"runs": 0}) for _, figure in figures])
        for (section, _), entry in zip(figures, made, strict=True):
            drawn[section].append(entry)
        return {
            "title": f"{document['algorithm']}, assessed by RFC 9743",
            "dossier": document,
            "classes": CLASSES,
            "cells": cells,
            "drawn": drawn,
            "figures": [],
        }

    return page.build(root / DOSSIER_FILE, __package__, KEYS, shown)
