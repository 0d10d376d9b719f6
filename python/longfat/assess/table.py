"""The first screen of a dossier on the terminal: ten lines, and the state of each section."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from rich.console import Console

from longfat.assess import cells

STYLES = {"addressed": "green", "text needed": "yellow", "not applicable": "dim"}


def show(document: Mapping[str, Any], console: Console) -> None:
    """Prints the lines, then which sections need the author's text and where the algorithm failed.

    Without any line, because no section that was asked for has one, it prints what was measured.
    """
    say = functools.partial(console.print, markup=False, highlight=False)
    others = ", ".join(document["baselines"])
    console.print(f"[bold]{document['algorithm']}[/] beside {others}, by RFC 9743", highlight=False)
    for number, line in enumerate(document["headline"], start=1):
        say(f"{number:2}. {line['name']} ({line['section']}): {line['text']}")
    say()
    if not document["headline"]:
        for row in document["criteria"]:
            _measured(document, row, console)
    for name in STYLES:
        sections = [row["section"] for row in document["criteria"] if row["status"] == name]
        if sections:
            console.print(f"[{STYLES[name]}]{name}[/]: {', '.join(sections)}", highlight=False)
    for failure in document["failures"]:
        say(cells.failure_line(failure), style="red")
    done = document["performance"]
    took = f"{done['runs']} runs, {done['packets'] / 1e6:.0f} M packets in {done['wall_s']:.0f} s"
    say(f"{took}; {cells.repeats(document)}", style="dim")
    if lived := document.get("live"):
        say(cells.live_runs(lived), style="dim")
        if lived["without"]:
            say(lived["without"], style="red")


def _measured(document: Mapping[str, Any], row: Mapping[str, Any], console: Console) -> None:
    """Prints the numbers of a row: the algorithm's, and each baseline's; then the live ones."""
    for experiment in row["experiments"]:
        name = experiment["name"]
        console.print(f"{row['section']} {experiment['title']}", markup=False, highlight=False)
        found = cells.table(row, name, document["algorithm"], differences=False)
        console.print(*found.fitted(console.width))
        if (live := cells.live_table(row, name)) is not None:
            told = f"live and simulated, {cells.live_points(row, name)}"
            console.print(told, markup=False, highlight=False)
            console.print(*live.fitted(console.width))
        console.print()
