"""The page of a screen: its table, and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.report.page import entry, read, render
from longfat.screen.table import SCREEN_FILE, cells, notes, path_cells, used


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat screen` wrote; returns its path."""
    path = root / SCREEN_FILE
    screen = read(path, "grid", "columns", "algorithms", "skipped", "figure", "performance", "provenance")
    try:
        figure = Figure.from_json(screen["figure"])
        headings, rows = cells(screen)
        values: dict[str, Any] = {"used": used(screen), "notes": notes(screen), "paths": path_cells(screen)}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{path}: damaged; accepted: what `longfat screen` wrote") from None
    return render(
        root,
        __package__,
        "page.html.j2",
        title=", ".join(row[0] for row in rows),
        headings=headings,
        rows=rows,
        screen=screen,
        figures=[entry(root, figure, {"name": figure.name, "runs": screen["performance"]["runs"]})],
        provenance=screen["provenance"],
        **values,
    )
