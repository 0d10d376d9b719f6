"""A paper as the files of its figures write it down: experiments, each with its drawing and its claims.

`docs/recipes/add-a-suite.md` has a complete example.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

from longfat.errors import InputError
from longfat.figure.data import Figure, Panel, Table, plain_name
from longfat.words import Mode, choice, suggestion
from longfat_papers.kit import assumptions, faults
from longfat_papers.kit.claims import Check, Claim, Evidence, Finding, Setting
from longfat_papers.kit.hosts import Hosts
from longfat_papers.kit.reduction import reduce_run
from longfat_papers.kit.suite import Data, Experiment, Run, Runs, Suite

Grid = Mapping[str, Any]
"""The values of each coordinate: a sequence, a number of repeats, or a mapping of either by mode."""

Packets = Callable[[dict[str, Any]], float]
"""Estimates the data packets of a scenario."""

Checks = Generator[Check, None, Evidence | None]
"""What a claim's rule returns: it yields checks, and may return the evidence beside them."""

Rule = Callable[..., Checks]
"""A claim's rule, which gets the runs of each of its experiments."""


@dataclass(frozen=True)
class Drawing:
    """What a drawing function returns; the experiment gives it a name and a title.

    ``title`` replaces the experiment's title.
    """

    caption: str
    panels: tuple[Panel, ...]
    columns: int = 2
    table: Table | None = None
    title: str = ""


Draw = Callable[[Runs, Mode], Drawing]


@dataclass(eq=False)
class Declaration:
    """An experiment of a paper that gets its drawing and its claims."""

    paper: Paper
    name: str
    mirrors: str
    title: str
    runs: Callable[[Mode], list[Run]]
    keeps_series: bool
    draw: Draw | None = None

    def drawing(self, draw: Draw) -> Draw:
        """Declares the function that turns the runs and the mode into a `Drawing`."""
        self.draw = draw
        return draw

    def claim(
        self, number: str, setting: str, published: str, *, also: tuple[str, ...] = (), **options: Any
    ) -> Callable[[Rule], Rule]:
        """Declares a claim about this experiment; see `Paper.claim`.

        ``also`` names other experiments. The rule gets the runs of this one and of each of them.
        """
        return self.paper.claim(number, setting, published, (self.name, *also), **options)

    def experiment(self) -> Experiment:
        """Returns the complete experiment. Raises `InputError` if it has no drawing."""
        draw, here = self.draw, f"experiment {self.name}:"
        if draw is None:
            accepted = f"accepted: a function with `.drawing`{faults.place(self.runs)}"
            raise InputError(f"{here} it has no drawing; {accepted}")

        @functools.wraps(self.runs)
        def runs(mode: Mode) -> list[Run]:
            with faults.named(f"{here} its runs cannot be listed", self.runs):
                found = self.runs(mode)
                if not all(isinstance(run, Run) for run in found):
                    raise InputError("it returns other things than runs; accepted: a list of `Run`")
                return found

        def figure(runs: Runs, mode: Mode) -> Figure:
            with faults.named(f"{here} its drawing failed", draw):
                drawn = draw(runs, mode)
                if not isinstance(drawn, Drawing) or not drawn.panels:
                    raise InputError(f"it returns {type(drawn).__name__}; accepted: a Drawing with a panel")
            title = drawn.title or self.title
            more = (drawn.caption, drawn.panels, drawn.columns, drawn.table)
            return Figure(self.name, self.mirrors, title, *more)

        return Experiment(self.name, self.mirrors, self.title, runs, figure, self.keeps_series)


