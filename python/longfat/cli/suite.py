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
@click.option("--quick/--full", default=True, help="A few points and repeats, or all that the paper has.")
@click.option(
    "--only", multiple=True, metavar="ID", help="Only this claim or experiment; separate several with commas."
)
@click.option("--jobs", type=click.IntRange(1), help="How many processes; one for each processor by default.")
@click.option("--out", type=Folder(), metavar="DIR", help="Where results and report go; out/NAME by default.")
@click.option(
    "--runs", type=Folder(), metavar="DIR", help="Where finished runs are stored; --out by default."
)
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

    NAME is a suite that comes with Longfat, or a Python file (paper.py) that defines one.

    The exit code is 0 when everything was measured, whatever the verdicts are: a claim that is not
    reproduced is a result. It is 1 when a run or a check failed, and 2 when the input is bad.
    """
    folder = out or Path("out") / Path(name).stem

    def kept() -> str:
        written = (folder / "suite.json").exists()
        return f"finished runs are kept in {folder}" if written else "nothing was written"

    with on_ctrl_c(kept):
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
