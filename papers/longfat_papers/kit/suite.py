"""What a suite is: experiments, each with its runs and a figure, and claims. Nothing here plots or runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from longfat.errors import InputError
from longfat.figure.data import Figure
from longfat.runs import cost, metrics
from longfat.scenario.model import Scenario
from longfat.words import Mode, natural_order, suggestion
from longfat_papers.kit.assumptions import Assumption, check_table
from longfat_papers.kit.claims import Claim, Missing
from longfat_papers.kit.hosts import Hosts

Coordinate = str | float | int


@dataclass(frozen=True)
class Run:
    """One run: its coordinates in the experiment's grid, its scenario, and how much work it will be.

    ``document`` holds the scenario as a file would. ``packets`` estimates its data packets, for runs that end
    with their data; those that fill the bottleneck all the time need no estimate. It decides which runs start
    first and how progress is shown, never a result.
    """

    coordinates: Mapping[str, Coordinate]
    document: Mapping[str, Any]
    packets: float | None = None

    def estimated_packets(self, scenario: Scenario | None = None) -> float:
        """Returns ``packets``, or else as many as fill the bottleneck of its scenario."""
        if self.packets is not None:
            return self.packets
        return cost.packets(scenario or Scenario.from_dict(self.document, source="run"))


@dataclass(frozen=True)
class Experiment:
    """One experiment: ``runs`` returns its grid in a mode, ``figure`` turns its rows into a figure.

    ``mirrors`` names the paper's figure, table or section. With ``keeps_series`` the histories of cwnd and
    received bytes are stored beside the quantities of each run.
    """

    name: str
    mirrors: str
    title: str
    runs: Callable[[Mode], list[Run]]
    figure: Callable[[Runs, Mode], Figure]
    keeps_series: bool = False

    def brief(self, runs: int, finished: bool, **more: Any) -> dict[str, Any]:
        """Returns the experiment as `longfat suite --json` prints it."""
        about = {"name": self.name, "mirrors": self.mirrors, "title": self.title}
        return {**about, "runs": runs, "finished": finished, **more}


@dataclass(frozen=True)
class Suite:
    """The experiments and the claims of one paper. ``reduce`` turns a Result into a row in the worker.

    ``assumptions`` is what the paper leaves open, with the readings of each. ``closed`` says why nothing is
    open in a claim on which fewer than two readings bear, by the claim's id. ``counts`` says whether the
    claims are about a run; readings leave out those that only figures show. ``hosts`` says how its runs
    become runs between real hosts; without it, the suite runs in the simulator only.
    """

    name: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim[Data], ...]
    reduce: Callable[[Any], dict[str, Any]]
    assumptions: tuple[Assumption, ...] = ()
    closed: Mapping[str, str] = field(default_factory=dict)
    counts: Callable[[Run], bool] = lambda run: True
    hosts: Hosts | None = None

    def _repr_html_(self) -> str:
        """What a notebook shows: the experiments, and the claims."""
        from longfat_papers.kit import notebook

        return notebook.suite_html(self)

    def experiment(self, name: str) -> Experiment:
        """Returns the experiment of that name."""
        return next(experiment for experiment in self.experiments if experiment.name == name)

    def select(self, only: Iterable[str]) -> tuple[tuple[Experiment, ...], tuple[Claim[Data], ...]]:
        """Returns the experiments and claims that ``only`` names, in the suite's order; all if it names none.

        A claim's id selects the claim and the experiments that it needs. An experiment's name selects the
        experiment and the claims that need nothing else. Case and the paper's prefix do not matter, and
        commas separate several names.

        Raises:
            InputError: a name is neither a claim's nor an experiment's.
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
                    f"suite {self.name}: --only {text}: there is no such claim or experiment; "
                    "accepted: claims "
                    f"{', '.join(claim.id for claim in self.claims)}; experiments "
                    f"{', '.join(item.name for item in self.experiments)}"
                )
            identifiers.update(claim.id for claim in claims)
            names.update(experiments)
            names.update(name for claim in claims for name in claim.experiments)
        if not asked:
            return self.experiments, self.claims
        if names:
            identifiers.update(claim.id for claim in self.claims if set(claim.experiments) <= names)
        return (
            tuple(item for item in self.experiments if item.name in names),
            tuple(claim for claim in self.claims if claim.id in identifiers),
        )

    def named(self, only: Iterable[str]) -> tuple[Claim[Data], ...]:
        """Returns the claims that ``only`` names, and those of the experiments that it names beside them.

        Unlike `select`, it leaves out claims that merely share an experiment with a claim that it names.
        """
        asked = [part.strip() for text in only for part in text.split(",")]
        ids = self._claim_ids()
        found = {ids[text.casefold()] for text in asked if text.casefold() in ids}
        experiments = [text for text in asked if text.casefold() not in ids]
        if experiments or not asked:
            found |= {claim.id for claim in self.select(experiments)[1]}
        return tuple(claim for claim in self.claims if claim.id in found)

    def check_assumptions(self) -> None:
        """Raises `InputError` unless the table of assumptions is complete; see `check_table`."""
        check_table(self.name, self.assumptions, self.closed, self._claim_ids())

    def bearing(self, claim: str) -> tuple[Assumption, ...]:
        """Returns the assumptions that bear on a claim, by its id."""
        ids = self._claim_ids()
        return tuple(
            item
            for item in self.assumptions
            if not item.claims or claim in (ids.get(name.casefold()) for name in item.claims)
        )

    def closed_because(self, claim: str) -> str | None:
        """Returns why nothing is open in a claim; None if something is."""
        ids = self._claim_ids()
        return next((why for name, why in self.closed.items() if ids.get(name.casefold()) == claim), None)

    def _claim_ids(self) -> dict[str, str]:
        """The id of each claim by each of its spellings."""
        return {spelling: claim.id for claim in self.claims for spelling in self._spellings(claim.id)}

    def _spellings(self, identifier: str) -> set[str]:
        folded = identifier.casefold()
        prefix = self.claims[0].id.split("-")[0].casefold() + "-" if self.claims else "-"
        return {folded, folded.removeprefix(prefix), prefix + folded.removeprefix(prefix)}


