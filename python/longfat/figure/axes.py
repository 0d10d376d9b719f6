"""The axes of a figure: their names, units, limits, and the places of values along them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longfat.errors import InputError
from longfat.figure import quantities, scales
from longfat.figure.request import COUNTER, RATE, Checked, Limits
from longfat.figure.tables import Source
from longfat.units import dimension_of, in_si, split

Array = NDArray[np.float64]

MOST_GROUPS = 60
"""Groups, panels or categories of a figure that someone asks for; more could not be read."""


@dataclass(frozen=True)
class Axis:
    """One axis: its name, its unit and the factor into it, and the places of its values if they are steps."""

    name: str
    unit: str = ""
    factor: float = 1.0
    places: Mapping[Any, float] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    log: bool = False

    @property
    def label(self) -> str:
        """The name with the unit."""
        return quantities.labelled(self.name, self.unit)


def axes_of(
    asked: Checked, source: Source, x: Iterable[Any], along: Array, measured: Axis, most: int | None
) -> tuple[Axis, Axis]:
    """The axis along the figure and the one up.

    Args:
        asked: what the figure shows.
        source: the results.
        x: the values that have places along the axis.
        along: the values along the axis of a scatter.
        measured: the axis of what is measured.
        most: how many categories the axis along the figure may have; any number if None.
    """
    if asked.kind == "cdf":
        return measured, Axis("share of the values")
    if asked.kind == "timeline":
        return Axis("time", "s"), measured
    if asked.kind == "scatter":
        return _in_ms(Axis(*_worded(asked.x, source)), along), measured
    return _along(asked, source, x, most), Axis(named(asked.by, source)) if asked.kind == "heat" else measured


def _along(asked: Checked, source: Source, x: Iterable[Any], most: int | None) -> Axis:
    """The axis of x with the place of each value: numbers where lines have some, else categories."""
    steps = ordered(asked.x, x, source)
    axis = Axis(*_worded(asked.x, source))
    numeric = all(isinstance(step, int | float) and not isinstance(step, bool) for step in steps)
    if asked.kind == "lines" and numeric:
        axis = _in_ms(axis, np.array(steps, dtype=float))
        places = {step: axis.factor * float(step) for step in steps}
        return replace(axis, places=places, log=scales.is_log(list(places.values())))
    refuse_many(steps, axis.name, most)
    write = writer(asked.x, source)
    places = {step: float(place) for place, step in enumerate(steps)}
    # titles say what they are themselves
    name = "" if asked.x == "title" else axis.name
    return Axis(name, "", 1.0, places, tuple(short(write(step)) for step in steps))


def measured_axis(asked: Checked, source: Source, values: Array) -> Axis:
    """The axis of what is measured."""
    return _in_ms(Axis(*_quantity(asked, source)), values)


def _in_ms(axis: Axis, values: Array) -> Axis:
    """The axis in ms if all of its values are times below a second."""
    return replace(axis, unit="ms", factor=1e3) if axis.unit == "s" and np.abs(values).max() < 1.0 else axis


def limits_in_unit(option: str, given: Limits | None, axis: Axis, log: bool) -> tuple[float, float] | None:
    """The ends of an axis in its unit."""
    if given is None:
        return None
    found = []
    for end in given:
        dimension = dimension_of(f"1 {axis.unit}")
        value: Any = end
        if isinstance(end, str):
            try:
                value = dimension.parse(end, f"1 {axis.unit}") if dimension else in_si(end)
            except ValueError as error:
                raise InputError(f"{option} {end}: {error}") from None
            if not isinstance(value, float) or (not dimension and _unit(end) not in ("", axis.unit)):
                what = f"a number of {axis.unit}" if axis.unit else "a number without a unit"
                raise InputError(f"{option} {end}: this is no end of {axis.label}; accepted: {what}")
        found.append(axis.factor * value)
    low, high = found
    if not low < high or (log and low <= 0.0) or not (math.isfinite(low) and math.isfinite(high)):
        above = " above 0, since the axis is logarithmic" if log else ""
        wanted = f"accepted: the lower end, then the higher one{above}"
        raise InputError(f"{option} {given[0]} {given[1]}: these are no ends; {wanted}")
    return low, high


def _unit(text: str) -> str:
    found = split(text)
    return found[1] if found else ""


def ordered(column: str, values: Iterable[Any], source: Source) -> list[Any]:
    """The values of a column that occur: in the order of the settings, or else sorted."""
    there = {value for value in values if value is not None}
    # a flow's own algorithm has the order of the axis of algorithms
    alike = (key for key in source.settings if key.rpartition(".")[2] == column)
    known = [
        value
        for value in source.settings.get(column if column in source.settings else next(alike, ""), ())
        if value in there
    ]
    others = there.difference(known)
    return [*known, *sorted(others, key=lambda value: (isinstance(value, str), value))]


def writer(column: str, source: Source) -> Callable[[Any], str]:
    """Returns what writes the values of a column."""
    write = source.written.get(column)
    if write is not None:
        return write
    _, unit, factor = _worded(column, source)

    def written(value: Any) -> str:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return str(value)
        return f"{factor * value:.6g} {unit}".strip()

    return written


def titled(column: str, source: Source) -> Callable[[Any], str]:
    """Returns what writes the values of a column where its name is not near: bare numbers follow it."""
    write, name = writer(column, source), named(column, source)

    def written(value: Any) -> str:
        text = short(write(value))
        return f"{name} {text}" if is_bare(text) else text

    return written


def is_bare(text: str) -> bool:
    """Whether a text is a number without a unit."""
    return text.replace(".", "", 1).isdigit()


def _worded(column: str, source: Source) -> tuple[str, str, float]:
    """A column in words, its unit, and the factor into it."""
    if column in source.names:
        _, unit, factor = quantities.column(column)
        if column in source.written:
            unit, factor = source.units.get(column, ("", 1.0))
        return source.names[column], unit, factor
    return quantities.column(column)


def named(column: str, source: Source) -> str:
    """A column in words; none where there is no column."""
    return _worded(column, source)[0] if column else ""


def _quantity(asked: Checked, source: Source) -> tuple[str, str, float]:
    if asked.asked in source.names:
        _, unit, factor = quantities.column(asked.parts[0])
        return source.names[asked.asked], unit, factor
    return quantities.quotient(
        [RATE if part == COUNTER and asked.asked == RATE else part for part in asked.parts]
    )


def refuse_many(keys: Sequence[Any], what: str, most: int | None) -> None:
    """Raises InputError for more groups than `most`, if it is a number."""
    if most is not None and len(keys) > most:
        raise InputError(
            f"{what}: there are {len(keys)} values; accepted: up to {most} (--where leaves some out)"
        )


def short(text: str) -> str:
    """The name of a scenario file without its folder and ending; other texts as they are."""
    return text.rpartition("/")[2].removesuffix(".toml") if text.endswith(".toml") else text
