"""The page of a comparison: its table, and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.compare.table import COMPARE_FILE, cells, notes, path_cells, used
from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entry, read, render


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat compare` wrote; returns its path."""
    path = root / COMPARE_FILE
    compared = read(
        path, "stack", "grid", "columns", "algorithms", "skipped", "figure", "performance", "provenance"
    )
    try:
        figure = Figure.from_json(compared["figure"])
        headings, rows = cells(compared)
        values: dict[str, Any] = {
            "used": used(compared),
            "notes": notes(compared),
            "paths": path_cells(compared),
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: it is damaged; accepted: what `longfat compare` wrote") from None
    return render(
        root,
        __package__,
        "page.html.j2",
        title=", ".join(row[0] for row in rows),
        headings=headings,
        rows=rows,
        compared=compared,
        figures=[entry(root, figure, {"name": figure.name, "runs": compared["performance"]["runs"]})],
        provenance=compared["provenance"],
        **values,
    )
