"""Stacks: named presets of the transport keys, each the two ends of a host of its time.

The core has them (`crates/scenario/src/stacks.rs`), with the source of every value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict, cast

from longfat import _core
from longfat.words import shown

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario


class Setting(TypedDict):
    """One key of a stack: its value, its source, and other values for algorithms by name."""

    key: str
    value: Any
    source: str
    algorithms: dict[str, Any]


class Stack(TypedDict):
    """A preset of the transport keys; `unknown` is what is not known of such hosts, a sentence each."""

    name: str
    title: str
    era: str
    summary: str
    keys: list[Setting]
    unknown: list[str]


STACKS: list[Stack] = cast("list[Stack]", _core.stacks())
"""Every stack, in the order in which they are listed."""
LINUX = "linux"
"""The stack of hosts with today's Linux."""
NAMES = tuple(stack["name"] for stack in STACKS)
"""The names of all stacks."""
MOST_NAMED = 3
"""The most flows and backgrounds that a line names for each stack."""


def hosts(scenario: Scenario) -> dict[str, str]:
    """Returns what the simulator's hosts are, by flow and background over TCP.

    Such as "linux", or "linux, except initial_window": the stack with the fewest exceptions.
    """
    return {key: _hosts(dict(exceptions)) for key, exceptions in scenario.core.unlike()}


def _hosts(exceptions: dict[str, list[str]]) -> str:
    """The nearest stack; today's Linux, which it stands beside, where several are as near."""
    name = min((LINUX, *exceptions), key=lambda name: len(exceptions[name]))
    return ", except ".join([name, *([", ".join(exceptions[name])] if exceptions[name] else [])])


def in_words(hosts: Mapping[str, str]) -> list[str]:
    """Returns what `hosts` returned as words: "stack linux", or one for each stack with what runs on it."""
    on: dict[str, list[str]] = {}
    for part, name in hosts.items():
        on.setdefault(name, []).append(part)
    if len(on) == 1:
        return [f"stack {name}" for name in on]
    return [f"stack {name} of {_first(parts)}" for name, parts in on.items()]


def _first(parts: list[str]) -> str:
    more = len(parts) - MOST_NAMED
    return ", ".join(parts[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def values_text(setting: Setting) -> str:
    """Returns a setting's values as a file writes them, such as '"rack"; tahoe: its own'."""
    texts = [] if setting["value"] is None else [shown(setting["value"])]
    for value in dict.fromkeys(map(shown, setting["algorithms"].values())):
        names = [name for name, other in setting["algorithms"].items() if shown(other) == value]
        texts.append(f"{', '.join(names)}: {'its own' if value == 'null' else value}")
    return "; ".join(texts)
