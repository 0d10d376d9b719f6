"""The live backend: scenarios on this machine's own TCP. Imports nothing, as its worker begins here."""

from __future__ import annotations

from typing import Any


def doubts(summaries: list[dict[str, Any]]) -> list[str]:
    """A line for each check that a live run has failed."""
    return [
        f"seed {summary['seed']} is not valid: {check['name']}: {check['value']:.4g}, "
        f"accepted up to {check['bound']:.4g}"
        for summary in summaries
        for check in summary["validity"]["checks"]
        if not check["ok"]
    ]
