"""The values of scenario keys: quantities, counts, shares and switches. Each limit is a constant."""

from __future__ import annotations

import math
from typing import Annotated, Any

from longfat.scenario import capacity
from longfat.scenario.form import At, Form, Schema, any_of
from longfat.scenario.registry import read_switch
from longfat.units import RATE, SIZE, TIME, Dimension, number_with, split, to_float

RATES_BPS = (1e3, 1e13)
ACCESS_RATES_BPS = (1e3, 1e14)
"""Leaves room for ten times the fastest bottleneck."""
QUICK_START_RATES_BPS = (80e3, 1_310_720e3)
"""The lowest and the highest rate that a request can ask for (RFC 4782, section 3.1)."""
DURATIONS_S = (1e-3, 1e6)
TIMES_S = (0.0, DURATIONS_S[1])
RTTS_S = (1e-6, 1e3)
SAMPLES_S = (1e-6, 1e6)
TICKS_S = (0.0, 10.0)
SERVICE_TICKS_S = (1e-6, TICKS_S[1])
"""The range of a link's tick; 0 is accepted too, and is none."""
ACK_TIMEOUTS_S = (1e-6, 10.0)
RTO_FLOORS_S = (0.0, 60.0)
INITIAL_RTOS_S = (1e-3, 60.0)
GAPS_S = (1e-6, DURATIONS_S[1])
DELAYS_S = (0.0, 100.0)
MSS_BYTES = (64, 65_483)
"""The greatest leaves room for the headers in an IP packet of 65535 bytes."""
TRANSFER_BYTES = (1, 1e15)
PAGE_BYTES = (1, 1e12)
LARGEST_FILE_BYTES = (1e6, 1e12)
"""The least is above the 133 kB at which SURGE's tail begins."""
WINDOWS_SEGMENTS = (1.0, 1e9)
MOST_QUICK_ACKS = 1_000_000_000
LONGEST_NAME = 100
MOST_FLOWS = 100_000
MOST_SESSIONS = 100_000
SEEDS = (0, 2**63 - 1)
INFINITE = "infinite"


def quantity_schema(dimension: Dimension) -> Schema:
    """The JSON Schema of a number with a unit; no key takes a negative time, rate or size."""
    return number_schema(f"a {dimension.name}", dimension.example, tuple(dimension.units))


def number_schema(what: str, example: str, units: tuple[str, ...], *, negative: bool = False) -> Schema:
    """The JSON Schema of a text that holds a number, perhaps a negative one, and one of these units."""
    return {
        "type": "string",
        "pattern": number_with(units, negative=negative),
        "description": f'{what}, with its unit ({", ".join(units)}), such as "{example}"',
        "examples": [example],
    }


def quantity(dimension: Dimension, limits: tuple[float, float], example: str) -> Form:
    """A time, a rate or a size within limits; an SI float inside, a number with its unit in a file."""

    def schema() -> Schema:
        text = quantity_schema(dimension)
        span = f"from {dimension.write(limits[0])} to {dimension.write(limits[1])}"
        return text | {
            "description": f"A {dimension.name} with its unit ({', '.join(dimension.units)}), {span}",
            "examples": [example],
        }

    return Form(
        f'a {dimension.name} such as "{example}"',
        lambda value, _: dimension.parse_within(value, limits, example),
        lambda value, _: dimension.write(value),
        schema,
    )


def _service_tick() -> Form:
    form = quantity(TIME, TICKS_S, "1 ms")

    def read(value: Any, at: At) -> float:
        number = float(form.read(value, at))
        if 0.0 < number < SERVICE_TICKS_S[0]:
            least, greatest = (TIME.write(limit) for limit in SERVICE_TICKS_S)
            raise ValueError(f"accepted: 0 s for none, or from {least} to {greatest}")
        return number

    return Form(form.accepts, read, form.write, form.schema)


