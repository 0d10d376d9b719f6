"""The live form of a dossier: runs that this machine's own TCP can carry, beside the simulated ones.

Live runs take real time and happen one after the other. Each is kept when it ends, so an interrupted command
goes on. A run that is not carried keeps its simulated numbers, and the dossier says why (`beside`).
"""

from __future__ import annotations

import hashlib
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rich.console import Console

from longfat.assess.estimate import Row
from longfat.assess.measure import measure
from longfat.assess.tasks import Assessment, Place, Planned
from longfat.errors import InputError, LongfatError
from longfat.live import doctor, kernel
from longfat.live import run as live_run
from longfat.live.check import check
from longfat.scenario import registry
from longfat.scenario.model import Algorithm, Scenario
from longfat.store.identity import digest
from longfat.store.store import Store
from longfat.study.run import Task
from longfat.words import Mode

MOST_BPS = 100e6
"""The greatest rate of a live run (chosen here): with one flow and a buffer of 100 % BDP, two processors
carry fifty times as much (docs/live.md), but a dossier also has small buffers and many flows."""
MOST_FLOWS = 50
"""The most flows of a live run (chosen here)."""
LONGEST_S = 60.0
"""The longest live run, seconds (chosen here): most experiments last so long."""
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Live repeats at each point (chosen here); the simulator's first ones have the same seeds."""
ATTEMPTS = 3
"""How often a live run is tried until it is valid (chosen here)."""
MOST_BROKEN = 3
"""After this number of runs in a row without any result no further one is tried (chosen here)."""
FORMAT = 1
"""The form in which the store keeps live runs; part of their keys."""

RULE = (
    f"A run is live if its link has at most {MOST_BPS / 1e6:g} Mbit/s, it has at most {MOST_FLOWS} flows and "
    f"lasts at most {LONGEST_S:g} s, and a kernel can do what it asks for."
)


def unfit(scenario: Scenario) -> str | None:
    """Returns in a few words why a scenario does not run live on this machine; None if it does."""
    rate_bps = scenario.bottleneck.rate
    if rate_bps > MOST_BPS:
        return f"{rate_bps / 1e6:g} Mbit/s; live: at most {MOST_BPS / 1e6:g}"
    flows = sum(flow.count for flow in scenario.flow)
    if flows > MOST_FLOWS:
        return f"{flows} flows; live: at most {MOST_FLOWS}"
    if scenario.duration > LONGEST_S:
        return f"{scenario.duration:g} s; live: at most {LONGEST_S:g}"
    try:
        check(scenario)
        names = kernel.congestion(scenario)
    except InputError as error:
        said = "; ".join(error.lines()).removeprefix("scenario: ")
        return said.partition("; accepted")[0]
    there = kernel.available()
    for name in sorted(set(names.values())):
        found, remedy = doctor.lacks(name, there)
        if found:
            said = found if name in found else f"{name}: {found}"
            return f"{said}; to fix it: {remedy}"
    return None


def check_machine(asked: Assessment) -> None:
    """Raises InputError, with what to do, if this machine can run nothing of the algorithm live."""
    row = registry.algorithm_named(asked.algorithm.algorithm.name)
    needs_cgroup = row is not None and row.get("explicit", False)  # the header is a TCP option
    doctor.refuse_without(("cgroup",) if needs_cgroup else (), "assess")


@dataclass(frozen=True)
class Chosen:
    """The runs of a dossier that are live, the shortest first, and why the others are not.

    The key of a run is that of its live form. `carriers` says for each algorithm what the kernel runs.
    """

    works: tuple[Task[Place], ...]
    left_out: Mapping[Place, str]
    carriers: Mapping[str, str]


def choose(asked: Assessment, planned: Planned) -> Chosen:
    """Chooses the runs by `RULE`.

    Raises:
        InputError: none of the algorithm's own runs can be live.
    """
    works: list[Task[Place]] = []
    left_out: dict[Place, str] = {}
    for work in planned.works:
        places = [place for place in work.places if place[3] < REPEATS[asked.mode]]
        if not places:
            continue
        if (why := unfit(work.scenario)) is None:
            works.append(replace(work, key=live_key(work)))
        else:
            left_out |= dict.fromkeys(places, why)
    own = asked.algorithm.label
    labels = {place[2] for work in works for place in work.places}
    if own not in labels:
        whys = [why for (_, _, label, _), why in left_out.items() if label == own]
        why = max(whys, key=whys.count) if whys else "nothing runs for these rows"
        raise InputError(
            f"assess --backend live: {own}: {why}; accepted: an algorithm and rows that run live"
        )
    works.sort(key=lambda work: work.scenario.duration)
    carriers = {other.label: _carrier(other.algorithm) for other in asked.everyone if other.label in labels}
    return Chosen(tuple(works), left_out, carriers)


def _carrier(algorithm: Algorithm) -> str:
    """Says what runs an algorithm live."""
    if algorithm.ebpf:
        return "your eBPF object"
    name = algorithm.name if algorithm.foreign else kernel.name_of(algorithm.name, kernel.available())
    return f"Longfat's eBPF form {name}" if name in kernel.own_forms() else f"the kernel's own {name}"


