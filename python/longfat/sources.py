"""What runs, sweeps and comparisons have stored, as the tables that figures are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from longfat.compare.columns import COLUMNS, Column
from longfat.compare.paths import TRIAL as PATH_TRIAL
from longfat.compare.table import COMPARE_FILE
from longfat.errors import InputError
from longfat.figure.folders import joined
from longfat.figure.histories import UNKNOWN
from longfat.figure.tables import IDENTITY, Source, Table, with_internals, written_as
from longfat.report import run as run_page
from longfat.runs.repeats import Results
from longfat.runs.result import Result
from longfat.store.whole import read_table
from longfat.study.rows import table
from longfat.sweep.handle import holds_sweep, open_sweep
from longfat.sweep.source import of_sweep
from longfat.sweep.tables import run_columns
from longfat.units import RATE, TIME

COMPARE_RUNS = "runs.parquet"
ACCEPTED = "accepted: a folder written by `longfat run --out`, `sweep` or `compare`"


def open_folders(folders: Sequence[Path]) -> Source:
    """Opens folders of results; several have a column `folder` more.

    Raises:
        InputError: a folder holds nothing that can be drawn, or two have one name.
        LongfatError: stored results are damaged.
    """
    if not folders:
        raise InputError(f"no folder; {ACCEPTED}")
    opened = [_open(folder) for folder in folders]
    if len(opened) == 1:
        return opened[0]
    names = [folder.resolve().name for folder in folders]
    if len(set(names)) < len(names):
        names = [str(folder) for folder in folders]
    return joined(opened, names)


def _open(folder: Path) -> Source:
    if holds_sweep(folder):
        return of_sweep(open_sweep(folder))
    if (folder / COMPARE_FILE).is_file():
        return _of_comparison(folder)
    if (folder / run_page.RUN_FILE).is_file():
        return _of_run(folder)
    if (folder / "suite.json").is_file():
        raise InputError(f"{folder}: a suite, whose figures are in {folder / 'figures'}; {ACCEPTED}")
    why = "no stored results" if folder.exists() else "No such file or directory"
    raise InputError(f"{folder}: {why}; {ACCEPTED}")


def _of_comparison(folder: Path) -> Source:
    import pyarrow.compute as pc

    path = folder / COMPARE_RUNS
    try:
        runs = read_table(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {error}") from None
    numbered = runs.append_column("run", pa.array(range(runs.num_rows), pa.int64()))
    columns = tuple(numbered.column_names)
    settings = {
        key: list(dict.fromkeys(runs[key].to_pylist()))
        for key in ("algorithm", "rate_bps", "rtt_s", "buffer", "level", "path")
        if key in columns
    }
    for key in ("rate_bps", "rtt_s", "level"):
        settings[key] = sorted(value for value in settings[key] if value is not None)

    def of_trial(column: Column) -> Table:
        """The figure of one trial, under the name that it has in the comparison's table."""
        chosen = numbered.filter(pc.equal(numbered["trial"], column.trial.name)).drop_columns(["trial"])
        return Table(column.key, tuple(chosen.column_names), lambda _: chosen, {column.key: column.figure})

    own = [column for column in COLUMNS if column.threshold is None and column.key not in columns]
    tables = [of_trial(column) for column in own if column.figure in columns]
    paths = [path for path in settings.get("path", ()) if path is not None]
    return Source(
        folder,
        (Table("runs", columns, lambda _: numbered), *tables),
        settings | ({"path": paths} if paths else {}),
        {"rate_bps": RATE.write, "rtt_s": TIME.write},
        {"rate_bps": ("Mbit/s", 1e-6), "rtt_s": ("s", 1.0)},
        {"rate_bps": "rate", "rtt_s": "RTT"} | {column.key: column.heading for column in own},
        fixed={"trial": PATH_TRIAL if paths else COLUMNS[0].trial.name},
        defaults={"x": "path" if paths else "rtt_s", "y": "utilization", "by": "algorithm"},
    )


def _of_run(folder: Path) -> Source:
    summary = run_page.read_summary(folder / run_page.RUN_FILE)
    return _of_runs(folder, summary, lambda name: run_page.read_series(folder, name))


def of_results(results: Result | Results) -> Source:
    """Returns the tables of a run, or of repeats of one, that is not stored."""
    each = [results] if isinstance(results, Result) else list(results)

    def read(name: str) -> pa.Table | None:
        tables = [(result.scenario.seed, getattr(result, name)) for result in each]
        parts = [table.append_column("seed", pa.repeat(seed, table.num_rows)) for seed, table in tables]
        joined = pa.concat_tables(parts).unify_dictionaries()
        return joined if joined.num_rows else None

    summary = results.summary
    return _of_runs(Path(each[0].scenario.title or "run"), summary, read)


def _of_runs(folder: Path, summary: Mapping[str, Any], read: Callable[[str], pa.Table | None]) -> Source:
    runs = summary.get("runs", [summary])
    seeds = [each.get("seed", number) for number, each in enumerate(runs)]
    rows, flows = [], []
    for number, each in enumerate(runs):
        place = {"run": number, "repeat": number}
        rows.append(place | run_columns({"seed": seeds[number], "packets": None, **each}))
        named = [flow | {"algorithm": flow["algorithm"] or UNKNOWN} for flow in each["flows"]]
        flows += [place | {"seed": seeds[number]} | flow for flow in named]
    algorithms = {flow["name"]: flow["algorithm"] or UNKNOWN for flow in runs[0]["flows"]}
    tables = [_of_rows("runs", rows), _of_rows("flows", flows)]
    for name in ("flows", "links", "transfers"):
        series = read(name)
        if series is not None:
            if name == "flows":
                series = with_internals(series, read("internals"))
            own = algorithms if name == "flows" else {}
            tables.append(_samples(name, series, own, seeds))
    names = list(algorithms)
    alike = len(set(algorithms.values())) in (1, len(names))
    by = "algorithm" if len(set(algorithms.values())) > 1 or not alike else "name"
    settings = {"name": names, "algorithm": list(dict.fromkeys(algorithms.values()))}
    labels = {name: f"{name} ({algorithm})" for name, algorithm in algorithms.items()}
    defaults = {"x": by, "y": "throughput_bps", "by": ""}
    return Source(
        folder,
        tuple(tables),
        settings,
        {"name": written_as(labels)},
        names={"name": "flow"},
        defaults=defaults,
    )


def _of_rows(name: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    flat = [{key: value for key, value in row.items() if not isinstance(value, dict | list)} for row in rows]
    found = table(flat)
    return Table(name, tuple(found.column_names), lambda _: found)


def _samples(of: str, series: pa.Table, algorithms: Mapping[str, str], seeds: Sequence[Any]) -> Table:
    """The samples of flows or links of a run, or its transfers, with the run's number and the algorithm."""
    table = series.set_column(
        series.column_names.index("name"), "name", series["name"].cast(pa.string()).combine_chunks()
    )
    numbers = {seed: number for number, seed in enumerate(seeds)}
    if "seed" in table.column_names:
        run = [numbers.get(seed, 0) for seed in table["seed"].to_pylist()]
    else:
        run = [0] * table.num_rows
    for key in IDENTITY:
        table = table.append_column(key, pa.array(run, pa.int64()))
    if algorithms:
        of_name = [algorithms.get(name) for name in table["name"].to_pylist()]
        table = table.append_column("algorithm", pa.array(of_name, pa.string()))
    if of == "transfers":
        return Table(of, tuple(table.column_names), lambda _: table)
    return Table(f"samples of {of}", tuple(table.column_names), lambda _: table, sampled=True)
