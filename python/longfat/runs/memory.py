"""How much memory a run may take, and about how much it takes at most.

The core makes the estimate before the run (`crates/scenario/src/memory.rs`). It is an upper bound of what the
scenario itself asks for; what an algorithm of one's own does with its window is not in it. A run that takes
more than it may ends early.
"""

from __future__ import annotations

import math
from typing import Any

from longfat import _core, system
from longfat.errors import InputError
from longfat.runs import cgroups
from longfat.scenario.model import Scenario
from longfat.units import SIZE
from longfat.words import shown

SHARE = 0.9
"""The share of the machine's free memory that runs may take unless `--memory` says otherwise."""
LEAST_BYTES = 64e6
"""The least memory that runs may be given: they do not start with less."""

PACKET_BYTES = _core.PACKET_BYTES
"""What a packet that waits takes at most."""

_given: float | None = None


def give(memory_bytes: float | None) -> None:
    """Sets how much memory all runs of this process together may take; None for a share of what is free."""
    global _given
    _given = memory_bytes


def is_given() -> bool:
    """Whether `give` has set how much memory runs may take."""
    return _given is not None


def given(workers: int = 1) -> float:
    """Returns how much memory each run may take if `workers` of them run at once, bytes."""
    return (SHARE * free() if _given is None else _given) / workers


def parse(text: str) -> float:
    """Reads a size such as "8GiB"; ValueError says what would be accepted."""
    size = SIZE.parse(text, "8 GiB")
    if not LEAST_BYTES <= size < math.inf:
        raise ValueError(f"it is out of range; accepted: from {SIZE.write(LEAST_BYTES)}")
    return size


def free() -> float:
    """Returns the bytes that this machine, and the control groups of this process, have left."""
    return min(system.memory_bytes()[1], cgroups.free_bytes())


def refuse_large(scenario: Scenario, allowed: float, source: str) -> None:
    """Raises InputError if a run of a scenario may take more than `allowed` bytes.

    Args:
        scenario: what to run.
        allowed: bytes.
        source: names the scenario in the error.
    """
    size, key = estimate(scenario)
    if size > allowed:
        most = scenario.core.largest_within(allowed)
        raise InputError(
            f"{source}: {_with_value(scenario, scenario.core.written_key(key))}: the run may take about "
            f"{_size(size)} of memory, most of it for this, and has {_size(allowed)}; accepted: {most}, or "
            "more memory (--memory)"
        )


def _with_value(scenario: Scenario, key: str) -> str:
    """Returns a key of a scenario, and its value where it has one."""
    here: Any = scenario.to_dict()
    for part in key.split("."):
        if isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        elif isinstance(here, dict) and part in here:
            here = here[part]
        else:
            return key
    return f"{key} = {shown(int(here) if isinstance(here, float) and here.is_integer() else here)}"


def _size(size: float) -> str:
    return SIZE.write(float(f"{size:.2g}"))


def estimate(scenario: Scenario) -> tuple[float, str]:
    """Returns about how much memory a run takes at most, bytes, and the plan's key with most of that."""
    return scenario.core.memory()
