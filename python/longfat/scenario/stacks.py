"""Stacks: named presets of the transport keys, each the two ends of a host of its time.

The core has them (`crates/scenario/src/stacks.rs`), with the source of every value.
"""

from __future__ import annotations

from typing import Any, TypedDict, cast

from longfat import _core
from longfat.words import shown


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


def values_text(setting: Setting) -> str:
    """Returns a setting's values as a file writes them, such as '"rack"; tahoe: its own'."""
    texts = [] if setting["value"] is None else [shown(setting["value"])]
    for value in dict.fromkeys(map(shown, setting["algorithms"].values())):
        names = [name for name, other in setting["algorithms"].items() if shown(other) == value]
        texts.append(f"{', '.join(names)}: {'its own' if value == 'null' else value}")
    return "; ".join(texts)
