"""The page of a sweep: its axes and figures, and the runs that failed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longfat.report.page import entry, render
from longfat.sweep import figures
from longfat.sweep.handle import open_sweep

MOST_FAILURES = 20
"""Failures on the page; the table has all of them."""


def build(root: Path) -> Path:
    """Builds the page of a folder that `longfat sweep` wrote; returns its path."""
    swept = open_sweep(root)
    document = swept.document
    drawn = [
        entry(root, figure, {"name": figure.name, "runs": document["runs"]})
        for figure in (figures.page(swept) if swept.runs.num_rows else [])
    ]
    failures = swept.failures.to_pylist()
    return render(
        root,
        __package__,
        "page.html.j2",
        title=document["title"] or "Sweep",
        sweep=document,
        note=swept.note,
        axes=[
            (" & ".join(axis["keys"]), [_step(step) for step in axis["values"]]) for axis in document["axes"]
        ],
        failures=failures[:MOST_FAILURES],
        figures=drawn,
        provenance=document["provenance"],
    )


def _step(step: list[Any]) -> str:
    return " & ".join(str(value) for value in step)
