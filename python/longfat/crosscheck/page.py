"""The page of a crosscheck: both backends in one figure, and the live runs' failed checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.figure.data import Figure
from longfat.live import doubts
from longfat.report.page import entry
from longfat.study import page

CROSSCHECK_FILE = "crosscheck.json"


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat crosscheck` wrote; returns its path."""

    def shown(document: dict[str, Any]) -> dict[str, Any]:
        figure = Figure.from_json(document["figure"])
        runs = len(document["live"])
        return {
            "title": figure.title,
            "valid": sum(run["validity"]["valid"] for run in document["live"]),
            "runs": runs,
            "doubts": doubts(document["live"]),
            "stacks": document.get("stacks", {}),
            "scenario": document["scenario"],
            "figures": [entry(root, figure, {"name": figure.name, "runs": 2 * runs})],
        }

    keys = ("live", "figure", "scenario")
    return page.build(root / CROSSCHECK_FILE, __package__, keys, shown)
