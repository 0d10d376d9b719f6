"""The tables of a run's summary, for both the terminal and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from longfat.intervals import half_intervals
from longfat.units import RATE

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario

DIGITS = 4
INTERVAL_DIGITS = 2
"""Digits of half a confidence interval, behind its mean."""
WITHOUT_EXPONENT = (1e-4, 1e9)
"""The range of numbers that are written without an exponent."""


class Column(NamedTuple):
    """One column: the key of the summary, its heading, and how its values are written."""

    key: str
    heading: str
    write: Callable[[Any], str]
    is_number: bool = True
    seldom: bool = False
    """Whether a table leaves it out where no row has more than a dash."""


def number(value: float | None, digits: int = DIGITS, nothing: str = "-") -> str:
    """Formats a number with some significant digits, without an exponent where that is readable."""
    if value is None or not math.isfinite(value):
        return nothing
    if value == 0.0:
        return "0"
    if not WITHOUT_EXPONENT[0] <= abs(value) < WITHOUT_EXPONENT[1]:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def count(value: float | None) -> str:
    """Formats a count; a mean of counts is rounded."""
    return "-" if value is None else f"{value:,.0f}"


def _opened(value: float | None) -> str:
    """Whether a flow connected, or the share of repeats in which it did; a dash where it did, as usual."""
    return "-" if value is None or value == 1.0 else "never" if value == 0.0 else f"{value:.0%} of runs"


def _in(unit: float) -> Callable[[Any], str]:
    return lambda value: number(None if value is None else value / unit)


def _text(value: Any) -> str:
    return "-" if value is None else str(value)


def _rate(value: float | None) -> str:
    return "-" if value is None else RATE.write(value)


def _command(value: Sequence[str]) -> str:
    import shlex

    return shlex.join(value)


def _port(value: int | None) -> str:
    return "-" if value is None else str(value)


MS, MBIT_S = 1e-3, 1e6

FLOWS = (
    Column("name", "name", _text, is_number=False),
    Column("algorithm", "algorithm", _text, is_number=False),
    Column("rtt_s", "RTT ms", _in(MS)),
    Column("start_s", "start s", number),
    Column("throughput_bps", "throughput Mbit/s", _in(MBIT_S)),
    Column("goodput_bps", "goodput Mbit/s", _in(MBIT_S)),
    Column("packets_sent", "packets", count),
    Column("packets_lost", "lost", count),
    Column("loss_ratio", "loss ratio", number),
    Column("timeouts", "timeouts", count),
    Column("cwnd_mean", "cwnd", number),
    Column("srtt_mean_s", "sRTT ms", _in(MS)),
    Column("connected", "connected", _opened, is_number=False, seldom=True),
    Column("completion_time_s", "completion s", number, seldom=True),
    Column("delivery_time_s", "delivery s", number, seldom=True),
)
GROUPS = (
    Column("name", "names", _text, is_number=False),
    Column("algorithm", "algorithm", _text, is_number=False),
    Column("flows", "flows", count),
    Column("rtt_s", "RTT ms", _in(MS)),
    Column("throughput_mean_bps", "throughput Mbit/s", _in(MBIT_S)),
    Column("throughput_least_bps", "least", _in(MBIT_S)),
    Column("throughput_greatest_bps", "greatest", _in(MBIT_S)),
    Column("jain", "Jain's index", number),
    Column("loss_ratio", "loss ratio", number),
    Column("timeouts", "timeouts", count),
    Column("srtt_mean_s", "sRTT ms", _in(MS)),
    Column("completion_time_s", "completion s", number, seldom=True),
)
"""The columns of groups of flows: means over the flows, and the extremes of their throughputs."""
LINKS = (
    Column("name", "name", _text, is_number=False),
    Column("rate_bps", "rate", _rate),
    Column("utilization", "utilization", number),
    Column("packets_in", "packets", count),
    Column("packets_dropped", "dropped", count),
    Column("packets_marked", "marked", count),
    Column("packets_lost", "lost", count),
    Column("queue_mean_packets", "queue mean", number),
    Column("queue_std_packets", "std", number),
    Column("queue_max_packets", "max", count),
    Column("queue_limit_packets", "limit packets", count),
    Column("sojourn_p50_s", "median wait ms", _in(MS)),
    Column("sojourn_p95_s", "95 % wait ms", _in(MS)),
    Column("sojourn_p99_s", "99 % wait ms", _in(MS)),
)
BACKGROUND = (
    Column("name", "name", _text, is_number=False),
    Column("transfers_started", "transfers", count),
    Column("transfers_completed", "completed", count),
    Column("load_bps", "asked Mbit/s", _in(MBIT_S)),
    Column("offered_bps", "offered Mbit/s", _in(MBIT_S)),
    Column("throughput_bps", "throughput Mbit/s", _in(MBIT_S)),
    Column("packets_sent", "packets", count),
    Column("packets_lost", "lost", count),
)
COMPLETION_TIMES = (
    Column("background", "background", _text, is_number=False),
    Column("from_bytes", "from B", count),
    Column("below_bytes", "below B", count),
    Column("transfers", "transfers", count),
    Column("mean_s", "mean ms", _in(MS)),
    Column("p50_s", "median ms", _in(MS)),
    Column("p95_s", "95 % ms", _in(MS)),
    Column("p99_s", "99 % ms", _in(MS)),
    Column("delivery_mean_s", "mean delivery ms", _in(MS), seldom=True),
    Column("delivery_p95_s", "95 % ms", _in(MS), seldom=True),
)
PROGRAMS = (
    Column("name", "name", _text, is_number=False),
    Column("side", "side", _text, is_number=False),
    Column("command", "command", _command, is_number=False),
    Column("start_s", "start s", number),
    Column("end_s", "end s", number),
    Column("exit_code", "exit code", count),
)
CONNECTIONS = (
    Column("protocol", "protocol", _text, is_number=False),
    Column("a", "side a", _text, is_number=False),
    Column("a_port", "port", _port),
    Column("b", "side b", _text, is_number=False),
    Column("b_port", "port", _port),
    Column("opened_by", "opened by", _text, is_number=False),
    Column("first_s", "from s", number),
    Column("last_s", "to s", number),
    Column("a_to_b_bytes", "a to b bytes", count),
    Column("a_to_b_throughput_bps", "Mbit/s", _in(MBIT_S)),
    Column("a_to_b_dropped", "dropped", count),
    Column("a_to_b_marked", "marked", count),
    Column("b_to_a_bytes", "b to a bytes", count),
    Column("b_to_a_throughput_bps", "Mbit/s", _in(MBIT_S)),
    Column("b_to_a_dropped", "dropped", count),
    Column("b_to_a_marked", "marked", count),
)
RUN_TABLES = (
    ("Flows", "flows", FLOWS),
    ("Links", "links", LINKS),
    ("Background", "background", BACKGROUND),
    ("Completion times by size", "completion_times", COMPLETION_TIMES),
    ("Programs", "programs", PROGRAMS),
    ("Connections of programs", "connections", CONNECTIONS),
)
"""Heading, key of the summary, columns."""
METRICS = {
    "jain": "Jain's index",
    "throughput_ratio": "least / greatest throughput",
    "convergence_time_s": "convergence time (LLS), s",
    "convergence_80_s": "convergence to 80 % (Ha), s",
    "cov": "coefficient of variation of rates",
    "inefficiency": "inefficiency of the bottleneck",
}


class Table(NamedTuple):
    """A table of a run: its title, its columns and its cells."""

    title: str
    columns: Sequence[Column]
    cells: list[list[str]]
    by_group: bool = False


def tables(whole: Mapping[str, Any], scenario: Scenario | None, *, every_flow: bool) -> Iterator[Table]:
    """Yields the tables of a run, or of the means of repeats, that hold something.

    A table that has no means shows the first run.

    Args:
        whole: the summary.
        scenario: that of the run; None if it is unknown.
        every_flow: whether each of many flows has a row, in place of each group of them.
    """
    from longfat.report.groups import grouped

    means, halves = whole.get("mean", whole), half_intervals(whole)
    runs = whole.get("runs", [whole])
    groups = None if every_flow else grouped(whole, scenario)
    for title, key, columns in RUN_TABLES:
        entries = means.get(key) or runs[0].get(key)
        if not entries:
            continue
        if key == "flows" and groups is not None:
            found = groups.get("mean", groups)[key]
            kept = with_values(GROUPS, found)
            cells = rows(kept, found, half_intervals(groups).get(key))
            yield Table(f"{len(entries)} flows by group", kept, cells, by_group=True)
            continue
        if not means.get(key):
            title = f"{title}, of the first of {len(runs)} runs"
        kept = with_values(columns, [*entries, *(entry for run in runs for entry in run.get(key) or ())])
        yield Table(title, kept, rows(kept, entries, halves.get(key)))


def with_values(columns: Iterable[Column], entries: Iterable[Mapping[str, Any]]) -> list[Column]:
    """Returns the columns without those that are seldom needed and hold nothing here.

    Args:
        columns: all columns of a table.
        entries: the values of each of its rows.
    """
    rows = list(entries)
    return [
        column
        for column in columns
        if not column.seldom or any(column.write(entry.get(column.key)) != "-" for entry in rows)
    ]


def rows(
    columns: Iterable[Column],
    entries: Iterable[Mapping[str, Any]],
    halves: Sequence[Mapping[str, Any]] | None = None,
) -> list[list[str]]:
    """Returns the cells of a table; a dash stands for a missing value.

    Args:
        columns: what the table shows.
        entries: the values of each row.
        halves: half of the confidence interval of each value, as `half_intervals` returns them.
    """
    columns, entries = tuple(columns), list(entries)
    widths = [{}] * len(entries) if halves is None else halves
    return [
        [_with_half(column, entry.get(column.key), half.get(column.key)) for column in columns]
        for entry, half in zip(entries, widths, strict=True)
    ]


def metrics(
    values: Mapping[str, Any], halves: Mapping[str, Any] | None = None, meaningless: Iterable[str] = ()
) -> list[list[str]]:
    """Returns the cells of the table of metrics, with a dash for those that mean nothing here.

    Args:
        values: the metrics of a summary, or their means.
        halves: as in `rows`.
        meaningless: the keys of the metrics that this run gives no meaning.
    """
    left_out = set(meaningless)
    shown = {key: None if key in left_out else value for key, value in values.items()}
    return [
        [meaning, _with_half(Column(key, meaning, number), shown.get(key), (halves or {}).get(key))]
        for key, meaning in METRICS.items()
    ]


def _with_half(column: Column, value: Any, half: Any) -> str:
    """A cell, with half of its interval behind it where there is one."""
    text = column.write(value)
    if value is None or not column.is_number or not isinstance(half, int | float) or not half > 0.0:
        return text
    behind = column.write(float(f"{half:.{INTERVAL_DIGITS}g}"))
    return text if behind == "0" else f"{text} ± {behind}"
