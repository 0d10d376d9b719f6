"""Values that change in steps, as a scenario file writes them: a list of pairs of time and value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from longfat.units import TIME

MOST_STEPS = 100_000
LATEST_S = 1e6
"""The latest time of a step."""


def read(
    value: Any, name: str, example: tuple[str, str], parse: Callable[[Any], float], *, from_start: bool
) -> list[tuple[float, float]]:
    """Reads pairs of a time in s and a value.

    Args:
        value: what a scenario file has.
        name: what the values are, such as rate.
        example: the values of two steps, as a file writes them.
        parse: reads a value; its ValueError says what would be accepted.
        from_start: whether the first step has to be at the beginning of the run.

    Raises:
        ValueError: with the number of the pair, and what would be accepted.
    """
    first, second = f'["0 s", "{example[0]}"]', f'["10 s", "{example[1]}"]'
    if not isinstance(value, (list, tuple)) or not 1 <= len(value) <= MOST_STEPS:
        raise ValueError(
            f"steps: accepted: a list of 1 to {MOST_STEPS} pairs of time and {name} such as "
            f"[{first}, {second}]"
        )
    steps: list[tuple[float, float]] = []
    for number, pair in enumerate(value, start=1):
        try:
            steps.append(_read_pair(pair, f"a time and a {name} such as {second}", parse))
            if from_start and not steps[1:] and steps[0][0] != 0.0:
                raise ValueError('accepted: "0 s", the beginning of the run')
            if steps[1:] and steps[-1][0] <= steps[-2][0]:
                raise ValueError("accepted: a time after the one before")
        except ValueError as error:
            raise ValueError(f"steps, pair {number}: {error}") from None
    return steps


def _read_pair(pair: Any, accepted: str, parse: Callable[[Any], float]) -> tuple[float, float]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise ValueError(f"accepted: {accepted}")
    return TIME.parse_within(pair[0], (0.0, LATEST_S), "10 s"), parse(pair[1])
