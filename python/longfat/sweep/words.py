"""Names the axes of a sweep in words, with the units that figures use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longfat.figure.quantities import in_words
from longfat.units import dimension_of

LISTS = ("flow", "background", "link", "node")


def axis(keys: Sequence[str], drawn: str | None = None) -> str:
    """Names an axis: "RTT" for all flows, "RTT of flow 2" for one, "bottleneck rate".

    Args:
        keys: the keys that vary together.
        drawn: the one whose values are shown; by default the title if they begin with it, or else the flows'.
    """
    flows = [key for key in keys if key.startswith("flow.")]
    chosen = drawn or keys[0]
    if drawn or chosen == "title":
        flows = [key for key in flows if _last(key) == _last(chosen)]
    key = (flows or [chosen])[0]
    if len(flows) > 1 and len({_last(other) for other in flows}) == 1:
        return in_words(key.split(".")[2:])
    first, *rest = key.split(".")
    if first in LISTS and len(rest) > 1 and rest[0].isdecimal():
        if first == "background":
            return f"background {in_words(rest[1:])}"
        return f"{in_words(rest[1:])} of {first} {int(rest[0]) + 1}"
    return in_words(key.split("."))


def unit_of(values: Sequence[Any]) -> tuple[str, float]:
    """The unit that suits the smallest value of an axis, and the factor from SI into it."""
    dimension = dimension_of(values[0])
    if dimension is None or any(dimension_of(value) is not dimension for value in values):
        shared = {value.split(" ", 1)[1] for value in values if isinstance(value, str) and " " in value}
        return (shared.pop() if len(shared) == 1 else ""), 1.0
    amounts = [dimension.parse(value) for value in values]
    least = min((amount for amount in amounts if amount > 0.0), default=0.0)
    unit = dimension.write(least).split(" ", 1)[1]
    return unit, 1 / dimension.parse(f"1 {unit}")


def value(step: Any) -> str:
    """A value as the file writes it, a table by its name; an empty text with its quotes."""
    if isinstance(step, Mapping):
        inner = "; ".join(f"{key} = {value(item)}" for key, item in step.items() if key != "name")
        return f"{step['name']} ({inner})" if inner and "name" in step else str(step.get("name", inner))
    if isinstance(step, list):
        return ", ".join(map(value, step))
    if isinstance(step, bool):
        return str(step).lower()
    if isinstance(step, int):
        return str(step)
    return f"{step:.10g}" if isinstance(step, float) else step or '""'


def _last(key: str) -> str:
    """What a key says of its part: "rtt" of "flow.0.rtt" and of "background.1.rtt"."""
    first, _, rest = key.partition(".")
    return rest.partition(".")[2] if first in LISTS else rest
