"""`longfat compare`: congestion controls side by side."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.completion import algorithms
from longfat.cli.options import Folder, Grouped, as_json, on_ctrl_c, on_stack, within_memory
from longfat.terminal import echo_json, make_console


@click.command(
    cls=Grouped,
    groups={
        "Paths and hosts": ("--rates", "--rtts", "--buffers", "--path", "--stack"),
        "Runs": ("--repeats", "--quick", "--jobs", "--memory"),
        "Results and files": ("--out", "--json"),
    },
)
@click.argument("algorithms", nargs=-1, required=True, shell_complete=algorithms, metavar="ALGORITHM...")
@click.option("--rates", metavar="LIST", help='Rates of the bottleneck: "10 Mbit/s, 100 Mbit/s".')
@click.option("--rtts", metavar="LIST", help='Propagation delays, two-way: "20 ms, 80 ms".')
@click.option("--buffers", metavar="LIST", help='Buffers of the bottleneck: "20 % BDP, 100 % BDP".')
@click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="FILE",
    help="A scenario (.toml) or a trace of a rate to run on, beside the grid; can be given again.",
)
@on_stack
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    help="How many runs of each kind; each draws other random numbers.",
)
@click.option(
    "--quick/--full",
    default=True,
    help="Short or long defaults for the lists, the repeats and the durations.",
)
@click.option("--jobs", type=click.IntRange(1), help="How many processes; one for each processor by default.")
@within_memory
@click.option(
    "--out", type=Folder(), metavar="DIR", help="Where the table, runs and page go; out/compare by default."
)
@as_json
def compare(
    algorithms: tuple[str, ...],
    rates: str | None,
    rtts: str | None,
    buffers: str | None,
    paths: tuple[str, ...],
    stack: str,
    repeats: int | None,
    quick: bool,
    jobs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare congestion controls on one page.

    Each ALGORITHM is a name, your own file.py:Class, or a table { name = ..., ... }.
    """
    folder = out or Path("out") / "compare"
    with on_ctrl_c(lambda: f"finished runs are kept in {folder}"):
        from longfat.compare import command, table
        from longfat.compare.grid import grid

        asked = grid(algorithms, rates, rtts, buffers, repeats, "quick" if quick else "full", paths, stack)
        document = command.run(asked, folder, jobs, make_console(stderr=True))
    if as_json:
        echo_json(document)
        return
    console = make_console()
    table.show(document, console)
    console.print(f"report: {folder / 'index.html'}", soft_wrap=True, markup=False)
