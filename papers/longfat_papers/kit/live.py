"""Runs a suite between real hosts, and the same files in the simulator.

Live runs take real time and happen one after the other. Each is kept when it ends, so the same command
continues an interrupted one. The claims' own rules are applied to both sides. The ledger has the verdicts in
the value `live` of each row; the folder `live` has the figures.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Unpack

from rich.table import Table

from longfat.errors import InputError, LongfatError
from longfat.live import doctor, kernel
from longfat.live import run as live_run
from longfat.live.check import check
from longfat.live.identity import live_key
from longfat.report.page import PAGE
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.store import ledger, output
from longfat.store.store import Store
from longfat.words import Mode
from longfat_papers.kit import folder, runner
from longfat_papers.kit.claims import judged, ledger_row, unfinished
from longfat_papers.kit.faults import StudyError
from longfat_papers.kit.hosts import Hosts, Unfit
from longfat_papers.kit.suite import Data, Experiment, Run, Runs, Suite
from longfat_papers.kit.text import counted

ATTEMPTS = 3
"""How often a live run is tried until it is valid (chosen here)."""
SIDES = ("live", "simulated")
NOT_RUN = "not run"
"""The status of a suite whose folder has nothing of it in the simulator with the paper's settings."""


@dataclass(frozen=True)
class LiveOutcome(runner.SuiteOutcome):
    """What a suite produced between real hosts.

    Attributes:
        without: why experiments cannot run between real hosts, by name; ``experiments`` are the others.
        invalid: why experiments lack results, by name: no attempt of one of their live runs was valid.
    """

    without: Mapping[str, str] = field(default_factory=dict)
    invalid: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns the object that `longfat suite --backend live --json` prints."""
        more = {"without": dict(self.without), "invalid": dict(self.invalid)}
        return {**super().to_json(), "backend": "live", **more}

    def raise_if_invalid(self) -> None:
        """Raises `LongfatError` if drawings or rules of claims failed, or live runs were not valid."""
        super().raise_if_invalid()
        if self.invalid:
            why = "; ".join(f"{name}: {text}" for name, text in self.invalid.items())
            raise LongfatError(f"suite {self.suite}: --backend live: without live results: {why}")


class LiveRun(NamedTuple):
    """A run of an experiment for real hosts: its scenario, and its key by side."""

    run: Run
    divisor: float
    scenario: Scenario
    keys: Mapping[str, str]


def run_live(suite: Suite, mode: Mode = "quick", **options: Unpack[runner.Options]) -> LiveOutcome:
    """Runs the selected experiments in the simulator and between real hosts; judges and writes both.

    The options are those of `run_suite`; ``jobs`` is for the simulator. What ``out`` has of the suite in the
    simulator with the paper's settings stays.

    Raises:
        InputError: the suite, or all that was selected of it, cannot run between real hosts; this machine
            lacks what the runs take that are not stored; an id is unknown; the directory is not writable.
            Raised before any live run, and except for ``jobs`` before anything is written.
        KeyboardInterrupt: after what has finished was judged and written.
    """
    study = LiveStudy(suite, mode, options)
    study.check_machine()
    folder.prepare(study.directory)
    status = "interrupted"
    with study.opened() as kept:
        try:
            study.perform((each.keys["simulated"] for each in study.runs), kept, ", simulated")
            study.measure(kept)
            status = "partly" if study.invalid else "complete"
        finally:
            # An interrupted suite also judges and writes what has finished.
            outcome = study.write(kept, status)
    study.draw()
    study.console.print(live_table(outcome.ledger))
    study.console.print(f"report: {outcome.report_path}", soft_wrap=True)
    return outcome


class LiveStudy(runner.Study):
    """The selected experiments and claims of a suite, and their runs between real hosts.

    Attributes:
        without: why experiments cannot run between real hosts, by name.
        invalid: why experiments lack live results: no attempt of one of their runs was valid.
    """

    def __init__(self, suite: Suite, mode: Mode, options: runner.Options) -> None:
        """Plans the runs. Raises `InputError` if there is nothing to run."""
        super().__init__(suite, mode, options)
        here = f"suite {suite.name}: --backend live:"
        if suite.hosts is None:
            raise InputError(
                f"{here} its runs have no form for real hosts; accepted: --backend sim, or a suite with "
                "`hosts`, such as lopez2008"
            )
        self.hosts: Hosts = suite.hosts
        self.experiments, self.claims = suite.select(self.only)
        self.without: dict[str, str] = {}
        self.invalid: dict[str, str] = {}
        self.by_experiment: dict[str, list[LiveRun]] = {}
        for experiment in self.experiments:
            try:
                self.by_experiment[experiment.name] = self._planned(experiment)
            except Unfit as why:
                self.without[experiment.name] = str(why)
        if not self.by_experiment:
            whys = "; ".join(f"{name}: {why}" for name, why in self.without.items())
            raise InputError(
                f"{here} nothing of this runs between real hosts ({whys}); accepted: "
                + ", ".join(item.name for item in suite.experiments if self._fits(item))
            )
        self.runs = [each for planned in self.by_experiment.values() for each in planned]

    def check_machine(self) -> None:
        """Raises `InputError` if this machine lacks what the runs need that are not stored."""
        missing = self.runs
        with suppress(OSError):  # what opens the store to write reports what is wrong
            stored = Store(self.where, self.reduction, write=False)
            missing = [each for each in self.runs if each.keys["live"] not in stored]
        check_machine(self.suite.name, [each.scenario for each in missing])

    def measure(self, kept: Store) -> None:
        """Runs live what the store has not, one run after the other, the shortest first."""
        there = {each.keys["live"]: each for each in self.runs if each.keys["live"] not in kept}
        missing = sorted(there.values(), key=lambda each: each.scenario.duration)
        left_s = math.fsum(each.scenario.duration for each in missing)
        for number, each in enumerate(missing, start=1):
            about = f"about {left_s / 60:.0f} min left"
            title = f"live run {number} of {len(missing)}, {each.scenario.title}: {about}"
            with self.console.status(title):
                row, why = self._valid(each.scenario)
            if row is not None:
                kept.add(each.keys["live"], row)
                kept.flush()  # this run is on disk even if the next one ends the program
            else:
                for name, runs in self.by_experiment.items():
                    if any(same.keys["live"] == each.keys["live"] for same in runs):
                        self.invalid.setdefault(name, why)
            left_s -= each.scenario.duration

    def write(self, kept: Store, status: str) -> LiveOutcome:
        """Judges the claims, and writes figures and ledger."""
        provenance = output.provenance(sys.argv)
        whys = {**self.without, **{name: f"{why}." for name, why in self.invalid.items()}}
        data = {side: Data(self._rows(kept, side), whys) for side in SIDES}
        done = set.intersection(*(set(each.experiments) for each in data.values()))
        briefs, failed = [], []
        for item in self.experiments:
            if item.name not in self.by_experiment:
                continue
            runs = self.by_experiment[item.name]
            if item.name in done:
                sides = {side: data[side][item.name] for side in SIDES}
                kernel = {"divided": divided(runs), "kernel": platform.release()}
                try:
                    folder.write_live(self.directory, item, sides, self.mode, provenance, **kernel)
                except StudyError as error:  # the other experiments and the ledger go on
                    failed.append(str(error))
            briefs.append(item.brief(len(runs), item.name in done, divided=divided(runs)))
        rows, rules = self._write_ledger(data, provenance)
        self._write_suite(status, provenance)
        return LiveOutcome(
            self.suite.name,
            self.mode,
            rows,
            briefs,
            self.directory / PAGE,
            self.effort.performance(),
            tuple(failed + rules),
            without=self.without,
            invalid=self.invalid,
        )

    def _fits(self, experiment: Experiment) -> bool:
        try:
            return bool(self._planned(experiment))
        except Unfit:
            return False

    def _planned(self, experiment: Experiment) -> list[LiveRun]:
        """Returns an experiment's runs for real hosts; raises `Unfit`."""
        if experiment.name in self.hosts.without:
            raise Unfit(self.hosts.without[experiment.name])
        planned = []
        for run in experiment.runs(self.mode):
            packets = run.estimated_packets()
            adapted = self.hosts.adapt(run.document, packets)
            scenario = self.scenario(experiment.name, adapted.document)
            slower = Run(run.coordinates, adapted.document, packets / adapted.divisor)
            try:
                check(scenario, f"suite {self.suite.name}, {experiment.name}")
            except InputError as error:
                raise Unfit(str(error)) from None
            keys = {"live": live_key(scenario), "simulated": self.plan(slower, scenario)}
            planned.append(LiveRun(run, adapted.divisor, scenario, keys))
        return planned

    def _valid(self, scenario: Scenario) -> tuple[dict[str, Any] | None, str]:
        """Runs it live until the result is valid; None and the reasons if no attempt was."""
        whys: list[str] = []
        for _ in range(ATTEMPTS):
            try:
                result = live_run.run(scenario, f"suite {self.suite.name}, {scenario.title}")
            except LongfatError as error:
                whys.append(str(error))
                # a refusal, or the same failure twice, would come back
                if isinstance(error, InputError) or whys.count(str(error)) > 1:
                    break
                continue
            validity = result.summary["validity"]
            wrong = [each for each in validity["checks"] if not each["ok"]]
            if not wrong:
                # as text: its objects differ between runs, and a column of a table has one type
                return {**self.suite.reduce(result), "validity": json.dumps(validity)}, ""
            whys.append("; ".join(f"{each['name']} {each['value']:.4g}" for each in wrong))
        told = "; ".join(dict.fromkeys(whys))
        return None, f"{scenario.title}: no valid result in {counted(len(whys), 'live run')}: {told}"

    def _rows(self, kept: Store, side: str) -> dict[str, Runs]:
        """Returns the rows of a side, of experiments all of whose runs are there, as the rules want them."""
        places: dict[str, list[runner.Place]] = {
            name: [(each.run.coordinates, each.keys[side], each.divisor) for each in runs]
            for name, runs in self.by_experiment.items()
        }
        return self.data(kept, places, self.hosts.restore).experiments

    def _write_ledger(
        self, data: Mapping[str, Data], provenance: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], list[str]]:
        """Puts the live verdicts of the claims into the ledger; returns their rows, and why rules failed.

        A verdict that was not measured does not replace one that was (`ledger.later`).
        """
        rows = folder.stored_ledger(self.directory)
        here = unfinished(f"`longfat suite {self.suite.name}` measures it.")
        failed: list[str] = []
        for claim in self.claims:
            sides = [judged(claim, data[side]) for side in SIDES]
            failed += dict.fromkeys(side.note for side in sides if side.failed)
            live, simulated = (side.to_json() for side in sides)
            runs = [each for name in claim.experiments for each in self.by_experiment.get(name, ())]
            found = {
                **live,
                "mode": self.mode,
                "indicative": self.mode != "full" and live["verdict"] != "not measured",
                "divided": divided(runs),
                "kernel": platform.release(),
                **{key: provenance[key] for key in ("version", "commit", "created")},
                "simulated": simulated,
            }
            row = rows.get(claim.id) or ledger_row(claim, here, self.mode)
            rows[claim.id] = ledger.later(row, {**row, "live": found})
        folder.write_ledger(self.directory, self.suite.name, rows)
        return [rows[claim.id] for claim in self.claims], failed

    def _write_suite(self, status: str, provenance: Mapping[str, Any]) -> None:
        """Writes suite.json: which suite it is, and this command under `live`."""
        known = folder.read_suite(self.directory)
        earlier = known.get("live", {})
        live = {
            "mode": self.mode,
            "only": self.only,
            "status": status,
            "settings": [vars(setting) for setting in self.hosts.settings],
            "without": self._updated(earlier.get("without", {}), self.without),
            "invalid": self._updated(earlier.get("invalid", {}), self.invalid),
            "provenance": dict(provenance),
        }
        new = {} if known else {"mode": "", "status": NOT_RUN, "experiments": {}}
        folder.write_suite(self.directory, {**folder.described(self.suite), "live": live, **new})

    def _updated(self, earlier: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        """Returns what is known of all experiments: of those of this command it is what is new."""
        return {name: why for name, why in earlier.items() if name not in self.by_experiment} | dict(new)


def divided(runs: Sequence[LiveRun]) -> str:
    """Says by what the rates of these runs were divided, and of which runs if not of all; "" if of none."""
    divisors = sorted({each.divisor for each in runs})
    if len(divisors) < 2:
        return "".join(f"{divisor:g}" for divisor in divisors if divisor != 1.0)
    for coordinate in runs[0].run.coordinates:
        values = {(each.divisor, str(each.run.coordinates.get(coordinate))) for each in runs}
        if len({value for _, value in values}) == len(values):
            return ", ".join(
                f"{divisor:g} ({', '.join(sorted(value for d, value in values if d == divisor))})"
                for divisor in divisors
            )
    counts = [(divisor, sum(each.divisor == divisor for each in runs)) for divisor in divisors]
    return ", ".join(f"{divisor:g} ({counted(count, 'run')})" for divisor, count in counts)


def check_machine(name: str, scenarios: Iterable[Scenario]) -> None:
    """Raises `InputError`, one line, if this machine lacks what these runs need. No run needs nothing."""
    scenarios = list(scenarios)
    if not scenarios:
        return
    parts = [part for scenario in scenarios for part in (*scenario.flow, *scenario.background)]
    names = {part.algorithm.name for part in parts if part.algorithm.listed}
    rows = [registry.find("algorithms", name) for name in sorted(names)]
    tcp = [row for row in rows if row.get("transport") == "tcp"]
    items = {f"algorithm {row['name']}" for row in tcp}
    if any(row.get("protocol") and row.get("kernel_form") in kernel.own_forms() for row in tcp):
        items.add("cgroup")
    doctor.refuse_without(items, f"suite {name}")


def live_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Returns the verdicts on claims between real hosts and in the simulator, for the terminal."""
    table = Table(title="Between real hosts", title_justify="left", show_lines=True, expand=True)
    columns = (("claim", 2), ("live", 4), ("the same files, simulated", 4), ("as published", None))
    for heading, ratio in columns:
        table.add_column(heading, ratio=ratio)
    for row in rows:
        live = row["live"]
        slower = f"\nrates / {live['divided']}" if live["divided"] else ""
        table.add_row(
            row["id"] + slower,
            *(_verdict_text(each) for each in (live, live["simulated"])),
            runner.shown(row["verdict"]),
        )
    return table


def _verdict_text(judged: Mapping[str, Any]) -> str:
    return f"{runner.shown(judged['verdict'])}: {judged['measured'] or judged['note']}"
