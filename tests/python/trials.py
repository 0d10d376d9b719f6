"""Two scenarios whose results have to agree, and what of their results is compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from longfat import units
from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.scenario.model import Scenario

Table = dict[str, Any]
Runner = Callable[[Scenario], Result]
Columns = dict[str, np.ndarray]

OF_SAMPLES = frozenset({"srtt_mean_s"})
"""A mean over samples (docs/reference/results.md): it changes with their times."""


class View(NamedTuple):
    """What is compared of a result: its parts by kind and name, without what depends on the machine."""

    summary: dict[tuple[str, str], Table]
    series: dict[tuple[str, str], Columns]
    transfers: dict[str, Columns]
    events: list[tuple[float, str, str, float]]

    @classmethod
    def of(cls, result: Result) -> View:
        """Takes a result apart."""
        core = result._output["summary"]
        summary = {
            (kind, entry["name"]): entry for kind in ("flows", "links", "background") for entry in core[kind]
        }
        series = {
            (kind, name): {key: np.frombuffer(data) for key, data in columns.items()}
            for kind in ("flows", "links")
            for name, columns in result._output[kind].items()
        }
        columns = {key: np.frombuffer(data) for key, data in result._output["transfers"].items()}
        group = columns.pop("group", np.empty(0))
        transfers = {
            entry["name"]: {key: values[group == i] for key, values in columns.items()}
            for i, entry in enumerate(core["background"])
        }
        events = [tuple(event.values()) for event in result.events.to_pylist()]
        return cls(summary, series, transfers, events)


Compare = Callable[[View, View], str | None]


class Trial(NamedTuple):
    """Two scenarios whose results have to agree."""

    one: Table
    other: Table
    compare: Compare
    run: Runner = simulate.run
    """How the second one runs."""


def finding(trial: Trial) -> str | None:
    """Runs a trial; returns in what its results differ, None if in nothing.

    Raises:
        InputError: one of the scenarios is refused.
    """
    one, other = Scenario.from_dict(trial.one), Scenario.from_dict(trial.other)
    return trial.compare(View.of(simulate.run(one)), View.of(trial.run(other)))


# Comparisons


def equal(one: View, other: View) -> str | None:
    """Everything that both have has the same value; the second may have more flows, links and backgrounds."""
    return first_difference(one, other, frozenset())


def equal_but_samples(one: View, other: View) -> str | None:
    """As `equal`, with series compared at the times that both were sampled at."""
    logged = one.events and other.events
    whole = [view._replace(series={}, events=view.events if logged else []) for view in (one, other)]
    if (found := first_difference(*whole, OF_SAMPLES)) is not None:
        return found
    for part, columns in one.series.items():
        theirs = other.series[part]
        _, here, there = np.intersect1d(columns["time_s"], theirs["time_s"], return_indices=True)
        both = (
            {key: values[at] for key, values in table.items()}
            for table, at in ((columns, here), (theirs, there))
        )
        if (found := column_difference(part, *both)) is not None:
            return found
    return None


def equal_until(end_s: float) -> Compare:
    """Samples, events and transfers before a time are the same."""

    def compare(one: View, other: View) -> str | None:
        short, long = (_before(view, end_s) for view in (one, other))
        without = frozenset(key for entry in short.summary.values() for key in entry)
        return first_difference(short, long, without)

    return compare


def _before(view: View, end_s: float) -> View:
    def cut(columns: Columns, times: np.ndarray) -> Columns:
        return {key: values[times < end_s] for key, values in columns.items()}

    series = {part: cut(columns, columns["time_s"]) for part, columns in view.series.items()}
    transfers = {
        name: cut(columns, columns["start_s"] + columns["duration_s"])
        for name, columns in view.transfers.items()
    }
    return View(view.summary, series, transfers, [event for event in view.events if event[0] < end_s])


def first_difference(one: View, other: View, without: frozenset[str]) -> str | None:
    """Says what differs first of all that the first one has, but these keys of the summary."""
    for part, columns in one.series.items():
        if (found := column_difference(part, columns, other.series[part])) is not None:
            return found
    for part, entry in one.summary.items():
        theirs = other.summary[part]
        for key, value in entry.items():
            if key not in without and value != theirs.get(key):
                return f"{' '.join(part)}: {key}: {value!r} and {theirs.get(key)!r}"
    for name, columns in one.transfers.items():
        if (found := column_difference(("transfers", name), columns, other.transfers[name])) is not None:
            return found
    names = {name for kind, name in one.summary if kind == "flows"}
    theirs_too = [event for event in other.events if event[1] in names]
    return _first_event(one.events, theirs_too) if one.events != theirs_too else None


def column_difference(part: tuple[str, str], one: Columns, other: Columns) -> str | None:
    """Says where columns differ first in time."""
    earliest: tuple[float, str] | None = None
    times = one.get("time_s", one.get("start_s", np.empty(0)))
    for key, values in one.items():
        theirs = other[key]
        if len(values) != len(theirs):
            return f"{' '.join(part)}: {len(values)} and {len(theirs)} values"
        unlike = np.flatnonzero(~((values == theirs) | (np.isnan(values) & np.isnan(theirs))))
        if len(unlike) and (earliest is None or times[unlike[0]] < earliest[0]):
            at = unlike[0]
            text = f"{key} at {times[at]:.9g} s: {float(values[at])!r} and {float(theirs[at])!r}"
            earliest = float(times[at]), f"{' '.join(part)}: {text}"
    return None if earliest is None else earliest[1]


def _first_event(one: list[Any], other: list[Any]) -> str:
    for a, b in zip(one, other, strict=False):
        if a != b and not (a[:3] == b[:3] and math.isnan(a[3]) and math.isnan(b[3])):
            return f"events: {a} and {b}"
    return f"events: {len(one)} and {len(other)}"


def seconds(text: str) -> float:
    """The seconds of a time such as "10 ms"."""
    return units.TIME.parse(text)
