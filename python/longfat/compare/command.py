"""Runs a comparison on all processors and stores its table, runs and page, whole or not at all."""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from longfat.compare import estimate, page, paths
from longfat.compare.columns import COLUMNS
from longfat.compare.figure import figure
from longfat.compare.grid import Grid, coordinates, runs
from longfat.compare.measure import measure
from longfat.compare.table import COMPARE_FILE, FORMAT
from longfat.runs.simulate import run_many
from longfat.store import output
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.store.whole import write_json, write_table
from longfat.study.grid import repeated
from longfat.study.rows import table
from longfat.study.run import Perform, distinct, rows

RUNS_FILE = "runs.parquet"


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
        begin = time.perf_counter()
        found = _rows(grid, kept, jobs, console)
        wall_s = time.perf_counter() - begin
        document = _document(grid, found, wall_s)
        write_json(draft / COMPARE_FILE, document)
        write_table(draft / RUNS_FILE, table(found))
        with console.status("drawing"):
            page.build(draft)
    return document


def _rows(grid: Grid, kept: Store, jobs: int | None, console: Console) -> list[dict[str, Any]]:
    """Returns a row for each run, in the order of the grid, not in the order in which they finish."""
    wanted = list(repeated(runs(grid), grid.repeats))
    run: Perform = functools.partial(run_many, jobs=jobs, reduce=measure, ordered=False)
    found = rows(distinct(wanted), kept, run, console, f"compare {grid.mode}")
    names = coordinates(grid)
    return [{**dict(zip(names, place, strict=True)), **found[place]} for place, _, _ in wanted]


def _document(grid: Grid, rows: list[dict[str, Any]], wall_s: float) -> dict[str, Any]:
    names = [contender.label for contender in grid.contenders]
    cells = estimate.table(rows, names)
    packets = sum(row["packets"] for row in rows)
    labels = [path.label for path in grid.files]
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
            {"name": name}
            | {column.key: estimate.to_json(column, cells[name][column.key]) for column in COLUMNS}
            for name in names
        ],
        "skipped": skipped(grid),
        **({"paths": paths.table(rows, labels, names)} if labels else {}),
        "figure": figure(grid, rows).to_json(),
        "performance": {
            "wall_s": wall_s,
            "runs": len(rows),
            "packets": packets,
            "packets_per_s": packets / wall_s,
        },
        "provenance": output.provenance(sys.argv),
    }


def skipped(grid: Grid) -> dict[str, str]:
    """Returns why columns were not measured."""
    why = grid.skipped
    return {column.key: why[column.trial.name] for column in COLUMNS if column.trial.name in why}
