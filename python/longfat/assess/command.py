"""Runs a dossier on all processors or a cluster and writes it, whole or not at all; keeps finished runs."""

from __future__ import annotations

import functools
import re
import sys
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from longfat.algorithm import maker
from longfat.assess import beside, dossier, live, markdown, page
from longfat.assess.estimate import Results, Row
from longfat.assess.measure import measure, task
from longfat.assess.tasks import Assessment, Place, Planned, plan
from longfat.runs import pool
from longfat.store import output
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.store.whole import write_json, write_table, write_text
from longfat.study.run import Perform, Task, rows
from longfat.sweep.run import distribution
from longfat.words import Backend

DOSSIER_FILE, MARKDOWN_FILE = page.DOSSIER_FILE, "dossier.md"
NUMBERS_FILE, LIVE_FILE, SCENARIOS_FILE = "numbers.parquet", "live.parquet", "scenarios.zip"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of files in the archive, so that the same dossier has the same bytes."""


def run(
    asked: Assessment,
    out: Path,
    *,
    answers: Mapping[str, str] | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    runs: Path | None = None,
    console: Console | None = None,
    backend: Backend = "sim",
    retry: bool = False,
) -> dict[str, Any]:
    """Runs an assessment, writes the dossier into `out`, and returns dossier.json.

    An algorithm that fails in some runs has a dossier all the same, which says where and why.

    Args:
        asked: what to assess.
        out: the folder of the dossier.
        answers: the author's text by section.
        jobs: worker processes; one for each core if None.
        scheduler: address of a dask scheduler that runs them instead.
        runs: the store of finished runs, which several dossiers may share; `out` if None.
        console: shows progress.
        backend: "live" runs what this machine can carry a second time, on its own TCP.
        retry: with the backend "live", tries runs again of which no attempt was valid.

    Raises:
        InputError: before anything runs, `out` cannot be written, or there is no such class, or nothing that
            was asked for can run live.
    """
    console = console or Console(quiet=True)
    if backend == "live":
        live.check_machine(asked)
    for contender in asked.everyone:
        if contender.custom:
            maker(contender.label, contender.algorithm)
    planned = plan(asked)
    chosen = live.choose(asked, planned) if backend == "live" else None
    marks = output.STORE_FILES | {DOSSIER_FILE}
    with (
        output.folder(out, output.ASSESS_FILES, marks) as draft,
        Store(runs or out, reduction_key(measure)) as kept,
    ):
        begin = time.perf_counter()
        perform = functools.partial(distribution(jobs, scheduler, task.__module__), task)
        results = _results(asked, planned, kept, perform, console)
        lived = None if chosen is None else live.perform(chosen, kept, console, retry=retry)
        files = _write_scenarios(draft / SCENARIOS_FILE, planned)
        document = dossier.document(results, answers or {}, files, lived)
        distinct = {work.key: results.rows.get(work.places[0]) for work in planned.works}
        document["performance"] = {
            "wall_s": time.perf_counter() - begin,
            "runs": len(planned.works),
            "packets": sum(row["packets"] for row in distinct.values() if row),
        }
        document["provenance"] = output.provenance(sys.argv)
        write_json(draft / DOSSIER_FILE, document)
        write_text(draft / MARKDOWN_FILE, markdown.text(document))
        write_table(draft / NUMBERS_FILE, _table(results.rows))
        if lived is not None:
            write_table(draft / LIVE_FILE, _live_table(lived))
        with console.status("drawing"):
            page.build(draft)
    return document


def _results(asked: Assessment, planned: Planned, kept: Store, run: Perform, console: Console) -> Results:
    found = rows(planned.works, kept, run, console, f"assess {asked.algorithm.label}, {asked.mode}")
    failed = {place: _said(row.error) for place, row in found.items() if isinstance(row, pool.Failure)}
    there = {place: row for place, row in found.items() if place not in failed}
    return Results(asked, there, planned.refused | failed)


_PLACE = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')


def _said(error: Exception) -> str:
    """An error on one line. What a user's own algorithm raised is on the last one of a traceback."""
    lines = [line.strip() for line in f"{error}".splitlines() if line.strip()]
    if len(lines) < 2:
        return lines[0] if lines else type(error).__name__
    places = list(_PLACE.finditer(f"{error}"))
    where = places[-1] if places else None
    at = f" ({Path(where['file']).name}, line {where['line']}, in {where['function']})" if where else ""
    return f"{lines[0]} {lines[-1]}{at}"


def _write_scenarios(path: Path, planned: Planned) -> dict[tuple[str, str, str], str]:
    """Writes the scenario of each point and algorithm, with the first seed; returns their names there."""
    names: dict[tuple[str, str, str], str] = {}
    first: dict[str, Task[Place]] = {}
    for work in planned.works:
        for experiment, at, label, repeat in work.places:
            if repeat == 0:
                name = f"{experiment}/{_file(at)}-{_file(label)}.toml"
                names[experiment, at, label] = name
                first[name] = work
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(first):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), first[name].scenario.to_toml())
    return names


def _file(text: str) -> str:
    kept = "".join(character if character.isalnum() or character in ".%" else "-" for character in text)
    return "-".join(part for part in kept.replace("%", "percent").split("-") if part)


def _live_table(lived: live.Live) -> pa.Table:
    """The rows of all live runs. Its column `backend` tells them apart once they are joined with others."""
    table = _table(beside.table_rows(lived))
    return table.add_column(0, "backend", pa.array(["live"] * table.num_rows, pa.string()))


def _table(found: Mapping[Place, Row]) -> pa.Table:
    """The rows of all runs, with what they are."""
    places = sorted(found)
    keys = dict.fromkeys(key for place in places for key in found[place])
    columns: dict[str, Any] = {
        name: pa.array([place[i] for place in places], pa.string() if i < 3 else pa.int64())
        for i, name in enumerate(("experiment", "at", "algorithm", "repeat"))
    }
    for key in keys:
        values = [found[place].get(key) for place in places]
        columns[key] = pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.table(columns)
