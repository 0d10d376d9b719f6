"""Runs a suite between real hosts, and beside that the same scenarios in the simulator.

Live runs take real time and happen one after the other. Each is kept when it ends, so an interrupted command
goes on. The claims' own rules are applied to both sides. What they came to is in the ledger, in the value
`live` of each row; the figures are in the folder `live`.
"""

from __future__ import annotations

import math
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
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
from longfat.runs import plan
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from longfat.store import output
from longfat.store.identity import digest
from longfat.store.kept import reduction_key
from longfat.store.ledger import LEDGER_FILE, read_ledger
from longfat.store.store import Store
from longfat.suites.kit import effects, folder, page, runner
from longfat.suites.kit.claims import Claim, unmeasured
from longfat.suites.kit.hosts import Hosts, Unfit
from longfat.suites.kit.suite import Data, Experiment, Run, Runs, Suite
from longfat.words import Mode, natural_order

ATTEMPTS = 3
"""How often a live run is tried until it is valid (chosen here)."""
SIDES = ("live", "simulated")


@dataclass(frozen=True)
class LiveOutcome:
    """What a suite produced between real hosts: the ledger's rows of the selected claims, and the page."""

    suite: str
    mode: Mode
    ledger: list[dict[str, Any]]
    without: Mapping[str, str]
    report_path: Path

    def to_json(self) -> dict[str, Any]:
        """Returns the object that `longfat suite --backend live --json` prints."""
        return {
            "suite": self.suite,
            "backend": "live",
            "mode": self.mode,
            "claims": self.ledger,
            "without": dict(self.without),
            "report": str(self.report_path),
        }


@dataclass
class Place:
    """A run of an experiment for real hosts: its scenario, its keys in the store, and how it went."""

    run: Run
    divisor: float
    scenario: Scenario
    live_key: str
    simulated: runner.Work
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)


