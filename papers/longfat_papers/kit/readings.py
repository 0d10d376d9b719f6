"""Runs a suite's claims under the readings of what its paper leaves open.

First the base, as `longfat suite` runs it; then one assumption changed at a time; then, for claims that hold
neither at the base nor under a single reading, all pairs of readings, of different assumptions, that moved
the claim's figure. Every run is kept in the suite's store under the key of its plan, so readings share runs
with the base and with each other, and an interrupted command goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Unpack

from longfat.errors import InputError
from longfat.numbers import finite
from longfat.store import output
from longfat.store.store import Store
from longfat.study.run import Effort
from longfat.words import Mode, choice
from longfat_papers.kit import effects, faults, folder, runner
from longfat_papers.kit.assumptions import Assumption, Reading
from longfat_papers.kit.claims import Claim, Judged, judged, unfinished
from longfat_papers.kit.effects import Base, Effect, headline_text
from longfat_papers.kit.suite import Data, Run, Suite
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
    places: dict[str, list[runner.Place]]
    problem: str = ""
    found: dict[str, Judged] = field(default_factory=dict)

    def of(self, claim: Claim[Data]) -> Iterator[runner.Place]:
        """Yields the runs that a claim needs."""
        for name in claim.experiments:
            yield from self.places.get(name, [])


def run_assumptions(
    suite: Suite,
    mode: Mode = "quick",
    *,
    assumptions: Iterable[str] = (),
    repeats: int = DEFAULT_REPEATS,
    **options: Unpack[runner.Options],
) -> AssumptionsOutcome:
    """Runs a suite, then its claims under each reading; judges, writes and draws both.

    The options are those of `run_suite`, with two differences. Claims that merely share an experiment with
    one that ``only`` names are run at the base alone. If it names none, all claims are run on which the
    chosen assumptions bear. Claims in `assumptions.json` that are not selected are kept.

    Args:
        suite: what to run; it has a table of assumptions.
        mode: as in `run_suite`.
        assumptions: ids of the assumptions whose readings are run; all if empty. Readings of the others are
            judged too if their runs are stored.
        repeats: the most repeats of a run under a reading; the base has all of them.
        options: as in `run_suite`.

    Raises:
        InputError: the table is incomplete, an id is unknown, a reading gives a scenario that is refused, or
            the directory is not writable; raised before anything runs.
        KeyboardInterrupt: after what has finished was written.
    """
    study = ReadingsStudy(suite, mode, options, list(assumptions), repeats)
    singles = study.singles()
    base = runner.measure(runner.Study(suite, mode, {**options, "only": study.only}))
    study.effort = Effort()
    with study.opened() as kept:
        try:
            study.perform(_keys(singles), kept, ", readings")
            study.perform(_keys(study.pairs(kept)), kept, ", pairs")
        finally:
            # An interrupted command also judges and writes what has finished.
            document = study.document(kept)
            folder.write_json(study.directory / folder.ASSUMPTIONS_FILE, document)
    study.draw()
    runner.print_outcome(study.console, base)
    shown = [entry for entry in document["claims"] if entry["id"] in {claim.id for claim in study.claims}]
    study.console.print(turns_table(shown))
    cost = runner.cost(study.effort.performance())
    study.console.print(f"{headline_text(document['headline'])}; readings: {cost}")
    study.console.print(f"report: {base.report_path}", soft_wrap=True)
    return AssumptionsOutcome(base, document)


def _keys(variants: Iterable[Variant]) -> Iterator[str]:
    return (key for variant in variants for runs in variant.places.values() for _, key, _ in runs)


class ReadingsStudy(runner.Study):
    """The selected claims of a suite, and their runs at the base and under each reading."""

    def __init__(
        self, suite: Suite, mode: Mode, options: runner.Options, assumptions: list[str], repeats: int
    ) -> None:
        """Plans the base. Raises `InputError` if the table is incomplete or an id is unknown."""
        super().__init__(suite, mode, options)
        suite.check_assumptions()
        if repeats < 1:
            raise InputError(
                f"--readings-repeats {repeats}: it is out of range; accepted: a whole number from 1"
            )
        self.repeats = repeats
        self.chosen = _chosen(suite, assumptions)
        if assumptions and not self.only:
            self.only = [
                claim.id
                for claim in suite.claims
                if any(item in self.chosen for item in suite.bearing(claim.id))
            ]
        self.claims = suite.named(self.only)
        for item in self.chosen if assumptions else ():
            if not self._claims_of([item]):
                raise InputError(
                    f"suite {suite.name}: --assumption {item.id}: bears on none of the selected claims; "
                    f"accepted: {', '.join(_bears_on(suite, item))}"
                )
        wanted = {name for claim in self.claims for name in claim.experiments}
        self.grids = {item.name: item.runs(mode) for item in suite.experiments if item.name in wanted}
        self.keys = {
            name: [self.plan(run, self.scenario(name, run.document)) for run in runs]
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

    def document(self, kept: Store) -> dict[str, Any]:
        """Returns the content of `assumptions.json`: these claims, and the others that are stored already."""
        pairs = self.every_pair(kept)
        self._judge(pairs, kept)
        new: list[dict[str, Any]] = finite([self._entry(claim, pairs) for claim in self.claims])
        entries = folder.merged_readings(self.directory, new)
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
        label = ", " + " and ".join(f"{item.id}: {reading.name}" for item, reading in parts)
        variant = Variant(parts, tuple(claims), {})
        for name in names:
            places = variant.places[name] = []
            for run, base_key in zip(self.grids[name], self.keys[name], strict=True):
                if repeats is not None and not self._wanted(run, repeats):
                    continue
                document = dict(run.document)
                for item, reading in parts:
                    change = f"suite {self.suite.name}, {item.id}: {reading.name}"
                    with faults.named(f"{change}: its change failed"):
                        document = reading.change.apply(document)
                    if not isinstance(document, dict):
                        raise InputError(
                            f"{change}, {name}: `rewrite` returns {type(document).__name__}; accepted: the "
                            "document, a dict"
                        )
                key = base_key
                if document != run.document:
                    key = self.plan(run, self.scenario(name, document, label))
                places.append((run.coordinates, key, key != base_key))
        return variant

    def _wanted(self, run: Run, repeats: int) -> bool:
        """Whether a reading needs a run: one of the first repeats, and one that the claims are about."""
        return int(run.coordinates.get("repeat", 0)) < repeats and self.suite.counts(run)

    def _reproduced(self, claim: Claim[Data]) -> bool:
        """Whether a claim holds at the base or under a single reading: pairs cannot change its count."""
        base = self._base_of(claim)
        found = [variant.found[claim.id] for variant in self.every if claim.id in variant.found]
        with_effects = [(one, effects.effect(base, one)) for one in found]
        return effects.outcome(base.whole, with_effects, reports=False, complete=True) in ("base", "reading")

    def _pair(self, first: Variant, second: Variant, claims: Sequence[Claim[Data]]) -> Variant:
        """Plans two readings at once; two that no scenario can have together are a result, not an error."""
        parts = (*first.parts, *second.parts)
        try:
            return self._variant(parts, claims, self.repeats)
        except InputError as error:
            return Variant(parts, tuple(claims), {}, problem=f"The two do not go together: {error}")

    def _judge(self, variants: Iterable[Variant], kept: Store) -> None:
        """Judges the claims whose runs are all there and that have not been judged yet."""
        for variant in variants:
            claims = [claim for claim in variant.claims if claim.id not in variant.found]
            names = {name for claim in claims for name in claim.experiments if not variant.problem}
            data = self.data(kept, {name: variant.places[name] for name in names})
            for claim in claims:
                if data.experiments.keys() >= set(claim.experiments):
                    variant.found[claim.id] = judged(claim, data)

    def _base_of(self, claim: Claim[Data]) -> Base:
        whole = self.base.found.get(claim.id) or unfinished("The runs of the base are missing.")
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
                    came = variant.found.get(claim.id) or unfinished(
                        variant.problem or "Its runs are missing."
                    )
                    found[kind].append((variant, came, effects.effect(base, came)))
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
                [(came, effect) for _, came, effect in every],
                reports=claim.reports,
                complete=all(claim.id in variant.found or variant.problem for variant, _, _ in every),
            ),
            "closed": self.suite.closed_because(claim.id),
            "figure": {key: getattr(base.whole.figure, key) for key in ("label", "published", "log")},
            "base": base.whole.to_json(),
            "base_with_fewer_repeats": base.like.to_json() if fewer else None,
            **{kind: [_reading_json(claim, *item) for item in items] for kind, items in found.items()},
        }

    def _claims_of(self, assumptions: Iterable[Assumption]) -> list[Claim[Data]]:
        """Returns the selected claims on which all of these assumptions bear."""
        wanted = list(assumptions)
        return [
            claim for claim in self.claims if all(item in self.suite.bearing(claim.id) for item in wanted)
        ]

    def _is_chosen(self, variant: Variant) -> bool:
        return all(item in self.chosen for item, _ in variant.parts)


def _chosen(suite: Suite, asked: Iterable[str]) -> tuple[Assumption, ...]:
    """Returns the assumptions of these ids; commas separate several. All if there are none."""
    known = [item.id for item in suite.assumptions]
    wanted = [part.strip() for text in asked for part in text.split(",")]
    for name in wanted:
        if name not in known:
            accepted = ", ".join(known) or "none, the suite has no assumptions"
            unknown = choice(name, known, accepted, "assumption")
            raise InputError(f"suite {suite.name}: --assumption {name}: {unknown}")
    return tuple(item for item in suite.assumptions if not wanted or item.id in wanted)


def _bears_on(suite: Suite, item: Assumption) -> list[str]:
    return [claim.id for claim in suite.claims if item in suite.bearing(claim.id)]


def _reading_json(claim: Claim[Data], variant: Variant, found: Judged, effect: Effect) -> dict[str, Any]:
    runs = list(variant.of(claim))
    changed = sum(differs for _, _, differs in runs)
    idle = "" if changed or variant.problem else "It changes none of the claim's runs."
    return {
        "changes": [{"assumption": item.id, "reading": reading.name} for item, reading in variant.parts],
        **found.to_json(),
        "difference": effect.difference,
        "difference_stderr": effect.stderr,
        "moved": effect.moved,
        "turned": effect.turned,
        "runs": len(runs),
        "runs_changed": changed,
        "note": " ".join(text for text in (idle, found.note) if text),
    }


def _repeats(runs: Iterable[Run]) -> int:
    """Returns how many repeats the points of a grid have; the greatest number if they differ."""
    counts: dict[str, int] = {}
    for run in runs:
        point = repr(sorted((key, value) for key, value in run.coordinates.items() if key != "repeat"))
        counts[point] = counts.get(point, 0) + 1
    return max(counts.values(), default=1)
