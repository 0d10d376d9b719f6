"""`longfat sweep`: many runs over a grid."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.cli.options import (
    as_json,
    make_console,
    on_ctrl_c,
)
from longfat.errors import InputError, LongfatError


@click.command()
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
    from longfat.runs import pool

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
    console = make_console(stderr=True)
    if dry_run:
        expected = estimate.estimate(asked, jobs)
        if as_json:
            click.echo(json.dumps(expected))
        else:
            estimate.show(expected, make_console())
        return
    with on_ctrl_c(lambda: f"what has finished is kept in {place}, run again to go on"):
        document = sweeps.run(asked, place, jobs=jobs, scheduler=scheduler, console=console)
        page = sweeps.report(place, console)
    if as_json:
        click.echo(json.dumps(document))
    else:
        for line in sweeps.told(document, place, page):
            click.echo(line)
    if document["failed"]:
        raise click.exceptions.Exit(LongfatError.exit_code)
