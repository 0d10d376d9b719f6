"""`longfat crosscheck`: one scenario in the simulator and live."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from longfat.cli.completion import files
from longfat.cli.options import (
    Folder,
    as_changed,
    as_json,
    as_seeded,
    from_warmup,
    in_window,
    load_scenario,
    of_flows,
    on_ctrl_c,
    source_name,
    warn_of_doubts,
)
from longfat.terminal import echo_json, make_console


@click.command()
@click.argument("file", shell_complete=files(".toml"))
@as_changed
@as_seeded
@click.option(
    "--repeats",
    type=click.IntRange(1, 1000),
    default=1,
    help="How many runs of each; the seed goes up by one each.",
)
@of_flows
@from_warmup
@in_window
@click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="Where the table, figure and page go; out/crosscheck by default.",
)
@as_json
def crosscheck(
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
    """Run FILE in the simulator and live, in one figure.

    A flow or a background over TCP that names no stack runs on the stack "linux".
    """
    with on_ctrl_c(lambda: "nothing was written"):
        from longfat.crosscheck import crosscheck as both
        from longfat.scenario.stacks import LINUX

        scenario = load_scenario(file, changes, seed, warmup, window, LINUX)
        folder = out or Path("out") / "crosscheck"
        document = both.run(scenario, repeats, folder, sys.argv, source_name(file), traffic)
        warn_of_doubts(document["live"])
    if as_json:
        echo_json(document)
        return
    console = make_console()
    both.show(document, console)
    console.print(f"report: {folder / 'index.html'}", soft_wrap=True, markup=False)
