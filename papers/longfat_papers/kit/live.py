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
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from longfat.errors import InputError, LongfatError
from longfat.live import doctor, kernel
from longfat.live import run as live_run
from longfat.live.check import check
from longfat.live.identity import live_key
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.store import ledger, output
from longfat.store.kept import reduction_key
from longfat.store.store import Store
from longfat.study.run import Effort, Task, longest_first, perform
from longfat.words import Mode, natural_order
from longfat_papers.kit import effects, folder, page, runner
from longfat_papers.kit.claims import Claim, unmeasured
from longfat_papers.kit.hosts import Hosts, Unfit
from longfat_papers.kit.suite import Data, Experiment, Run, Runs, Suite
from longfat_papers.kit.text import counted

ATTEMPTS = 3
"""How often a live run is tried until it is valid (chosen here)."""
SIDES = ("live", "simulated")
NOT_RUN = "not run"
"""The status of a suite whose folder has nothing of it in the simulator with the paper's settings."""


@dataclass(frozen=True)
class LiveOutcome:
    """What a suite produced between real hosts: the ledger's rows of the selected claims, and the page.

    Attributes:
        experiments: the selected ones that can run between real hosts.
        without: why the others cannot, by name.
        invalid: why experiments lack results, by name: no attempt of one of their live runs was valid.
        performance: what the simulated runs have cost.
    """

    suite: str
    mode: Mode
    ledger: list[dict[str, Any]]
    experiments: list[dict[str, Any]]
    without: Mapping[str, str]
    invalid: Mapping[str, str]
    performance: Mapping[str, float]
    report_path: Path

    def to_json(self) -> dict[str, Any]:
        """Returns the object that `longfat suite --backend live --json` prints."""
        return {
            "suite": self.suite,
            "backend": "live",
            "mode": self.mode,
            "claims": self.ledger,
            "experiments": self.experiments,
            "without": dict(self.without),
            "invalid": dict(self.invalid),
            "report": str(self.report_path),
            "performance": dict(self.performance),
        }

    def raise_if_invalid(self) -> None:
        """Raises `LongfatError` if experiments lack results, because live runs of theirs were not valid."""
        if self.invalid:
            why = "; ".join(f"{name}: {text}" for name, text in self.invalid.items())
            raise LongfatError(f"suite {self.suite}: --backend live: without live results: {why}")


@dataclass
class LiveRun:
    """A run of an experiment for real hosts: its scenario, its keys in the store, and its rows by side.

    ``invalid`` says why there is no live row, if no attempt was valid.
    """

    run: Run
    divisor: float
    scenario: Scenario
    key: str
    simulated: Task[runner.Place]
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    invalid: str = ""


def run_live(
    suite: Suite,
    mode: Mode = "quick",
    only: Iterable[str] = (),
    jobs: int | None = None,
    out: Path | str = Path("out"),
    console: Console | None = None,
    runs: Path | str | None = None,
) -> LiveOutcome:
    """Runs the selected experiments in the simulator and between real hosts; judges and writes both.

    The arguments are those of `run_suite`; ``jobs`` is for the simulator. What ``out`` has of the suite
    in the simulator with the paper's settings stays.

    Raises:
        InputError: the suite, or all that was selected of it, cannot run between real hosts; this machine
            lacks what the runs take that are not stored; an id is unknown; the directory is not writable.
            Raised before any live run, and except for ``jobs`` before anything is written.
        KeyboardInterrupt: after what has finished was judged and written.
    """
    directory, console = Path(out), console or Console(quiet=True)
    study = Study(suite, mode, list(only))
    reduction = reduction_key(suite.reduce)
    stored = _stored(runs or directory, reduction, {each.key for each in study.runs})
    check_machine(suite.name, [each.scenario for each in study.runs if each.key not in stored])
    folder.prepare(directory)
    effort = Effort()
    status = "interrupted"
    try:
        with Store(runs or directory, reduction) as kept:
            study.load(kept)
            study.simulate(kept, jobs, console, effort)
            study.measure(kept, console)
        status = "partly" if study.invalid() else "complete"
    finally:
        # An interrupted suite also judges and writes what has finished.
        rows = study.write(directory, status)
    with console.status("drawing figures"):
        path = page.build(directory, jobs)
    console.print(live_table(rows))
    console.print(f"report: {path}", soft_wrap=True)
    return LiveOutcome(
        suite.name, mode, rows, study.brief(), study.without, study.invalid(), effort.performance(), path
    )


