"""The live form of a dossier: runs that this machine's own TCP can carry, beside the simulated ones.

Live runs take real time and happen one after the other. Each is kept when it ends, so an interrupted command
goes on. A run that is not carried keeps its simulated numbers, and the dossier says why.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

from longfat.assess.estimate import Cell, Results, Row
from longfat.assess.measure import measure
from longfat.assess.model import Criterion, Experiment
from longfat.assess.tasks import Assessment, Place, Planned, Work
from longfat.errors import InputError, LongfatError
from longfat.live import doctor, kernel
from longfat.live import run as live_run
from longfat.live.check import check
from longfat.runs import plan
from longfat.scenario.model import Scenario
from longfat.store.identity import digest
from longfat.store.store import Store
from longfat.words import Mode

MOST_BPS = 100e6
"""The greatest rate of a live run (chosen here): a tenth of what two processors carry (docs/live.md)."""
MOST_FLOWS = 50
"""The most flows of a live run: with more, congestion events are missed (docs/live.md)."""
LONGEST_S = 60.0
"""The longest live run, seconds (chosen here): most experiments last so long."""
REPEATS: dict[Mode, int] = {"quick": 1, "full": 3}
"""Live repeats at each point (chosen here); the simulator's first ones have the same seeds."""
ATTEMPTS = 3
"""How often a live run is tried until it is valid (chosen here)."""

RULE = (
    f"A run is live if its link has at most {MOST_BPS / 1e6:g} Mbit/s, it has at most {MOST_FLOWS} flows and "
    f"lasts at most {LONGEST_S:g} s, and a kernel can do what it asks for."
)
OWN_KERNEL = (
    "Live runs use this machine's kernel: its own TCP with its modules or Longfat's eBPF forms of the "
    "algorithms. The simulated numbers beside them are of the same points and seeds."
)


def unfit(scenario: Scenario) -> str | None:
    """Returns in a few words why a scenario does not run live; None if it does."""
    rate_bps = float(scenario.bottleneck.rate)
    if rate_bps > MOST_BPS:
        return f"{rate_bps / 1e6:g} Mbit/s; live: at most {MOST_BPS / 1e6:g}"
    flows = sum(flow.count for flow in scenario.flow)
    if flows > MOST_FLOWS:
        return f"{flows} flows; live: at most {MOST_FLOWS}"
    if scenario.duration > LONGEST_S:
        return f"{scenario.duration:g} s; live: at most {LONGEST_S:g}"
    try:
        check(scenario)
        own, foreign = kernel.users_own(scenario), kernel.kernels_own(scenario)
        kernel.congestion(plan.build(scenario), own, foreign)
    except InputError as error:
        said = "; ".join(error.lines()).removeprefix("scenario: ")
        return said.partition("; accepted")[0]
    return None


def check_machine() -> None:
    """Raises InputError, with what to do, if this machine can run nothing live."""
    for item in doctor.examine():
        if item["needed"] and not item["ok"]:
            raise InputError(f"assess --backend live: {item['name']}: {item['found']}; {item['remedy']}")


@dataclass(frozen=True)
class Chosen:
    """The runs of a dossier that are live, and why the others are not."""

    works: tuple[Work, ...]
    left_out: Mapping[Place, str]

    @property
    def seconds(self) -> float:
        """How long they last together."""
        return math.fsum(work.scenario.duration for work in self.works)


def choose(asked: Assessment, planned: Planned) -> Chosen:
    """Chooses the runs by `RULE`.

    Raises:
        InputError: none of the algorithm's own runs can be live.
    """
    works: list[Work] = []
    left_out: dict[Place, str] = {}
    for work in planned.works:
        places = [place for place in work.places if place[3] < REPEATS[asked.mode]]
        if not places:
            continue
        if (why := unfit(work.scenario)) is None:
            works.append(work)
        else:
            left_out |= dict.fromkeys(places, why)
    own = asked.algorithm.label
    if not any(place[2] == own for work in works for place in work.places):
        whys = [why for (_, _, label, _), why in left_out.items() if label == own]
        why = max(whys, key=whys.count) if whys else "nothing runs for these rows"
        raise InputError(
            f"assess --backend live: {own}: {why}; accepted: an algorithm and rows that run live"
        )
    return Chosen(tuple(sorted(works, key=lambda work: work.scenario.duration)), left_out)


def live_key(work: Work) -> str:
    """Returns the key of a live run in the store: of the run, and of the kernel that carries it."""
    return digest(["live", work.key, platform.release()])


