"""The first screen of a dossier on the terminal: ten lines, and the state of each section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from longfat.assess.cells import failure_line, live_points, live_runs, live_table, repeats, value

STYLES = {"addressed": "green", "text needed": "yellow", "not applicable": "dim"}


def show(document: Mapping[str, Any], console: Console) -> None:
    """Prints the lines, then which sections need the author's text and where the algorithm failed.

    Without any line, because no section that was asked for has one, it prints what was measured.
    """
    others = ", ".join(document["baselines"])
    console.print(f"[bold]{document['algorithm']}[/] beside {others}, by RFC 9743", highlight=False)
    for number, line in enumerate(document["headline"], start=1):
        console.print(
            f"{number:2}. {line['name']} ({line['section']}): {line['text']}", markup=False, highlight=False
        )
    console.print()
    if not document["headline"]:
        for row in document["criteria"]:
            _measured(document, row, console)
    for name in STYLES:
        sections = [row["section"] for row in document["criteria"] if row["status"] == name]
        if sections:
            console.print(f"[{STYLES[name]}]{name}[/]: {', '.join(sections)}", highlight=False)
    for failure in document["failures"]:
        console.print(failure_line(failure), style="red", markup=False, highlight=False)
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


def _measured(document: Mapping[str, Any], row: Mapping[str, Any], console: Console) -> None:
    """Prints the numbers of a row: the algorithm's, and each baseline's; then the live ones."""
    for experiment in row["experiments"]:
        console.print(f"{row['section']} {experiment['title']}", markup=False, highlight=False)
        numbers = [
            [own["label"], value(own), *(value(found[key]) for found in row["baseline"].values())]
            for key, own in row["measured"].items()
            if key.partition(".")[0] == experiment["name"]
        ]
        _print_table([document["algorithm"], *row["baseline"]], numbers, console)
        if lines := list(live_table(row, experiment["name"])):
            told = f"live and simulated, {live_points(row, experiment['name'])}"
            console.print(told, markup=False, highlight=False)
            names = [name for label in lines[0]["labels"] for name in (f"{label}, live", "simulated")]
            _print_table(names, [[line["label"], *line["cells"]] for line in lines], console)
        console.print()


def _print_table(names: Sequence[str], lines: Iterable[Sequence[str]], console: Console) -> None:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for name in names:
        table.add_column(Text(name), justify="right")
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(table)