class Runs:
    """The reduced runs of one experiment: rows of coordinates and quantities, selected by coordinate.

    Attributes:
        quantities: what any run of the experiment has, also one that is not selected.
    """

    def __init__(self, name: str, rows: Iterable[dict[str, Any]], of: Runs | None = None) -> None:
        self.name = name
        self.rows = list(rows)
        self.quantities: frozenset[str] = (
            of.quantities if of else frozenset(key for row in self.rows for key in row)
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def where(self, **coordinates: Coordinate) -> Runs:
        """Returns the rows at these coordinates. Raises `Missing` when there are none."""
        rows = self._at(coordinates)
        if not rows:
            at = ", ".join(f"{key} = {value}" for key, value in coordinates.items())
            raise Missing(f"{self.name} has no run at {at}.")
        return Runs(self.name, rows, self)

    def has(self, **coordinates: Coordinate) -> bool:
        """Returns whether any row is at these coordinates."""
        return bool(self._at(coordinates))

    def distinct(self, coordinate: str) -> list[Any]:
        """Returns the values that a coordinate takes, in order."""
        self._check(coordinate)
        values = {row[coordinate] for row in self.rows if coordinate in row}
        return sorted(values, key=lambda value: natural_order(value) if isinstance(value, str) else value)

    def values(self, quantity: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Returns a quantity of every row; NaN where a run does not have it, or never reached it."""
        self._check(quantity)
        found = (row.get(quantity) for row in self.rows)
        return np.array([math.nan if value is None else float(value) for value in found])

    def mean(self, quantity: str) -> float:
        """Returns the mean of a quantity over repeats; NaN if any repeat does not have it."""
        return metrics.mean_stderr(self.values(quantity))[0]

    def mean_stderr(self, quantity: str) -> tuple[float, float]:
        """Returns the mean and the standard error of a quantity over repeats."""
        return metrics.mean_stderr(self.values(quantity))

    def mean_stderr_reached(self, quantity: str) -> tuple[float, float]:
        """Like `mean_stderr`, over the repeats that reached the quantity; NaN if most did not."""
        return metrics.mean_stderr_reached(self.values(quantity))

    def means(self, coordinate: str, quantity: str) -> dict[Any, float]:
        """Returns the mean of a quantity at each value of a coordinate, in order."""
        return {
            value: self.where(**{coordinate: value}).mean(quantity) for value in self.distinct(coordinate)
        }

    def over_repeats(self, number: Callable[[Runs], float]) -> tuple[float, float]:
        """Returns the mean and the standard error over repeats of a number of all runs of one repeat."""
        return metrics.mean_stderr(
            np.array([number(self.where(repeat=repeat)) for repeat in self.distinct("repeat")])
        )

    def first(self) -> dict[str, Any]:
        """Returns the row of the first repeat."""
        return min(self.rows, key=lambda row: row.get("repeat", 0))

    def _at(self, coordinates: Mapping[str, Coordinate]) -> list[dict[str, Any]]:
        for name in coordinates:
            self._check(name)
        return [row for row in self.rows if all(row.get(key) == value for key, value in coordinates.items())]

    def _check(self, column: str) -> None:
        """Raises `InputError` if no run of the experiment has this coordinate or quantity."""
        if self.rows and column not in self.quantities:
            known = sorted(self.quantities)
            near = suggestion(column, known)
            raise InputError(f"{self.name} has no column {column}{near}; accepted: {', '.join(known)}")


class Data:
    """What a suite measured, by experiment; one without results raises `Missing`, with why."""

    def __init__(self, experiments: Mapping[str, Runs], why: Mapping[str, str] | None = None) -> None:
        self.experiments = dict(experiments)
        self.why = dict(why or {})

    def __getitem__(self, name: str) -> Runs:
        if name not in self.experiments:
            raise Missing(self.why.get(name, f"Experiment {name} did not finish."))
        return self.experiments[name]
