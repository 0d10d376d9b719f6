"""`longfat suite`: the published experiments of a paper."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.cli.options import (
    Folder,
    as_json,
    make_console,
    on_ctrl_c,
)


@click.command()
@click.argument("name")
@click.option("--quick/--full", default=True, help="A few points and runs, or the paper's own.")
@click.option("--only", multiple=True, metavar="ID", help="A claim or experiment; several with commas.")
@click.option("--jobs", type=click.IntRange(1), help="Processes; all processors by default.")
@click.option("--out", type=Folder(), metavar="DIR", help="Results and report; out/NAME by default.")
@click.option("--runs", type=Folder(), metavar="DIR", help="Where runs are kept; --out by default.")
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

    with on_ctrl_c(became):
        from longfat import suites

        outcome = suites.run_suite(
            suites.get(name),
            mode="quick" if quick else "full",
            only=list(only),
            jobs=jobs,
            out=folder,
            console=make_console(stderr=as_json),
            runs=runs,
        )
    if as_json:
        click.echo(json.dumps(outcome.to_json()))
