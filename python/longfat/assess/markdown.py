"""A dossier as Markdown, fit for the appendix of an Internet-Draft: text and tables, no HTML."""

from __future__ import annotations

from collections.abc import Iterator

from longfat.assess.cells import (
    Entry,
    carriers,
    failure_line,
    live_points,
    live_runs,
    live_table,
    repeats,
    table,
)


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
    if lived := document.get("live"):
        yield f"{live_runs(lived)}: {carriers(lived)}."
        yield ""
        if lived["without"]:
            yield f"{lived['without']}."
            yield ""
    if document["failures"]:
        yield "## Runs without a result"
        yield ""
        for failure in document["failures"]:
            yield f"- {failure_line(failure)}."
        yield ""
    for row in document["criteria"]:
        yield from _row(row)
    yield "## Limitations of the method"
    yield ""
    for limit in document["limits"]:
        yield f"- {limit}"
    if lived:
        yield f"- {lived['rule']} {lived['note']}"


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
    yield f"Live and simulated, {live_points(row, experiment)}:"
    yield ""
    yield f"| |{''.join(f' {label}, live | simulated |' for label in lines[0]['labels'])}"
    yield f"|---|{'---:|---:|' * len(lines[0]['labels'])}"
    for line in lines:
        yield f"| {line['label']} | {' | '.join(line['cells'])} |"
    yield ""


def _settings(experiment: Entry) -> str:
    given = [f"{setting['name']}: {setting['value']}" for setting in experiment["settings"]]
    return f"({'; '.join(given)}.)"


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