@dataclass(eq=False)
class Paper:
    """One paper: its experiments and claims in the order in which they are declared.

    Attributes:
        name: the suite's name.
        prefix: begins the ids of its claims.
        title: the paper's title.
        citation: where it was published.
        settings: what all claims share, each with its source.
        estimator: how quantities are measured, unless a claim has its own.
        reduce: turns a Result into a row, in the process that ran it.
        counts: whether the claims are about a run; readings leave out those that only figures show.
    """

    name: str
    prefix: str
    title: str
    citation: str
    _: KW_ONLY
    settings: tuple[Setting, ...] = ()
    estimator: str = ""
    reduce: Callable[[Any], dict[str, Any]] = reduce_run
    counts: Callable[[Run], bool] = lambda run: True
    _experiments: dict[str, Declaration] = field(default_factory=dict, init=False)
    _claims: dict[str, Claim[Data]] = field(default_factory=dict, init=False)

    def experiment(
        self,
        name: str,
        mirrors: str,
        title: str,
        *,
        grid: Grid | None = None,
        packets: Packets | None = None,
        keeps_series: bool = False,
    ) -> Callable[[Callable[..., Any]], Declaration]:
        """Declares an experiment by the function that returns its runs.

        Args:
            name: the experiment's name; its results go into files of that name.
            mirrors: the paper's figure, table or section.
            title: what it is about.
            grid: values by coordinate. The function then gets the coordinates of one run, and the mode if it
                asks for it, and returns the run's scenario, or None if there is no run; ``repeat`` also sets
                the seed. Without a grid, it gets the mode and returns all runs.
            packets: estimates the data packets of a scenario of the grid; see `Run`.
            keeps_series: stores histories of cwnd and received bytes beside the quantities.
        """
        try:
            plain_name(name)
        except ValueError as error:
            raise InputError(f"{self.name}: experiment: {error}") from None

        def declare(function: Callable[..., Any]) -> Declaration:
            runs = function if grid is None else over(grid, function, packets)
            if name in self._experiments:
                raise InputError(f"{self.name}: experiment {name} is declared twice; accepted: each once")
            self._experiments[name] = Declaration(self, name, mirrors, title, runs, keeps_series)
            return self._experiments[name]

        return declare

    def claim(
        self,
        number: str,
        setting: str,
        published: str,
        experiments: tuple[str, ...],
        *,
        settings: tuple[Setting, ...] = (),
        paper: str = "",
        estimator: str = "",
        bounds: str = "",
        values: Mapping[str, float] | None = None,
        note: str = "",
        reports: bool = False,
        prefix: str = "",
    ) -> Callable[[Rule], Rule]:
        """Declares a claim by its rule.

        Args:
            number: its id without the prefix.
            setting: what was measured.
            published: what the paper says.
            experiments: names of the experiments whose runs the rule gets, in this order.
            settings: added to the paper's.
            paper: another citation, where the claim is in a paper that this one cites.
            estimator: instead of the paper's.
            bounds: where the rule's bounds come from, in a sentence.
            values: the paper's numbers.
            note: what a reader of the verdict has to know.
            reports: the paper prints no value, so there is no verdict.
            prefix: begins the id, instead of the paper's.
        """

        def declare(rule: Rule) -> Rule:
            identifier = f"{prefix or self.prefix}-{number}"
            if identifier in self._claims:
                raise InputError(f"{self.name}: claim {identifier} is declared twice; accepted: each once")

            @functools.wraps(rule)
            def find(data: Data) -> Finding:
                with faults.named(f"claim {identifier}: its rule failed", rule):
                    return judged(rule(*(data[name] for name in experiments)))

            self._claims[identifier] = Claim(
                id=identifier,
                paper=paper or self.citation,
                setting=setting,
                published=published,
                settings=(*self.settings, *settings),
                estimator=estimator or self.estimator,
                bounds=bounds,
                experiments=experiments,
                find=find,
                published_values=values or {},
                note=note,
                reports=reports,
            )
            return rule

        return declare

    def suite(
        self,
        package: str,
        figures: tuple[str, ...] = (),
        names: Mapping[str, Any] | None = None,
        hosts: Hosts | None = None,
    ) -> Suite:
        """Returns the suite of all that the figures' modules declare.

        Args:
            package: the package or module that asks. What the paper leaves open is in `readings.toml` beside
                it; see `assumptions.load`.
            figures: the package's modules with experiments and claims, in the order of the paper.
            names: constants that texts of `readings.toml` name in braces, and functions for its rewritings.
            hosts: how its runs become runs between real hosts.
        """
        for figure in figures:
            import_module(f"{package}.{figure}")
        for claim in self._claims.values():
            for name in claim.experiments:
                if name not in self._experiments:
                    known = ", ".join(self._experiments) + faults.place(claim.find)
                    unknown = choice(name, list(self._experiments), known, "experiment")
                    raise InputError(f"claim {claim.id}: experiment {name}: {unknown}")
        file = _folder(package) / "readings.toml"
        table, closed = assumptions.load(file, names or {}) if file.is_file() else ((), {})
        return Suite(
            name=self.name,
            title=self.title,
            citation=self.citation,
            experiments=tuple(declared.experiment() for declared in self._experiments.values()),
            claims=tuple(self._claims.values()),
            reduce=self.reduce,
            assumptions=table,
            closed=closed,
            counts=self.counts,
            hosts=hosts,
        )


