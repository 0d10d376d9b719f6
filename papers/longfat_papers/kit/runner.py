"""Runs a suite: each distinct run once, on all cores, longest first; stores experiments as they finish."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from longfat.errors import LongfatError
from longfat.runs.simulate import run_many
from longfat.scenario.model import Scenario
from longfat.store import output
from longfat.store.kept import reduction_key
from longfat.store.ledger import tally
from longfat.store.store import Store
from longfat.study.run import Effort, Perform, Task, distinct, perform
from longfat.words import Mode
from longfat_papers.kit import folder, page
from longfat_papers.kit.claims import FAILED, Claim, judge, unmeasured
from longfat_papers.kit.faults import StudyError
from longfat_papers.kit.suite import Data, Experiment, Run, Runs, Suite
from longfat_papers.kit.text import counted

VERDICT_STYLES = {
    "reproduced": "bold green",
    "partly": "bold yellow",
    "not reproduced": "bold red",
    "undecidable": "bold blue",
    "not measured": "dim",
}


@dataclass(frozen=True)
class SuiteOutcome:
    """What a suite produced: the rows of the selected claims, its experiments, and the report."""

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
        failed = [*self.failed, *(row["note"] for row in self.ledger if FAILED in row)]
        if failed:
            raise LongfatError(f"suite {self.suite}: {'; '.join(failed)}")

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


Place = tuple[str, int]
"""Where a run belongs: name of the experiment, position in its grid."""


@dataclass(frozen=True)
class Measurement:
    """What the selected experiments and claims of a suite came to, as it is written below a directory."""

    experiments: tuple[Experiment, ...]
    claims: tuple[Claim[Data], ...]
    rows: list[dict[str, Any]]
    summary: list[dict[str, Any]]
    performance: Mapping[str, float]
    failed: tuple[str, ...] = ()
    """Drawings that failed, and why."""


def run_suite(
    suite: Suite,
    mode: Mode = "quick",
    only: Iterable[str] = (),
    jobs: int | None = None,
    out: Path | str = Path("out"),
    console: Console | None = None,
    runs: Path | str | None = None,
) -> SuiteOutcome:
    """Runs the selected experiments, judges their claims, and writes everything below ``out``.

    Runs that an earlier command stored are not repeated, even if that command was interrupted.

    Args:
        suite: what to run.
        mode: "quick" for a few points, "full" for all points of the paper.
        only: ids of claims or names of experiments; all if empty.
        jobs: number of worker processes; one for each core if None.
        out: directory of the results, created if necessary. Other experiments stored in it are kept.
        console: shows progress and the table of claims; nothing is shown if None.
        runs: store of the runs, which other suites may share; in ``out`` if None.

    Raises:
        InputError: an id is unknown or the directory is not writable; raised before anything runs.
        KeyboardInterrupt: after the finished experiments were written.
    """
    directory = Path(out)
    console = console or Console(quiet=True)
    measured = measure(suite, mode, only, jobs, directory, console, runs)
    with console.status("drawing figures"):
        path = page.build(directory, jobs)
    print_measurement(console, measured)
    console.print(f"report: {path}", soft_wrap=True)
    return outcome(suite, mode, measured, path)


def outcome(suite: Suite, mode: Mode, measured: Measurement, path: Path) -> SuiteOutcome:
    """Returns what a suite produced, with the path of its page."""
    return SuiteOutcome(
        suite.name, mode, measured.rows, measured.summary, path, measured.performance, measured.failed
    )


def measure(
    suite: Suite,
    mode: Mode,
    only: Iterable[str],
    jobs: int | None,
    directory: Path,
    console: Console,
    runs: Path | str | None,
) -> Measurement:
    """Does what `run_suite` does, with the same arguments, but draws and prints nothing."""
    only = list(only)
    experiments, claims = suite.select(only)
    grids = {experiment.name: experiment.runs(mode) for experiment in experiments}
    works = planned(suite, grids)
    folder.prepare(directory)
    provenance = output.provenance(sys.argv)
    collected = _Collected(directory, mode, experiments, grids, provenance)
    effort = Effort()
    status = "interrupted"
    try:
        with Store(runs or directory, reduction_key(suite.reduce)) as kept:
            title, run = f"{suite.name} {mode}", reducing(suite, jobs)
            with closing(perform(works, kept, run, console, title, effort)) as done:
                for work, row in done:
                    collected.add(work, row)
        status = "complete"
    finally:
        # An interrupted suite also judges and writes what has finished.
        performance = effort.performance()
        ledger = _judge(claims, collected, mode)
        stored = folder.merge_ledger(directory, suite.name, ledger, collected.finished)
        folder.keep_history(directory, ledger, provenance)
        summary = [_brief(experiment, grids, collected) for experiment in experiments]
        folder.write_suite(
            directory,
            {
                "suite": suite.name,
                "title": suite.title,
                "citation": suite.citation,
                "mode": mode,
                "only": only,
                "status": status,
                "experiments": folder.statuses(directory, list(grids)),
                "order": [experiment.name for experiment in suite.experiments],
                "performance": performance,
                "provenance": provenance,
            },
        )
    wanted = {row["id"] for row in ledger}
    rows = [row for row in stored if row["id"] in wanted]
    return Measurement(experiments, claims, rows, summary, performance, tuple(collected.failed))


def reducing(suite: Suite, jobs: int | None) -> Perform:
    """Returns what runs scenarios and yields the rows of a suite."""
    return functools.partial(run_many, jobs=jobs, reduce=suite.reduce, ordered=False)


def print_measurement(console: Console, measured: Measurement) -> None:
    """Prints the selected claims, their tally, and what the runs have cost."""
    console.print(claims_table(measured.rows))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in tally(measured.rows).items() if count)
    console.print(f"{counts}; {cost(measured.performance)}")


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
    has_live = any("live" in row for row in rows)
    table = Table(title=None, show_lines=True, expand=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("the paper", ratio=3)
    table.add_column("measured", ratio=4)
    table.add_column("verdict", no_wrap=True)
    if has_live:
        table.add_column("live", no_wrap=True)
    for row in rows:
        mark = " *" if row["indicative"] else ""
        cells = [row["id"], row["published"], row["measured"] or row["note"], shown(row["verdict"]) + mark]
        table.add_row(
            *cells, *([shown(row["live"]["verdict"]) if "live" in row else "–"] if has_live else [])
        )
    if any(row["indicative"] for row in rows):
        table.caption = "* indicative: few points and repeats"
    return table


def shown(verdict: str) -> str:
    """Returns a verdict in its colour, for the terminal."""
    return f"[{VERDICT_STYLES[verdict]}]{verdict}[/]"


class _Collected:
    """Collects rows by experiment, and stores an experiment when its last run has arrived."""

    def __init__(
        self,
        out: Path,
        mode: Mode,
        experiments: Iterable[Experiment],
        grids: Mapping[str, list[Run]],
        provenance: Mapping[str, Any],
    ) -> None:
        self.out = out
        self.provenance = provenance
        self.mode = mode
        self.experiments = {experiment.name: experiment for experiment in experiments}
        self.grids = grids
        self.rows: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in grids}
        self.finished: dict[str, Runs] = {}
        self.failed: list[str] = []

    def add(self, work: Task[Place], row: dict[str, Any]) -> None:
        slim = {key: value for key, value in row.items() if key != "series"}
        for name, position in work.places:
            experiment = self.experiments[name]
            run = self.grids[name][position]
            quantities = row if experiment.keeps_series else slim
            self.rows[name][position] = {**run.coordinates, **quantities}
            if len(self.rows[name]) == len(self.grids[name]):
                ordered = [self.rows[name][index] for index in range(len(self.grids[name]))]
                self.finished[name] = Runs(name, ordered)
                try:
                    folder.write_experiment(
                        self.out, experiment, self.finished[name], self.mode, self.provenance
                    )
                except StudyError as error:  # the other experiments go on
                    self.failed.append(str(error))


def planned(suite: Suite, grids: Mapping[str, list[Run]]) -> list[Task[Place]]:
    """Returns the runs of all grids, one for each distinct plan."""

    def wanted() -> Iterator[tuple[Place, Scenario, float]]:
        for name, runs in grids.items():
            for position, run in enumerate(runs):
                scenario = Scenario.from_dict(run.document, source=f"suite {suite.name}, {name}")
                yield (name, position), scenario, run.estimated_packets(scenario)

    return distinct(wanted())


def _judge(claims: Iterable[Claim[Data]], collected: _Collected, mode: Mode) -> list[dict[str, Any]]:
    data = Data(collected.finished)
    rows = []
    for claim in claims:
        lacking = [name for name in claim.experiments if name not in collected.finished]
        if lacking:
            rows.append(unmeasured(claim, mode, f"Experiment {', '.join(lacking)} did not finish."))
        else:
            rows.append(judge(claim, data, mode))
    return rows


def _brief(experiment: Experiment, grids: Mapping[str, list[Run]], collected: _Collected) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "mirrors": experiment.mirrors,
        "title": experiment.title,
        "runs": len(grids[experiment.name]),
        "finished": experiment.name in collected.finished,
    }
