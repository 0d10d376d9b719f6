"""Runs a suite: each distinct run once, on all cores, the longest first; judges its claims."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, Unpack

from rich.console import Console
from rich.table import Table

from longfat.errors import LongfatError
from longfat.report.page import PAGE
from longfat.runs.simulate import run_many
from longfat.scenario.model import Scenario
from longfat.store import output, store
from longfat.store.identity import run_key
from longfat.store.kept import reduction_key
from longfat.store.ledger import tally
from longfat.store.store import Store
from longfat.study.run import Effort, Task, longest_first, perform
from longfat.words import Mode
from longfat_papers.kit import faults, folder, page
from longfat_papers.kit.claims import FAILED, judge
from longfat_papers.kit.suite import Coordinate, Data, Run, Runs, Suite
from longfat_papers.kit.text import counted

VERDICT_STYLES = {
    "reproduced": "bold green",
    "partly": "bold yellow",
    "not reproduced": "bold red",
    "undecidable": "bold blue",
    "not measured": "dim",
}


class Options(TypedDict, total=False):
    """How a suite runs, and where its results go; `run_suite` explains each."""

    only: Iterable[str]
    jobs: int | None
    out: Path | str
    console: Console | None
    runs: Path | str | None


Place = tuple[Mapping[str, Coordinate], str, Any]
"""A run in an experiment: its coordinates, its key, and what a study wants to know of it beside them."""


class Study:
    """Runs of a suite: their plans, the store of their rows, and what they cost."""

    def __init__(self, suite: Suite, mode: Mode, options: Options) -> None:
        self.suite, self.mode = suite, mode
        self.only = list(options.get("only", ()))
        self.jobs = options.get("jobs")
        self.directory = Path(options.get("out", "out"))
        self.console = options.get("console") or Console(quiet=True)
        self.where = options.get("runs") or self.directory
        self.reduction = reduction_key(suite.reduce)
        self.tasks: dict[str, Task[str]] = {}
        self.effort = Effort()

    def scenario(self, experiment: str, document: Mapping[str, Any], reading: str = "") -> Scenario:
        """Returns the scenario of a run; raises `InputError` if it is refused."""
        here = "" if reading else faults.place(self.suite.experiment(experiment).runs)
        source = f"suite {self.suite.name}{reading}, {experiment}{here}"
        return Scenario.from_dict(document, source=source)

    def plan(self, run: Run, scenario: Scenario) -> str:
        """Plans a run; returns its key."""
        key = run_key(scenario)
        self.tasks.setdefault(key, Task(key, scenario, run.estimated_packets(scenario), []))
        return key

    def opened(self) -> Store:
        """Opens the store of the rows."""
        return Store(self.where, self.reduction)

    def perform(self, keys: Iterable[str], kept: Store, title: str) -> None:
        """Runs what the store does not have of these runs."""
        wanted = dict.fromkeys(keys)
        missing = longest_first(self.tasks[key] for key in wanted if key not in kept)
        self.effort.runs += len(wanted) - len(missing)
        self.effort.found += len(wanted) - len(missing)
        run = functools.partial(run_many, jobs=self.jobs, reduce=self.suite.reduce, ordered=False)
        name = f"{self.suite.name} {self.mode}{title}"
        with closing(perform(missing, kept, run, self.console, name, self.effort)) as done:
            for _ in done:
                pass
        kept.flush()

    def data(
        self,
        kept: Store,
        places: Mapping[str, Sequence[Place]],
        changed: Callable[[dict[str, Any], Any], dict[str, Any]] = lambda row, _: row,
    ) -> Data:
        """Returns the rows of the experiments all of whose runs are stored.

        Args:
            kept: the store.
            places: the runs of each experiment.
            changed: what the claims get of a row, given it and the third part of its place.
        """
        there = {name: runs for name, runs in places.items() if all(key in kept for _, key, _ in runs)}
        keeping = {name for name in there if self.suite.experiment(name).keeps_series}
        with_series = {key for name in keeping for _, key, _ in there[name]}
        rows, slim = {}, {}
        for key, text in kept.texts({key for runs in there.values() for _, key, _ in runs}):
            rows[key] = store.row(text)
            slim[key] = {name: value for name, value in rows[key].items() if name != "series"}
            if key not in with_series:  # histories need much memory
                del rows[key]
        return Data(
            {
                name: Runs(name, [{**at, **changed(stored[key], more)} for at, key, more in runs])
                for name, runs in there.items()
                for stored in [rows if name in keeping else slim]
            }
        )

    def draw(self) -> None:
        """Builds the page of what is stored below the directory."""
        with self.console.status("drawing figures"):
            page.build(self.directory, self.jobs)


@dataclass(frozen=True)
class SuiteOutcome:
    """What a suite produced: the rows of the selected claims, its experiments, and the report.

    ``failed`` has the drawings and the rules of claims that failed, each with the reason.
    """

    suite: str
    mode: Mode
    ledger: list[dict[str, Any]]
    experiments: list[dict[str, Any]]
    report_path: Path
    performance: Mapping[str, float] = field(default_factory=dict)
    failed: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """What a notebook shows: the verdicts, and the first experiment's figure."""
        from longfat_papers.kit import notebook

        return notebook.outcome_html(self)

    def raise_if_invalid(self) -> None:
        """Raises `LongfatError` if drawings or rules of claims failed."""
        if self.failed:
            raise LongfatError(f"suite {self.suite}: {'; '.join(self.failed)}")

    def to_json(self) -> dict[str, Any]:
        """Returns the object that `longfat suite --json` prints."""
        return {
            "suite": self.suite,
            "mode": self.mode,
            "claims": self.ledger,
            "experiments": self.experiments,
            "report": str(self.report_path),
            "performance": dict(self.performance),
        }


