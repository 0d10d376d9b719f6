"""The first screen of a dossier: ten lines that say where the algorithm differs, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from longfat.assess import behaviour, general, special
from longfat.assess.estimate import Cell, Estimate, Results, difference
from longfat.assess.model import Experiment, Measure
from longfat.report.columns import number

DIGITS, ERROR_DIGITS = 3, 2


@dataclass(frozen=True)
class Topic:
    """What one of the ten lines may be about: a question, and the number that answers it.

    Attributes:
        name: what the line is about.
        section: the row of RFC 9743.
        experiment: where the number is measured.
        measure: its key there.
        value: a template of the number in words, with `{}` for number and unit.
        points: how the names of the points end or begin that count; all if empty.
        least: the smallest difference that is worth a word, in the measure's unit (chosen here).
    """

    name: str
    section: str
    experiment: Experiment
    measure: str
    value: str
    points: tuple[str, ...] = ()
    least: float = 0.0


TOPICS = (
    Topic(
        "Congestion collapse",
        "5.1.1",
        behaviour.COLLAPSE,
        "packets_per_rtt",
        "{} packets a round trip when 50 to 100 % are lost",
        least=0.01,
    ),
    Topic(
        "Bufferbloat",
        "5.1.2",
        behaviour.BUFFERBLOAT,
        "queue_s",
        "a queue of {} with 16 BDP of buffer",
        ("16 BDP",),
        1.0,
    ),
    Topic(
        "Loss",
        "5.1.3",
        behaviour.HIGH_LOSS,
        "own_loss",
        "{} lost with 2 to 32 flows and a quarter BDP of buffer",
        (" 0.25 BDP",),
        0.05,
    ),
    Topic("Fairness among its own", "5.1.4", behaviour.FAIRNESS, "jain", "Jain's index {}", least=0.005),
    Topic(
        "Short flows",
        "5.1.5",
        behaviour.SHORT,
        "completion_s",
        "{} for a short transfer beside a long flow",
        least=5.0,
    ),
    Topic(
        "Beside Reno",
        "5.2.1",
        behaviour.BESIDE_RENO,
        "other_of_fair",
        "Reno gets {} of its fair share",
        least=2.0,
    ),
    Topic(
        "Beside CUBIC",
        "5.2.1",
        behaviour.BESIDE_CUBIC,
        "other_of_fair",
        "CUBIC gets {} of its fair share",
        least=2.0,
    ),
    Topic(
        "Real-time traffic",
        "5.2.2",
        behaviour.REAL_TIME,
        "queue_p99_s",
        "99 % of packets wait less than {}",
        least=1.0,
    ),
    Topic("Drop-tail paths", "6.1", general.DROPTAIL, "utilization", "{} of the link in use", least=0.5),
    Topic(
        "Wireless paths",
        "6.4",
        general.WIRELESS,
        "utilization",
        "{} of the link in use with random loss, jitter or varying rate",
        least=0.5,
    ),
    Topic(
        "Marks",
        "7.1",
        special.AQM,
        "queue_s",
        "a queue of {} through DualPI2 with ECN",
        ("DualPI2, ECN",),
        0.5,
    ),
    Topic(
        "Satellite",
        "7.5",
        special.GEO,
        "utilization",
        "{} of a satellite link in use from the start on",
        least=0.5,
    ),
    Topic(
        "Lying receivers",
        "7.6",
        special.RECEIVERS,
        "other_of_fair",
        "beside one, an honest receiver gets {} of its fair share",
        least=2.0,
    ),
    Topic(
        "Changing paths",
        "7.9",
        special.PATHS,
        "utilization",
        "{} of the link in use after its rate or delay has changed",
        least=0.5,
    ),
)
"""What a line can be about; the first screen has those with the greatest differences."""
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
    there = {experiment.name for experiment in results.asked.experiments}
    found = [_line(results, topic) for topic in TOPICS if topic.experiment.name in there]
    return sorted(found, key=lambda line: -line.size)[:LINES]


def _line(results: Results, topic: Topic) -> Line:
    measure = topic.experiment.measure(topic.measure)

    def cell(label: str) -> Cell:
        whole = results.cell(topic.experiment, measure, label)
        return whole.at([at for at in whole.points if at.endswith(topic.points)]) if topic.points else whole

    label = results.asked.algorithm.label
    own = cell(label)
    failed, of = results.failures(topic.experiment, label)
    if math.isnan(own.estimate.mean):
        said = f"failed in {failed} of {of} runs" if failed else "not measured"
        return Line(topic.name, topic.section, f"{said}: see the section", FAILED if failed else 0.0)
    parts, size = [], FAILED if failed else 0.0
    for other in results.asked.baselines:
        found = cell(other.label)
        gap = difference(own, found)
        parts.append(comparison(gap, measure, other.label, topic.least))
        if is_notable(gap, topic.least):
            size = max(size, _size(own.estimate.mean, found.estimate.mean))
    value = topic.value.format(shown(own.estimate.mean, measure.unit))
    if failed:
        value = f"failed in {failed} of {of} runs; in the others {value}"
    return Line(topic.name, topic.section, f"{value}; {'; '.join(parts)}", size)


def is_notable(gap: Estimate, least: float = 0.0) -> bool:
    """Whether a difference is one: its interval leaves out zero, and it is not too small for a word."""
    return gap.differs and abs(gap.mean) >= least


def comparison(gap: Estimate, measure: Measure, other: str, least: float = 0.0) -> str:
    """Says in words how the algorithm differs from another one."""
    error = "" if math.isnan(gap.half) else f" ± {number(gap.half, ERROR_DIGITS)}"
    if math.isnan(gap.mean):
        return f"no number to compare with {other}"
    with_other = f"{measure.than} {other}" if measure.than else other
    if not is_notable(gap, least):
        size = f"{shown(gap.mean, '', signed=True)}{error}{_unit(_points(measure.unit))}"
        return f"{'as' if measure.than else 'like'} {with_other} ({size})"
    by = f"{number(abs(gap.mean), DIGITS)}{error}{_unit(_points(measure.unit))}"
    if measure.better == "neither" or measure.than:
        return f"{by} {'more' if gap.mean > 0.0 else 'less'} than {with_other}"
    worse = (gap.mean > 0.0) == (measure.better == "less")
    return f"{'worse' if worse else 'better'} than {other} by {by}"


def shown(value: float, unit: str, *, signed: bool = False) -> str:
    """Writes a number with its unit."""
    if math.isnan(value):
        return "no number"
    sign = "+" if signed and value > 0.0 else ""
    return f"{sign}{number(value, DIGITS)}{_unit(unit)}"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""


def _points(unit: str) -> str:
    """The unit of a difference: of percentages it is percentage points."""
    return "points" if unit == "%" else unit


def _size(own: float, other: float) -> float:
    """How large a difference is: the logarithm of the ratio, bounded where one of them is zero."""
    least = 1e-3 * max(abs(own), abs(other), 1e-12)
    return abs(math.log(max(abs(own), least) / max(abs(other), least)))


def texts(found: Sequence[Line]) -> list[str]:
    """Returns the lines as plain text."""
    return [f"{line.name} ({line.section}): {line.text}." for line in found]
