"""The tables of a sweep as figures are made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from longfat.errors import InputError
from longfat.figure.tables import IDENTITY, Kept, Source, Table, free_name, written_as
from longfat.study.grid import Axis
from longfat.sweep import words
from longfat.sweep.axes import are_numbers, from_json, in_table
from longfat.sweep.handle import Swept


def of_sweep(swept: Swept) -> Source:
    """Returns the tables of a sweep: its runs, their flows, and samples if it kept any."""
    settings: dict[str, list[Any]] = {}
    written: dict[str, Callable[[Any], str]] = {}
    units: dict[str, tuple[str, float]] = {}
    names: dict[str, str] = {}
    algorithms: dict[str, dict[Any, str]] = {}
    short: dict[str, list[tuple[str, str]]] = {}
    axes = from_json(swept.document["axes"])
    for axis in axes:
        for number, key in enumerate(axis.keys):
            values = axis.values(key)
            is_number = are_numbers(values)
            stored = [in_table(value, is_number) for value in values]
            texts = dict(zip(stored, map(words.value, values), strict=True))
            settings[key] = stored
            written[key] = written_as(_with_titles(axis, number, texts, is_number))
            if is_number:
                units[key] = words.unit_of(values)
            names[key] = words.axis(axis.keys, key)
            algorithms[key] = {
                text: value["name"]
                for text, value in zip(stored, values, strict=True)
                if isinstance(value, Mapping) and "name" in value
            }
            short.setdefault(key.rpartition(".")[2], []).append((axis.keys[0], key))
    others = {last: keys[0][1] for last, keys in short.items() if len({first for first, _ in keys}) == 1}
    runs, flows = swept.runs, swept.flows
    if swept.note and not runs.num_rows:
        raise InputError(f"{swept.folder}: {swept.note}; accepted: a sweep with at least one finished run")
    own = dict.fromkeys(flows.column_names)
    more = [name for name in runs.column_names if name not in own and name != "series"]

    def with_runs(_: Kept) -> pa.Table:
        return flows.join(runs.select(["run", *more]), "run")

    def with_flows(_: Kept) -> pa.Table:
        return swept.with_flows()

    of_flows = tuple(
        f"flow_{name}_{key}"
        for name in (flows["name"].unique().to_pylist() if "name" in own else ())
        for key in own
        if key not in (*IDENTITY, "name", *swept.keys)
    )
    run_names = tuple(name for name in runs.column_names if name != "series")
    tables = [
        Table("runs", run_names, lambda _: runs, others),
        # the flows' own column of algorithms does not tell variants of one apart
        Table(
            "flows",
            (*own, *more),
            with_runs,
            {last: key for last, key in others.items() if last not in own or algorithms[key]},
        ),
        Table("runs with flows", (*run_names, *of_flows), with_flows, others),
    ]
    if "series" in runs.column_names and runs.num_rows:
        tables += _samples(swept, runs, others)
    varied = [axis.keys[0] for axis in axes if axis.size > 1] or [axis.keys[0] for axis in axes]
    by = next((key for key in varied if key.rpartition(".")[2] == "algorithm"), "")
    x = next((key for key in varied if key != by), by)
    return Source(
        swept.folder,
        tuple(tables),
        settings,
        written,
        units,
        names,
        algorithms,
        defaults={"x": x, "y": "bottleneck_utilization", "by": "" if x == by else by},
        note=swept.note,
    )


def _with_titles(axis: Axis, number: int, texts: Mapping[Any, str], is_number: bool) -> Mapping[Any, str]:
    """The texts of values that a title names in the same steps: "far (100 ms)"."""
    if axis.keys[0] != "title" or number == 0:
        return texts
    stored = [in_table(step[number], is_number) for step in axis.steps]
    if len(set(stored)) < len(stored):
        return texts  # several titles have one value
    return {key: f"{step[0]} ({texts[key]})" for key, step in zip(stored, axis.steps, strict=True)}


def _samples(swept: Swept, runs: pa.Table, others: Mapping[str, str]) -> Iterator[Table]:
    """Yields the samples of flows, and those of links."""
    settings = [*IDENTITY, *swept.keys]
    rows = runs.select(settings).to_pylist()

    def series(run: int, of: str) -> pa.Table:
        table = swept.series(run)
        table = table.filter(pc.equal(table["of"], of)).drop_columns(["of"])
        # only here are the axes known
        return table.rename_columns([free_name(name, settings) for name in table.column_names])

    # algorithms record other quantities, so a run for each value of an axis is looked at
    looked_at = {
        rows[0]["run"],
        *({(key, row[key]): row["run"] for row in rows for key in swept.keys}.values()),
    }
    columns: dict[str, dict[str, bool]] = {"flow": {}, "link": {}}
    for of, has_values in columns.items():
        for run in sorted(looked_at):
            table = series(run, of)
            for name in table.column_names:
                is_filled = table[name].null_count < table.num_rows
                has_values[name] = has_values.get(name, False) or is_filled

    def table_of(of: str, other: str) -> Table:
        # both are stored in one table, so each has empty columns of the other
        sampled = [name for name, is_filled in columns[of].items() if is_filled or not columns[other][name]]

        def read(kept: Kept) -> pa.Table:
            found = []
            for row in rows:
                if all(row[key] in values for key, values in kept.items() if key in row):
                    table = series(row["run"], of)
                    table = table.select([name for name in sampled if name in table.column_names])
                    for key in settings:
                        table = table.append_column(
                            key, pa.repeat(pa.scalar(row[key], runs[key].type), table.num_rows)
                        )
                    found.append(table)
            table = pa.concat_tables(found, promote_options="permissive") if found else pa.table({})
            for name in sampled if found else ():
                if name not in table.column_names:  # none of these runs recorded it
                    table = table.append_column(name, pa.nulls(table.num_rows, pa.float64()))
            return table

        return Table(f"samples of {of}s", (*sampled, *settings), read, others, sampled=True)

    yield table_of("flow", "link")
    yield table_of("link", "flow")
