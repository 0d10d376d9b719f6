"""Rates of links that vary: a sine, steps, or a Mahimahi trace, as scenarios and plans have them.

A trace is a text file in the format of Mahimahi's link shell (Netravali et al., USENIX ATC 2015): each line
is a time in milliseconds at which the link can deliver 1500 bytes; after the last line it starts again.
`longfat.scenario.traces` reads it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from longfat.scenario import traces
from longfat.scenario.form import Schema, table
from longfat.scenario.steps import LATEST_S, MOST_STEPS
from longfat.scenario.steps import read as read_steps
from longfat.units import RATE, TIME, Dimension

OPPORTUNITY_BYTES = 1500
"""The bytes that one line of a trace delivers."""
MOST_OPPORTUNITIES = 5_000_000
PERIODS_S = (1e-3, 1e6)
LATEST_MS = 1e3 * LATEST_S
LEAST_PERIOD_MS = 1e-6
"""The core counts nanoseconds."""

_ACCEPTED = (
    f"accepted: a rate such as {RATE.accepted}, "
    '{ sine = { max = "1 Gbit/s", min = "300 Mbit/s", period = "32 s" } }, '
    '{ steps = [["0 s", "1 Gbit/s"], ["10 s", "300 Mbit/s"]] } or { trace = "file" }'
)


class VaryingRate(float):
    """A rate in bit/s that varies. As a number it is the greatest rate, for a trace the mean rate.

    Buffers given as a time or a share of the BDP, access links and the reverse path use that number.
    """

    plan: dict[str, Any]
    """How the rate varies, as the core reads it."""
    written: dict[str, Any]
    """How the rate varies, as a scenario file writes it."""
    source: traces.Source | None
    """The file of a trace."""

    def __new__(
        cls, bps: float, plan: dict[str, Any], written: dict[str, Any], source: traces.Source | None = None
    ) -> VaryingRate:
        """Makes a rate of `bps` that varies as `plan` says."""
        rate = super().__new__(cls, bps)
        rate.plan, rate.written, rate.source = plan, written, source
        return rate

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.plan, self.written, self.source

    @property
    def period_s(self) -> float | None:
        """The time after which a trace starts again; None without a trace."""
        return None if self.source is None else self.plan["trace_ms"][-1] / 1e3


def read(value: Any, limits_bps: tuple[float, float], base: Path | None) -> float:
    """Reads a constant rate, or one that varies; ValueError says what would be accepted.

    Args:
        value: what a scenario file has.
        limits_bps: the least and the greatest rate.
        base: the folder that a trace's file is relative to; the current one by default.
    """
    if isinstance(value, VaryingRate):
        return value
    if not isinstance(value, Mapping):
        return RATE.parse_within(value, limits_bps)
    match list(value):
        case ["sine"]:
            return _sine(value["sine"], limits_bps)
        case ["steps"]:
            return _steps(value["steps"], limits_bps)
    if traces.is_named(value):
        return _trace(value, limits_bps, base or Path())
    raise ValueError(_ACCEPTED)


def write(rate: float) -> Any:
    """Returns a rate as a scenario file writes it."""
    return copy.deepcopy(rate.written) if isinstance(rate, VaryingRate) else RATE.write(rate)


def schemas(rate: Schema, time: Schema) -> tuple[Schema, ...]:
    """The JSON Schemas of rates that vary, from those of a rate and of a time."""
    pair = {"type": "array", "prefixItems": [time, rate], "minItems": 2, "maxItems": 2}
    steps = {"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_STEPS}
    return (
        table({"sine": table({"max": rate, "min": rate, "period": time})}),
        table({"steps": steps}),
        traces.schema("A file in Mahimahi's format, relative to the scenario"),
    )


def _within(dimension: Dimension, value: Any, limits: tuple[float, float], where: str) -> float:
    try:
        return dimension.parse_within(value, limits)
    except ValueError as error:
        raise ValueError(f"{where}{error}") from None


def _sine(value: Any, limits_bps: tuple[float, float]) -> VaryingRate:
    if not isinstance(value, Mapping) or set(value) != {"max", "min", "period"}:
        raise ValueError(
            "sine takes max, min and period; "
            'accepted: { max = "1 Gbit/s", min = "300 Mbit/s", period = "32 s" }'
        )
    greatest = _within(RATE, value["max"], limits_bps, "sine.max: ")
    least = _within(RATE, value["min"], limits_bps, "sine.min: ")
    if least > greatest:
        raise ValueError("sine.min is above sine.max; accepted: the lesser rate as min")
    period = _within(TIME, value["period"], PERIODS_S, "sine.period: ")
    written = {"max": RATE.write(greatest), "min": RATE.write(least), "period": TIME.write(period)}
    return VaryingRate(greatest, {"sine": {"least_bps": least, "period_s": period}}, {"sine": written})


def _steps(value: Any, limits_bps: tuple[float, float]) -> VaryingRate:
    steps = read_steps(
        value,
        "rate",
        ("1 Gbit/s", "300 Mbit/s"),
        lambda rate: RATE.parse_within(rate, limits_bps),
        from_start=True,
    )
    written = [[TIME.write(time), RATE.write(bps)] for time, bps in steps]
    greatest = max(bps for _, bps in steps)
    return VaryingRate(greatest, {"steps": [list(step) for step in steps]}, {"steps": written})


def _trace(value: Mapping[str, Any], limits_bps: tuple[float, float], base: Path) -> VaryingRate:
    source, rows = traces.read(value, base, _OPPORTUNITIES, "cellular.trace")
    times = _times(base / value["trace"], rows)
    mean = float(8 * OPPORTUNITY_BYTES * len(times) * 1000 / Fraction(times[-1]))
    where = f"trace {base / value['trace']}: its mean is {mean:.3g} bit/s; "
    _within(RATE, RATE.write(mean), limits_bps, where)
    return VaryingRate(mean, {"trace_ms": times}, source.written(), source)


def read_trace(path: Path) -> list[float]:
    """Reads the times of a trace in ms; ValueError names the line that is wrong."""
    return _times(path, traces.read({"trace": str(path)}, Path(), _OPPORTUNITIES, "cellular.trace")[1])


def _times(path: Path, rows: Iterator[traces.Row]) -> list[float]:
    accepted = _OPPORTUNITIES.accepted
    times: list[float] = []
    for row in rows:
        time = row.numbers[0]
        if not 0 <= time <= LATEST_MS:
            raise ValueError(f"{row.where}: {row.shown}; accepted: times from 0 to {LATEST_MS:.0f} ms")
        if times and time < times[-1]:
            raise ValueError(f"{row.where}: {time:.15g} comes after {times[-1]:.15g}; accepted: {accepted}")
        times.append(time)
        if len(times) > MOST_OPPORTUNITIES:
            raise ValueError(f"trace {path}: accepted: up to {MOST_OPPORTUNITIES} lines")
    if not times or times[-1] < LEAST_PERIOD_MS:
        raise ValueError(f"trace {path}: no line with a time after 0 ms; accepted: {accepted}")
    return times


def _of_rates(lines: Sequence[Sequence[str]]) -> str:
    """How the lines of a file with times and rates become steps."""
    pairs = ", ".join(f'["{line[0]} s", "{line[1]} Mbit/s"]' for line in lines if len(line) > 1)
    return f"if its lines have seconds and Mbit/s, write rate = {{ steps = [{pairs}, ...] }}"


_OPPORTUNITIES = traces.Kind(
    1,
    "one time in ms on each line, none smaller than the one before; each delivers 1500 bytes",
    _of_rates,
)