def run_live(
    suite: Suite,
    mode: Mode = "quick",
    only: Iterable[str] = (),
    jobs: int | None = None,
    out: Path | str = Path("out"),
    console: Console | None = None,
    runs: Path | str | None = None,
) -> LiveOutcome:
    """Runs the selected experiments between real hosts and in the simulator; judges and writes both.

    The arguments are those of `run_suite`; ``jobs`` is for the simulator. What ``out`` holds of the suite in
    the simulator with the paper's settings is kept, and is what the ledger shows beside.

    Raises:
        InputError: the suite, or all that was selected of it, cannot run between real hosts; this machine
            lacks what that takes; an id is unknown; the directory is not writable. Raised before any run.
        KeyboardInterrupt: after what has finished was written.
    """
    directory, console = Path(out), console or Console(quiet=True)
    study = Study(suite, mode, list(only))
    check_machine(suite.name, [place.scenario for place in study.every()])
    folder.prepare(directory)
    status = "interrupted"
    try:
        with Store(runs or directory, reduction_key(suite.reduce)) as kept:
            study.run_live(kept, console)
            study.simulate(kept, jobs, console)
        status = "complete"
    finally:
        # An interrupted suite also judges and writes what has finished.
        rows = study.write(directory, status)
    with console.status("drawing figures"):
        path = page.build(directory, jobs)
    console.print(live_table(rows))
    console.print(f"report: {path}", soft_wrap=True)
    return LiveOutcome(suite.name, mode, rows, study.without, path)


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
        self.invalid: dict[str, str] = {}
        self.places: dict[str, list[Place]] = {}
        for experiment in self.experiments:
            try:
                self.places[experiment.name] = self._places(experiment)
            except Unfit as why:
                self.without[experiment.name] = str(why)
        if not self.places:
            told = "; ".join(f"{name}: {why}" for name, why in self.without.items())
            raise InputError(
                f"suite {suite.name}: --backend live: nothing of this runs between real hosts ({told}); "
                f"accepted: {', '.join(item.name for item in suite.experiments if self._fits(item))}"
            )

    def every(self) -> Iterator[Place]:
        """Yields all runs."""
        for places in self.places.values():
            yield from places

    def run_live(self, kept: Store, console: Console) -> None:
        """Runs what the store does not have, one after the other, the shortest first."""
        by_key = {place.live_key: place for place in self.every()}
        missing = [place for key, place in by_key.items() if key not in kept]
        missing.sort(key=lambda place: place.scenario.duration)
        left_s = math.fsum(place.scenario.duration for place in missing)
        for number, place in enumerate(missing, start=1):
            about = f"about {left_s / 60:.0f} min left"
            with console.status(f"live run {number} of {len(missing)}, {place.scenario.title}: {about}"):
                row = self._valid(place)
            if row is not None:
                kept.add(place.live_key, row)
            left_s -= place.scenario.duration
        found = kept.get(by_key)
        for place in self.every():
            if place.live_key in found:
                place.rows["live"] = found[place.live_key]

    def simulate(self, kept: Store, jobs: int | None, console: Console) -> None:
        """Runs the same scenarios in the simulator."""
        works = list({place.simulated.key: place.simulated for place in self.every()}.values())
        title = f"{self.suite.name} {self.mode}, simulated"
        found: dict[str, dict[str, Any]] = {}
        with closing(runner.perform(self.suite, works, kept, jobs, console, title, runner.Effort())) as done:
            for work, row in done:
                found[work.key] = row
                for place in self.every():
                    if place.simulated.key == work.key:
                        place.rows["simulated"] = row

    def write(self, directory: Path, status: str) -> list[dict[str, Any]]:
        """Judges the claims, writes figures and ledger, and returns the ledger's rows of the claims."""
        provenance = output.provenance(sys.argv)
        data = {side: self._data(side) for side in SIDES}
        for experiment in self.experiments:
            if all(experiment.name in data[side].experiments for side in SIDES):
                self._write_experiment(directory, experiment, data, provenance)
        found = {claim.id: self._judged(claim, data) for claim in self.claims}
        rows = merged(directory, self.suite, self.claims, found, self.mode)
        folder.write_json(directory / folder.SUITE_FILE, self._suite_file(directory, status, provenance))
        return rows

    def _fits(self, experiment: Experiment) -> bool:
        try:
            return bool(self._places(experiment))
        except Unfit:
            return False

    def _places(self, experiment: Experiment) -> list[Place]:
        """Returns an experiment's runs for real hosts; raises `Unfit`."""
        if experiment.name in self.hosts.without:
            raise Unfit(self.hosts.without[experiment.name])
        places = []
        for run in experiment.runs(self.mode):
            adapted = self.hosts.adapt(run.document, run.packets)
            source = f"suite {self.suite.name}, {experiment.name}"
            scenario = Scenario.from_dict(adapted.document, source=source)
            try:
                check(scenario, source)
            except InputError as error:
                raise Unfit(str(error)) from None
            grid = {experiment.name: [Run(run.coordinates, adapted.document, run.packets / adapted.divisor)]}
            work = runner.distinct(self.suite, grid)[0]
            places.append(Place(run, adapted.divisor, scenario, live_key(scenario), work))
        return places

    def _valid(self, place: Place) -> dict[str, Any] | None:
        """Runs it live until the result is valid; None if no attempt was."""
        why = ""
        for _ in range(ATTEMPTS):
            try:
                result = live_run.run(place.scenario, f"suite {self.suite.name}, {place.scenario.title}")
            except InputError:
                raise
            except LongfatError as error:
                why = str(error)
                continue
            validity = result.summary["validity"]
            wrong = [each for each in validity["checks"] if not each["ok"]]
            if not wrong:
                return {**self.suite.reduce(result), "validity": validity}
            why = "; ".join(f"{each['name']} {each['value']:.4g}" for each in wrong)
        self.invalid[place.live_key] = (
            f"{place.scenario.title}: none of {ATTEMPTS} live runs was valid: {why}"
        )
        return None

    def _data(self, side: str) -> Data:
        """Returns the rows of a side, of experiments all of whose runs are there, as the rules want them."""
        return Data(
            {
                name: Runs(
                    name,
                    [
                        {**place.run.coordinates, **self.hosts.restore(place.rows[side], place.divisor)}
                        for place in places
                    ],
                )
                for name, places in self.places.items()
                if all(side in place.rows for place in places)
            }
        )

    def _write_experiment(
        self, directory: Path, experiment: Experiment, data: Mapping[str, Data], provenance: Mapping[str, Any]
    ) -> None:
        there = directory / folder.LIVE
        there.mkdir(exist_ok=True)
        places = self.places[experiment.name]
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
                "runs": len(places),
                "divisors": sorted({place.divisor for place in places}),
                "kernel": platform.release(),
                "provenance": dict(provenance),
                "figures": figures,
            },
        )

    def _judged(self, claim: Claim[Data], data: Mapping[str, Data]) -> dict[str, Any]:
        """Returns what the ledger has of a claim between real hosts."""
        live, simulated = (self._side(claim, data[side]) for side in SIDES)
        names = [name for name in claim.experiments if name in self.places]
        return {
            **live,
            "mode": self.mode,
            "indicative": self.mode != "full" and live["verdict"] != "not measured",
            "divisors": sorted({place.divisor for name in names for place in self.places[name]}),
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
        failed = [
            self.invalid[place.live_key] for place in self.places[name] if place.live_key in self.invalid
        ]
        return f"{failed[0]}." if failed else f"Experiment {name} did not finish."

    def _suite_file(self, directory: Path, status: str, provenance: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the content of suite.json: that of the simulated suite, if there is one, and `live`."""
        there = (directory / folder.SUITE_FILE).exists()
        known: dict[str, Any] = folder.read_suite(directory) if there else {}
        base = {
            "suite": self.suite.name,
            "title": self.suite.title,
            "citation": self.suite.citation,
            "mode": self.mode,
            "only": self.only,
            "status": "complete",
            "experiments": {},
            "order": [experiment.name for experiment in self.suite.experiments],
            "provenance": dict(provenance),
        }
        live = {
            "mode": self.mode,
            "status": status,
            "kernel": platform.release(),
            "settings": [vars(setting) for setting in self.hosts.settings],
            "without": {**known.get("live", {}).get("without", {}), **self.without},
        }
        return {**base, **known, "live": live}


def live_key(scenario: Scenario) -> str:
    """Returns the key of a live run: this kernel, and the scenario's plan with its seed."""
    return digest(["live", platform.release(), plan.build(scenario) | {"seed": scenario.seed}])


def check_machine(name: str, scenarios: Iterable[Scenario]) -> None:
    """Raises `InputError`, one line, if this machine lacks what these runs need."""
    asked = {part.algorithm.name for scenario in scenarios for part in scenario.flow}
    rows = [registry.find("algorithms", each) for each in sorted(asked)]
    tcp = [row for row in rows if row.get("transport") == "tcp"]
    wanted = {f"algorithm {row['name']}" for row in tcp}
    if any(row.get("protocol") and row.get("kernel_form") in kernel.own_forms() for row in tcp):
        wanted.add("cgroup")
    for item in doctor.examine():
        if not item["ok"] and (item["needed"] or item["name"] in wanted):
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
    """Puts what claims came to live into a directory's ledger; returns their rows.

    What was not measured does not replace what was measured earlier.
    """
    path = directory / LEDGER_FILE
    rows = {row["id"]: row for row in read_ledger(path)} if path.exists() else {}
    for claim in claims:
        row = rows.get(claim.id) or unmeasured(claim, mode, f"`longfat suite {suite.name}` measures it.")
        earlier, new = row.get("live"), found[claim.id]
        if earlier is None or new["verdict"] != "not measured":
            row = {**row, "live": new}
        rows[claim.id] = row
    ordered = [rows[key] for key in sorted(rows, key=natural_order)]
    folder.write_json(path, {"suite": suite.name, "claims": ordered})
    return [rows[claim.id] for claim in claims]


def live_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Returns what claims came to in the simulator and between real hosts, for the terminal."""
    table = Table(title="Between real hosts", title_justify="left", show_lines=True, expand=True)
    for heading, ratio in (("claim", None), ("live", 4), ("simulated alike", 4), ("as published", None)):
        table.add_column(heading, ratio=ratio, no_wrap=heading == "claim")
    for row in rows:
        found = row["live"]
        divisors = [f"{divisor:g}" for divisor in found["divisors"] if divisor != 1]
        slower = f" (rates / {' or '.join(divisors)})" if divisors else ""
        table.add_row(
            row["id"] + slower,
            *(_told(each) for each in (found, found["simulated"])),
            runner.shown(row["verdict"]),
        )
    return table


def _told(judged: Mapping[str, Any]) -> str:
    return f"{runner.shown(judged['verdict'])}: {judged['measured'] or judged['note']}"
