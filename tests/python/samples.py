"""Scenarios that tests start from, what refuses them, and files with a changed bit."""

import copy
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from longfat.scenario.model import Scenario


def table(**changes: Any) -> dict[str, Any]:
    """Two flows over 10 Mbit/s for 10 s; keys replace whole parts."""
    return {
        "duration": "10 s",
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "50 packets"},
        "flow": [
            {"algorithm": "reno", "rtt": "40 ms"},
            {"algorithm": "reno", "rtt": "40 ms", "start": "1 s"},
        ],
    } | changes


def scenario(values: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    """The same as a scenario, with dotted keys changed."""
    return Scenario.from_dict(table(**changes)).with_values(values or {})


BLOCK = re.compile(r"^(.*)\n *--> (.*)\n *\|\n *\d+ \| .*\n *\| *\^+ (accepted: .*)$", re.MULTILINE)


def in_lines(message: str) -> str:
    """The problems of a file in a line each, "file:line:column: key: what; accepted: ..."."""
    return BLOCK.sub(r"\2: \1; \3", message)


def with_key(tables: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """Nested tables with another value for one dotted key, missing tables included."""
    changed = copy.deepcopy(tables)
    *parents, last = (int(part) if part.isdecimal() else part for part in key.split("."))
    here: Any = changed
    for part in parents:
        here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
    here[last] = value
    return changed


def flips(data: bytes, number: int, seed: int = 1) -> Iterator[bytes]:
    """Yields the data with one bit changed, at random positions."""
    positions = np.random.default_rng(seed).integers(0, 8 * len(data), number)
    for position in positions.tolist():
        changed = bytearray(data)
        changed[position // 8] ^= 1 << (position % 8)
        yield bytes(changed)
