"""The figures of a dossier: each number over the points of its experiment, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Iterator

from longfat.assess.estimate import Cell, Results
from longfat.assess.model import Criterion, Experiment, Measure
from longfat.figure.data import Curve, Figure, Panel, points
from longfat.study.contenders import Contender
from longfat.study.stats import with_half_width

LEAST_POINTS = 3
"""An experiment with fewer points is a table only."""
MOST_PANELS = 2


def figures(results: Results, row: Criterion) -> Iterator[Figure]:
    """Yields a figure for each experiment of a row that has enough points; its file has the row's number."""
    for experiment in row.experiments:
        names = [point.at for point in experiment.points(results.asked.mode)]
        if len(names) >= LEAST_POINTS and row.section != "5.2":  # 5.2 is the worst of what 5.2.1 draws
            yield Figure(
                f"{row.section.replace('.', '-')}-{experiment.name}",
                f"RFC 9743, {row.section}",
                experiment.title,
                f"{experiment.words} Means of {results.asked.repeats} runs; bars are 95 % intervals.",
                tuple(
                    _panel(results, experiment, measure, names)
                    for measure in experiment.measures[:MOST_PANELS]
                ),
            )


def _panel(results: Results, experiment: Experiment, measure: Measure, names: list[str]) -> Panel:
    axis = f"{measure.label}, {measure.unit}" if measure.unit else measure.label
    curves = [
        _curve(results.cell(experiment, measure, contender.label), contender, names)
        for contender in results.asked.everyone
    ]
    return Panel("", "", axis, tuple(curves), categories=tuple(names), sideways=True)


def _curve(cell: Cell, contender: Contender, names: list[str]) -> Curve:
    estimates = [with_half_width(cell.points[at]) for at in names]
    samples = [(float(i), (each.mean, each.half_width)) for i, each in enumerate(estimates)]
    return points(contender.label, samples, contender.algorithm.name.rpartition("/")[2])
