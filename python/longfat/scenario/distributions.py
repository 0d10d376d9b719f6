"""Quantities that are fixed or drawn: how a scenario writes them, and files of measured values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from longfat import documents
from longfat.scenario.fields import RTTS_S, TIMES_S, TRANSFER_BYTES, quantity_schema
from longfat.scenario.form import Form, Schema, any_of, table
from longfat.units import SIZE, TIME, Dimension, split, to_float
from longfat.words import shown

MOST_VALUES = 100_000
"""The most rows of a file of measured values."""
MOST_BYTES = 16_000_000
"""The largest such file; longer lines than these rows need are comments."""
GREATEST_WEIGHT = 1e15


@dataclass(frozen=True)
class Uniform:
    """A value drawn once per flow, uniform in [low, high)."""

    low: float
    high: float


@dataclass(frozen=True)
class Exponential:
    """A value drawn once per flow: `least` plus an exponential part; `mean` is that of the sum."""

    mean: float
    least: float = 0.0


@dataclass(frozen=True)
class Empirical:
    """A value drawn once per flow: one of these, with probabilities in proportion to the weights."""

    values: tuple[float, ...]
    weights: tuple[float, ...]

    def mean(self) -> float:
        """The mean of the draws."""
        total = fsum(self.weights)
        return fsum(x * w for x, w in zip(self.values, self.weights, strict=True)) / total


Distribution = float | Uniform | Exponential | Empirical


def least(value: Distribution) -> float:
    """Returns the least value that can be drawn."""
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
    """Returns the mean of the draws."""
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


class _Quantity(NamedTuple):
    """What is drawn: a dimension, and the limits of its values."""

    dimension: Dimension
    limits: tuple[float, float]
    example: str

    def parse(self, value: Any) -> float:
        return self.dimension.parse_within(value, self.limits, self.example)

    def empirical(self, value: Any, base: Path) -> Empirical:
        """Reads the name of a file, or rows that are a value, or a value and its weight."""
        example = self.example
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
            held = f"more than {MOST_VALUES} values" if rows else "no value"
            raise ValueError(f"{name}holds {held}; accepted: up to {MOST_VALUES} lines of value[, weight]")
        values, weights = [], []
        for where, text, weight in rows:
            try:
                values.append(self.parse(text))
                weights.append(_weight(weight))
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from None
        if not fsum(weights) > 0.0:
            raise ValueError(f"{name}all weights are 0; accepted: at least one above 0")
        return Empirical(tuple(values), tuple(weights))

    def write_empirical(self, value: Empirical) -> dict[str, Any]:
        """Writes the values themselves, so that a stored scenario needs no other file."""
        write = self.dimension.write
        rows: list[Any] = [
            write(x) if w == 1.0 else [write(x), w] for x, w in zip(value.values, value.weights, strict=True)
        ]
        return {"empirical": rows}


def _lines(file: str, base: Path, example: str) -> Iterator[tuple[str, str, str]]:
    """Yields position, value and weight of each line; skips empty lines and whatever follows a #."""
    path = base / file
    try:
        data = documents.bytes_of_file(path, most_bytes=MOST_BYTES)
        lines = documents.measured_lines(data, most_bytes=MOST_BYTES)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(
            f"{path}: {reason}; accepted: a file with lines of value[, weight], relative to the "
            "scenario's folder"
        ) from None
    for number, line in enumerate(lines, start=1):
        cells = [cell.strip() for cell in line.partition("#")[0].split(",")]
        if cells == [""]:
            continue
        where = f"{path}, line {number}"
        if len(cells) > 2:
            raise ValueError(
                f'{where}: {len(cells)} columns; accepted: value[, weight] such as "{example}, 3"'
            )
        yield where, cells[0], cells[1] if len(cells) == 2 else "1"


def _row(row: Any, example: str) -> tuple[Any, Any]:
    if isinstance(row, (list, tuple)):
        if len(row) != 2:
            raise ValueError(f'accepted: a value, or a value and its weight such as ["{example}", 3]')
        return row[0], row[1]
    return row, 1.0


def _weight(value: Any) -> float:
    told = f"{shown(value)} is not a weight; accepted: a number from 0 to {GREATEST_WEIGHT:g}"
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(told)
    amount, unit = split(value) or (None, "")
    weight = to_float(amount) if amount is not None and not unit else value
    if isinstance(weight, str) or not 0.0 <= weight <= GREATEST_WEIGHT:
        raise ValueError(told)
    return float(weight)


