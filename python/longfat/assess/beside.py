"""The live numbers of a dossier beside the simulated ones of the same points and repeats; what has none."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterator
from typing import Any

from longfat.assess.cells import same
from longfat.assess.estimate import Cell, Results
from longfat.assess.live import REPEATS, RULE, Live
from longfat.assess.model import Criterion, Experiment, Measure
from longfat.assess.tasks import Place
from longfat.numbers import finite

NOTE = (
    "The simulated numbers beside the live ones are of the same points and seeds. The simulator's hosts are "
    "those of the stack; the kernel takes their initial window and segment size, and has its "
    "own loss detection, recovery, timers and delayed ACKs. Live, packets count as sent when the "
    "router sees them, a retransmission is spurious if the receiver reports a duplicate, and a "
    "transfer ends when its sender has seen the receiver close the connection (docs/live.md, Results "
    "with a different meaning than in the simulator)."
)
SHOWN = ("checks", "lateness_s", "processor", "realtime", "congestion")
"""What a dossier shows of a run's validity: not what else ran on the machine."""


def told(live: Live, results: Results) -> dict[str, Any]:
    """Returns what the dossier says of its live runs as a whole."""
    own = results.asked.algorithm.label
    valid = [outcome for outcome in live.outcomes if outcome.numbers is not None]
    is_live = any(place[2] == own for place in live.rows)
    whys = [] if is_live else [why for place, why in live.left_out.items() if place[2] == own]
    return {
        "kernel": platform.release(),
        "host": platform.node(),
        "repeats": REPEATS[results.asked.mode],
        "runs": len(valid),
        "not_valid": len(live.outcomes) - len(valid),
        "without_result": live.without_result,
        "attempts": sum(outcome.attempts for outcome in live.outcomes),
        "carriers": dict(live.carriers),
        "without": "" if not whys else f"No live run of {own} has a result: {max(whys, key=whys.count)}",
        "rule": RULE,
        "note": NOTE,
    }


def table_rows(live: Live) -> dict[Place, dict[str, Any]]:
    """Returns a row for each place of a live run: the numbers, if it was valid, and how it went."""
    found: dict[Place, dict[str, Any]] = {}
    for outcome in live.outcomes:
        lateness_s = outcome.validity.get("lateness_s") or (None, None, None)
        row = {
            "valid": outcome.numbers is not None,
            "attempts": outcome.attempts,
            "lateness_p99_s": lateness_s[1],
            **(outcome.numbers or {}),
        }
        found.update(dict.fromkeys(outcome.work.places, row))
    return found


def of_row(live: Live, results: Results, row: Criterion) -> dict[str, Any]:
    """Returns the live numbers of a row of the RFC beside the simulated ones, and what has none and why.

    Each algorithm has its own `points`: those at which both sides have a value of the number. `ran` has the
    points at which it ran live.
    """
    beside = Results(results.asked, live.rows, {})
    own = results.asked.algorithm.label
    numbers: dict[str, Any] = {}
    ran: dict[str, dict[str, list[str]]] = {}
    there = {place[:3] for place in live.rows}
    for experiment in row.experiments:
        points = {
            contender.label: [
                point.at
                for point in experiment.points(results.asked.mode)
                if (experiment.name, point.at, contender.label) in there
            ]
            for contender in results.asked.everyone
        }
        if points[own]:
            ran[experiment.name] = {label: listed for label, listed in points.items() if listed}
            for item in experiment.measures:
                numbers[f"{experiment.name}.{item.key}"] = {
                    "algorithms": {
                        label: _both(beside, results, experiment, item, label)
                        for label in ran[experiment.name]
                    }
                }
    return {
        "numbers": numbers,
        "ran": ran,
        "left_out": list(_left_out(live, results, row)),
        "runs": list(_runs(live, row)),
    }


def _both(
    beside: Results, results: Results, experiment: Experiment, measure: Measure, label: str
) -> dict[str, Any]:
    """Returns both sides of a number, over the points and repeats for which both have a value."""
    repeats = REPEATS[results.asked.mode]
    live, simulated = (
        Cell({at: values[:repeats] for at, values in side.points.items()}, side.over)
        for side in (beside.cell(experiment, measure, label), results.cell(experiment, measure, label))
    )
    live, simulated = live.where(simulated), simulated.where(live)
    return {
        "points": [at for at, values in live.points.items() if any(map(math.isfinite, values))],
        "live": live.estimate.to_json(),
        "simulated": simulated.estimate.to_json(),
    }


def _left_out(live: Live, results: Results, row: Criterion) -> Iterator[str]:
    """Yields a line for each reason and each set of points that it leaves out, with the algorithms."""
    repeats = REPEATS[results.asked.mode]
    for experiment in row.experiments:
        of = f"{experiment.title}, " if len(row.experiments) > 1 else ""
        found: dict[tuple[str, int], dict[str, list[str]]] = {}
        for contender in results.asked.everyone:
            for point in experiment.points(results.asked.mode):
                places = [(experiment.name, point.at, contender.label, i) for i in range(repeats)]
                if whys := [live.left_out[place] for place in places if place in live.left_out]:
                    key = "; ".join(dict.fromkeys(whys)), len(whys)
                    found.setdefault(key, {}).setdefault(contender.label, []).append(point.at)
        for (why, number), by_label in found.items():
            some = f", {number} of {repeats} repeats" if number < repeats else ""
            for listed, labels in same(by_label).items():
                yield f"{of}{', '.join(listed)} ({', '.join(labels)}{some}): {why}"


def _runs(live: Live, row: Criterion) -> Iterator[dict[str, Any]]:
    """Yields how each live run of a row went."""
    names = [experiment.name for experiment in row.experiments]
    for outcome in live.outcomes:
        for name, at, label, repeat in outcome.work.places:
            if name in names:
                yield {
                    "experiment": name,
                    "at": at,
                    "algorithm": label,
                    "seed": repeat + 1,
                    "valid": outcome.numbers is not None,
                    "attempts": outcome.attempts,
                    "failed": list(outcome.failed),
                    "validity": finite({key: outcome.validity.get(key) for key in SHOWN}),
                }
