"""The page of a sweep: its axes and figures, and the runs that failed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from longfat import installation
from longfat.report.page import FIGURES, PAGE, entries, render
from longfat.store import sums
from longfat.store.identity import digest
from longfat.sweep import figures
from longfat.sweep.handle import Swept, open_sweep
from longfat.sweep.tables import TABLES

MOST_FAILURES = 20
"""Failures on the page; the table has all of them."""


VOLATILE = ("performance", "provenance", sums.OWN)
"""What sweep.json has of the command that wrote it; the same results are drawn alike."""


def build(root: Path, jobs: int | None = None) -> Path:
    """Builds the page of a folder that `longfat sweep` wrote; returns its path.

    Args:
        root: the folder.
        jobs: the number of processes that draw; one for each core if None.
    """
    swept = open_sweep(root)
    document = swept.document
    drawn = entries(root, [(figure, {"runs": document["runs"]}) for figure in figures.page(swept)], jobs)
    failures = swept.failures.to_pylist()
    return render(
        root,
        __package__,
        "page.html.j2",
        title=document["title"] or "Sweep",
        sweep=document,
        note=swept.note,
        content=_content(swept),
        axes=[
            (" & ".join(axis["keys"]), [_step(step) for step in axis["values"]]) for axis in document["axes"]
        ],
        failures=failures[:MOST_FAILURES],
        figures=drawn,
        provenance=document["provenance"],
    )


def current(root: Path) -> Path | None:
    """Returns the page in a folder if it, with its figures, shows what `build` would show; else None."""
    path = root / PAGE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    files = [root / unquote(link) for link in re.findall(rf'href="({FIGURES}/[^"]+)"', text)]
    is_current = _content(open_sweep(root)) in text and all(file.is_file() for file in files)
    return path if is_current else None


def _content(swept: Swept) -> str:
    """Returns the digest of everything that the page follows from."""
    document = {key: value for key, value in swept.document.items() if key not in VOLATILE}
    listed = swept.folder / TABLES / sums.SUMS_FILE
    tables = listed.read_text(encoding="utf-8") if listed.is_file() else ""
    return digest([document, swept.note, tables, installation.__version__, installation.commit()])


def _step(step: list[Any]) -> str:
    return " & ".join(str(value) for value in step)
