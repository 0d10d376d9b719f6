"""The tables of a run's summary, for both the terminal and the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from longfat.units import RATE

DIGITS = 4
WITHOUT_EXPONENT = (1e-4, 1e9)
"""The range of numbers that are written without an exponent."""


@dataclass(frozen=True)
class Column:
    """One column: the key of the summary, its heading, and how its values are written."""

    key: str
    heading: str
    write: Callable[[Any], str]
    is_number: bool = True


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


def _in(unit: float) -> Callable[[Any], str]:
    return lambda value: number(None if value is None else value / unit)


def _text(value: Any) -> str:
    return "-" if value is None else str(value)


def _rate(value: float | None) -> str:
    return "-" if value is None else RATE.write(value)


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
)
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
    Column("sojourn_p95_s", "95 % wait ms", _in(MS)),
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
)
RUN_TABLES = (
    ("Flows", "flows", FLOWS),
    ("Links", "links", LINKS),
    ("Background", "background", BACKGROUND),
    ("Completion times by size", "completion_times", COMPLETION_TIMES),
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


def rows(columns: Iterable[Column], entries: Iterable[Mapping[str, Any]]) -> list[list[str]]:
    """Returns the cells of a table; a dash stands for a missing value."""
    columns = tuple(columns)
    return [[column.write(entry.get(column.key)) for column in columns] for entry in entries]


def metrics(values: Mapping[str, Any]) -> list[list[str]]:
    """Returns the cells of the table of metrics."""
    return [[meaning, number(values.get(key))] for key, meaning in METRICS.items()]
