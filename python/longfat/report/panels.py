"""The panels of a run's page by themselves, for notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from longfat.report import timeline
from longfat.report.page import text
from longfat.report.run import assets

if TYPE_CHECKING:
    import pyarrow


def page(
    summary: Mapping[str, Any],
    flows: pyarrow.Table,
    links: pyarrow.Table,
    internals: pyarrow.Table | None,
    events: pyarrow.Table,
    wanted: Sequence[str],
) -> str:
    """Returns a page with the panels of these kinds; the tables are those of `timeline.document`."""
    data = timeline.document(summary, flows, links, internals, events)
    kept = [panel for panel in data["panels"] if panel["key"].partition("-")[0] in wanted]
    return text(
        __package__,
        "panels.html.j2",
        title="Run",
        timeline=timeline.embedded(data | {"panels": kept}),
        figures=[],
        provenance={},
        **assets(),
    )
