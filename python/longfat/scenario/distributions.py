"""Quantities that are fixed or drawn: how a scenario writes them, and files of measured values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, ValidationInfo

from longfat.scenario.fields import RTTS_S, TIMES_S, TRANSFER_BYTES, Accepts
from longfat.units import SIZE, TIME, Dimension, split, to_float
from longfat.words import shown

MOST_VALUES = 100_000
"""Rows of a file of measured values."""
GREATEST_WEIGHT = 1e15


@dataclass(frozen=True)
class Uniform:
    """Drawn once per flow, uniform in [low, high)."""

    low: float
    high: float


@dataclass(frozen=True)
class Exponential:
    """Drawn once per flow: `least` and what is exponential above it, together with this mean."""

    mean: float
    least: float = 0.0


@dataclass(frozen=True)
class Empirical:
    """Drawn once per flow: one of the values, each as often as its weight is of all weights."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    def mean(self) -> float:
        """Of what is drawn."""
        total = fsum(self.weights)
        return fsum(x * w for x, w in zip(self.values, self.weights, strict=True)) / total


Distribution = float | Uniform | Exponential | Empirical


def least(value: Distribution) -> float:
    """The least value that can be drawn."""
    match value:
        case Uniform(low=low):
            return low
        case Exponential(least=low):
            return low
        case Empirical(values, weights):
            return min(x for x, w in zip(values, weights, strict=True) if w > 0.0)
        case _:
            return value


def mean(value: Distribution) -> float:
    """The mean of what is drawn."""
    match value:
        case Uniform(low, high):
            return 0.5 * (low + high)
        case Exponential(mean=value):
            return value
        case Empirical():
            return value.mean()
        case _:
            return value


def is_drawn(value: Distribution | None) -> bool:
    """Whether one draw can differ from another."""
    match value:
        case Uniform(low, high):
            return low < high
        case Exponential(mean=mean, least=low):
            return mean > low
        case Empirical(values, weights):
            return len({x for x, w in zip(values, weights, strict=True) if w > 0.0}) > 1
        case _:
            return False


@dataclass(frozen=True)
class _Quantity:
    """What is drawn: its dimension, and the values that it may have."""

    dimension: Dimension
    limits: tuple[float, float]

    def parse(self, value: Any) -> float:
        parsed = self.dimension.parse(value)
        low, high = self.limits
        if not low <= parsed <= high:
            raise ValueError(f"accepted: from {self.dimension.write(low)} to {self.dimension.write(high)}")
        return parsed

    def empirical(self, value: Any, base: Path) -> Empirical:
        """Of a file's name, or of rows: a value, or a value and its weight."""
        example = self.dimension.example
        if isinstance(value, str):
            rows = list(_lines(value, base, example))
        elif isinstance(value, (list, tuple)):
            rows = [(f"value {i + 1}", *_row(row, example)) for i, row in enumerate(value)]
        else:
            raise ValueError(
                f'accepted: a file\'s name such as "measured.csv", or a list such as ["{example}"]'
            )
        name = f"{base / value}: " if isinstance(value, str) else ""
        if not 0 < len(rows) <= MOST_VALUES:
            held = "more than 100000 values" if rows else "no value"
            raise ValueError(f"{name}holds {held}; accepted: up to {MOST_VALUES} lines of value[, weight]")
        values, weights = [], []
        for place, text, weight in rows:
            try:
                values.append(self.parse(text))
                weights.append(_weight(weight))
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None
        if not fsum(weights) > 0.0:
            raise ValueError(f"{name}all weights are 0; accepted: at least one above 0")
        return Empirical(tuple(values), tuple(weights))

    def write_empirical(self, value: Empirical) -> dict[str, Any]:
        """With the values themselves, so that what was run needs no other file."""
        write = self.dimension.write
        rows: list[Any] = [
            write(x) if w == 1.0 else [write(x), w] for x, w in zip(value.values, value.weights, strict=True)
        ]
        return {"empirical": rows}


def _lines(file: str, base: Path, example: str) -> Iterator[tuple[str, str, str]]:
    """Place, value and weight of each line of a file; empty ones, and what follows a #, are left out."""
    path = base / file
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ValueError(
            f"{path}: {reason}; accepted: a file with lines of value[, weight], relative to the scenario's"
        ) from None
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.partition("#")[0].split(",")]
        if cells == [""]:
            continue
        place = f"{path}, line {number}"
        if len(cells) > 2:
            raise ValueError(
                f'{place}: {len(cells)} columns; accepted: value[, weight] such as "{example}, 3"'
            )
        yield place, cells[0], cells[1] if len(cells) == 2 else "1"