@dataclass(frozen=True)
class Live:
    """The rows of the live runs, and why others have none; `runs` counts distinct ones."""

    rows: Mapping[Place, Row]
    left_out: Mapping[Place, str]
    runs: int


def perform(chosen: Chosen, kept: Store, console: Console) -> Live:
    """Runs what the store does not have, one after the other, the shortest first."""
    there = kept.get(live_key(work) for work in chosen.works)
    missing = [work for work in chosen.works if live_key(work) not in there]
    rows: dict[Place, Row] = {}
    left_out = dict(chosen.left_out)
    left_s = math.fsum(work.scenario.duration for work in missing)
    runs = len(there)
    for work in chosen.works:
        if live_key(work) in there:
            rows.update(dict.fromkeys(work.places, there[live_key(work)]))
    for number, work in enumerate(missing, start=1):
        told = f"live run {number} of {len(missing)}, about {math.ceil(left_s / 60)} min left"
        with console.status(told):
            row, why = _valid(work)
        if row is None:
            left_out |= dict.fromkeys(work.places, why)
        else:
            kept.add(live_key(work), row)
            rows.update(dict.fromkeys(work.places, row))
            runs += 1
        left_s -= work.scenario.duration
    return Live(rows, left_out, runs)


def _valid(work: Work) -> tuple[Row | None, str]:
    """Runs it live until a result is valid; otherwise returns why the last one was not."""
    why = ""
    for _ in range(ATTEMPTS):
        try:
            result = live_run.run(work.scenario, "live run")
        except InputError as error:
            return None, "; ".join(error.lines())
        except LongfatError as error:
            why = f"{error}"
            continue
        wrong = [item for item in (result.validity or {})["checks"] if not item["ok"]]
        if not wrong:
            return measure(result), ""
        why = "not valid: " + "; ".join(f"{item['name']} {item['value']:.4g}" for item in wrong)
    return None, why


def told(live: Live, results: Results) -> dict[str, Any]:
    """Returns what the dossier says of its live runs as a whole."""
    return {
        "kernel": platform.release(),
        "repeats": REPEATS[results.asked.mode],
        "runs": live.runs,
        "rule": RULE,
        "note": OWN_KERNEL,
    }


def of_row(live: Live, results: Results, row: Criterion) -> dict[str, Any]:
    """Returns the live numbers of a row of the RFC beside the simulated ones, and what has none and why."""
    numbers: dict[str, Any] = {}
    for experiment in row.experiments:
        labels, points = _common(live, results.asked, experiment)
        if not points:
            continue
        beside = Results(results.asked, live.rows, {})
        for item in experiment.measures:
            sides = {
                label: {
                    name: _over(side.cell(experiment, item, label), points, results.asked.mode).estimate
                    for name, side in (("live", beside), ("simulated", results))
                }
                for label in labels
            }
            numbers[f"{experiment.name}.{item.key}"] = {
                "points": points,
                "algorithms": {
                    label: {name: found.to_json() for name, found in both.items()}
                    for label, both in sides.items()
                },
            }
    return {"numbers": numbers, "left_out": _left_out(live, row)}


def _over(cell: Cell, points: Sequence[str], mode: Mode) -> Cell:
    """Returns a cell over some points, and over as many repeats as there are live."""
    return Cell({at: cell.points[at][: REPEATS[mode]] for at in points}, cell.over)


def _common(live: Live, asked: Assessment, experiment: Experiment) -> tuple[list[str], list[str]]:
    """Returns the algorithms that ran live in an experiment, and the points that all of them have."""
    listed = [point.at for point in experiment.points(asked.mode)]

    def ran(label: str) -> set[str]:
        return {
            at
            for at in listed
            if all((experiment.name, at, label, i) in live.rows for i in range(REPEATS[asked.mode]))
        }

    by_label = {contender.label: ran(contender.label) for contender in asked.everyone}
    labels = [label for label, points in by_label.items() if points]
    if asked.algorithm.label not in labels:
        return [], []
    common = set.intersection(*(by_label[label] for label in labels))
    return labels, [at for at in listed if at in common]


def _left_out(live: Live, row: Criterion) -> list[str]:
    """Returns a line for each reason, with the points and the algorithms that it leaves out."""
    names = [experiment.name for experiment in row.experiments]
    by_why: dict[str, list[Place]] = {}
    for place, why in live.left_out.items():
        if place[0] in names:
            by_why.setdefault(why, []).append(place)
    return [
        f"{_listed(place[1] for place in places)} ({_listed(place[2] for place in places)}): {why}"
        for why, places in by_why.items()
    ]


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
