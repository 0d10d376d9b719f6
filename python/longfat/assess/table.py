"""The first screen of a dossier on the terminal: ten lines, and the state of each section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from longfat.assess.cells import live_runs, repeats

STYLES = {"addressed": "green", "text needed": "yellow", "not applicable": "dim"}


def show(document: Mapping[str, Any], console: Console) -> None:
    """Prints the lines, then which sections need the author's text and where the algorithm failed."""
    others = ", ".join(document["baselines"])
    console.print(f"[bold]{document['algorithm']}[/] beside {others}, by RFC 9743", highlight=False)
    for number, line in enumerate(document["headline"], start=1):
        console.print(
            f"{number:2}. {line['name']} ({line['section']}): {line['text']}", markup=False, highlight=False
        )
    console.print()
    for name in STYLES:
        sections = [row["section"] for row in document["criteria"] if row["status"] == name]
        if sections:
            console.print(f"[{STYLES[name]}]{name}[/]: {', '.join(sections)}", highlight=False)
    for row in document["criteria"]:
        for problem in row["problems"]:
            console.print(f"{row['section']}: {problem}", style="red", markup=False, highlight=False)
    done = document["performance"]
    console.print(
        f"{done['runs']} runs, {done['packets'] / 1e6:.0f} M packets in {done['wall_s']:.0f} s; "
        f"{repeats(document)}",
        style="dim",
        highlight=False,
    )
    if lived := document.get("live"):
        console.print(live_runs(lived), style="dim", markup=False, highlight=False)
        if lived["without"]:
            console.print(lived["without"], style="red", markup=False, highlight=False)