def run_suite(suite: Suite, mode: Mode = "quick", **options: Unpack[Options]) -> SuiteOutcome:
    """Runs the selected experiments, judges their claims, and writes everything below ``out``.

    Runs that an earlier command stored are not repeated, even if that command was interrupted.

    Args:
        suite: what to run.
        mode: "quick" for a few points, "full" for all points of the paper.
        options: how it runs, and where its results go:
            ``only`` are ids of claims or names of experiments; all if empty.
            ``jobs`` is the number of worker processes; one for each core if None.
            ``out`` is the directory of the results ("out"), created if necessary. Other experiments stored in
            it are kept.
            ``console`` shows progress and the table of claims; nothing is shown if None.
            ``runs`` is the store of the runs, which other suites may share; in ``out`` if None.

    Raises:
        InputError: an id is unknown or the directory is not writable; raised before anything runs.
        KeyboardInterrupt: after the finished experiments were written.
    """
    study = Study(suite, mode, options)
    outcome = measure(study)
    study.draw()
    print_outcome(study.console, outcome)
    study.console.print(f"report: {outcome.report_path}", soft_wrap=True)
    return outcome


def measure(study: Study) -> SuiteOutcome:
    """Runs what a study selects and writes all of it but the page; prints nothing."""
    suite, mode, directory = study.suite, study.mode, study.directory
    experiments, claims = suite.select(study.only)
    places: dict[str, list[Place]] = {
        item.name: [
            (run.coordinates, study.plan(run, study.scenario(item.name, run.document)), None)
            for run in item.runs(mode)
        ]
        for item in experiments
    }
    folder.prepare(directory)
    provenance = output.provenance(sys.argv)
    status, failed = "interrupted", []
    with study.opened() as kept:
        try:
            study.perform((key for runs in places.values() for _, key, _ in runs), kept, "")
            status = "complete"
        finally:
            # An interrupted suite also judges and writes what has finished.
            performance = study.effort.performance()
            data = study.data(kept, places)
            for item in experiments:
                if item.name in data.experiments:
                    try:
                        folder.write_experiment(directory, item, data[item.name], mode, provenance)
                    except faults.StudyError as error:  # the other experiments go on
                        failed.append(str(error))
            rows = [judge(claim, data, mode) for claim in claims]
            failed += [row["note"] for row in rows if FAILED in row]
            stored = folder.merge_ledger(directory, suite.name, rows, data.experiments)
            folder.keep_history(directory, rows, provenance)
            folder.write_suite(
                directory,
                {
                    **folder.described(suite),
                    "mode": mode,
                    "only": study.only,
                    "status": status,
                    "experiments": folder.statuses(directory, places),
                    "performance": performance,
                    "provenance": provenance,
                },
            )
    wanted = {claim.id for claim in claims}
    return SuiteOutcome(
        suite.name,
        mode,
        [row for row in stored if row["id"] in wanted],
        [item.brief(len(places[item.name]), item.name in data.experiments) for item in experiments],
        directory / PAGE,
        performance,
        tuple(failed),
    )


def print_outcome(console: Console, outcome: SuiteOutcome) -> None:
    """Prints the selected claims, their tally, and what the runs have cost."""
    console.print(claims_table(outcome.ledger))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in tally(outcome.ledger).items() if count)
    console.print(f"{counts}; {cost(outcome.performance)}")


def cost(performance: Mapping[str, float]) -> str:
    """Says how many runs were needed, and what those that were not stored before have cost."""
    found = performance["found"]
    were = f", {found} of them stored before" if found else ""
    packets, wall_s = performance["packets"], performance["wall_s"]
    runs = counted(int(performance["runs"]), "run")
    return f"{runs}{were}, {packets / 1e9:.2f} G packets in {wall_s:.0f} s"


def claims_table(rows: Iterable[Mapping[str, Any]]) -> Table:
    """Returns the ledger as a table for the terminal; with a column if some claims ran between real hosts."""
    rows = list(rows)
    table = Table(title=None, show_lines=True, expand=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("the paper", ratio=3)
    table.add_column("measured", ratio=4)
    table.add_column("verdict", no_wrap=True)
    if any("live" in row for row in rows):
        table.add_column("live", no_wrap=True)
    for row in rows:
        mark = " *" if row["indicative"] else ""
        live = shown(row["live"]["verdict"]) if "live" in row else "–"
        cells = [row["published"], row["measured"] or row["note"], shown(row["verdict"]) + mark, live]
        table.add_row(row["id"], *cells[: len(table.columns) - 1])
    if any(row["indicative"] for row in rows):
        table.caption = "* indicative: few points and repeats"
    return table


def shown(verdict: str) -> str:
    """Returns a verdict in its colour, for the terminal."""
    return f"[{VERDICT_STYLES[verdict]}]{verdict}[/]"
