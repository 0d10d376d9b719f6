"""Prints results and registry rows as tables in the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from longfat.intervals import half_intervals
from longfat.report import columns
from longfat.report.terminal import fitted
from longfat.runs.observations import of_runs
from longfat.scenario.registry import Parameter, Row, meaning
from longfat.units import RATE, TIME
from longfat.words import shown

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario
    from longfat.scenario.stacks import Stack
    from longfat.sweep import Swept


EVERY_FLOW = "--all-flows prints a row for each flow."


def print_summary(
    console: Console, scenario: Scenario, whole: Mapping[str, Any], *, every_flow: bool = False
) -> None:
    """Prints the tables, the notes and the defaults that were used, of one run or of repeats."""
    from longfat.scenario.model import UNLIKE

    if scenario.title:
        console.print(scenario.title, style="bold", markup=False)
    summary, halves = whole.get("mean", whole), half_intervals(whole)
    runs = whole.get("runs", [whole])
    notes = of_runs(runs)
    listed = list(columns.tables(whole, scenario, every_flow=every_flow))
    table = Table(
        title="Metrics", title_justify="left", title_style="bold", show_header=False, box=None, pad_edge=False
    )
    table.add_column()
    table.add_column(justify="right")
    unlike = scenario.meaningless_metrics()
    for cells in columns.metrics(summary["metrics"], halves.get("metrics"), unlike):
        table.add_row(*cells)
    for each in (*_fitted(console, listed), table):
        console.print()
        console.print(each)
    console.print()
    if any(each.by_group for each in listed):
        console.print(EVERY_FLOW, style="dim")
    for note in [*notes, *_late_goodput(summary), *([UNLIKE] if unlike else [])]:
        console.print(f"Note: {note}.", markup=False, highlight=False)
    console.print(f"Used: {'; '.join(_used(scenario, len(runs)))}.", style="dim", markup=False)
    if halves:
        console.print(
            f"Means over {len(runs)} runs with 95 % confidence intervals (Student's t), and a dash where "
            "some run has no such number; --json prints every run and the standard errors.",
            style="dim",
        )


def print_flows(console: Console, summary: Mapping[str, Any], *, every_flow: bool = False) -> None:
    """Prints the tables of a summary that no scenario belongs to."""
    listed = list(columns.tables(summary, None, every_flow=every_flow))
    for table in _fitted(console, listed):
        console.print(table)
        console.print()
    if any(each.by_group for each in listed):
        console.print(EVERY_FLOW, style="dim")


def _fitted(console: Console, listed: Iterable[columns.Table]) -> Iterator[Table]:
    for each in listed:
        headings = [(column.heading, column.is_number) for column in each.columns]
        yield from fitted(headings, each.cells, console.width, title=each.title)


def _late_goodput(summary: Mapping[str, Any]) -> list[str]:
    """Says of which flows a window shows more goodput than throughput."""
    late = [
        flow["name"]
        for flow in summary["flows"]
        if (flow["goodput_bps"] or 0.0) > (flow["throughput_bps"] or 0.0)
    ]
    if not late:
        return []
    return [
        f"flow {', '.join(late)}: more goodput than throughput: packets that came before the window waited "
        "for a lost one, and reached the application within it"
    ]


def _used(scenario: Scenario, repeats: int) -> list[str]:
    """The values that matter for the results and that a scenario may leave to defaults."""
    from longfat.scenario.stacks import hosts, in_words

    full = scenario.filled()
    begin, end = full.metrics_window_s()
    parts = [*full.flow, *full.background]
    packets = sorted({(part.mss, part.header_bytes) for part in parts})
    initial = sorted({part.initial_window for part in parts if part.algorithm.transport == "tcp"})
    return [
        f"seed {full.seed}" if repeats == 1 else f"seeds {full.seed} to {full.seed + repeats - 1}",
        f"results from {TIME.write(begin)} to {TIME.write(end)}",
        *in_words(hosts(full)),
        f"mss {', '.join(f'{mss:g} B + {headers} B' for mss, headers in packets)} of headers",
        *([f"initial window {', '.join(f'{window:g}' for window in initial)} segments"] if initial else []),
        f"access {RATE.write(full.network().access_bps)}",
        *([f"reverse path {RATE.write(full.bottleneck.reverse_rate or 0.0)}"] if not full.link else []),
    ]


def print_rows(console: Console, title: str, registered: Sequence[Row]) -> None:
    """Prints registry rows with their parameters."""
    if not registered:
        console.print(f"{title}: none in this version.")
        return
    for row in registered:
        also = f" (also {', '.join(row['aliases'])})" if row["aliases"] else ""
        console.print(f"{row['name']}{also}", style="bold", markup=False, highlight=False)
        details = [row["citation"]]
        if row["linux_module"]:
            details.append(f"Linux: {row['linux_module']}")
        console.print(f"  {'; '.join(details)}", style="dim", markup=False, highlight=False)
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
        for parameter in row["parameters"]:
            table.add_row("   ", parameter["name"], _default(parameter), _meaning(parameter))
        if row["parameters"]:
            console.print(table, markup=False)


def print_stacks(console: Console, stacks: Sequence[Stack]) -> None:
    """Prints stacks with their keys, the source of each value, and what is unknown."""
    from longfat.scenario.stacks import values_text

    for stack in stacks:
        console.print(f"{stack['name']} ({stack['title']})", style="bold", markup=False, highlight=False)
        console.print(Padding(Text(f"{stack['era']}: {stack['summary']}", "dim"), (0, 0, 0, 2)))
        table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 1))
        for setting in stack["keys"]:
            table.add_row("   ", setting["key"], Text(values_text(setting)), Text(setting["source"]))
        if stack["keys"]:
            console.print(table, markup=False)
        if stack["unknown"]:
            console.print("    unknown, or not modelled:", style="dim")
        for line in stack["unknown"]:
            console.print(Padding(Text(f"- {line}", "dim"), (0, 0, 0, 4)))


def _default(parameter: Parameter) -> str:
    """The default as a scenario file writes it, with its unit."""
    value = parameter["written"]
    if isinstance(value, (str, bool)):
        return shown(value)
    return f"{value:g} {parameter['unit']}".strip()


def _meaning(parameter: Parameter) -> str:
    """What a parameter does, and the words that it takes."""
    choices = ", ".join(word if isinstance(word, str) else shown(word) for word in parameter["words"])
    return meaning(parameter) + (f" ({choices})" if choices else "")


def print_sweep(console: Console, swept: Swept) -> None:
    """Prints what a sweep holds: axes, runs, columns, and how to query it."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column("axis")
    table.add_column("values")
    for axis in swept.document["axes"]:
        values = [" & ".join(map(str, step)) for step in axis["values"]]
        table.add_row(Text(" & ".join(axis["keys"])), Text(", ".join(values)))
    console.print(table)
    counted = swept.note or f"{swept.runs.num_rows} runs, {swept.failures.num_rows} failures"
    console.print(f"\n{counted}", markup=False)
    for name in ("runs", "flows"):
        names = [column for column in swept.table(name).column_names if column not in swept.keys]
        console.print(f"{name}: {', '.join(names)}", style="dim", markup=False)
    first = swept.keys[0]
    console.print(
        f"longfat results {swept.folder} --sql 'SELECT \"{first}\", avg(jain) FROM runs GROUP BY ALL'"
    )


