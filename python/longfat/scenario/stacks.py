"""Stacks: named presets of the transport keys, each the two ends of a host of its time.

A stack holds what differs from Longfat's defaults. Every value has the source that says so, and every stack
lists what is unknown about its hosts or has no key. `[[flow]] stack = "NAME"` becomes these keys when a
scenario is read (`scenario.transport`), so nothing behind a scenario knows stacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longfat.words import choice, shown

OLDER_SPELLINGS = {"sack": "loss_detection"}
"""Keys that say the same as a newer key: one that is written out wins over the stack's value of the other."""


@dataclass(frozen=True)
class Setting:
    """One key of a stack.

    Attributes:
        key: a key of a flow.
        value: what a scenario file would say; None where only some algorithms have a value.
        source: where the value comes from.
        algorithms: other values for algorithms by name; None leaves the algorithm's default.
    """

    key: str
    value: Any
    source: str
    algorithms: Mapping[str, Any] = field(default_factory=dict)

    def value_for(self, algorithm: str | None) -> Any:
        """The value for an algorithm of the registry, or for a user's own (None); None if there is none."""
        return self.value if algorithm is None else self.algorithms.get(algorithm, self.value)

    def values_text(self) -> str:
        """Its values as a file writes them, such as '"rack"; tahoe: its own'."""
        texts = [] if self.value is None else [shown(self.value)]
        for value, names in self.other_values():
            told = "its own" if value is None else shown(value)
            texts.append(f"{', '.join(names)}: {told}")
        return "; ".join(texts)

    def other_values(self) -> list[tuple[Any, list[str]]]:
        """The values of particular algorithms, with the names of those that share one."""
        found: list[tuple[Any, list[str]]] = []
        for name, value in self.algorithms.items():
            names = next((names for known, names in found if known == value), None)
            if names is None:
                found.append((value, [name]))
            else:
                names.append(name)
        return found


@dataclass(frozen=True)
class Stack:
    """A preset of the transport keys.

    Attributes:
        name: what scenarios call it.
        title: the name in full.
        era: when such hosts were in use.
        summary: what it is for, in a sentence.
        settings: the keys that differ from the defaults.
        unknown: what is not known of such hosts, and what they do that no key has; a sentence each.
    """

    name: str
    title: str
    era: str
    summary: str
    settings: tuple[Setting, ...] = ()
    unknown: tuple[str, ...] = ()

    def keys_for(self, algorithm: str | None) -> dict[str, Any]:
        """The keys and values that it gives to a flow with this algorithm; None for a user's own."""
        found = {setting.key: setting.value_for(algorithm) for setting in self.settings}
        return {key: value for key, value in found.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """What `longfat stacks --json` prints of it."""
        return {
            "name": self.name,
            "title": self.title,
            "era": self.era,
            "summary": self.summary,
            "keys": [
                {
                    "key": setting.key,
                    "value": setting.value,
                    "source": setting.source,
                    "algorithms": dict(setting.algorithms),
                }
                for setting in self.settings
            ],
            "unknown": list(self.unknown),
        }


RFC = Stack(
    "rfc",
    "Longfat's default",
    "timeless",
    "The hosts that a scenario has without a stack: the RFCs, with a few of Linux's timers.",
)

LINUX = Stack(
    "linux",
    "Linux",
    "since 2024",
    "The running generation of Linux kernels.",
    (
        Setting("initial_window", 10, "RFC 6928"),
        Setting("recovery", "prr", "RFC 6937"),
        Setting("rtt_samples", "last", "Linux"),
        Setting("variant", None, "Linux", {"cubic": "linux"}),
    ),
)

STACKS = (RFC, LINUX)
"""Every stack, in the order in which they are listed."""

NAMES = tuple(stack.name for stack in STACKS)
PRESET_KEYS = tuple(dict.fromkeys(setting.key for stack in STACKS for setting in stack.settings))
"""The keys that any of the stacks sets."""


def find(name: Any) -> Stack:
    """The stack of this name; ValueError suggests the nearest name."""
    for stack in STACKS:
        if stack.name == name:
            return stack
    raise ValueError(f"stack = {shown(name)}: {choice(name, NAMES)}")
