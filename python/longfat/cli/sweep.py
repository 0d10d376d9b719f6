"""`longfat sweep`: many runs over a grid."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.completion import files
from longfat.cli.options import Name, as_json, on_ctrl_c, within_memory
from longfat.errors import InputError, LongfatError
from longfat.terminal import echo, echo_json, make_console


@click.command()
@click.argument("file", type=Name("a sweep file (TOML)"), shell_complete=files(".toml"))
@click.option("--jobs", type=click.IntRange(1), help="How many processes; one for each processor by default.")
@click.option(
    "--scheduler", metavar="ADDRESS", help="Run on the dask cluster with this scheduler: tcp://host:8786."
)
@click.option(
    "--out",
    metavar="DIR",
    help="Where runs, tables and report go; out/NAME by default. s3://… and others work too.",
)
@click.option(
    "--dry-run", is_flag=True, help="Only print how many runs there are and about how long they take."
)
@click.option(
    "--page/--no-page",
    default=None,
    help="Draw the page, or do not; by default it is drawn if it does not show the present results.",
)
@within_memory
@click.option("--yes", is_flag=True, help="Allow more than 100000 runs.")
@as_json
def sweep(
    file: Path,
    jobs: int | None,
    scheduler: str | None,
    out: str | None,
    dry_run: bool,
    page: bool | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the sweep in FILE.

    Runs that have a result already are kept, so an interrupted sweep continues. While it runs, and after an
    interruption, `longfat results`, `plot` and `report` read the runs so far.
    """
    from longfat.runs import pool

    if scheduler is None and not dry_run:
        pool.prepare("longfat.sweep.run")  # starts in the background while the rest is imported
    from longfat import sweep as sweeps
    from longfat.sweep import estimate

    if jobs is not None and scheduler is not None:
        raise InputError("--jobs cannot be used with --scheduler; accepted: one of them")
    target = str(Path("out") / file.stem) if out is None else out
    if not target:
        raise InputError('--out "" is an empty name; accepted: a folder')
    asked = sweeps.load(file)
    estimate.refuse_large(asked, yes or dry_run)
    for line in asked.warnings():
        echo(f"warning: {line}", err=True)
    console = make_console(stderr=True)
    if dry_run:
        expected = estimate.estimate(asked, jobs)
        if as_json:
            echo_json(expected)
        else:
            estimate.show(expected, make_console())
        return
    with on_ctrl_c(lambda: f"finished runs are kept in {target}; run again to continue"):
        document = sweeps.run(asked, target, jobs=jobs, scheduler=scheduler, console=console)
        drawn = sweeps.report(target, console, jobs=jobs, draw=page)
    if as_json:
        echo_json(document)
    else:
        for line in sweeps.told(document, target, drawn):
            echo(line)
    if document["failed"]:
        raise click.exceptions.Exit(LongfatError.exit_code)
