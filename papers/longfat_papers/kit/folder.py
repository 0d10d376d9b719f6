"""Writes and reads the directory of a suite. Every file is written completely or not at all.

suite.json                  the suite, the status of its experiments, and the last command: mode, how it ended
                            (`live`: the last command between real hosts)
claims.json                 the ledger
history.json                what each claim came to under earlier versions
assumptions.json            what the paper leaves open, and what each reading of it does to the claims
experiments/NAME.json       title, mode, number of runs, origin and the figure of an experiment, as data
experiments/NAME.parquet    one row for each run: coordinates and quantities
experiments/NAME.series.parquet   histories of cwnd and received bytes in long form, if the experiment keeps
them
live/NAME.json              the figures of an experiment between real hosts, and of the same files simulated,
                            as data
live/NAME.live.parquet, live/NAME.simulated.parquet   one row for each of these runs
SHA256SUMS, in each of these folders   the digests of the files beside them
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from longfat import documents
from longfat.errors import InputError
from longfat.store import whole
from longfat.store.ledger import LEDGER_FILE, read_ledger
from longfat.store.output import STORE_FILES, SUITE_FILES, refuse_foreign
from longfat.words import Mode, natural_order
from longfat_papers.kit.suite import Experiment, Runs, Suite

SUITE_FILE = "suite.json"
ASSUMPTIONS_FILE = "assumptions.json"
EXPERIMENTS = "experiments"
LIVE = "live"
HISTORY_FILE = "history.json"


def prepare(out: Path) -> None:
    """Makes the directory before anything runs; refuses one that is not writable or not a suite's."""
    try:
        refuse_foreign(out, SUITE_FILES, SUITE_FILES | STORE_FILES)
        whole.prepare(out / EXPERIMENTS)
    except OSError as error:
        raise InputError(f"--out {out}: {error.strerror}; accepted: a writable directory") from None
    read_history(out)


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON file whole or not at all, and lists it; the document may hold values of numpy."""
    whole.write_json(path, document, default=_builtin, way=whole.listed)


def write_experiment(
    out: Path, experiment: Experiment, runs: Runs, mode: Mode, provenance: Mapping[str, Any]
) -> None:
    """Stores an experiment's rows, its histories if it keeps any, and its figure and origin as data."""
    there = out / EXPERIMENTS
    write_rows(there / f"{experiment.name}.parquet", runs)
    if experiment.keeps_series:
        series = there / f"{experiment.name}.series.parquet"
        whole.write_table(series, series_table(runs), way=whole.listed)
    figure = experiment.figure(runs, mode).to_json()
    _describe(there, experiment, len(runs), mode, provenance, figure=figure)


def write_live(
    out: Path,
    experiment: Experiment,
    sides: Mapping[str, Runs],
    mode: Mode,
    provenance: Mapping[str, Any],
    **more: Any,
) -> None:
    """Stores an experiment between real hosts: rows and figure of each side, its origin, and ``more``."""
    there = out / LIVE
    there.mkdir(exist_ok=True)
    for side, runs in sides.items():
        write_rows(there / f"{experiment.name}.{side}.parquet", runs)
    figures = {side: experiment.figure(runs, mode).to_json() for side, runs in sides.items()}
    number = len(next(iter(sides.values())))
    _describe(there, experiment, number, mode, provenance, figures=figures, **more)


def _describe(
    there: Path, experiment: Experiment, runs: int, mode: Mode, provenance: Mapping[str, Any], **more: Any
) -> None:
    about = {"name": experiment.name, "mirrors": experiment.mirrors, "title": experiment.title}
    document = {**about, "mode": mode, "runs": runs, "provenance": dict(provenance), **more}
    write_json(there / f"{experiment.name}.json", document)


def write_rows(path: Path, runs: Runs) -> None:
    """Writes the rows of an experiment."""
    whole.write_table(path, rows_table(runs), way=whole.listed)


def rows_table(runs: Runs) -> pa.Table:
    """Returns one row for each run, without the histories."""
    names = dict.fromkeys(key for row in runs for key in row if key != "series")
    return pa.table({name: pa.array([_builtin(row.get(name)) for row in runs]) for name in names})


def series_table(runs: Runs) -> pa.Table:
    """Returns histories in long form: the run's row number, the flow's name, time_s, cwnd, received_bytes."""
    pieces: dict[str, list[Any]] = {"run": [], "name": [], "time_s": [], "cwnd": [], "received_bytes": []}
    for index, row in enumerate(runs):
        for history in row["series"]:
            count = len(history["time_s"])
            pieces["run"].append(np.full(count, index))
            pieces["name"].append(np.full(count, history["name"], dtype=object))
            for column in ("time_s", "cwnd", "received_bytes"):
                pieces[column].append(history[column])
    return pa.table({name: pa.array(np.concatenate(parts)) for name, parts in pieces.items() if parts})