def _folder(package: str) -> Path:
    """Returns the folder of a package, with or without an `__init__.py`, or of a module."""
    module = sys.modules[package]
    return Path(module.__file__).parent if module.__file__ else Path(next(iter(module.__path__)))


def judged(rule: Checks) -> Finding:
    """Returns what a rule found, with the checks that it yielded."""
    if not isinstance(rule, Iterator):
        raise InputError(f"it returns {type(rule).__name__}; accepted: a function that yields checks")
    found: Evidence | None = None

    def yielded() -> Iterator[Check]:
        nonlocal found
        found = yield from rule

    checks = tuple(yielded())
    for check in checks:
        if not isinstance(check, Check):
            raise InputError(f"it yields {type(check).__name__}; accepted: checks, such as `at_least`")
    if found is None:
        found = Evidence("; ".join(f"{check.detailed()}: {check.measured}" for check in checks))
    return Finding(found.measured, found.values, found.note, found.figure, checks)


def over(
    grid: Grid, function: Callable[..., Any], packets: Packets | None = None
) -> Callable[[Mode], list[Run]]:
    """Returns the function that gives the runs of a grid in a mode."""
    parameters = inspect.signature(function).parameters.values()
    takes_all = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    known = [*grid, "mode"]

    @functools.wraps(function)
    def runs(mode: Mode) -> list[Run]:
        for needed in parameters:
            is_needed = needed.default is needed.empty and needed.kind is not needed.VAR_KEYWORD
            if is_needed and needed.name not in known:
                near = suggestion(needed.name, known)
                raise InputError(f"there is no coordinate {needed.name}{near}; accepted: {', '.join(known)}")
        named = {parameter.name for parameter in parameters}
        wanted = [name for name in known if name in named or (takes_all and name != "mode")]
        axes = {name: _values(name, values, mode) for name, values in grid.items()}
        found = []
        for point in product(*axes.values()):
            at = dict(zip(axes, point, strict=True))
            document = function(**{name: {**at, "mode": mode}[name] for name in wanted})
            if document is None:
                continue
            if "repeat" in at:
                document = {"seed": at["repeat"] + 1, **document}
            found.append(Run(at, document, packets(document) if packets else None))
        return found

    return runs


def _values(name: str, values: Any, mode: Mode) -> Sequence[Any]:
    if isinstance(values, Mapping) and mode not in values:
        raise InputError(f"{name} has no values for {mode}; accepted: a value for quick and one for full")
    chosen = values[mode] if isinstance(values, Mapping) else values
    if name == "repeat" and isinstance(chosen, int):
        return range(chosen)
    if isinstance(chosen, str) or not isinstance(chosen, Sequence):
        raise InputError(f"{name} = {chosen!r}; accepted: a sequence of values, or a number of repeats")
    return chosen
