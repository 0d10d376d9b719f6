"""Summaries of many flows by group: those of one `[[flow]]`, or of equal algorithm, parameters and path."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from longfat.numbers import finite
from longfat.runs import metrics
from longfat.runs.repeats import aggregate

if TYPE_CHECKING:
    from longfat.scenario.model import Part, Scenario

MOST_FLOWS = 20
"""Flows with a row each; more are shown by group."""


def grouped(whole: Mapping[str, Any], scenario: Scenario | None) -> Mapping[str, Any] | None:
    """Returns a summary whose `flows` are groups; None if there are few flows, or no two belong together.

    Args:
        whole: the summary of a run or of repeats.
        scenario: that of the run, which says what flows belong together; by algorithm if None.
    """
    runs = whole.get("runs", [whole])
    flows = runs[0]["flows"]
    if len(flows) <= MOST_FLOWS:
        return None
    places: dict[Hashable, list[int]] = {}
    for place, key in enumerate(_keys(flows, scenario)):
        places.setdefault(key, []).append(place)
    if len(places) == len(flows) or any(len(run["flows"]) != len(flows) for run in runs):
        return None
    found = [{**run, "flows": [_group(run["flows"], members) for members in places.values()]} for run in runs]
    return aggregate(found) if "runs" in whole else found[0]


def _keys(flows: Sequence[Mapping[str, Any]], scenario: Scenario | None) -> list[Hashable]:
    """What the flows of a group have in common, for each flow."""
    algorithms: list[Hashable] = [flow.get("algorithm") for flow in flows]
    if scenario is None:
        return algorithms
    entries = [
        number if entry.count > 1 else _alike(entry)
        for number, entry in enumerate(scenario.flow)
        for _ in range(int(entry.count))
    ]
    if len(entries) != len(flows):
        return algorithms  # not the scenario of this summary
    return list(zip(algorithms, entries, strict=True))


def _alike(entry: Part) -> Hashable:
    """What single flows of a group have in common besides their algorithm's name."""
    algorithm = entry.algorithm
    parameters = sorted((algorithm.settings or algorithm.parameters).items())
    return entry.origin, entry.to, entry.direction, repr(entry.rtt), repr(parameters)


def _group(flows: Sequence[Mapping[str, Any]], places: Sequence[int]) -> dict[str, Any]:
    """The row of a group; ratios are those of all its packets together."""
    members = [flows[place] for place in places]
    rates = _values(members, "throughput_bps")
    sent, lost, timeouts = (
        _total(_values(members, key)) for key in ("packets_sent", "packets_lost", "timeouts")
    )
    row: dict[str, Any] = finite(
        {
            "name": _name([member["name"] for member in members], places),
            "algorithm": members[0].get("algorithm"),
            "flows": len(members),
            "rtt_s": metrics.mean(_values(members, "rtt_s")),
            "throughput_mean_bps": metrics.mean(rates),
            "throughput_least_bps": min(rates, default=None),
            "throughput_greatest_bps": max(rates, default=None),
            "jain": metrics.jain(rates),
            "loss_ratio": math.nan if lost is None or not sent else lost / sent,
            "timeouts": timeouts,
            "srtt_mean_s": metrics.mean(_values(members, "srtt_mean_s")),
            "completion_time_s": metrics.mean(_values(members, "completion_time_s")),
        }
    )
    return row


def _values(members: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    return [value for member in members if isinstance(value := member.get(key), int | float)]


def _total(values: Sequence[float]) -> float | None:
    """The sum; None of nothing."""
    return sum(values) if values else None


def _name(names: Sequence[str], places: Sequence[int]) -> str:
    """The names of a group's flows, shortened."""
    if len(names) == 1:
        return names[0]
    if places[-1] - places[0] == len(places) - 1:
        return f"{names[0]} to {names[-1]}"
    return f"{names[0]}, {names[1]}, ..., {names[-1]}" if len(names) > 3 else ", ".join(names)
