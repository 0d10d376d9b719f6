"""The first screen of a dossier: ten lines that say where the algorithm differs, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass

from longfat.assess.cells import gap_unit
from longfat.assess.estimate import Cell, Results, difference
from longfat.assess.model import Experiment, Measure, Topic
from longfat.study.stats import Estimate, written

LINES = 10
FAILED = 100.0
"""How large a difference counts where the algorithm failed: more than any ratio's logarithm."""


@dataclass(frozen=True)
class Line:
    """A line of the first screen; `size` orders them, the greatest difference first."""

    name: str
    section: str
    text: str
    size: float


def lines(results: Results) -> list[Line]:
    """Returns the lines of the rows that were asked for: up to `LINES`, the greatest difference first."""
    found = [
        _line(results, row.section, experiment, experiment.topic)
        for row in results.asked.criteria
        for experiment in row.experiments
        if experiment.topic is not None
    ]
    return sorted(found, key=lambda line: -line.size)[:LINES]


def _line(results: Results, section: str, experiment: Experiment, topic: Topic) -> Line:
    measure = experiment.measure(topic.measure)

    def cell(label: str) -> Cell:
        points = results.cell(experiment, measure, label).points
        return Cell({at: values for at, values in points.items() if at.endswith(topic.points)}, measure.over)

    label = results.asked.algorithm.label
    own = cell(label)
    failed, of = results.failures(experiment, label)
    if math.isnan(own.estimate.mean):
        said = f"failed in {failed} of {of} runs" if failed else "not measured"
        return Line(topic.name, section, f"{said}: see the section", FAILED if failed else 0.0)
    parts, size = [], FAILED if failed else 0.0
    for other in results.asked.baselines:
        found = cell(other.label)
        gap = difference(own, found)
        parts.append(comparison(gap, measure, other.label, topic.least))
        if is_notable(gap, topic.least):
            size = max(size, _size(own.estimate.mean, found.estimate.mean))
    value = topic.value.format(written(own.estimate.mean, None, measure.unit))
    if failed:
        value = f"failed in {failed} of {of} runs; in the others {value}"
    return Line(topic.name, section, f"{value}; {'; '.join(parts)}", size)


def is_notable(gap: Estimate, least: float = 0.0) -> bool:
    """Whether a difference is one: its interval leaves out zero, and it is not too small for a word."""
    return gap.differs and abs(gap.mean) >= least


def comparison(gap: Estimate, measure: Measure, other: str, least: float = 0.0) -> str:
    """Says in words how the algorithm differs from another one."""
    if math.isnan(gap.mean):
        return f"no number to compare with {other}"
    with_other = f"{measure.than} {other}" if measure.than else other
    unit = gap_unit(measure.unit)
    if not is_notable(gap, least):
        size = f"{'+' if gap.mean > 0.0 else ''}{written(gap.mean, gap.half_width, unit)}"
        return f"{'as' if measure.than else 'like'} {with_other} ({size})"
    by = written(abs(gap.mean), gap.half_width, unit)
    if measure.better == "neither" or measure.than:
        return f"{by} {'more' if gap.mean > 0.0 else 'less'} than {with_other}"
    worse = (gap.mean > 0.0) == (measure.better == "less")
    return f"{'worse' if worse else 'better'} than {other} by {by}"


def _size(own: float, other: float) -> float:
    """How large a difference is: the logarithm of the ratio, bounded where one of them is zero."""
    least = 1e-3 * max(abs(own), abs(other), 1e-12)
    return abs(math.log(max(abs(own), least) / max(abs(other), least)))