Duration = Annotated[float, quantity(TIME, DURATIONS_S, "60 s")]
Time = Annotated[float, quantity(TIME, TIMES_S, "5 s")]
Rtt = Annotated[float, quantity(TIME, RTTS_S, "42 ms")]
Delay = Annotated[float, quantity(TIME, DELAYS_S, "10 ms")]
Period = Annotated[float, quantity(TIME, SAMPLES_S, "100 ms")]
Tick = Annotated[float, quantity(TIME, TICKS_S, "1 ms")]
ServiceTick = Annotated[float, _service_tick()]
AckTimeout = Annotated[float, quantity(TIME, ACK_TIMEOUTS_S, "40 ms")]
RtoFloor = Annotated[float, quantity(TIME, RTO_FLOORS_S, "200 ms")]
InitialRto = Annotated[float, quantity(TIME, INITIAL_RTOS_S, "1 s")]
Gap = Annotated[float, quantity(TIME, GAPS_S, "1 s")]
Mss = Annotated[float, quantity(SIZE, MSS_BYTES, "1448 B")]
Transfer = Annotated[float, quantity(SIZE, TRANSFER_BYTES, "10 MB")]
Page = Annotated[float, quantity(SIZE, PAGE_BYTES, "10 kB")]
LargestFile = Annotated[float, quantity(SIZE, LARGEST_FILE_BYTES, "10 MB")]


def constant_rate(limits: tuple[float, float], example: str = RATE.example) -> Form:
    """A rate that does not vary."""
    form = quantity(RATE, limits, example)

    def read(value: Any, at: At) -> Any:
        if isinstance(value, dict):
            raise ValueError(
                "only bottleneck.rate and link.rate can vary; "
                f"accepted: a constant rate such as {RATE.accepted}"
            )
        return form.read(value, at)

    return Form(form.accepts, read, form.write, form.schema)


def _varying_schema() -> Schema:
    rate, time = quantity_schema(RATE), quantity_schema(TIME)
    return any_of(rate, *capacity.schemas(rate, time))


Rate = Annotated[float, constant_rate(RATES_BPS)]
QuickStartRate = Annotated[float, constant_rate(QUICK_START_RATES_BPS, "10 Mbit/s")]
AccessRate = Annotated[float, constant_rate(ACCESS_RATES_BPS, "1 Gbit/s")]
BottleneckRate = Annotated[
    float,
    Form(
        f"a rate such as {RATE.accepted}",
        lambda value, at: capacity.read(value, RATES_BPS, at.base),
        lambda value, _: capacity.write(value),
        _varying_schema,
    ),
]


