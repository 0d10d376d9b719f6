"""Random paths: values of a scenario's keys that are drawn for each episode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.units import split, to_float
from longfat.words import shown

Paths = Mapping[str, Mapping[str, Sequence[Any]]]

KINDS = ("uniform", "log_uniform", "choice")
WHOLE = ("packets",)
"""Units whose numbers are whole."""
ACCEPTED = (
    'accepted: { "uniform": ["1 Mbit/s", "6 Mbit/s"] }, { "log_uniform": [...] }, or { "choice": [...] }'
)

AURORA_PATHS: Paths = {
    "bottleneck.rate": {"uniform": ["1.2 Mbit/s", "6 Mbit/s"]},
    "flow.0.rtt": {"uniform": ["100 ms", "1000 ms"]},
    "bottleneck.buffer": {"log_uniform": ["2 packets", "2981 packets"]},
    "bottleneck.loss": {"uniform": [0.0, 0.05]},
}
"""The paths on which Aurora is trained, for a dumbbell whose first flow is the agent's.

From PCC-RL's `src/gym/network_sim.py`: 100 to 500 packets of 1500 bytes per second, a latency of 50 to 500 ms
each way, a queue of 1 + e^x packets with x from 0 to 8, and up to 5 % of losses.
"""


class Drawing:
    """Draws the values of keys for one episode after another."""

    def __init__(self, paths: Paths) -> None:
        if not isinstance(paths, Mapping):
            raise InputError(
                f"paths = {shown(paths)}: these are no paths; "
                "accepted: keys of the scenario, each with its values"
            )
        self._keys = {key: _range(key, drawn) for key, drawn in paths.items()}

    def scenario(self, base: Scenario, random: np.random.Generator) -> Scenario:
        """Returns a scenario with values and a seed of its own."""
        values = {key: drawn(random) for key, drawn in self._keys.items()}
        return base.with_values({**values, "seed": int(random.integers(2**31))})


def _range(key: str, drawn: Any) -> Any:
    """Returns what draws a value of this key."""
    if not isinstance(drawn, Mapping) or len(drawn) != 1 or next(iter(drawn)) not in KINDS:
        raise InputError(f"paths: {key}: {ACCEPTED}")
    kind, values = next(iter(drawn.items()))
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError(f"paths: {key}: {kind} = {shown(values)}: {ACCEPTED}")
    if kind == "choice":
        return lambda random: values[int(random.integers(len(values)))]
    ends = [_number(value) for value in values]
    if len(ends) != 2 or None in ends:
        raise InputError(f"paths: {key}: {kind} = {shown(list(values))}: {ACCEPTED}")
    (low, unit), (high, other) = ends  # type: ignore[misc]
    least = 0.0 if kind == "log_uniform" else -math.inf
    if unit != other or not least < low <= high < math.inf:
        told = "two numbers with the same unit, the lesser one first, above 0 for log_uniform"
        raise InputError(
            f"paths: {key}: {kind} = {shown(list(values))}: these are no limits; accepted: {told}"
        )

    def draw(random: np.random.Generator) -> float | str:
        if kind == "log_uniform":
            drawn = math.exp(random.uniform(math.log(low), math.log(high)))
        else:
            drawn = float(random.uniform(low, high))
        number = round(drawn) if unit in WHOLE else drawn
        return f"{number} {unit}" if unit else drawn

    return draw


def _number(value: Any) -> tuple[float, str] | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return to_float(value), ""
    found = split(value)
    return None if found is None else (to_float(found[0]), found[1])
