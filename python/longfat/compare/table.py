"""The table of a stored comparison, in words: for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from longfat.report import columns
from longfat.report.terminal import fitted
from longfat.units import RATE, TIME

COMPARE_FILE = "compare.json"
NARROW = 130
"""A narrower terminal gets a column for each algorithm instead of a line."""
DIGITS = 3
ERROR_DIGITS = 2


def cell(value: Mapping[str, Any] | None, between: str = " ") -> str:
    """Formats an estimate: "0.913 ± 0.002", "> 98", or a dash."""
    if value is None or value["mean"] is None:
        return "-"
    bound = f"{value['bound']} " if value["bound"] else ""
    text = bound + columns.number(value["mean"], DIGITS)
    if value["stderr"] is None:
        return text
    return f"{text}{between}± {columns.number(value['stderr'], ERROR_DIGITS)}"


def cells(document: Mapping[str, Any], between: str = " ") -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of the table of a stored comparison; `between` precedes each error."""
    keys = [column["key"] for column in document["columns"]]
    headings = ["algorithm", *(column["heading"] for column in document["columns"])]
    return headings, [
        [entry["name"], *(cell(entry[key], between) for key in keys)] for entry in document["algorithms"]
    ]


def path_cells(document: Mapping[str, Any], between: str = " ") -> tuple[list[str], list[list[str]]]:
    """Returns headings and rows of the table of paths; no rows where no path was given."""
    found = document.get("paths", [])
    shown = [column for column in document["columns"] if found and column["key"] in found[0]]
    # the flows of a path have the RTTs that it gives them: "Jain, same RTT" is "Jain" here
    headings = ["path", "algorithm", *(column["heading"].partition(",")[0] for column in shown)]
    return headings, [
        [entry["path"], entry["algorithm"], *(cell(entry[column["key"]], between) for column in shown)]
        for entry in found
    ]


def used(document: Mapping[str, Any]) -> str:
    """Describes the hosts and the grid in one line."""
    grid = document["grid"]
    parts = [
        f"stack {document['stack']}",
        ", ".join(map(RATE.write, grid["rates_bps"])),
        ", ".join(map(TIME.write, grid["rtts_s"])),
        "buffers " + ", ".join(grid["buffers"]),
        f"{grid['repeats']} repeat{'' if grid['repeats'] == 1 else 's'} of {TIME.write(grid['duration_s'])}",
    ]
    return "; ".join(parts)


def notes(document: Mapping[str, Any]) -> list[str]:
    """Returns the explanations that a reader of the table needs."""
    headings = {column["key"]: column["heading"] for column in document["columns"]}
    return [f"{headings[key]}: not measured, {reason}" for key, reason in document["skipped"].items()]


def show(document: Mapping[str, Any], console: Console) -> None:
    """Prints the table."""
    headings, rows = cells(document, between="\n")
    if console.width < NARROW:
        headings, *rows = (list(line) for line in zip(*[headings, *rows], strict=True))
    for table in fitted(
        [(heading, i > 0) for i, heading in enumerate(headings)], rows, console.width, leading=1
    ):
        console.print(table)
        console.print()
    console.print(
        f"On {used(document)}; errors are standard errors over repeats.", style="dim", markup=False
    )
    for note in notes(document):
        console.print(note, style="dim", markup=False)
    headings, rows = path_cells(document)
    if rows:
        console.print()
        for beside in fitted([(heading, i > 1) for i, heading in enumerate(headings)], rows, console.width):
            console.print(beside)
            console.print()
    performance = document["performance"]
    console.print(
        f"{performance['runs']} runs, {performance['packets'] / 1e6:.0f} M packets in "
        f"{performance['wall_s']:.0f} s",
        style="dim",
    )
