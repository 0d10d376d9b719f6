"""What notebooks show of suites."""

from __future__ import annotations

import html
from typing import Any

from longfat import views
from longfat.figure.data import Figure
from longfat.report.page import read


def suite_html(suite: Any) -> str:
    """A suite in a notebook: its experiments and claims."""
    experiments = [[each.name, each.mirrors, each.title] for each in suite.experiments]
    claims = [[claim.id, claim.published] for claim in suite.claims]
    return views.block(
        suite.title,
        [
            f"<p>{html.escape(suite.citation)}</p>",
            views.table(["experiment", "mirrors", "title"], experiments),
            views.table(["claim", "the paper"], claims),
        ],
    )


def outcome_html(outcome: Any) -> str:
    """What a suite came to in a notebook: verdicts, and a small plot of its first experiment."""
    rows = [[row["id"], row["published"], row["measured"] or "-", row["verdict"]] for row in outcome.ledger]
    parts = [views.table(["claim", "the paper", "measured", "verdict"], rows)]
    folder = outcome.report_path.parent / "experiments"
    for experiment in outcome.experiments[:1]:
        file = folder / f"{experiment['name']}.json"
        if experiment["finished"] and file.is_file():  # a suite between real hosts has none
            parts.append(views.small(Figure.from_json(read(file, "figure")["figure"])))
    parts.append(f"<p>report: {html.escape(str(outcome.report_path))}</p>")
    return views.block(f"{outcome.suite}, {outcome.mode} mode", parts)
