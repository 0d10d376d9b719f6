"""A dossier as Markdown, fit for the appendix of an Internet-Draft: text and tables, no HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from longfat.assess.table import repeats
from longfat.report.columns import number

DIGITS, ERROR_DIGITS = 3, 2

Entry = Mapping[str, Any]


def text(document: Entry) -> str:
    """Returns the dossier as Markdown."""
    return "\n".join(_lines(document)).rstrip() + "\n"


def _lines(document: Entry) -> Iterator[str]:
    yield f"# Assessment of {document['algorithm']} by RFC 9743"
    yield ""
    yield (
        f"Compared with {_and(document['baselines'])}, in the simulator of Longfat "
        f"{document['provenance']['version']}; "
        f"{repeats(document)}. RFC 9743 gives no thresholds, so nothing here passes or fails."
    )
    yield ""
    if document["headline"]:
        yield "## Where it differs"
        yield ""
        for place, line in enumerate(document["headline"], start=1):
            yield f"{place}. {line['name']} ({line['section']}): {line['text']}."
        yield ""
    for row in document["criteria"]:
        yield from _row(row)
    yield "## Limitations of the method"
    yield ""
    for limit in document["limits"]:
        yield f"- {limit}"


def _row(row: Entry) -> Iterator[str]:
    yield f"## {row['section']} {row['title']}"
    yield ""
    yield f"{row['asks']} Status: {row['status']}."
    yield ""
    for paragraph in (row["text"], row["why"], "" if row["text"] else row["prompt"]):
        if paragraph:
            yield paragraph
            yield ""
    for problem in row["problems"]:
        yield f"- {problem}."
    if row["problems"]:
        yield ""
    others = list(row["baseline"])
    for experiment in row["experiments"]:
        yield f"{experiment['title']}. {experiment['words']} {_settings(experiment)}"
        yield ""
        yield f"| | this algorithm |{''.join(f' {other} | difference |' for other in others)}"
        yield f"|---|---:|{'---:|---:|' * len(others)}"
        for key, cells in table(row, experiment["name"]):
            yield f"| {row['measured'][key]['label']} | {' | '.join(cells)} |"
        yield ""
        yield from _live(row, experiment["name"])
    left_out = row.get("live", {}).get("left_out", ())
    for line in left_out:
        yield f"- Only simulated: {line}."
    if left_out:
        yield ""


def _live(row: Entry, experiment: str) -> Iterator[str]:
    lines = list(live_table(row, experiment))
    if not lines:
        return
    points = row["live"]["numbers"][lines[0]["key"]]["points"]
    yield f"Live and simulated, at {'; '.join(points)}:"
    yield ""
    yield f"| |{''.join(f' {label}, live | simulated |' for label in lines[0]['labels'])}"
    yield f"|---|{'---:|---:|' * len(lines[0]['labels'])}"
    for line in lines:
        yield f"| {line['label']} | {' | '.join(line['cells'])} |"
    yield ""


def live_table(row: Entry, experiment: str) -> Iterator[dict[str, Any]]:
    """Yields the key, the label, the algorithms and the cells of each number that was measured live."""
    for key, found in row.get("live", {}).get("numbers", {}).items():
        if key.partition(".")[0] == experiment:
            own = row["measured"][key]
            yield {
                "key": key,
                "label": own["label"],
                "labels": list(found["algorithms"]),
                "cells": [
                    value(own | both[side])
                    for both in found["algorithms"].values()
                    for side in ("live", "simulated")
                ],
            }


def _settings(experiment: Entry) -> str:
    given = [f"{setting['name']}: {setting['value']}" for setting in experiment["settings"]]
    return f"({'; '.join(given)}.)"


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


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
