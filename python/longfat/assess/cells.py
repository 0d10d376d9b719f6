"""The numbers of a dossier as text: for the page, the Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longfat.study.stats import written
from longfat.study.table import Table

Entry = Mapping[str, Any]


def keys(row: Entry, experiment: str) -> Iterator[str]:
    """Yields the keys of an experiment's numbers."""
    return (key for key in row["measured"] if key.partition(".")[0] == experiment)


def table(row: Entry, experiment: str, own: str, differences: bool = True) -> Table:
    """Returns an experiment's numbers: those of `own`, each baseline's, and how `own` differs from it."""
    headings, rows = ["", own], []
    for other in row["baseline"]:
        headings += [other, "difference"] if differences else [other]
    for key in keys(row, experiment):
        measured = row["measured"][key]
        cells = [measured["label"], value(measured)]
        for other, found in row["baseline"].items():
            cells.append(value(found[key]))
            if differences:
                cells.append(gap(row["uncertainty"]["differences"][other][key], measured["unit"]))
        rows.append(cells)
    return Table(headings, rows)


def points(row: Entry, experiment: str, own: str) -> Iterator[Table]:
    """Yields the table of each number at the points of an experiment that has several."""
    for key in keys(row, experiment):
        measured = row["measured"][key]
        sides = [measured, *(found[key] for found in row["baseline"].values())]
        if len(measured["points"]) > 1:
            rows = [
                [at[0]["at"], *(value(measured | each) for each in at)]
                for at in zip(*(side["points"] for side in sides), strict=True)
            ]
            yield Table([measured["label"], own, *row["baseline"]], rows)


def live_table(row: Entry, experiment: str) -> Table | None:
    """Returns the numbers that were measured live, each beside the simulated one; None if none was.

    A cell that is over fewer points than ran live says so.
    """
    ran = row.get("live", {}).get("ran", {}).get(experiment)
    if ran is None:
        return None
    rows = []
    for key in keys(row, experiment):
        measured, cells = row["measured"][key], []
        for label, both in row["live"]["numbers"][key]["algorithms"].items():
            number, of = len(both["points"]), len(ran[label])
            over = f" ({number} of {of} points)" if 0 < number < of else ""
            cells += [f"{value(measured | both[side])}{over}" for side in ("live", "simulated")]
        rows.append([measured["label"], *cells])
    return Table(["", *(name for label in ran for name in (f"{label}, live", "simulated"))], rows)


def live_points(row: Entry, experiment: str) -> str:
    """Says at which points the algorithms ran live, once for those with the same points."""
    found = {"; ".join(points): labels for points, labels in same(row["live"]["ran"][experiment]).items()}
    if len(found) == 1:
        return f"at {next(iter(found))}"
    return ", and ".join(f"at {points} ({', '.join(labels)})" for points, labels in found.items())


def same(points: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    """Returns the labels that have the same points, by their points."""
    found: dict[tuple[str, ...], list[str]] = {}
    for label, listed in points.items():
        found.setdefault(tuple(listed), []).append(label)
    return found


def value(found: Entry) -> str:
    """Writes a number with its interval and unit, or the words for its absence."""
    if found["mean"] is None:
        return found["absent"] or "no number"
    return written(found["mean"], found["half_width_95"], found["unit"])


def gap(found: Entry, unit: str) -> str:
    """Writes a difference; one whose interval holds zero is in parentheses."""
    if found["mean"] is None:
        return "–"
    sign = "+" if found["mean"] > 0.0 else ""
    text = f"{sign}{written(found['mean'], found['half_width_95'], gap_unit(unit))}"
    return text if found["differs"] else f"({text})"


def gap_unit(unit: str) -> str:
    """The unit of a difference: of percentages it is percentage points."""
    return "points" if unit == "%" else unit


def failure_line(failure: Entry) -> str:
    """Says in how many runs something went wrong, where, and what it was."""
    sections = ", ".join(failure["sections"])
    return f"{failure['algorithm']}: {failure['runs']} of {failure['of']} runs ({sections}) {failure['what']}"


def live_runs(lived: Entry) -> str:
    """Says how many live runs there are, on what, and how many more have no numbers."""
    failed = f", {lived['not_valid']} more were not valid" if lived["not_valid"] else ""
    without = f", {lived['without_result']} had no result" if lived["without_result"] else ""
    return f"{lived['runs']} live runs on Linux {lived['kernel']} of {lived['host']}{failed}{without}"


def carriers(lived: Entry) -> str:
    """Says what carried the live flows of each algorithm."""
    return "; ".join(f"{label} by {carrier}" for label, carrier in lived["carriers"].items())


def repeats(document: Entry) -> str:
    """Says which hosts ran, how often each point ran, and what the intervals are."""
    number = document["repeats"]
    return (
        f"stack {document['stack']}; {number} repeat{'' if number == 1 else 's'} of each point; "
        "± is half of a 95 % interval"
    )
