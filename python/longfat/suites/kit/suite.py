"""What a suite is: experiments (runs and a figure each) and claims. No plotting, no running here."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.runs import metrics
from longfat.suites.kit.claims import Claim, Finding, Missing
from longfat.words import Mode, natural_order

Coordinate = str | float | int


@dataclass(frozen=True)
class Run:
    """One run: where it lies in the experiment's grid, its scenario, and the work it is expected to be.

    ``document`` is a scenario as a file would hold it; ``packets`` an estimate of its data packets, used to
    start long runs first and to show progress, never for a result.
    """

    coordinates: Mapping[str, Coordinate]
    document: Mapping[str, Any]
    packets: float


@dataclass(frozen=True)
class Experiment:
    """One experiment: ``runs`` gives its grid in a mode, ``figure`` draws its data.

    ``keeps_series`` stores the histories of cwnd and delivery beside the figures of each run.
    """

    name: str
    mirrors: str
    title: str
    runs: Callable[[Mode], list[Run]]
    figure: Callable[[Runs, Mode], Figure]
    keeps_series: bool = False


@dataclass(frozen=True)
class Suite:
    """The experiments and the claims of one paper. ``reduce`` turns a Result into a row, in the worker."""

    name: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim[Data], ...]
    reduce: Callable[[Any], dict[str, Any]]

    def experiment(self, name: str) -> Experiment:
        """The experiment of that name."""
        return next(experiment for experiment in self.experiments if experiment.name == name)

    def select(self, only: Iterable[str]) -> tuple[tuple[Experiment, ...], tuple[Claim[Data], ...]]:
        """The experiments and claims that ``only`` names (all, if it names none), in the suite's order.

        Accepted, in any case, with or without the paper's prefix, several with commas between: a claim's id
        (brings the experiments it needs) or an experiment's name (brings the claims that need nothing else).
        Raises `InputError` for anything else.
        """
        names: set[str] = set()
        identifiers: set[str] = set()
        asked = [part for text in only for part in text.split(",")]
        for text in asked:
            wanted = text.strip().casefold()
            claims = [claim for claim in self.claims if wanted in self._spellings(claim.id)]
            experiments = [item.name for item in self.experiments if wanted in self._spellings(item.name)]
            if not claims and not experiments:
                raise InputError(
                    f"suite {self.name}: --only {text}: no such claim or experiment; accepted: claims "
                    f"{', '.join(claim.id for claim in self.claims)}; experiments "
                    f"{', '.join(item.name for item in self.experiments)}"
                )
            identifiers.update(claim.id for claim in claims)
            names.update(experiments)
            names.update(name for claim in claims for name in claim.experiments)
        if not asked:
            return self.experiments, self.claims
        if names_only := names:
            identifiers.update(claim.id for claim in self.claims if set(claim.experiments) <= names_only)
        return (
            tuple(item for item in self.experiments if item.name in names),
            tuple(claim for claim in self.claims if claim.id in identifiers),
        )

    def estimated_packets(self, mode: Mode) -> float:
        """Data packets that a mode is expected to simulate; runs that experiments share count once."""
        unique = {repr(run.document): run.packets for item in self.experiments for run in item.runs(mode)}
        return math.fsum(unique.values())

    def _spellings(self, identifier: str) -> set[str]:
        plain = identifier.casefold()
        prefix = self.claims[0].id.split("-")[0].casefold() + "-"
        return {plain, plain.removeprefix(prefix), prefix + plain.removeprefix(prefix)}


class Runs:
    """The reduced runs of one experiment: rows of coordinates and figures, asked for by coordinate."""

    def __init__(self, name: str, rows: Iterable[dict[str, Any]]) -> None:
        self.name = name
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def where(self, **coordinates: Coordinate) -> Runs:
        """The rows at these coordinates. Raises `Missing` when there are none."""
        rows = [row for row in self.rows if all(row.get(key) == value for key, value in coordinates.items())]
        if not rows:
            place = ", ".join(f"{key} = {value}" for key, value in coordinates.items())
            raise Missing(f"{self.name} has no run at {place}.")
        return Runs(self.name, rows)

    def has(self, **coordinates: Coordinate) -> bool:
        """Whether any row is at these coordinates."""
        return any(all(row.get(key) == value for key, value in coordinates.items()) for row in self.rows)

    def distinct(self, coordinate: str) -> list[Any]:
        """The values that a coordinate takes, in order."""
        values = {row[coordinate] for row in self.rows if coordinate in row}
        return sorted(values, key=lambda value: natural_order(value) if isinstance(value, str) else value)

    def values(self, figure: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """A figure of every row; one that a run does not have, or never reached, is NaN."""
        found = (row.get(figure) for row in self.rows)
        return np.array([math.nan if value is None else float(value) for value in found])

    def mean(self, figure: str) -> float:
        """The mean of a figure over repeats (NaN if any repeat has none)."""
        return metrics.mean_stderr(self.values(figure))[0]

    def mean_stderr(self, figure: str) -> tuple[float, float]:
        """Mean and standard error of a figure over repeats."""
        return metrics.mean_stderr(self.values(figure))

    def mean_stderr_reached(self, figure: str) -> tuple[float, float]:
        """Mean and standard error over the repeats that reached a figure; NaN if most did not."""
        return metrics.mean_stderr_reached(self.values(figure))

    def means(self, coordinate: str, figure: str) -> dict[Any, float]:
        """The mean of a figure at each value of a coordinate, in order."""
        return {value: self.where(**{coordinate: value}).mean(figure) for value in self.distinct(coordinate)}

    def first(self) -> dict[str, Any]:
        """The row of the first repeat."""
        return min(self.rows, key=lambda row: row.get("repeat", 0))


class Data:
    """What a suite measured, by experiment. Asking for one that was not run raises `Missing`."""

    def __init__(self, experiments: Mapping[str, Runs]) -> None:
        self.experiments = dict(experiments)

    def __getitem__(self, name: str) -> Runs:
        if name not in self.experiments:
            raise Missing(f"Experiment {name} was not run.")
        return self.experiments[name]


Find = Callable[[Data], Finding]
"""A claim's rule: what the data of its suite says about it."""