def _row(row: Any, example: str) -> tuple[Any, Any]:
    if isinstance(row, (list, tuple)):
        if len(row) != 2:
            raise ValueError(f'accepted: a value, or a value and its weight such as ["{example}", 3]')
        return row[0], row[1]
    return row, 1.0


def _weight(value: Any) -> float:
    told = f"{shown(value)} is no weight; accepted: a number from 0 to {GREATEST_WEIGHT:g}"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(told)
    amount, unit = split(value) or (None, "")
    weight = to_float(amount) if amount is not None and not unit else value
    if isinstance(weight, str) or not 0.0 <= weight <= GREATEST_WEIGHT:
        raise ValueError(told)
    return float(weight)


def _distribution(quantity: _Quantity) -> PlainValidator:
    accepted = (
        'accepted: a time such as "42 ms", { uniform = ["0 s", "40 s"] }, { exponential = "40 ms" } or '
        '{ empirical = "file.csv" }'
    )

    def check(value: Any, info: ValidationInfo) -> Distribution:
        if isinstance(value, (Uniform, Exponential, Empirical)):
            return value
        if not isinstance(value, Mapping):
            return quantity.parse(value)
        if list(value) == ["uniform"]:
            ends = value["uniform"]
            if not isinstance(ends, (list, tuple)) or len(ends) != 2:
                raise ValueError('accepted: two times such as { uniform = ["0 s", "40 s"] }')
            low, high = map(quantity.parse, ends)
            if low > high:
                raise ValueError(
                    "the first time of uniform is above the second one; accepted: the lesser first"
                )
            return Uniform(low, high)
        if list(value) == ["exponential"]:
            return Exponential(quantity.parse(value["exponential"]))
        if set(value) == {"exponential", "least"}:
            mean, low = quantity.parse(value["exponential"]), quantity.parse(value["least"])
            if low > mean:
                raise ValueError("least lies above the mean; accepted: the lesser time as least")
            return Exponential(mean, low)
        if list(value) == ["empirical"]:
            return quantity.empirical(value["empirical"], base_of(info))
        raise ValueError(accepted)

    return PlainValidator(check)


def base_of(info: ValidationInfo) -> Path:
    """The folder that files named in a scenario are relative to."""
    base: Path = (info.context or {}).get("base", Path())
    return base


def _writer(quantity: _Quantity) -> Callable[[Distribution], Any]:
    def write(value: Distribution) -> Any:
        match value:
            case Uniform(low, high):
                return {"uniform": [quantity.dimension.write(low), quantity.dimension.write(high)]}
            case Exponential(mean, low):
                above = {"least": quantity.dimension.write(low)} if low > 0.0 else {}
                return {"exponential": quantity.dimension.write(mean), **above}
            case Empirical():
                return quantity.write_empirical(value)
            case _:
                return quantity.dimension.write(value)

    return write


_START, _RTT = _Quantity(TIME, TIMES_S), _Quantity(TIME, RTTS_S)
_SIZES = _Quantity(SIZE, TRANSFER_BYTES)

DrawnTime = Annotated[
    Distribution,
    _distribution(_START),
    PlainSerializer(_writer(_START)),
    Accepts('a time such as "5 s", or { uniform = ["0 s", "40 s"] }'),
]
RTT_SUCH_AS = Accepts('a two-way propagation delay such as "42 ms", or { uniform = ["16 ms", "320 ms"] }')
DrawnRtt = Annotated[
    Distribution,
    _distribution(_RTT),
    PlainSerializer(_writer(_RTT)),
    RTT_SUCH_AS,
]


def _sizes(value: Any, info: ValidationInfo) -> Empirical:
    if isinstance(value, Empirical):
        return value
    if not isinstance(value, Mapping) or list(value) != ["empirical"]:
        raise ValueError('accepted: { empirical = "sizes.csv" }, with lines of size[, weight]')
    return _SIZES.empirical(value["empirical"], base_of(info))


MeasuredSizes = Annotated[
    Empirical,
    PlainValidator(_sizes),
    PlainSerializer(_SIZES.write_empirical),
    Accepts('{ empirical = "sizes.csv" }'),
]
