"""`longfat ...`: parse, call, print. Exit codes: 0 done, 1 a run or check failed, 2 bad input, 130 Ctrl-C."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.errors import InputError, Interrupted, LongfatError

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.registry import Kind
    from longfat.scenario import Scenario


class _Folder(click.Path):
    """A folder's path, which an empty text is not (Path would take it for the current one)."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("an empty name; accepted: a folder", param, ctx)
        return super().convert(value, param, ctx)


@contextmanager
def _on_ctrl_c(became: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C within the block ends the command, with a line that says what became of the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {became()}") from None


class _App(click.Group):
    """Keeps Ctrl-C from click, which would print an empty line for it."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

as_changed = click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help='Change a value: "flow.0.rtt=82 ms".'
)
as_seeded = click.option("--seed", type=int, help="Instead of the scenario's.")
from_warmup = click.option(
    "--warmup", metavar="TIME", help="Leave this long at the beginning out of every figure."
)
in_window = click.option(
    "--window", metavar="A,B", help='Restrict every figure to these times: "100 s,600 s".'
)
of_flows = click.option(
    "--traffic",
    type=click.Choice(["longfat", "iperf3"]),
    default="longfat",
    show_default=True,
    help="Of flows over TCP, live.",
)


@click.group(cls=_App, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="longfat", prog_name="longfat")
def app() -> None:
    """A laboratory for congestion control on long fat networks."""


@app.command()
@click.argument("file")
@as_changed
@as_seeded
@click.option("--repeats", type=click.IntRange(1, 10_000), default=1, help="Runs, with seeds counting up.")
@click.option("--backend", type=click.Choice(["sim", "live"]), default="sim", show_default=True)
@of_flows
@from_warmup
@in_window
@click.option("--out", type=_Folder(), metavar="DIR", help="Write summary, series and provenance.")
@as_json
def run(
    file: str,
    changes: tuple[str, ...],
    seed: int | None,
    repeats: int,
    backend: str,
    traffic: str,
    warmup: str | None,
    window: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a scenario FILE; - is standard input."""
    with _on_ctrl_c(lambda: "nothing was written"):
        from longfat import tables

        if traffic != "longfat":
            from longfat.live.traffic import refuse_unknown

            refuse_unknown(traffic, backend)
        from longfat.scenario import IDENTICAL

        scenario = _scenario(file, changes, seed, warmup, window)
        warnings = scenario.warnings()
        if repeats > 1 and backend == "sim" and not scenario.varies():
            warnings.append(IDENTICAL)
        for line in warnings:
            click.echo(f"warning: {line}", err=True)
        summary = _simulate(scenario, repeats, out, backend, _named(file), traffic)
        from longfat.result import unreached_loads

        shown = summary if repeats == 1 else summary["mean"]
        for line in unreached_loads(shown["background"]):
            click.echo(f"warning: {line}", err=True)
        if backend == "live":
            _warn_of_doubts(summary.get("runs", [summary]))
    if as_json:
        click.echo(json.dumps(summary))
        return
    console = _console()
    tables.print_summary(console, scenario, shown)
    if repeats > 1:
        console.print(f"Means over {repeats} runs; --json has each, and standard errors.", style="dim")
    if out is not None:
        console.print(f"Written to {out}", markup=False)


def _warn_of_doubts(summaries: list[dict[str, Any]]) -> None:
    from longfat.live import doubts

    for line in doubts(summaries):
        click.echo(f"warning: {line}", err=True)


def _simulate(
    scenario: Scenario, repeats: int, out: Path | None, backend: str, source: str, traffic: str
) -> dict[str, Any]:
    """The summary of a run, or of repeats with their mean and standard error; written to `out`."""
    from longfat import output, result, simulate

    def once() -> tuple[list[result.Result], dict[str, Any]]:
        if backend == "live":
            from longfat.live import run as live

            seeded = [scenario.repeat(i) for i in range(repeats)]
            results = [live.run(each, source, traffic) for each in seeded]
        elif repeats == 1:
            results = [simulate.run(scenario)]
        else:
            results = simulate.repeats(scenario, repeats)
        if repeats == 1:
            return results, results[0].summary
        return results, result.aggregate([each.summary for each in results])

    if out is None:
        return once()[1]
    with output.folder(out) as draft:
        results, summary = once()
        output.write(results, summary, sys.argv, draft)
    return summary


def _named(file: str) -> str:
    """What problems of a scenario are told of."""
    return "standard input" if file == "-" else file


def _scenario(
    file: str, changes: tuple[str, ...], seed: int | None, warmup: str | None, window: str | None
) -> Scenario:
    from longfat.override import parse_override
    from longfat.scenario import Scenario

    overrides: dict[str, Any] = dict(map(parse_override, changes))
    if seed is not None:
        overrides["seed"] = seed
    if window is not None:
        overrides["window"] = [part.strip() for part in window.split(",")]
    if file == "-":
        scenario = Scenario.from_toml(sys.stdin.read(), source=_named(file), overrides=overrides)
    else:
        scenario = Scenario.load(file, overrides=overrides)
    if warmup is not None:
        if window is not None:
            raise InputError("--warmup and --window: accepted: one of them")
        try:
            scenario = scenario.after_warmup(warmup)
        except ValueError as error:
            raise InputError(f"--warmup {warmup}: {error}") from None
    return scenario


@app.command()
@click.argument("file")
@as_changed
@as_seeded
@click.option("--repeats", type=click.IntRange(1, 1000), default=1, help="Runs of each, seeds counting up.")
@of_flows
@from_warmup
@in_window
@click.option("--out", type=_Folder(), metavar="DIR", help="Table, figure and page; out/compare by default.")
@as_json
def compare(
    file: str,
    changes: tuple[str, ...],
    seed: int | None,
    repeats: int,
    traffic: str,
    warmup: str | None,
    window: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a scenario FILE in the simulator and live, and lay one over the other."""
    with _on_ctrl_c(lambda: "nothing was written"):
        from longfat.live import compare as comparison

        scenario = _scenario(file, changes, seed, warmup, window)
        folder = out or Path("out") / "compare"
        document = comparison.run(scenario, repeats, folder, sys.argv, _named(file), traffic)
        _warn_of_doubts(document["live"])
    if as_json:
        click.echo(json.dumps(document))
        return
    console = _console()
    comparison.show(document, console)
    console.print(f"report: {folder / 'index.html'}", soft_wrap=True, markup=False)


@app.command()
@as_json
def doctor(as_json: bool) -> None:
    """What this machine can run live, and what to do about the rest."""
    from longfat.live import doctor

    items = doctor.examine()
    if as_json:
        click.echo(json.dumps(items))
    else:
        doctor.show(items, _console())
    if doctor.lacking(items):
        sys.exit(1)


@app.command()
@click.argument("name")
@click.option("--quick/--full", default=True, help="A few points and runs, or the paper's own.")
@click.option("--only", multiple=True, metavar="ID", help="A claim or experiment; several with commas.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; all processors by default.")
@click.option("--out", type=_Folder(), metavar="DIR", help="Results and report; out/NAME by default.")
@click.option("--runs", type=_Folder(), metavar="DIR", help="Where runs are kept; --out by default.")
@as_json
def suite(
    name: str,
    quick: bool,
    only: tuple[str, ...],
    jobs: int | None,
    out: Path | None,
    runs: Path | None,
    as_json: bool,
) -> None:
    """Run the published experiments of a paper and check its claims.

    Exit code 0 says that what was asked for has been measured, whatever the verdicts: that a claim is not
    reproduced is a result. 1 says that a run or the check of a claim failed, 2 that the input is bad.
    """
    folder = out or Path("out") / name

    def became() -> str:
        kept = (folder / "suite.json").exists()
        return f"what has finished is kept in {folder}" if kept else "nothing was written"

    with _on_ctrl_c(became):
        from longfat import suites

        outcome = suites.run_suite(
            suites.get(name),
            mode="quick" if quick else "full",
            only=list(only),
            jobs=jobs,
            out=folder,
            console=_console(stderr=as_json),
            runs=runs,
        )
    if as_json:
        click.echo(json.dumps(outcome.to_json()))


@app.command()
@click.argument("algorithms", nargs=-1, required=True, metavar="ALGORITHM...")
@click.option("--rates", metavar="LIST", help='Of the bottleneck, with commas: "10 Mbit/s, 100 Mbit/s".')
@click.option("--rtts", metavar="LIST", help='Propagation: "20 ms, 80 ms".')
@click.option("--buffers", metavar="LIST", help='Of the bottleneck: "20 % BDP, 100 % BDP".')
@click.option("--repeats", type=click.IntRange(1, 1000), help="Runs of each kind, with other draws.")
@click.option("--quick/--full", default=True, help="Defaults of the lists, repeats and lengths of runs.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; all processors by default.")
@click.option("--out", type=_Folder(), metavar="DIR", help="Table, runs and page; out/screen by default.")
@as_json
def screen(
    algorithms: tuple[str, ...],
    rates: str | None,
    rtts: str | None,
    buffers: str | None,
    repeats: int | None,
    quick: bool,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare congestion controls on one page: names, or file.py:Class, or { name = ..., ... }."""
    folder = out or Path("out") / "screen"
    with _on_ctrl_c(lambda: f"runs that have finished are kept in {folder}"):
        from longfat.screen import command
        from longfat.screen.grid import grid

        asked = grid(algorithms, rates, rtts, buffers, repeats, "quick" if quick else "full")
        document = command.run(asked, folder, jobs, _console(stderr=True))
    if as_json:
        click.echo(json.dumps(document))
        return
    console = _console()
    command.show(document, console)
    console.print(f"report: {folder / 'index.html'}", soft_wrap=True, markup=False)


@app.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--jobs", type=click.IntRange(1), help="Processes; all processors by default.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Of a dask cluster that takes the runs: tcp://host:8786."
)
@click.option(
    "--out", metavar="DIR", help="Runs, tables and report; out/NAME by default. Also s3://… and others."
)
@click.option("--dry-run", is_flag=True, help="Only say how many runs it is, and about how long they take.")
@click.option("--yes", is_flag=True, help="Run more than 100000 without asking for this option.")
@as_json
def sweep(
    file: Path,
    jobs: int | None,
    scheduler: str | None,
    out: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run all points of a sweep FILE that are not there yet; interrupted ones go on where they were."""
    from longfat import pool

    if scheduler is None and not dry_run:
        pool.prepare("longfat.sweep.run")  # in the background of what is imported here
    from longfat import sweep as sweeps
    from longfat.sweep import estimate

    if jobs is not None and scheduler is not None:
        raise InputError("--jobs and --scheduler: accepted: one of them")
    place = str(Path("out") / file.stem) if out is None else out
    if not place:
        raise InputError("--out: an empty name; accepted: a folder")
    asked = sweeps.load(file)
    estimate.refuse_large(asked, yes or dry_run)
    for line in asked.warnings():
        click.echo(f"warning: {line}", err=True)
    console = _console(stderr=True)
    if dry_run:
        expected = estimate.estimate(asked, jobs)
        if as_json:
            click.echo(json.dumps(expected))
        else:
            estimate.show(expected, _console())
        return
    with _on_ctrl_c(lambda: f"what has finished is kept in {place}, run again to go on"):
        document = sweeps.run(asked, place, jobs=jobs, scheduler=scheduler, console=console)
        page = sweeps.report(place, console)
    if as_json:
        click.echo(json.dumps(document))
    else:
        for line in sweeps.told(document, place, page):
            click.echo(line)
    if document["failed"]:
        raise click.exceptions.Exit(LongfatError.exit_code)


@app.command()
@click.argument("folder", type=_Folder(), metavar="DIR")
@click.option("--sql", "query", help="Over the tables runs, flows, failures and claims.")
@as_json
def results(folder: Path, query: str | None, as_json: bool) -> None:
    """What a sweep in DIR holds, or the answer to a question about it."""
    from longfat import sweep as sweeps
    from longfat import tables

    swept = sweeps.open_sweep(folder)
    if query is None and not as_json:
        tables.print_sweep(_console(), swept)
        return
    answer = swept.sql("SELECT * FROM runs" if query is None else query)
    if as_json:
        click.echo(json.dumps(answer.to_pylist(), default=str))
    else:
        tables.print_answer(_console(), answer)


@app.command()
@click.argument("folder", type=_Folder(), default=Path("out"), metavar="[DIR]")
@as_json
def claims(folder: Path, as_json: bool) -> None:
    """The ledger of claims from stored results under DIR, out by default."""
    from longfat import claims

    ledger = claims.load_ledgers(folder)
    if as_json:
        click.echo(json.dumps(ledger))
        return
    from longfat.suites.runner import claims_table

    _console().print(claims_table(ledger))


def _rows(kind: Kind, as_json: bool) -> None:
    from longfat import registry

    rows = registry.rows(kind)
    if as_json:
        click.echo(json.dumps(rows))
        return
    from longfat import tables

    tables.print_rows(_console(), kind.capitalize(), rows)


@app.command()
@as_json
def algorithms(as_json: bool) -> None:
    """The congestion control algorithms and their parameters."""
    _rows("algorithms", as_json)


@app.command()
@as_json
def queues(as_json: bool) -> None:
    """The queueing disciplines and their parameters."""
    _rows("queues", as_json)


@app.command()
@as_json
def routers(as_json: bool) -> None:
    """The explicit-rate routers and their parameters."""
    _rows("routers", as_json)


@app.command()
@click.argument("folder", type=_Folder(), metavar="DIR")
def report(folder: Path) -> None:
    """Build index.html and figures again from the results in DIR."""
    from longfat import report

    click.echo(report.build(folder))


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = 160  # into a pipe or a file: no reason to break lines at 80
    return console


def end_code() -> int:
    """Does what the command line says; every error becomes a line and an exit code here."""
    try:
        code = app(standalone_mode=False)  # of `Exit`, which click raises no further
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted", err=True)
        return Interrupted.exit_code
    except Interrupted as ended:
        click.echo(str(ended), err=True)
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return InputError.exit_code
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        return InputError.exit_code
    except LongfatError as error:
        for line in error.lines():
            click.echo(f"error: {line}", err=True)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # so that the flush at exit has somewhere to go
        return LongfatError.exit_code
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        return LongfatError.exit_code
    return code if isinstance(code, int) else 0