_PARTS = {
    "uniform": 'uniform = ["0 s", "40 s"]',
    "exponential": 'exponential = "40 ms"',
    "empirical": 'empirical = "file.csv"',
}
_ACCEPTED = 'accepted: a time such as "42 ms", ' + " or ".join(
    [", ".join(f"{{ {text} }}" for text in list(_PARTS.values())[:-1]), f"{{ {_PARTS['empirical']} }}"]
)


def _read(quantity: _Quantity, value: Any, base: Path) -> Distribution:
    if isinstance(value, (Uniform, Exponential, Empirical)):
        return value
    if not isinstance(value, Mapping):
        return quantity.parse(value)
    if list(value) == ["uniform"]:
        ends = value["uniform"]
        if not isinstance(ends, (list, tuple)) or len(ends) != 2:
            raise ValueError(f"accepted: two times such as {{ {_PARTS['uniform']} }}")
        low, high = map(quantity.parse, ends)
        if low > high:
            raise ValueError("uniform has its first time above the second; accepted: the lesser time first")
        return Uniform(low, high)
    if list(value) == ["exponential"]:
        return Exponential(quantity.parse(value["exponential"]))
    if set(value) == {"exponential", "least"}:
        mean, low = quantity.parse(value["exponential"]), quantity.parse(value["least"])
        if low > mean:
            raise ValueError("least is above the mean; accepted: the lesser time as least")
        return Exponential(mean, low)
    if list(value) == ["empirical"]:
        return quantity.empirical(value["empirical"], base)
    raise ValueError(_ACCEPTED)


def _write(quantity: _Quantity, value: Distribution) -> Any:
    write = quantity.dimension.write
    match value:
        case Uniform(low, high):
            return {"uniform": [write(low), write(high)]}
        case Exponential(mean, low):
            return {"exponential": write(mean), **({"least": write(low)} if low > 0.0 else {})}
        case Empirical():
            return quantity.write_empirical(value)
        case _:
            return write(value)


def _empirical_schema(quantity: _Quantity) -> Schema:
    value = quantity_schema(quantity.dimension)
    weight = {"type": ["number", "string"], "minimum": 0}
    pair = {"type": "array", "prefixItems": [value, weight], "minItems": 2, "maxItems": 2}
    rows = {"type": "array", "items": any_of(value, pair), "minItems": 1, "maxItems": MOST_VALUES}
    file = {"type": "string", "description": "A file with lines of value[, weight], relative to the scenario"}
    return table({"empirical": any_of(file, rows)})


def _schema(quantity: _Quantity) -> Schema:
    value = quantity_schema(quantity.dimension)
    ends = {"type": "array", "items": value, "minItems": 2, "maxItems": 2}
    return any_of(
        value,
        table({"uniform": ends}),
        table({"exponential": value}, {"least": value}),
        _empirical_schema(quantity),
    )


def _distribution(quantity: _Quantity, accepts: str) -> Form:
    return Form(
        accepts,
        lambda value, at: _read(quantity, value, at.base),
        lambda value, _: _write(quantity, value),
        lambda: _schema(quantity),
    )


_START, _RTT = _Quantity(TIME, TIMES_S, "5 s"), _Quantity(TIME, RTTS_S, "42 ms")
_SIZES = _Quantity(SIZE, TRANSFER_BYTES, "10 kB")

RTT_SUCH_AS = 'a two-way propagation delay such as "42 ms", or { uniform = ["16 ms", "320 ms"] }'

DrawnTime = Annotated[
    Distribution, _distribution(_START, 'a time such as "5 s", or { uniform = ["0 s", "40 s"] }')
]
DrawnRtt = Annotated[Distribution, _distribution(_RTT, RTT_SUCH_AS)]


def _sizes(value: Any, base: Path) -> Empirical:
    if isinstance(value, Empirical):
        return value
    if not isinstance(value, Mapping) or list(value) != ["empirical"]:
        raise ValueError(
            'accepted: { empirical = "sizes.csv" }, with lines of size[, weight], '
            'or { empirical = ["10 kB", ["1 MB", 0.1]] }'
        )
    return _SIZES.empirical(value["empirical"], base)


MeasuredSizes = Annotated[
    Empirical,
    Form(
        '{ empirical = "sizes.csv" }',
        lambda value, at: _sizes(value, at.base),
        lambda value, _: _SIZES.write_empirical(value),
        lambda: _empirical_schema(_SIZES),
    ),
]
