"""Rates of links that vary: a sine, steps, or a Mahimahi trace, as scenarios and plans have them.

A trace is a text file in the format of Mahimahi's link shell (Netravali et al., USENIX ATC 2015): each line
is a time in whole milliseconds at which the link can deliver 1500 bytes; after the last line it starts again.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from longfat import documents
from longfat.scenario.form import Schema, table
from longfat.scenario.steps import MOST_STEPS
from longfat.scenario.steps import read as read_steps
from longfat.units import RATE, TIME, Dimension

OPPORTUNITY_BYTES = 1500
"""The bytes that one line of a trace delivers."""
MOST_OPPORTUNITIES = 5_000_000
PERIODS_S = (1e-3, 1e6)

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

    def __new__(cls, bps: float, plan: dict[str, Any], written: dict[str, Any]) -> VaryingRate:
        """Makes a rate of `bps` that varies as `plan` says."""
        rate = super().__new__(cls, bps)
        rate.plan, rate.written = plan, written
        return rate

    def __getnewargs__(self) -> tuple[Any, ...]:
        return float(self), self.plan, self.written


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
        case ["trace"]:
            return _trace(value["trace"], limits_bps, base or Path())
    raise ValueError(_ACCEPTED)


def write(rate: float) -> Any:
    """Returns a rate as a scenario file writes it."""
    return copy.deepcopy(rate.written) if isinstance(rate, VaryingRate) else RATE.write(rate)


def schemas(rate: Schema, time: Schema) -> tuple[Schema, ...]:
    """The JSON Schemas of rates that vary, from those of a rate and of a time."""
    pair = {"type": "array", "prefixItems": [time, rate], "minItems": 2, "maxItems": 2}
    steps = {"type": "array", "items": pair, "minItems": 1, "maxItems": MOST_STEPS}
    trace = {"type": "string", "description": "A file in Mahimahi's format, relative to the scenario"}
    return (
        table({"sine": table({"max": rate, "min": rate, "period": time})}),
        table({"steps": steps}),
        table({"trace": trace}),
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


def _trace(value: Any, limits_bps: tuple[float, float], base: Path) -> VaryingRate:
    if not isinstance(value, str):
        raise ValueError('trace: accepted: the name of a file such as "cellular.trace"')
    path = base / value
    times = read_trace(path)
    mean = float(Fraction(8 * OPPORTUNITY_BYTES * len(times) * 1000, times[-1]))
    _within(RATE, RATE.write(mean), limits_bps, f"trace {path}: its mean is {mean:.3g} bit/s; ")
    return VaryingRate(mean, {"trace_ms": times}, {"trace": str(path.resolve())})


def read_trace(path: Path) -> list[int]:
    """Reads the times of a trace in ms; ValueError names the line that is wrong."""
    accepted = "accepted: whole numbers of milliseconds, one per line, none smaller than the one before"
    try:
        lines = documents.lines_of_file(path, encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file of digits"
        raise ValueError(f"trace {path}: {reason}; accepted: a file, relative to the scenario's") from None
    times: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip(" \t")
        where = f"trace {path}, line {number}"
        if not text.isdecimal() or len(text) > 9:
            raise ValueError(f"{where}: {text[:40]!r}; {accepted}")
        time = int(text)
        if times and time < times[-1]:
            raise ValueError(f"{where}: {time} comes after {times[-1]}; {accepted}")
        times.append(time)
        if number > MOST_OPPORTUNITIES:
            raise ValueError(f"trace {path}: accepted: up to {MOST_OPPORTUNITIES} lines")
    if not times or times[-1] == 0:
        raise ValueError(f"trace {path}: no line after 0 ms; {accepted}")
    return times