def bare_number(value: Any, limits: tuple[float, float], accepted: str) -> float:
    """A bare number within limits."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not limits[0] <= value <= limits[1]:
        raise ValueError(f"accepted: {accepted}")
    return float(value)


def share(value: Any, limits: tuple[float, float], accepted: str) -> float:
    """A share or a probability: a bare number, or a percentage such as "7 %"."""
    amount, unit = split(value) or (None, "")
    number = to_float(amount / 100) if amount is not None and unit == "%" else value
    return bare_number(number, limits, accepted)


def share_schema(limits: tuple[float, float]) -> Schema:
    """The JSON Schema of what `share` reads."""
    bare = {"type": "number", "minimum": limits[0], "maximum": limits[1]}
    return any_of(bare, number_schema("A percentage", "7 %", ("%",)))


def whole_number(value: Any, limits: tuple[int, int], unit: str = "") -> int:
    """A whole number within limits, bare or with its unit: 3 or "3 flows"."""
    amount, given = split(value) or (None, "")
    if amount is not None and amount.denominator == 1 and given and given in (unit, unit.removesuffix("s")):
        value = int(amount)
    if isinstance(value, bool) or not isinstance(value, int) or not limits[0] <= value <= limits[1]:
        raise ValueError(f"accepted: a whole number from {limits[0]} to {limits[1]}")
    return value


def whole_schema(limits: tuple[int, int], unit: str = "") -> Schema:
    """The JSON Schema of what `whole_number` reads."""
    bare = {"type": "integer", "minimum": limits[0], "maximum": limits[1]}
    if not unit:
        return bare
    return any_of(bare, number_schema("A count", f"3 {unit}", (unit, unit.removesuffix("s"))))


def _whole(limits: tuple[int, int], unit: str = "") -> Form:
    return Form(
        "a whole number",
        lambda value, _: whole_number(value, limits, unit),
        lambda value, _: value,
        lambda: whole_schema(limits, unit),
    )


Seed = Annotated[int, _whole(SEEDS)]
FlowCount = Annotated[int, _whole((1, MOST_FLOWS), "flows")]
Flows = Annotated[int, _whole((1, MOST_SESSIONS), "flows")]
Users = Annotated[int, _whole((1, MOST_SESSIONS), "users")]
Sources = Annotated[int, _whole((1, MOST_SESSIONS), "sources")]
QuickAcks = Annotated[int, _whole((0, MOST_QUICK_ACKS), "segments")]
WebSessions = Annotated[int, _whole((0, MOST_SESSIONS), "sessions")]
"""Zero is allowed: a grid may have a point without sessions."""


def _number(limits: tuple[float, float], accepted: str, example: float) -> Form:
    return Form(
        f"{example:g}",
        lambda value, _: bare_number(value, limits, accepted),
        lambda value, _: value,
        lambda: {"type": "number", "minimum": limits[0], "maximum": limits[1], "description": accepted},
    )


Shape = Annotated[
    float,
    _number((1.001, 100.0), "a Pareto shape from 1.001 to 100 (at 1 and below the mean is infinite)", 1.2),
]
TailIndex = Annotated[float, _number((0.1, 100.0), "a Pareto tail index from 0.1 to 100", 1.1)]
LogSize = Annotated[float, _number((0.0, 30.0), "the mean of the logarithm of bytes, from 0 to 30", 9.357)]
LogSpread = Annotated[
    float,
    _number((0.01, 10.0), "the standard deviation of the logarithm of bytes, from 0.01 to 10", 1.318),
]
Share = Annotated[
    float,
    Form(
        "0.07",
        lambda value, _: share(value, (0.0, 1.0), "a share from 0 to 1"),
        lambda value, _: value,
        lambda: share_schema((0.0, 1.0)),
    ),
]


def _segments(or_infinite: bool) -> Form:
    limits = WINDOWS_SEGMENTS
    endless = f', or "{INFINITE}"' if or_infinite else ""
    accepted = f"a number of segments from {limits[0]:g} to {limits[1]:g}{endless}"

    def read(value: Any, _: Any) -> float:
        if or_infinite and (value == INFINITE or value == math.inf):
            return math.inf
        amount, unit = split(value) or (None, "")
        number = to_float(amount) if amount is not None and unit in ("segments", "segment") else value
        return bare_number(number, limits, accepted)

    def schema() -> Schema:
        bare = {"type": "number", "minimum": limits[0], "maximum": limits[1]}
        text = number_schema("A number", "100 segments", ("segments", "segment"))
        return any_of(bare, text, *([{"const": INFINITE}] if or_infinite else []))

    return Form(
        "a number of segments", read, lambda value, _: INFINITE if value == math.inf else value, schema
    )


Segments = Annotated[float, _segments(or_infinite=False)]
SegmentsOrInfinite = Annotated[float, _segments(or_infinite=True)]


def _name(value: Any, _: Any) -> str:
    if (
        not isinstance(value, str)
        or not value.strip()
        or not value.isprintable()
        or len(value) > LONGEST_NAME
    ):
        raise ValueError(f"accepted: 1 to {LONGEST_NAME} printable characters")
    return value


Name = Annotated[
    str,
    Form(
        'a name such as "R1"',
        _name,
        lambda value, _: value,
        lambda: {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
    ),
]

ECN_WORDS = ("accurate", "l4s")


def _read_ecn(value: Any, at: At) -> bool | str:
    if value in ECN_WORDS:
        return str(value)
    try:
        return read_switch(value, at.key)
    except ValueError:
        raise ValueError('accepted: true, false, "accurate" or "l4s"') from None


Ecn = Annotated[
    bool | str,
    Form(
        'true, false, "accurate" or "l4s"',
        _read_ecn,
        lambda value, _: value,
        lambda: {"enum": [True, False, *ECN_WORDS]},
    ),
]

Switch = Annotated[
    bool,
    Form(
        "true or false",
        lambda value, at: read_switch(value, at.key),
        lambda value, _: value,
        lambda: {"type": "boolean"},
    ),
]