def live_key(work: Task[Place]) -> str:
    """Returns the key of a live run in the store: of the run, the machine, its kernel, and what it loads."""
    names = kernel.congestion(work.scenario)
    own = sorted(kernel.own_forms() & set(names.values()))
    loaded = {name: hashlib.sha256((kernel.forms() / f"{name}.o").read_bytes()).hexdigest() for name in own}
    system = [platform.node(), platform.release(), platform.version()]
    return digest(["live", FORMAT, work.key, system, names, loaded])


@dataclass(frozen=True)
class Outcome:
    """What came of a live run.

    Attributes:
        work: the run.
        numbers: what `measure` returns for the valid result; None if no attempt was valid.
        attempts: how often it was tried.
        failed: why earlier attempts, or all of them, were not valid.
        validity: what the last attempt with a result says of itself.
    """

    work: Task[Place]
    numbers: Row | None
    attempts: int
    failed: tuple[str, ...]
    validity: Mapping[str, Any]


@dataclass(frozen=True)
class Live:
    """The live runs of a dossier.

    Attributes:
        rows: the numbers of the valid ones.
        left_out: why other places have none.
        outcomes: what came of each distinct run that had a result, valid or not.
        without_result: how many were refused, ended early or were not tried.
        carriers: what the kernel runs for each algorithm.
    """

    rows: Mapping[Place, Row]
    left_out: Mapping[Place, str]
    outcomes: tuple[Outcome, ...] = ()
    without_result: int = 0
    carriers: Mapping[str, str] = field(default_factory=dict)


def perform(chosen: Chosen, kept: Store, console: Console, *, retry: bool = False) -> Live:
    """Runs what the store does not have, one after the other, the shortest first.

    Args:
        chosen: the runs.
        kept: the store, which keeps valid results, and also that no attempt of a run was valid.
        console: shows progress.
        retry: whether to try runs again that were not valid.
    """
    earlier = {work.key: old for work in chosen.works if (old := _kept(work, kept)) is not None}
    outcomes = {key: old for key, old in earlier.items() if old.numbers is not None or not retry}
    missing = [work for work in chosen.works if work.key not in outcomes]
    left_out = dict(chosen.left_out)
    left_s = math.fsum(work.scenario.duration for work in missing)
    broken = 0
    for number, work in enumerate(missing, start=1):
        if broken == MOST_BROKEN:
            left_out |= dict.fromkeys(work.places, f"not tried: {broken} runs in a row had no result")
            continue
        with console.status(f"live run {number} of {len(missing)}, about {math.ceil(left_s / 60)} min left"):
            found = _tried(work, earlier.get(work.key))
        if isinstance(found, Outcome):
            row = {field.name: getattr(found, field.name) for field in fields(found)[1:]}
            kept.add(work.key if found.numbers is not None else _failure_keys(work, kept)[1], row)
            outcomes[work.key] = found
        else:
            left_out |= dict.fromkeys(work.places, f"{found}")
        broken = broken + 1 if isinstance(found, LongfatError) and not isinstance(found, InputError) else 0
        left_s -= work.scenario.duration
    rows: dict[Place, Row] = {}
    for found in outcomes.values():
        if found.numbers is not None:
            rows |= dict.fromkeys(found.work.places, found.numbers)
            continue
        # without the values, so that runs with the same fault have one line
        wrong = ", ".join(item["name"] for item in _wrong(found.validity))
        why = f"not valid in {found.attempts} attempts, the last one because of: {wrong}"
        left_out |= dict.fromkeys(found.work.places, why)
    without = len(chosen.works) - len(outcomes)
    return Live(rows, left_out, tuple(outcomes.values()), without, chosen.carriers)


def _kept(work: Task[Place], kept: Store) -> Outcome | None:
    """Returns what the store has of a run: the valid result, else the last failure."""
    key = work.key if work.key in kept else _failure_keys(work, kept)[0]
    if key is None:
        return None
    row = kept.get([key])[key]
    return Outcome(work, **row | {"failed": tuple(row["failed"])})


def _failure_keys(work: Task[Place], kept: Store) -> tuple[str | None, str]:
    """Returns the keys of a run's last failure and of its next one: a store does not replace rows."""
    keys: list[str | None] = [None]
    while (key := digest([work.key, "not valid", len(keys) - 1])) in kept:
        keys.append(key)
    return keys[-1], key


def _tried(work: Task[Place], earlier: Outcome | None) -> Outcome | LongfatError:
    """Runs it live until a result is valid; returns the error if no attempt had a result.

    What an earlier command tried counts among the attempts.
    """
    failed: list[str] = [] if earlier is None else list(earlier.failed)
    before = 0 if earlier is None else earlier.attempts
    validity: Mapping[str, Any] | None = None
    ended = LongfatError("no attempt")
    for attempt in range(before + 1, before + ATTEMPTS + 1):
        try:
            result = live_run.run(work.scenario, "live run")
        except InputError as error:
            return error
        except LongfatError as error:
            ended = error
            failed.append(f"{error}")
            continue
        validity = result.validity or {"checks": []}
        wrong = _wrong(validity)
        if not wrong:
            return Outcome(work, measure(result), attempt, tuple(failed), validity)
        failed.append("not valid: " + "; ".join(f"{item['name']} {item['value']:.4g}" for item in wrong))
    if validity is None:
        return ended
    return Outcome(work, None, before + ATTEMPTS, tuple(failed), validity)


def _wrong(validity: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [item for item in validity["checks"] if not item["ok"]]
