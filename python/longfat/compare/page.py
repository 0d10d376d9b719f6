"""The page of a comparison: its table, and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.compare import table
from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entry
from longfat.study import page

KEYS = ("format", "stack", "grid", "columns", "algorithms", "skipped", "figure", "performance")


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat compare` wrote; returns its path."""

    def shown(document: dict[str, Any]) -> dict[str, Any]:
        if document["format"] != table.FORMAT:
            raise InputError(
                f"{root}: an older version of Longfat wrote this comparison; accepted: one of this version "
                "(`longfat compare` with the same options finds the runs)"
            )
        figure = Figure.from_json(document["figure"])
        cells = table.cells(document)
        return {
            "title": ", ".join(row[0] for row in cells.rows),
            "cells": cells,
            "used": table.used(document),
            "notes": table.notes(document),
            "paths": table.path_cells(document),
            "compared": document,
            "figures": [entry(root, figure, {"name": figure.name, "runs": document["performance"]["runs"]})],
        }

    return page.build(root / table.COMPARE_FILE, __package__, KEYS, shown)
