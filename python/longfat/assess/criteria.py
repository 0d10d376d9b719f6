"""The rows of RFC 9743 (BCP 133) and the experiments for them, which `rfc9743.toml` has as data."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from typing import Any, get_args

from longfat import documents
from longfat.assess.model import Criterion, Experiment, Measure, Point, Setting, Topic
from longfat.assess.networks import RTT, Tables, dumbbell, first_rate, merged, work
from longfat.errors import InputError
from longfat.words import Mode

WINDOWED = "Means over the span of results, which leaves the beginning out; then over the points."
"""The estimator of an experiment that has none of its own."""


def _experiment(name: str) -> Experiment:
    given = _TABLES[name]
    if "like" in given:
        given = merged(_TABLES[given["like"]], given)
    points = {mode: list(_points(given, given.get(mode, given.get("points")))) for mode in get_args(Mode)}
    return Experiment(
        name,
        given["title"],
        given["words"],
        tuple(
            Setting(key, value) if isinstance(value, str) else Setting(key, *value)
            for key, value in (_path(given) | given["settings"]).items()
        ),
        given.get("estimator", WINDOWED),
        tuple(map(_measure, given["measures"])),
        points.__getitem__,
        Topic(*_TABLES[name]["topic"]) if "topic" in _TABLES[name] else None,
    )


def _path(given: Tables) -> Tables:
    """The setting of a path whose rate and RTT no point varies."""
    if {"rate", "rates"} & given["settings"].keys():
        return {}
    scenario = given.get("scenario", {})
    return {"path": f"{first_rate(scenario)}, RTT {scenario.get('rtt', RTT)}"}


def _measure(given: str | Tables) -> Measure:
    """Returns a measure by its name, or with changes to the one that has its key."""
    changes = _DATA["measures"][given] if isinstance(given, str) else given
    usual = _DATA["measures"][changes["key"]] if "key" in changes else {"key": given}
    return Measure(**{"key": changes.get("key"), **usual, **changes})


def _points(given: Tables, axes: Any) -> Iterator[Point]:
    for values in itertools.product(*map(_axis, axes if isinstance(axes, list) else [axes])):
        scenario = functools.reduce(merged, (changes for _, changes in values), given.get("scenario", {}))
        at = ", ".join(name for name, _ in values if name)
        yield Point(at, functools.partial(dumbbell, scenario), work(scenario, given.get("busy")))


def _axis(given: Tables | list[str]) -> Iterator[tuple[str, Tables]]:
    """Yields the name of each value with its changes; in a list, the key of the values comes first."""
    if isinstance(given, Mapping):
        yield from given.items()
        return
    key, *values = given
    for text in values:
        changes: Any = int(text.split()[0]) if key.endswith(".count") else text
        for part in reversed(key.split(".")):
            changes = {part: changes}
        yield text, changes


_DATA = documents.toml(resources.files(__package__).joinpath("rfc9743.toml").read_text(encoding="utf-8"))
_TABLES = {
    name: table for row in _DATA["rows"].values() for name, table in row.items() if isinstance(table, dict)
}

SOURCE: str = _DATA["source"]
LIMITS: list[str] = _DATA["limits"]
"""What the method cannot say."""
EXPERIMENTS = {name: _experiment(name) for name in _TABLES}
CRITERIA = tuple(
    Criterion(
        section,
        row["title"],
        row["asks"],
        tuple(EXPERIMENTS[name] for name in row if name in EXPERIMENTS),
        row.get("prompt", ""),
        row.get("why", ""),
    )
    for section, row in _DATA["rows"].items()
)


def select(asked: Sequence[str]) -> tuple[Criterion, ...]:
    """Returns the rows of these sections, all if there are none; "5.1" stands for all that begin with it.

    Raises:
        InputError: there is no such section.
    """
    sections = [part.strip() for text in asked for part in text.split(",")]
    for section in sections:
        if not any(_is_in(row.section, section) for row in CRITERIA):
            known = ", ".join(row.section for row in CRITERIA)
            raise InputError(f"--only {section}: RFC 9743 has no such section; accepted: {known}")
    return tuple(row for row in CRITERIA if not sections or any(_is_in(row.section, s) for s in sections))


def _is_in(section: str, asked: str) -> bool:
    return section == asked or section.startswith(f"{asked}.")
