"""What a sweep keeps of a run."""

from __future__ import annotations

from typing import Any

from longfat.runs.result import Result
from longfat.store.kept import kept_as

MACHINES = ("performance", "version")
"""Parts of a summary that depend on the machine, not on the run."""

ELEMENTS = ("queue", "router")
"""The keys of a link that repeat the scenario; rows that sweeps stored before them lack them."""


@kept_as("longfat.sweep.reduction.reduce_run", "3")
def reduce_run(result: Result) -> dict[str, Any]:
    """Returns the summary without the machine's part, and the packets that reached the first link."""
    summary = {key: value for key, value in result.summary.items() if key not in MACHINES}
    links = [{key: link[key] for key in link if key not in ELEMENTS} for link in summary["links"]]
    return summary | {"links": links, "packets": links[0]["packets_in"]}
