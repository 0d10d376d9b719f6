"""The panels of a run's page by themselves, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable

from longfat.figure import uplot
from longfat.figure.data import Figure
from longfat.report.page import text


def page(figures: Iterable[Figure]) -> str:
    """Returns a page with the panels of figures over time."""
    return text(
        __package__,
        "panels.html.j2",
        title="Run",
        timeline=uplot.embedded(uplot.document(figures)),
        figures=[],
        provenance={},
        **uplot.assets(),
    )