MOST_COLUMNS = 15
"""A result with more columns is printed sideways."""
FEW_ROWS = 4
"""Rows that are printed side by side in that case."""
MOST_ROWS = 100
"""Rows that are printed otherwise; --json prints all."""


def print_query(console: Console, answer: Any) -> None:
    """Prints the result of a query; if it has many columns, its first rows go side by side."""
    import pyarrow as pa

    wide = answer.num_columns > MOST_COLUMNS
    most = FEW_ROWS if wide else MOST_ROWS
    shown = answer.slice(0, most)
    if wide:
        table = Table(box=None, pad_edge=False, show_header=False)
        for name in shown.column_names:
            table.add_row(Text(name, "dim"), *(Text(_cell(value)) for value in shown[name].to_pylist()))
        console.print(table)
    else:
        numbers = pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal
        headings = [
            (field.name, any(is_number(field.type) for is_number in numbers)) for field in answer.schema
        ]
        cells = [[_cell(value) for value in row.values()] for row in shown.to_pylist()]
        for number, table in enumerate(fitted(headings, cells, console.width)):
            if number:
                console.print()
            console.print(table)
    if answer.num_rows > most:
        console.print(f"The first {most} of {answer.num_rows} rows; --json prints all", style="dim")


def _cell(value: Any) -> str:
    """A value of a query; only one that is missing is a dash."""
    match value:
        case None:
            return "-"
        case float():
            return columns.number(value) if math.isfinite(value) else str(value)
        case bool() | list() | dict():
            return json.dumps(value, ensure_ascii=False, default=plain)
    return str(value)


def plain(value: Any) -> Any:
    """A value of a query for JSON: DuckDB's sums of integers are decimals."""
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return str(value)
