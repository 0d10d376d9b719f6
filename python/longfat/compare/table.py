"""The table of a stored comparison, in words: for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console

from longfat.study.stats import HALF, written
from longfat.study.table import Table
from longfat.units import RATE, TIME

COMPARE_FILE = "compare.json"
FORMAT = 2
"""The version of its form; 1 had standard errors."""
NARROW = 130
"""A narrower terminal gets a column for each algorithm instead of a line."""


def cell(value: Mapping[str, Any] | None, between: str = " ") -> str:
    """Formats an estimate: "0.913 ± 0.002", "> 98", or a dash."""
    if value is None or value["mean"] is None:
        return "-"
    bound = f"{value['bound']} " if value["bound"] else ""
    return bound + written(value["mean"], value[HALF], between=between)


def cells(document: Mapping[str, Any], between: str = " ") -> Table:
    """Returns the table of a stored comparison; `between` precedes each interval."""
    columns = document["columns"]
    return Table(
        ["algorithm", *(column["heading"] for column in columns)],
        [
            [entry["name"], *(cell(entry[column["key"]], between) for column in columns)]
            for entry in document["algorithms"]
        ],
    )


def path_cells(document: Mapping[str, Any]) -> Table:
    """Returns the table of paths; no rows where no path was given."""
    found = document.get("paths", [])
    shown = [column for column in document["columns"] if found and column["key"] in found[0]]
    return Table(
        # the flows of a path have the RTTs that it gives them: "Jain, same RTT" is "Jain" here
        ["path", "algorithm", *(column["heading"].partition(",")[0] for column in shown)],
        [
            [entry["path"], entry["algorithm"], *(cell(entry[column["key"]]) for column in shown)]
            for entry in found
        ],
        texts=2,
    )


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

    def printed(table: Table, leading: int = 0) -> None:
        for part in table.fitted(console.width, leading):
            console.print(part)
            console.print()

    found = cells(document, between="\n")
    if console.width < NARROW:
        headings, *rows = (list(line) for line in zip(found.headings, *found.rows, strict=True))
        found = Table(headings, rows)
    printed(found, leading=1)
    console.print(
        f"On {used(document)}; ± is half of a 95 % interval over repeats.", style="dim", markup=False
    )
    for note in notes(document):
        console.print(note, style="dim", markup=False)
    if (beside := path_cells(document)).rows:
        console.print()
        printed(beside)
    done = document["performance"]
    console.print(
        f"{done['runs']} runs, {done['packets'] / 1e6:.0f} M packets in {done['wall_s']:.0f} s", style="dim"
    )