def merge_ledger(
    out: Path, suite: str, rows: list[dict[str, Any]], renewed: Collection[str]
) -> list[dict[str, Any]]:
    """Adds rows to a directory's ledger, so that `--only` renews some and keeps the others; returns all.

    A row that was not measured does not replace an earlier one, unless one of its experiments has been run
    again since. What a claim came to between real hosts stays.
    """
    merged = stored_ledger(out)
    for row in rows:
        measured = row["verdict"] != "not measured"
        if measured or row["id"] not in merged or set(row["experiments"]) & set(renewed):
            live = {key: value for key, value in merged.get(row["id"], {}).items() if key == "live"}
            merged[row["id"]] = {**row, **live}
    return write_ledger(out, suite, merged)


def stored_ledger(out: Path) -> dict[str, dict[str, Any]]:
    """Returns the rows of a directory's ledger by id; empty if there is none."""
    path = out / LEDGER_FILE
    return {row["id"]: row for row in read_ledger(path)} if path.exists() else {}


def write_ledger(out: Path, suite: str, rows: Mapping[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Writes a directory's ledger; returns its rows in order."""
    ordered = [rows[key] for key in sorted(rows, key=natural_order)]
    write_json(out / LEDGER_FILE, {"suite": suite, "claims": ordered})
    return ordered


def keep_history(out: Path, rows: list[dict[str, Any]], provenance: Mapping[str, Any]) -> None:
    """Adds what the measured claims came to, by version and commit, to the history of a directory.

    An entry whose version, commit, mode and verdict are those of the one before it replaces that one.
    """
    history = read_history(out)
    for row in rows:
        if row["verdict"] == "not measured":
            continue
        entry = {key: provenance.get(key) for key in ("version", "commit", "created")}
        entry |= {key: row.get(key) for key in ("mode", "verdict", "measured")}
        own = history.setdefault(row["id"], [])
        same = ("version", "commit", "mode", "verdict")
        if own and all(own[-1].get(key) == entry[key] for key in same):
            own[-1] = entry
        else:
            own.append(entry)
    write_json(out / HISTORY_FILE, {"claims": history})


def read_history(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Returns what each claim came to, oldest first; empty for a directory without a history."""

    def check(history: Any) -> None:
        _ = [dict(entry) for entries in history["claims"].values() for entry in entries]

    return dict(_read(out / HISTORY_FILE, "the history of a suite", check).get("claims", {}))


def merged_readings(out: Path, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns these claims of `assumptions.json` and the others of their mode that a directory has, by id."""
    modes = {entry["mode"] for entry in entries}
    stored = read_assumptions(out).get("claims", ())
    merged = {entry["id"]: entry for entry in stored if entry.get("mode") in modes}
    merged |= {entry["id"]: entry for entry in entries}
    return [merged[key] for key in sorted(merged, key=natural_order)]


def read_assumptions(out: Path) -> dict[str, Any]:
    """Returns `assumptions.json`; empty for a directory without one."""

    def check(found: Any) -> None:
        _ = found["headline"], found["assumptions"]
        _ = [(entry["id"], entry["outcome"], entry["readings"]) for entry in found["claims"]]

    return _read(out / ASSUMPTIONS_FILE, "the readings of a suite", check)


def statuses(out: Path, selected: Collection[str]) -> dict[str, str]:
    """Returns the status of each experiment ever run: "complete" if it has results, else "interrupted"."""
    earlier = read_suite(out).get("experiments", {})
    met = {path.stem for path in (out / EXPERIMENTS).glob("[!.]*.json")} | {*selected, *earlier}
    there = {name for name in met if (out / EXPERIMENTS / f"{name}.json").is_file()}
    return {name: "complete" if name in there else "interrupted" for name in sorted(met, key=natural_order)}


def described(suite: Suite) -> dict[str, Any]:
    """Returns what `suite.json` has of a suite itself."""
    about = {"suite": suite.name, "title": suite.title, "citation": suite.citation}
    return {**about, "order": [experiment.name for experiment in suite.experiments]}


def write_suite(out: Path, parts: Mapping[str, Any]) -> None:
    """Writes these keys of `suite.json`. What it has beside them, such as `live`, stays."""
    write_json(out / SUITE_FILE, {**read_suite(out), **parts})


def read_suite(out: Path) -> dict[str, Any]:
    """Returns `suite.json`; empty for a directory without one."""
    return _read(out / SUITE_FILE, "a stored suite", dict.keys)


def _read(path: Path, what: str, check: Callable[[Any], object]) -> dict[str, Any]:
    """Returns a stored object, empty if there is none.

    Raises `InputError` if it cannot be read or the check cannot handle it, `LongfatError` if it has changed.
    """
    try:
        document = documents.json_value(whole.read_text(path))
        check(document)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"{path}: not {what}; remove it and run again") from None
    return dict(document)


def _builtin(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return value