class Study:
    """The selected experiments and claims of a suite, and their runs between real hosts."""

    def __init__(self, suite: Suite, mode: Mode, only: list[str]) -> None:
        """Plans the runs. Raises `InputError` if there is nothing to run."""
        if suite.hosts is None:
            raise InputError(
                f"suite {suite.name}: --backend live: its runs have no form for real hosts; accepted: "
                "--backend sim, or a suite with `hosts`, such as lopez2008"
            )
        self.suite = suite
        self.hosts: Hosts = suite.hosts
        self.mode = mode
        self.only = only
        self.experiments, self.claims = suite.select(only)
        self.without: dict[str, str] = {}
        self.by_experiment: dict[str, list[LiveRun]] = {}
        for experiment in self.experiments:
            try:
                self.by_experiment[experiment.name] = self._planned(experiment)
            except Unfit as why:
                self.without[experiment.name] = str(why)
        if not self.by_experiment:
            whys = "; ".join(f"{name}: {why}" for name, why in self.without.items())
            raise InputError(
                f"suite {suite.name}: --backend live: nothing of this runs between real hosts ({whys}); "
                f"accepted: {', '.join(item.name for item in suite.experiments if self._fits(item))}"
            )
        self.runs = [each for planned in self.by_experiment.values() for each in planned]
        self.by_key: dict[str, list[LiveRun]] = {}
        """The runs by each of their keys: experiments can share a run."""
        for each in self.runs:
            self.by_key.setdefault(each.key, []).append(each)
            self.by_key.setdefault(each.simulated.key, []).append(each)

    def load(self, kept: Store) -> None:
        """Takes the live runs that the store has."""
        for key, row in kept.get({each.key for each in self.runs}).items():
            self._take("live", key, row)

    def simulate(self, kept: Store, jobs: int | None, console: Console, effort: Effort) -> None:
        """Runs the files in the simulator."""
        works = longest_first({each.simulated.key: each.simulated for each in self.runs}.values())
        title = f"{self.suite.name} {self.mode}, simulated"
        run = runner.reducing(self.suite, jobs)
        with closing(perform(works, kept, run, console, title, effort)) as done:
            for work, row in done:
                self._take("simulated", work.key, row)
        kept.flush()

    def measure(self, kept: Store, console: Console) -> None:
        """Runs live what has no live row yet, one run after the other, the shortest first."""
        missing = list({each.key: each for each in self.runs if "live" not in each.rows}.values())
        missing.sort(key=lambda each: each.scenario.duration)
        left_s = math.fsum(each.scenario.duration for each in missing)
        for number, each in enumerate(missing, start=1):
            about = f"about {left_s / 60:.0f} min left"
            with console.status(f"live run {number} of {len(missing)}, {each.scenario.title}: {about}"):
                row, why = self._valid(each.scenario)
            if row is not None:
                kept.add(each.key, row)
                kept.flush()  # this run is on disk even if the next one ends the program
                self._take("live", each.key, row)
            for same in self.by_key[each.key]:
                same.invalid = why
            left_s -= each.scenario.duration

    def invalid(self) -> dict[str, str]:
        """Says of each experiment that lacks valid live runs why."""
        first: dict[str, str] = {}
        for name, runs in self.by_experiment.items():
            for each in runs:
                if each.invalid:
                    first.setdefault(name, each.invalid)
        return first

    def brief(self) -> list[dict[str, Any]]:
        """Returns the experiments that can run between real hosts as `--json` prints them."""
        return [
            {
                "name": experiment.name,
                "mirrors": experiment.mirrors,
                "title": experiment.title,
                "runs": len(self.by_experiment[experiment.name]),
                "finished": all(self._has(experiment.name, side) for side in SIDES),
                "divided": divided(self.by_experiment[experiment.name]),
            }
            for experiment in self.experiments
            if experiment.name in self.by_experiment
        ]

    def write(self, directory: Path, status: str) -> list[dict[str, Any]]:
        """Judges the claims, writes figures and ledger, and returns the ledger's rows of the claims."""
        provenance = output.provenance(sys.argv)
        data = {side: self._data(side) for side in SIDES}
        for experiment in self.experiments:
            if all(experiment.name in data[side].experiments for side in SIDES):
                self._write_experiment(directory, experiment, data, provenance)
        found = {claim.id: self._judged(claim, data, provenance) for claim in self.claims}
        rows = merged(directory, self.suite, self.claims, found, self.mode)
        folder.write_suite(directory, self._parts(directory, status, provenance))
        return rows

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
            source = f"suite {self.suite.name}, {experiment.name}"
            scenario = Scenario.from_dict(adapted.document, source=source)
            try:
                check(scenario, source)
            except InputError as error:
                raise Unfit(str(error)) from None
            grid = {experiment.name: [Run(run.coordinates, adapted.document, packets / adapted.divisor)]}
            work = runner.planned(self.suite, grid)[0]
            planned.append(LiveRun(run, adapted.divisor, scenario, live_key(scenario), work))
        return planned

    def _take(self, side: str, key: str, row: dict[str, Any]) -> None:
        for each in self.by_key[key]:
            each.rows[side] = row

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

    def _has(self, name: str, side: str) -> bool:
        return all(side in each.rows for each in self.by_experiment[name])

    def _data(self, side: str) -> Data:
        """Returns the rows of a side, of experiments all of whose runs are there, as the rules want them."""
        return Data(
            {
                name: Runs(
                    name,
                    [
                        {**each.run.coordinates, **self.hosts.restore(each.rows[side], each.divisor)}
                        for each in runs
                    ],
                )
                for name, runs in self.by_experiment.items()
                if self._has(name, side)
            }
        )

    def _write_experiment(
        self, directory: Path, experiment: Experiment, data: Mapping[str, Data], provenance: Mapping[str, Any]
    ) -> None:
        there = directory / folder.LIVE
        there.mkdir(exist_ok=True)
        runs = self.by_experiment[experiment.name]
        for side in SIDES:
            folder.write_rows(there / f"{experiment.name}.{side}.parquet", data[side][experiment.name])
        figures = {
            side: experiment.figure(data[side][experiment.name], self.mode).to_json() for side in SIDES
        }
        folder.write_json(
            there / f"{experiment.name}.json",
            {
                "name": experiment.name,
                "mirrors": experiment.mirrors,
                "title": experiment.title,
                "mode": self.mode,
                "runs": len(runs),
                "divided": divided(runs),
                "kernel": platform.release(),
                "provenance": dict(provenance),
                "figures": figures,
            },
        )

    def _judged(
        self, claim: Claim[Data], data: Mapping[str, Data], provenance: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Returns what the ledger has of a claim between real hosts."""
        live, simulated = (self._side(claim, data[side]) for side in SIDES)
        return {
            **live,
            "mode": self.mode,
            "indicative": self.mode != "full" and live["verdict"] != "not measured",
            "divided": divided(
                each for name in claim.experiments for each in self.by_experiment.get(name, ())
            ),
            "kernel": platform.release(),
            **{key: provenance[key] for key in ("version", "commit", "created")},
            "simulated": simulated,
        }

    def _side(self, claim: Claim[Data], data: Data) -> dict[str, Any]:
        lacking = [name for name in claim.experiments if name not in data.experiments]
        if lacking:
            return effects.unfinished(" ".join(dict.fromkeys(map(self._why, lacking)))).to_json()
        return effects.judged(claim, data).to_json()

    def _why(self, name: str) -> str:
        """Says why an experiment has no results."""
        if name in self.without:
            return self.without[name]
        why = self.invalid().get(name)
        return f"{why}." if why else f"Experiment {name} did not finish."

    def _parts(self, directory: Path, status: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """Returns what suite.json gets: which suite it is, and this command under `live`."""
        known = folder.read_suite(directory) if (directory / folder.SUITE_FILE).exists() else {}
        earlier = known.get("live", {})
        parts = {
            "suite": self.suite.name,
            "title": self.suite.title,
            "citation": self.suite.citation,
            "order": [experiment.name for experiment in self.suite.experiments],
            "live": {
                "mode": self.mode,
                "only": self.only,
                "status": status,
                "settings": [vars(setting) for setting in self.hosts.settings],
                "without": self._updated(earlier.get("without", {}), self.without),
                "invalid": self._updated(earlier.get("invalid", {}), self.invalid()),
                "provenance": dict(provenance),
            },
        }
        return parts if known else {**parts, "mode": "", "status": NOT_RUN, "experiments": {}}

    def _updated(self, earlier: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
        """Returns what is known of all experiments: of those of this command it is what is new."""
        return {name: why for name, why in earlier.items() if name not in self.by_experiment} | dict(new)


def divided(runs: Iterable[LiveRun]) -> str:
    """Says by what the rates of these runs were divided, and of which runs if not of all; "" if of none."""
    runs = list(runs)
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


def _stored(where: Path | str, reduction: str, keys: set[str]) -> set[str]:
    """Returns which of these runs a store has, and creates nothing."""
    try:
        kept = Store(where, reduction, write=False)
    except OSError:
        return set()  # whoever opens it to write says what is wrong
    return {key for key in keys if key in kept}


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
    for item in doctor.examine():
        if not item["ok"] and (item["needed"] or item["name"] in items):
            raise InputError(
                f"suite {name}: --backend live: {item['name']}: {item['found']}; to fix it: {item['remedy']}"
            )


def merged(
    directory: Path,
    suite: Suite,
    claims: Iterable[Claim[Data]],
    found: Mapping[str, dict[str, Any]],
    mode: Mode,
) -> list[dict[str, Any]]:
    """Puts the live verdicts of claims into a directory's ledger and returns their rows.

    A verdict that was not measured does not replace one that was (`ledger.later`).
    """
    path = directory / ledger.LEDGER_FILE
    rows = {row["id"]: row for row in ledger.read_ledger(path)} if path.exists() else {}
    for claim in claims:
        row = rows.get(claim.id) or unmeasured(claim, mode, f"`longfat suite {suite.name}` measures it.")
        rows[claim.id] = ledger.later(row, {**row, "live": found[claim.id]})
    ordered = [rows[key] for key in sorted(rows, key=natural_order)]
    folder.write_json(path, {"suite": suite.name, "claims": ordered})
    return [rows[claim.id] for claim in claims]


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
