"""A dossier as Markdown, fit for the appendix of an Internet-Draft: text and tables, no HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from longfat.assess import cells
from longfat.assess.cells import Entry
from longfat.study.table import as_markdown


def text(document: Entry) -> str:
    """Returns the dossier as Markdown."""
    return "\n\n".join(filter(None, _blocks(document))) + "\n"


def _blocks(document: Entry) -> Iterator[str]:
    *others, last = map(as_markdown, document["baselines"])
    beside = f"{', '.join(others)} and {last}" if others else last
    yield f"# Assessment of {as_markdown(document['algorithm'])} by RFC 9743"
    yield (
        f"Compared with {beside}, in the simulator of Longfat {document['provenance']['version']}; "
        f"{cells.repeats(document)}. RFC 9743 gives no thresholds, so nothing here passes or fails."
    )
    if document["headline"]:
        yield "## Where it differs"
        yield "\n".join(
            f"{place}. {line['name']} ({line['section']}): {as_markdown(line['text'])}."
            for place, line in enumerate(document["headline"], start=1)
        )
    limits = document["limits"]
    if lived := document.get("live"):
        yield f"{cells.live_runs(lived)}: {cells.carriers(lived)}."
        yield f"{lived['without']}." if lived["without"] else ""
        limits = [*limits, f"{lived['rule']} {lived['note']}"]
    if document["failures"]:
        yield "## Runs without a result"
        yield _listed(f"{as_markdown(cells.failure_line(failure))}." for failure in document["failures"])
    for row in document["criteria"]:
        yield from _row(row)
    yield "## Limitations of the method"
    yield _listed(limits)


def _row(row: Entry) -> Iterator[str]:
    yield f"## {row['section']} {row['title']}"
    yield f"{row['asks']} Status: {row['status']}."
    yield from (row["text"], row["why"], "" if row["text"] else row["prompt"])
    yield _listed(f"{as_markdown(problem)}." for problem in row["problems"])
    for experiment in row["experiments"]:
        name = experiment["name"]
        settings = "; ".join(f"{setting['name']}: {setting['value']}" for setting in experiment["settings"])
        yield f"{experiment['title']}. {experiment['words']} ({settings}.)"
        yield cells.table(row, name, "this algorithm").markdown()
        if (live := cells.live_table(row, name)) is not None:
            yield f"Live and simulated, {cells.live_points(row, name)}:"
            yield live.markdown()
    yield _listed(f"Only simulated: {line}." for line in row.get("live", {}).get("left_out", ()))


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
