"""The dossier as a JSON object: everything that its page and its Markdown show."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from longfat.assess import beside, failures, headline
from longfat.assess.criteria import LIMITS, SOURCE
from longfat.assess.estimate import METHOD, Cell, Results, difference
from longfat.assess.figures import figures
from longfat.assess.live import Live
from longfat.assess.model import Criterion, Measure, Status
from longfat.assess.networks import router_for
from longfat.scenario import registry
from longfat.scenario.model import Algorithm
from longfat.study.stats import with_half_width

FORMAT = 1
ROUTER, PLAIN = "a router of its own, which the experiments have except behind the tunnel (6.2)", "none"

Document = dict[str, Any]


def document(
    results: Results,
    answers: Mapping[str, str],
    files: Mapping[tuple[str, str, str], str],
    live: Live | None = None,
) -> Document:
    """Returns the dossier.

    Args:
        results: what was measured.
        answers: the author's text by section.
        files: the scenario file of an experiment, a point, and an algorithm.
        live: what ran on this machine's own TCP too, if that was asked for.
    """
    asked = results.asked
    rows = [_criterion(results, row, answers.get(row.section, ""), files) for row in asked.criteria]
    if live is not None:
        for row, criterion in zip(rows, asked.criteria, strict=True):
            row["live"] = beside.of_row(live, results, criterion)
    return {
        "format": FORMAT,
        "algorithm": asked.algorithm.label,
        "baselines": [other.label for other in asked.baselines],
        "mode": asked.mode,
        "stack": asked.stack,
        "repeats": asked.repeats,
        "source": SOURCE,
        "headline": [asdict(line) for line in headline.lines(results)],
        "failures": failures.failures(results),
        "criteria": rows,
        "facts": facts(asked.algorithm.algorithm),
        "limits": LIMITS,
        **({} if live is None else {"live": beside.told(live, results)}),
    }


def _criterion(
    results: Results, row: Criterion, answer: str, files: Mapping[tuple[str, str, str], str]
) -> Document:
    asked = results.asked
    told = (
        line
        for experiment in row.experiments
        for contender in asked.everyone
        for line in failures.lines(results, experiment, contender.label)
    )
    problems = list(dict.fromkeys(told))  # two experiments may have a point of one name
    measures = {
        f"{experiment.name}.{measure.key}": (experiment, measure)
        for experiment in row.experiments
        for measure in experiment.measures
    }
    cells = {
        contender.label: {key: results.cell(*of, contender.label) for key, of in measures.items()}
        for contender in asked.everyone
    }
    numbers = {
        label: {key: _number(cell, measures[key][1]) for key, cell in found.items()}
        for label, found in cells.items()
    }
    measured = numbers.pop(asked.algorithm.label)

    def gap(key: str, label: str) -> Document:
        found = difference(cells[asked.algorithm.label][key], cells[label][key])
        words = headline.comparison(found, measures[key][1], label)
        return {**found.to_json(), "differs": found.differs, "words": words}

    return {
        "section": row.section,
        "title": row.title,
        "asks": row.asks,
        "status": status(row, measured, answer),
        "prompt": row.prompt,
        "why": row.why,
        "text": answer,
        "problems": problems,
        "experiments": [
            {
                "name": experiment.name,
                "title": experiment.title,
                "words": experiment.words,
                "estimator": experiment.estimator,
                "settings": list(map(asdict, experiment.settings)),
            }
            for experiment in row.experiments
        ],
        "figures": [figure.to_json() for figure in figures(results, row)],
        "measured": measured,
        "baseline": numbers,
        "uncertainty": {
            "method": METHOD if row.experiments else "",
            "differences": {label: {key: gap(key, label) for key in measures} for label in numbers},
        },
        "runs": [
            {
                "experiment": experiment.name,
                "at": point.at,
                "algorithm": contender.label,
                "seeds": list(range(1, asked.repeats + 1)),
                "file": files.get((experiment.name, point.at, contender.label)),
            }
            for experiment in row.experiments
            for point in experiment.points(asked.mode)
            for contender in asked.everyone
        ],
    }


def status(row: Criterion, measured: Mapping[str, Any], answer: str) -> Status:
    """Returns what is left to do for a row; it is no verdict on the algorithm."""
    if row.why and not answer:
        return "not applicable"
    is_complete = all(number["complete"] for number in measured.values()) if row.experiments else bool(answer)
    return "addressed" if is_complete or answer else "text needed"


def _number(cell: Cell, measure: Measure) -> Document:
    """A number with its points; `complete` is false where a run of it is missing."""
    is_missing = any(math.isnan(value) for values in cell.points.values() for value in values)
    return {
        "label": measure.label,
        "unit": measure.unit,
        "better": measure.better,
        "over": measure.over,
        "absent": measure.absent,
        **cell.estimate.to_json(),
        "complete": bool(measure.absent) or not is_missing,
        "points": [{"at": at, **with_half_width(values).to_json()} for at, values in cell.points.items()],
    }


def facts(algorithm: Algorithm) -> list[Document]:
    """What Longfat knows of an algorithm's deployment (5.3.2)."""
    row = None if algorithm.custom else registry.algorithm_named(algorithm.name)
    if row is None:
        given = {
            "specification": f"the class or program {algorithm.name.rpartition('/')[2]}",
            "needs of routers": PLAIN,
            "needs of the receiver": "none: standard acknowledgements",
        }
    else:
        marks = "accurate feedback of marks" if row.get("scalable") else "none: standard acknowledgements"
        signals = "ECN marks" if row.get("scalable") else PLAIN
        signals = "ECN with ECT(1), RFC 9331" if row.get("ect1") else signals
        given = {
            "specification": row["citation"],
            "needs of routers": ROUTER if router_for(algorithm) else signals,
            "needs of the receiver": "echoes of explicit headers" if row.get("explicit") else marks,
            "kernel module": row["linux_module"] or "none in Linux",
        }
    parameters = ", ".join(f"{key} = {value}" for key, value in algorithm.parameters.items())
    given["parameters"] = parameters or "its defaults"
    return [{"name": name, "value": value} for name, value in given.items()]
