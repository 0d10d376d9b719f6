"""The page of a crosscheck: both backends in one figure, and the live runs' failed checks."""

from __future__ import annotations

from pathlib import Path

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.live import doubts
from longfat.report.page import entry, read, render

CROSSCHECK_FILE = "crosscheck.json"


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat crosscheck` wrote; returns its path."""
    document = read(root / CROSSCHECK_FILE, "live", "figure", "scenario", "provenance")
    try:
        figure = Figure.from_json(document["figure"])
        lines = doubts(document["live"])
        valid = sum(run["validity"]["valid"] for run in document["live"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{root / CROSSCHECK_FILE}: it is damaged; accepted: what `longfat crosscheck` wrote"
        ) from None
    runs = len(document["live"])
    return render(
        root,
        __package__,
        "page.html.j2",
        title=figure.title,
        valid=valid,
        runs=runs,
        doubts=lines,
        stacks=document.get("stacks", {}),
        scenario=document["scenario"],
        figures=[entry(root, figure, {"name": figure.name, "runs": 2 * runs})],
        provenance=document["provenance"],
    )
