"""Runs a suite's claims under the readings of what its paper leaves open.

First the base, as `longfat suite` runs it; then one assumption changed at a time; then, for claims that hold
neither at the base nor under a single reading, all pairs of readings, of different assumptions, that moved
the claim's figure. Every run is kept in the suite's store under the key of its plan, so readings share runs
with the base and with each other, and an interrupted command goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from rich.console import Console

from longfat.errors import InputError
from longfat.scenario.model import Scenario
from longfat.store import output
from longfat.store.identity import run_key
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.study.run import Effort, Task, longest_first, perform
from longfat.words import Mode, suggestion
from longfat_papers.kit import effects, faults, folder, page, runner
from longfat_papers.kit.assumptions import Assumption, Reading
from longfat_papers.kit.claims import Claim
from longfat_papers.kit.effects import Base, Effect, Judged, headline_text
from longfat_papers.kit.suite import Coordinate, Data, Run, Runs, Suite
from longfat_papers.kit.turns import turns_table

DEFAULT_REPEATS = 1
"""Repeats of a reading, unless the command asks for others."""

Parts = tuple[tuple[Assumption, Reading], ...]
"""What differs from the base: nothing, one reading, or two of different assumptions."""


@dataclass(frozen=True)
class AssumptionsOutcome:
    """What the readings of a suite came to. ``document`` is the content of `assumptions.json`."""

    base: runner.SuiteOutcome
    document: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """Returns the object that `longfat suite --assumptions --json` prints."""
        return {
            **self.base.to_json(),
            "assumptions": self.document,
            "headline": self.document["headline"],
        }


@dataclass
class Variant:
    """Some claims with something changed: the runs of their experiments, and what the claims came to.

    Attributes:
        parts: what differs from the base.
        claims: the claims on which all of it bears.
        places: the runs by experiment: coordinates, key, and whether its plan differs from the base's.
        problem: why there are no such runs, or "".
        found: what each claim came to, by its id, once all its runs were there.
    """

    parts: Parts
    claims: tuple[Claim[Data], ...]
    places: dict[str, list[tuple[Mapping[str, Coordinate], str, bool]]]
    problem: str = ""
    found: dict[str, Judged] = field(default_factory=dict)

    def of(self, claim: Claim[Data]) -> Iterator[tuple[Mapping[str, Coordinate], str, bool]]:
        """Yields the runs that a claim needs."""
        for name in claim.experiments:
            yield from self.places.get(name, [])


def run_assumptions(
    suite: Suite,
    mode: Mode = "quick",
    only: Iterable[str] = (),
    jobs: int | None = None,
    out: Path | str = Path("out"),
    console: Console | None = None,
    runs: Path | str | None = None,
    assumptions: Iterable[str] = (),
    repeats: int = DEFAULT_REPEATS,
) -> AssumptionsOutcome:
    """Runs the selected claims at the base and under the readings that bear on them; writes all of it.

    The arguments are those of `run_suite`, and:

    Args:
        suite: what to run; it has a table of assumptions.
        mode: as in `run_suite`.
        only: as in `run_suite`, but claims that merely share an experiment with a claim named here are run
            at the base alone; all claims that the chosen assumptions bear on if empty.
        jobs: as in `run_suite`.
        out: as in `run_suite`; claims that are stored in its `assumptions.json` and not selected are kept.
        console: as in `run_suite`.
        runs: as in `run_suite`.
        assumptions: ids of the assumptions whose readings are run; all if empty. Readings of the others are
            judged too if their runs are stored.
        repeats: the most repeats of a run under a reading; the base has all of them.

    Raises:
        InputError: the table is incomplete, an id is unknown, a reading gives a scenario that is refused, or
            the directory is not writable; raised before anything runs.
        KeyboardInterrupt: after what has finished was written.
    """
    directory = Path(out)
    console = console or Console(quiet=True)
    study = Study(suite, mode, list(only), list(assumptions), repeats)
    singles = study.singles()
    measured = runner.measure(suite, mode, study.only, jobs, directory, console, runs)
    effort = Effort()
    document: dict[str, Any] = {}
    with Store(runs or directory, reduction_key(suite.reduce)) as kept:
        try:
            title = f"{suite.name} {mode}, "
            study.perform(singles, kept, jobs, console, title + "readings", effort)
            study.perform(study.pairs(kept), kept, jobs, console, title + "pairs", effort)
        finally:
            # An interrupted command also judges and writes what has finished.
            document = study.document(kept, directory)
            folder.write_json(directory / folder.ASSUMPTIONS_FILE, document)
    with console.status("drawing figures"):
        path = page.build(directory, jobs)
    runner.print_measurement(console, measured)
    shown = [entry for entry in document["claims"] if entry["id"] in {claim.id for claim in study.claims}]
    console.print(turns_table(shown))
    console.print(f"{headline_text(document['headline'])}; readings: {runner.cost(effort.performance())}")
    console.print(f"report: {path}", soft_wrap=True)
    base = runner.outcome(suite, mode, measured, path)
    return AssumptionsOutcome(base, document)


class Study:
    """The selected claims of a suite, and their runs at the base and under each reading."""

    def __init__(
        self, suite: Suite, mode: Mode, only: list[str], assumptions: list[str], repeats: int
    ) -> None:
        """Plans the base. Raises `InputError` if the table is incomplete or an id is unknown."""
        suite.check_assumptions()
        if repeats < 1:
            raise InputError(
                f"--readings-repeats {repeats}: it is out of range; accepted: a whole number from 1"
            )
        self.suite = suite
        self.mode = mode
        self.repeats = repeats
        self.chosen = _chosen(suite, assumptions)
        self.only = only
        if assumptions and not only:
            self.only = [
                claim.id
                for claim in suite.claims
                if any(item in self.chosen for item in self._bearing(claim))
            ]
        self.claims = suite.named(self.only)
        for item in self.chosen if assumptions else ():
            if not any(item in self._bearing(claim) for claim in self.claims):
                raise InputError(
                    f"suite {suite.name}: --assumption {item.id}: bears on none of the selected claims; "
                    f"accepted: {', '.join(_bears_on(suite, item))}"
                )
        wanted = {name for claim in self.claims for name in claim.experiments}
        self.grids = {item.name: item.runs(mode) for item in suite.experiments if item.name in wanted}
        self.works: dict[str, Task[runner.Place]] = {}
        self.keys = {
            name: [self._key(run, run.document, f"suite {suite.name}, {name}") for run in runs]
            for name, runs in self.grids.items()
        }
        self.base = self._variant((), self.claims, None)
        self.like = self._variant((), self.claims, repeats)
        self.every = [
            self._variant(((item, reading),), self._claims_of([item]), repeats)
            for item in suite.assumptions
            for reading in item.readings[1:]
        ]

    def singles(self) -> list[Variant]:
        """Returns the readings of the chosen assumptions."""
        return [variant for variant in self.every if self._is_chosen(variant)]

    def pairs(self, kept: Store) -> list[Variant]:
        """Returns the pairs of readings of chosen assumptions that moved a claim."""
        return [variant for variant in self.every_pair(kept) if self._is_chosen(variant)]

    def every_pair(self, kept: Store) -> list[Variant]:
        """Returns all pairs of readings, of different assumptions, that moved the figure of an open claim."""
        self._judge([self.base, self.like, *self.every], kept)
        wanted: dict[tuple[int, int], list[Claim[Data]]] = {}
        for claim in self.claims:
            if self._reproduced(claim):
                continue
            moved = [
                number
                for number, variant in enumerate(self.every)
                if claim.id in variant.found
                and effects.effect(self._base_of(claim), variant.found[claim.id]).moved
            ]
            for first, second in combinations(moved, 2):
                if self.every[first].parts[0][0] is not self.every[second].parts[0][0]:
                    wanted.setdefault((first, second), []).append(claim)
        return [self._pair(self.every[a], self.every[b], claims) for (a, b), claims in wanted.items()]

    def perform(
        self,
        variants: Iterable[Variant],
        kept: Store,
        jobs: int | None,
        console: Console,
        title: str,
        effort: Effort,
    ) -> None:
        """Runs what these variants need and the store does not have."""
        keys = {key for variant in variants for runs in variant.places.values() for _, key, _ in runs}
        missing = longest_first(self.works[key] for key in sorted(keys) if key not in kept)
        effort.runs += len(keys) - len(missing)
        effort.found += len(keys) - len(missing)
        run = runner.reducing(self.suite, jobs)
        with closing(perform(missing, kept, run, console, title, effort)) as done:
            for _ in done:
                pass

    def document(self, kept: Store, directory: Path) -> dict[str, Any]:
        """Returns the content of `assumptions.json`: these claims, and the others that are stored already."""
        pairs = self.every_pair(kept)
        self._judge(pairs, kept)
        entries = folder.merged_readings(directory, [self._entry(claim, pairs) for claim in self.claims])
        return {
            "suite": self.suite.name,
            "headline": effects.headline(entries),
            "assumptions": [item.to_json(_bears_on(self.suite, item)) for item in self.suite.assumptions],
            "claims": entries,
            "provenance": output.provenance(sys.argv),
        }

    def _variant(self, parts: Parts, claims: Sequence[Claim[Data]], repeats: int | None) -> Variant:
        """Plans some claims with something changed. Raises `InputError` if a scenario is refused."""
        names = dict.fromkeys(name for claim in claims for name in claim.experiments)
        label = " and ".join(f"{item.id}: {reading.name}" for item, reading in parts)
        variant = Variant(parts, tuple(claims), {})
        for name in names:
            places = variant.places[name] = []
            for run, base_key in zip(self.grids[name], self.keys[name], strict=True):
                if repeats is not None and not self._wanted(run, repeats):
                    continue
                document = dict(run.document)
                for item, reading in parts:
                    with faults.named(
                        f"suite {self.suite.name}, {item.id}: {reading.name}: its change failed"
                    ):
                        document = reading.change.apply(document)
                    if not isinstance(document, dict):
                        raise InputError(
                            f"suite {self.suite.name}, {item.id}: {reading.name}, {name}: `rewrite` returns "
                            f"{type(document).__name__}; accepted: the document, a dict"
                        )
                key = base_key
                if document != run.document:
                    source = f"suite {self.suite.name}, {label}, {name}"
                    key = self._key(run, document, source)
                places.append((run.coordinates, key, key != base_key))
        return variant

    def _wanted(self, run: Run, repeats: int) -> bool:
        """Whether a reading needs a run: one of the first repeats, and one that the claims are about."""
        return int(run.coordinates.get("repeat", 0)) < repeats and self.suite.counts(run)

    def _reproduced(self, claim: Claim[Data]) -> bool:
        """Whether a claim holds at the base or under a single reading: pairs cannot change its count."""
        base = self._base_of(claim)
        found = [variant.found[claim.id] for variant in self.every if claim.id in variant.found]
        judged = [(one, effects.effect(base, one)) for one in found]
        return effects.outcome(base.whole, judged, reports=False, complete=True) in ("base", "reading")

    def _pair(self, first: Variant, second: Variant, claims: Sequence[Claim[Data]]) -> Variant:
        """Plans two readings at once; two that no scenario can have together are a result, not an error."""
        parts = (*first.parts, *second.parts)
        try:
            return self._variant(parts, claims, self.repeats)
        except InputError as error:
            return Variant(parts, tuple(claims), {}, problem=f"The two do not go together: {error}")

    def _key(self, run: Run, document: Mapping[str, Any], source: str) -> str:
        scenario = Scenario.from_dict(document, source=source)
        key = run_key(scenario)
        self.works.setdefault(key, Task(key, scenario, run.estimated_packets(scenario), []))
        return key

    def _judge(self, variants: Iterable[Variant], kept: Store) -> None:
        """Judges the claims whose runs are all there and that have not been judged yet."""
        for variant in variants:
            ready = [
                claim
                for claim in variant.claims
                if claim.id not in variant.found
                and not variant.problem
                and all(key in kept for _, key, _ in variant.of(claim))
            ]
            names = {name for claim in ready for name in claim.experiments}
            wanted = {name: variant.places[name] for name in names}
            rows = kept.get({key for places in wanted.values() for _, key, _ in places})
            data = Data(
                {
                    name: Runs(name, [{**at, **self._slim(name, rows[key])} for at, key, _ in places])
                    for name, places in wanted.items()
                }
            )
            for claim in ready:
                variant.found[claim.id] = effects.judged(claim, data)

    def _slim(self, name: str, row: dict[str, Any]) -> dict[str, Any]:
        """Returns what an experiment keeps of a row."""
        if self.suite.experiment(name).keeps_series:
            return row
        return {key: value for key, value in row.items() if key != "series"}

    def _base_of(self, claim: Claim[Data]) -> Base:
        whole = self.base.found.get(claim.id) or effects.unfinished("The runs of the base are missing.")
        like = self.like.found.get(claim.id, whole)
        repeats = _repeats([run for name in claim.experiments for run in self.grids[name]])
        return Base(whole, like, repeats, min(repeats, self.repeats))

    def _entry(self, claim: Claim[Data], pairs: Iterable[Variant]) -> dict[str, Any]:
        """Returns what `assumptions.json` stores of a claim."""
        base = self._base_of(claim)
        found: dict[str, list[tuple[Variant, Judged, Effect]]] = {"readings": [], "pairs": []}
        for kind, variants in (("readings", self.every), ("pairs", pairs)):
            for variant in variants:
                if claim in variant.claims:
                    judged = variant.found.get(claim.id) or effects.unfinished(
                        variant.problem or "Its runs are missing."
                    )
                    found[kind].append((variant, judged, effects.effect(base, judged)))
        every = [*found["readings"], *found["pairs"]]
        fewer = base.readings_repeats < base.repeats
        return {
            "id": claim.id,
            "published": claim.published,
            "mode": self.mode,
            "repeats": base.repeats,
            "readings_repeats": base.readings_repeats,
            "outcome": effects.outcome(
                base.whole,
                [(judged, effect) for _, judged, effect in every],
                reports=claim.reports,
                complete=all(claim.id in variant.found or variant.problem for variant, _, _ in every),
            ),
            "closed": self.suite.closed_because(claim.id),
            "figure": effects.figure_json(base.whole.figure),
            "base": base.whole.to_json(),
            "base_with_fewer_repeats": base.like.to_json() if fewer else None,
            **{kind: [_reading_json(claim, *item) for item in items] for kind, items in found.items()},
        }

    def _bearing(self, claim: Claim[Data]) -> tuple[Assumption, ...]:
        return self.suite.bearing(claim.id)

    def _claims_of(self, assumptions: Iterable[Assumption]) -> list[Claim[Data]]:
        """Returns the selected claims on which all of these assumptions bear."""
        wanted = list(assumptions)
        return [claim for claim in self.claims if all(item in self._bearing(claim) for item in wanted)]

    def _is_chosen(self, variant: Variant) -> bool:
        return all(item in self.chosen for item, _ in variant.parts)


def _chosen(suite: Suite, asked: Iterable[str]) -> tuple[Assumption, ...]:
    """Returns the assumptions of these ids; commas separate several. All if there are none."""
    known = [item.id for item in suite.assumptions]
    wanted = [part.strip() for text in asked for part in text.split(",")]
    for name in wanted:
        if name not in known:
            raise InputError(
                f"suite {suite.name}: --assumption {name}: there is no such assumption"
                f"{suggestion(name, known)}; "
                f"accepted: {', '.join(known) or 'none, the suite has no assumptions'}"
            )
    return tuple(item for item in suite.assumptions if not wanted or item.id in wanted)


def _bears_on(suite: Suite, item: Assumption) -> list[str]:
    return [claim.id for claim in suite.claims if item in suite.bearing(claim.id)]


def _reading_json(claim: Claim[Data], variant: Variant, judged: Judged, effect: Effect) -> dict[str, Any]:
    runs = list(variant.of(claim))
    changed = sum(differs for _, _, differs in runs)
    idle = "" if changed or variant.problem else "It changes none of the claim's runs."
    return {
        "changes": [{"assumption": item.id, "reading": reading.name} for item, reading in variant.parts],
        **judged.to_json(),
        **effect.to_json(),
        "runs": len(runs),
        "runs_changed": changed,
        "note": " ".join(text for text in (idle, judged.note) if text),
    }


def _repeats(runs: Iterable[Run]) -> int:
    """Returns how many repeats the points of a grid have; the greatest number if they differ."""
    counts: dict[str, int] = {}
    for run in runs:
        point = repr(sorted((key, value) for key, value in run.coordinates.items() if key != "repeat"))
        counts[point] = counts.get(point, 0) + 1
    return max(counts.values(), default=1)
