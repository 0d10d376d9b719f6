"""The numbers of a dossier as text: for the page, the Markdown and the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longfat.report.columns import number

DIGITS, ERROR_DIGITS = 3, 2

Entry = Mapping[str, Any]


def table(row: Entry, experiment: str) -> Iterator[tuple[str, list[str]]]:
    """Yields the key of each number of an experiment, and its cells.

    The first cell is the algorithm's; then each baseline has one for its number, and one for the difference.
    """
    gaps = row["uncertainty"]["differences"]
    for key, own in row["measured"].items():
        if key.partition(".")[0] == experiment:
            cells = [value(own)]
            for other, found in row["baseline"].items():
                cells += [value(found[key]), gap(gaps[other][key], own["unit"])]
            yield key, cells


def failure_line(failure: Entry) -> str:
    """Says in how many runs something went wrong, where, and what it was."""
    sections = ", ".join(failure["sections"])
    return f"{failure['algorithm']}: {failure['runs']} of {failure['of']} runs ({sections}) {failure['what']}"


def value(found: Entry) -> str:
    """Writes a number with its interval and unit, or the words for its absence."""
    if found["mean"] is None:
        return found["absent"] or "no number"
    return f"{_with_error(found)}{_unit(found['unit'])}"


def gap(found: Entry, unit: str) -> str:
    """Writes a difference; one whose interval holds zero is in parentheses."""
    if found["mean"] is None:
        return "–"
    text = (
        f"{'+' if found['mean'] > 0.0 else ''}{_with_error(found)}{_unit('points' if unit == '%' else unit)}"
    )
    return text if found["differs"] else f"({text})"


def _with_error(found: Entry) -> str:
    half = found["half_width_95"]
    error = "" if half is None else f" ± {number(half, ERROR_DIGITS)}"
    return f"{number(found['mean'], DIGITS)}{error}"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def live_table(row: Entry, experiment: str) -> Iterator[dict[str, Any]]:
    """Yields the key, the label, the algorithms and the cells of each number that was measured live.

    A cell that is over fewer points than ran live says so.
    """
    for key, found in row.get("live", {}).get("numbers", {}).items():
        if key.partition(".")[0] == experiment:
            own = row["measured"][key]
            ran = row["live"]["ran"][experiment]
            yield {
                "key": key,
                "label": own["label"],
                "labels": list(found["algorithms"]),
                "cells": [
                    f"{value(own | both[side])}{_over(both['points'], ran[label])}"
                    for label, both in found["algorithms"].items()
                    for side in ("live", "simulated")
                ],
            }


def live_points(row: Entry, experiment: str) -> str:
    """Says at which points the algorithms ran live, once for those with the same points."""
    same: dict[str, list[str]] = {}
    for label, points in row["live"]["ran"][experiment].items():
        same.setdefault("; ".join(points), []).append(label)
    if len(same) == 1:
        return f"at {next(iter(same))}"
    return ", and ".join(f"at {points} ({', '.join(labels)})" for points, labels in same.items())


def live_runs(lived: Entry) -> str:
    """Says how many live runs there are, on what, and how many more have no numbers."""
    failed = f", {lived['not_valid']} more were not valid" if lived["not_valid"] else ""
    without = f", {lived['without_result']} had no result" if lived["without_result"] else ""
    return f"{lived['runs']} live runs on Linux {lived['kernel']} of {lived['host']}{failed}{without}"


def carriers(lived: Entry) -> str:
    """Says what carried the live flows of each algorithm."""
    return "; ".join(f"{label} by {carrier}" for label, carrier in lived["carriers"].items())


def _over(points: list[str], ran: list[str]) -> str:
    return f" ({len(points)} of {len(ran)} points)" if 0 < len(points) < len(ran) else ""


def repeats(document: Mapping[str, Any]) -> str:
    """Says which hosts ran, how often each point ran, and what the intervals are."""
    number = document["repeats"]
    return (
        f"stack {document['stack']}; {number} repeat{'' if number == 1 else 's'} of each point; "
        "± is half of a 95 % interval"
    )
