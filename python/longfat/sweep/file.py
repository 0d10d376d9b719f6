"""A sweep file: a base scenario, its axes, what varies together, and which points to leave out.

    base = "two-flows.toml"        # or a table [base] that holds a scenario
    repeats = 5                    # seeds seed, seed + 1, ...
    keep = "summary"               # or "series"
    where = "bottleneck_rate * flow_0_rtt < 1e8 and flow_0_algorithm != 'fast'"
    [axes]
    "bottleneck.rate" = ["10 Mbit/s", "100 Mbit/s"]
    "flow.0.rtt" = { from = "10 ms", to = "160 ms", points = 5, spacing = "log" }
    [[zip]]                        # axes that vary together: as many values each
    "flow.0.algorithm" = ["reno", "hstcp"]
    "flow.1.algorithm" = ["reno", "hstcp"]

and [[figure]] tables for its page; see `layout`.

The points are all combinations of the axes in the order of the file. The last axis varies fastest, and
repeats vary faster still.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from longfat import documents
from longfat.errors import InputError, LongfatError
from longfat.numbers import is_finite
from longfat.runs import simulate
from longfat.scenario.model import SEEDS, Scenario
from longfat.study.grid import Axis
from longfat.sweep import layout, tables
from longfat.sweep.grid import Keep, Sweep
from longfat.sweep.reduction import reduce_run
from longfat.sweep.where import Filter
from longfat.units import dimension_of, split
from longfat.words import choice, shown, suggestion

KEYS = ("base", "title", "repeats", "keep", "where", "axes", "zip", "figure")
KEEPS = get_args(Keep)
SPACINGS = ("linear", "log")
RANGE_KEYS = ("from", "to", "points", "spacing")
SUMMARY_ABOVE = 1000
"""Larger sweeps keep no samples unless the file asks for them."""
MOST_REPEATS = 10_000
MOST_POINTS_OF_AXIS = 100_000
MOST_RUNS = 10_000_000
TRIED_S = 0.01
"""Length of the run that shows which columns there will be."""


def load(path: Path | str) -> Sweep:
    """Reads a sweep file.

    Raises:
        InputError: one line with the file, the key and what is accepted.
    """
    try:
        data = documents.toml(documents.text(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"{path}: {reason}; accepted: a sweep file (TOML)") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: this is not TOML: {error}; accepted: a sweep file (TOML)") from None
    return from_dict(data, source=str(path), folder=Path(path).parent)


def from_dict(data: Mapping[str, Any], *, source: str = "sweep", folder: Path | None = None) -> Sweep:
    """Makes a sweep from nested tables, as a file holds them; raises InputError as `load` does."""
    folder = folder or Path()
    if "duration" in data and "axes" not in data:
        raise InputError(
            f"{source}: this is a scenario; accepted: a sweep, which names a scenario as its base"
        )
    for key in data:
        if key not in KEYS:
            raise InputError(
                f"{source}: {key}: there is no such key{suggestion(key, list(KEYS))}; "
                f"accepted: {', '.join(KEYS)}"
            )
    document, base_folder = _base(data.get("base"), source, folder)
    axes = _axes(data, source)
    keys = [key for axis in axes for key in axis.keys]
    where = Filter(data.get("where", ""), keys, source)
    repeats = data.get("repeats", 1)
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        raise InputError(
            f"{source}: repeats = {repeats}: this is no number of repeats; "
            f"accepted: a whole number from 1 to {MOST_REPEATS}"
        )
    if repeats != 1 and "seed" in keys:
        raise InputError(f"{source}: repeats and an axis of seeds exclude each other; accepted: one of them")
    seed = document.get("seed", 1)
    if isinstance(seed, int) and seed <= SEEDS[1] < seed + repeats - 1:
        raise InputError(
            f"{source}: repeats = {repeats}: the base has the seed {seed}; accepted: seeds to {SEEDS[1]}"
        )
    title = data.get("title", document.get("title", ""))
    if not isinstance(title, str):
        raise InputError(f"{source}: title: this is not a string; accepted: a string")
    most = math.prod(axis.size for axis in axes) * repeats
    if most > MOST_RUNS:
        raise InputError(f"{source}: there are {most} runs; accepted: up to {MOST_RUNS}")
    keep = data.get("keep", "summary" if most > SUMMARY_ABOVE else "series")
    if keep not in KEEPS:
        raise InputError(f"{source}: keep = {shown(keep)}: {choice(keep, KEEPS)}")
    figures = layout.read(data.get("figure", []), axes, source)
    sweep = Sweep(source, title, document, base_folder, axes, repeats, keep, where, figures)
    scenario = _first_scenario(sweep)
    if scenario is not None:
        _check_columns(sweep, scenario)
    return sweep


def _check_columns(sweep: Sweep, scenario: Scenario) -> None:
    """Raises InputError if a figure asks for a column that a very short run does not give."""
    parts = {part for asked in sweep.figures for part in asked.parts} - tables.COLUMNS_OF_RUNS
    if not parts or parts <= tables.usual_columns(scenario):
        return
    known = _columns(scenario)
    for number, asked in enumerate(sweep.figures):
        for part in asked.parts:
            if known and part not in known:
                key = "y" if asked.kind == "lines" else "colour"
                raise InputError(
                    f'{sweep.source}: figure.{number}.{key}: there is no column "{part}"'
                    f"{suggestion(part, known)}; accepted: {', '.join(known)}, or one / another"
                )


def _columns(scenario: Scenario) -> list[str]:
    try:
        short = scenario.lasting(min(scenario.duration, TRIED_S))
        return tables.columns(reduce_run(simulate.run(short)))
    except LongfatError:
        return []  # the first run will report it


def _base(value: Any, source: str, folder: Path) -> tuple[dict[str, Any], Path]:
    if isinstance(value, dict):
        return value, folder
    if not isinstance(value, str) or not value:
        raise InputError(
            f"{source}: base: this is not a string; accepted: the path of a scenario file, such as base = "
            f'"two-flows.toml", or a table'
        )
    path = folder / value
    try:
        return documents.toml(documents.text(path)), path.parent
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise InputError(f"{source}: base = {path}: {reason}; accepted: a scenario file (TOML)") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: this is not TOML: {error}; accepted: a scenario file (TOML)") from None


def _axes(data: Mapping[str, Any], source: str) -> tuple[Axis, ...]:
    tables, zipped = data.get("axes", {}), data.get("zip", [])
    if not isinstance(tables, dict):
        raise InputError(f"{source}: axes: this is not a table; accepted: a table, [axes]")
    if not isinstance(zipped, list) or not all(isinstance(table, dict) for table in zipped):
        raise InputError(f"{source}: zip: this is not a list of tables; accepted: a list of tables, [[zip]]")
    axes = []
    at = f"{source}: axes"
    for key, value in _dotted(tables):
        values = _values(key, value, at)
        if repeated := _repeated(values):
            raise InputError(f"{at}.{key}: {repeated[0]} appears twice; accepted: each value once")
        axes.append(Axis((key,), tuple(zip(values))))
    for i, table in enumerate(zipped):
        at = f"{source}: zip.{i}"
        columns = {key: _values(key, value, at) for key, value in _dotted(table)}
        if not columns:
            raise InputError(f"{at}: there is no axis; accepted: keys that have equally many values")
        if len(set(map(len, columns.values()))) > 1:
            told = ", ".join(f"{key} has {len(values)}" for key, values in columns.items())
            raise InputError(f"{at}: {told}; accepted: equally many values for each key")
        steps = tuple(zip(*columns.values(), strict=True))
        if _repeated(steps):
            raise InputError(f"{at}: the same values are there twice; accepted: each combination once")
        axes.append(Axis(tuple(columns), steps))
    if not axes:
        raise InputError(
            f"{source}: there are no axes; "
            'accepted: [axes] with keys such as "bottleneck.rate" = ["10 Mbit/s"]'
        )
    # in this order, a key stands right before those within it
    dotted = sorted(f"{key}." for axis in axes for key in axis.keys)
    for other, key in itertools.pairwise(dotted):
        if key == other:
            raise InputError(f"{source}: {key[:-1]} is an axis twice; accepted: each key once")
        if key.startswith(other):
            raise InputError(
                f"{source}: {key[:-1]} lies within the axis {other[:-1]}; accepted: axes that do not overlap"
            )
    return tuple(axes)


def _dotted(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields dotted keys and values, whether keys were quoted or tables nested."""
    for key, value in table.items():
        if isinstance(value, dict) and not (value.keys() & set(RANGE_KEYS)):
            yield from _dotted(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _repeated(values: Sequence[Any]) -> list[Any]:
    """Returns the values that are there more than once."""
    if len(set(map(repr, values))) == len(values):
        return []
    times = Counter(map(repr, values))
    return [value for value in values if times[repr(value)] > 1]


def _values(key: str, value: Any, at: str) -> list[Any]:
    if isinstance(value, dict):
        value = _range(value, f"{at}.{key}")
    if not isinstance(value, list):
        raise InputError(
            f"{at}.{key}: this is not a list; accepted: a list of values, or {{ from, to, points, spacing }}"
        )
    if not value:
        raise InputError(f"{at}.{key}: there is no value; accepted: at least one")
    for item in value:
        if not is_finite(item):
            raise InputError(f"{at}.{key}: {shown(item)}: it is not finite; accepted: finite numbers")
    return value


def _range(table: Mapping[str, Any], at: str) -> list[Any]:
    """Returns evenly spaced values, linear or logarithmic, in the unit of the first."""
    for key in table:
        if key not in RANGE_KEYS:
            known = ", ".join(RANGE_KEYS)
            raise InputError(
                f"{at}.{key}: there is no such key{suggestion(key, RANGE_KEYS)}; accepted: {known}"
            )
    points, spacing = table.get("points"), table.get("spacing", "linear")
    if points is None:
        raise InputError(f"{at}.points is missing; accepted: a whole number from 2 to {MOST_POINTS_OF_AXIS}")
    if not isinstance(points, int) or isinstance(points, bool) or not 2 <= points <= MOST_POINTS_OF_AXIS:
        raise InputError(
            f"{at}.points = {points}: this is no number of points; "
            f"accepted: a whole number from 2 to {MOST_POINTS_OF_AXIS}"
        )
    if spacing not in SPACINGS:
        raise InputError(f"{at}.spacing = {shown(spacing)}: {choice(spacing, SPACINGS)}")
    (low, write), (high, _) = (_amount(table.get(key), f"{at}.{key}") for key in ("from", "to"))
    if type(table["from"]) is not type(table["to"]) and isinstance(table["from"], str) != isinstance(
        table["to"], str
    ):
        raise InputError(f"{at}: from and to differ in kind; accepted: both with a unit, or both without")
    if dimension_of(table["from"]) is not dimension_of(table["to"]):
        raise InputError(f"{at}: from and to differ in kind; accepted: the same kind of quantity")
    if spacing == "log" and not (low > 0.0 and high > 0.0):
        raise InputError(f"{at}: {low:g} to {high:g}: the spacing is logarithmic; accepted: values above 0")
    last = points - 1
    if spacing == "log":
        amounts = [low * (high / low) ** (i / last) for i in range(points)]
    else:  # in this order of operations whole numbers stay whole
        amounts = [(low * (last - i) + high * i) / last for i in range(points)]
    amounts[0], amounts[-1] = low, high
    return [write(amount) for amount in amounts]


def _amount(value: Any, at: str) -> tuple[float, Any]:
    """Returns the number in a value, and a function that writes others in the same unit."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        whole = isinstance(value, int)
        return float(value), (lambda x: int(x) if whole and x == int(x) else x)
    dimension = dimension_of(value)
    if dimension is not None:
        return dimension.parse(value), lambda x: dimension.write(float(f"{x:.12g}"))
    amount, unit = split(value) or (None, "")
    if amount is None:
        raise InputError(
            f'{at} = {value}: this is not a number; accepted: a number, or one with a unit such as "42 ms"'
        )
    return float(amount), lambda x: f"{x:.12g} {unit}"


def _first_scenario(sweep: Sweep) -> Scenario | None:
    """Returns the scenario of the first point, which checks that every axis names a key of the scenario.

    It is None where another problem refuses it: the first run will report that.
    """
    first = next(sweep.combinations(), None)
    if first is None:
        raise InputError(
            f"{sweep.source}: where excludes every run; accepted: a condition that some run meets"
        )
    try:
        return sweep.scenario(first)
    except InputError as error:
        for line in error.lines():
            if any(words in line for words in ("there is no such key", " is not a table", ": there is no ")):
                raise InputError(
                    f"{sweep.source}: an axis does not name a key of the scenario: {line}"
                ) from None
        return None
