"""Runs a comparison on all processors and stores its table, runs and page, whole or not at all."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console

from longfat.compare import estimate, page, paths
from longfat.compare.columns import COLUMNS
from longfat.compare.figure import figure
from longfat.compare.grid import Grid, Task, tasks
from longfat.compare.measure import measure
from longfat.compare.table import COMPARE_FILE
from longfat.report.progress import progress_bar
from longfat.runs.simulate import run_many
from longfat.store import output
from longfat.store.identity import run_key
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.store.whole import write_json, write_table

RUNS_FILE = "runs.parquet"
FORMAT = 1


def run(grid: Grid, out: Path, jobs: int | None = None, console: Console | None = None) -> dict[str, Any]:
    """Runs a comparison, writes compare.json, runs.parquet, index.html and figures, and returns compare.json.

    Each finished run is stored in `out`; stored runs are not repeated.

    Raises:
        InputError: before anything runs, `out` cannot be written or holds something else.
        AlgorithmError: a user's own algorithm failed; no table is written.
    """
    console = console or Console(quiet=True)
    marks = output.STORE_FILES | {COMPARE_FILE}
    with output.folder(out, output.COMPARE_FILES, marks) as draft, Store(out, reduction_key(measure)) as kept:
        planned = tasks(grid)
        begin = time.perf_counter()
        rows = _rows(grid, planned, kept, jobs, console)
        wall_s = time.perf_counter() - begin
        document = _document(grid, rows, wall_s)
        write_json(draft / COMPARE_FILE, document)
        names = dict.fromkeys(key for row in rows for key in row)
        table = pa.table({name: pa.array([row[name] for row in rows]) for name in names})
        write_table(draft / RUNS_FILE, table)
        with console.status("drawing"):
            page.build(draft)
    return document


def _rows(
    grid: Grid, planned: Sequence[Task], kept: Store, jobs: int | None, console: Console
) -> list[dict[str, Any]]:
    """Returns a row for each run, in the order of the tasks, not in the order in which they finish."""
    keys = [run_key(task.scenario) for task in planned]
    there = kept.get(keys)
    rows = {i: {**planned[i].coordinates, **there[key]} for i, key in enumerate(keys) if key in there}
    missing = [i for i in range(len(planned)) if i not in rows]
    begin = time.perf_counter()
    packets = 0
    with progress_bar(console) as progress:
        expected = sum(task.packets for task in planned)
        bar = progress.add_task(f"compare {grid.mode}", total=expected, runs=0, of=len(planned), rate=0.0)
        progress.update(bar, advance=sum(planned[i].packets for i in rows), runs=len(rows))
        scenarios = (planned[i].scenario for i in missing)
        results = run_many(scenarios, jobs=jobs, reduce=measure, ordered=False)
        for number, measured in results:
            position = missing[number]
            kept.add(keys[position], measured)
            rows[position] = {**planned[position].coordinates, **measured}
            packets += measured["packets"]
            rate = packets / (time.perf_counter() - begin)
            progress.update(bar, advance=planned[position].packets, runs=len(rows), rate=rate / 1e6)
    return [rows[position] for position in range(len(planned))]


def _document(grid: Grid, rows: list[dict[str, Any]], wall_s: float) -> dict[str, Any]:
    names = [contender.label for contender in grid.contenders]
    cells = estimate.table(rows, names)
    packets = sum(row["packets"] for row in rows)
    return {
        "format": FORMAT,
        "mode": grid.mode,
        "stack": grid.stack,
        "grid": {
            "rates_bps": sorted({path.rate_bps for path in grid.paths}),
            "rtts_s": sorted({path.rtt_s for path in grid.paths}),
            "buffers": list(grid.buffers),
            "repeats": grid.repeats,
            "duration_s": grid.extent.duration_s,
            "losses": list(grid.extent.losses),
            "small_buffers_percent": list(grid.extent.shares),
        },
        "columns": [
            {
                "key": column.key,
                "heading": column.heading,
                "runs": column.trial.words,
                "estimator": column.estimator,
                "good": column.good,
            }
            for column in COLUMNS
        ],
        "algorithms": [
            {
                "name": name,
                **{
                    column.key: cells[name][column.key].to_json(column.scale)
                    if column.key in cells[name]
                    else None
                    for column in COLUMNS
                },
            }
            for name in names
        ],
        **left_out(grid),
        **on_paths(grid, rows),
        "figure": figure(grid, rows).to_json(),
        "performance": {
            "wall_s": wall_s,
            "runs": len(rows),
            "packets": packets,
            "packets_per_s": packets / wall_s,
        },
        "provenance": output.provenance(sys.argv),
    }


def on_paths(grid: Grid, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The part of a stored comparison that has the results on paths from files, if there were any."""
    labels = [path.label for path in grid.files]
    names = [contender.label for contender in grid.contenders]
    return {"paths": paths.table(rows, labels, names)} if labels else {}


def left_out(grid: Grid) -> dict[str, Any]:
    """The part of a stored comparison that says which columns were not measured, and why."""
    return {
        "skipped": {
            column.key: grid.skipped[column.trial.name]
            for column in COLUMNS
            if column.trial.name in grid.skipped
        }
    }
