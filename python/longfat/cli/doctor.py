"""`longfat doctor`: what works on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from longfat.cli.options import as_json, load_scenario
from longfat.terminal import echo_json, make_console


@click.command()
@click.option(
    "--path",
    "file",
    metavar="FILE",
    help="Also test for a few seconds whether this machine can carry the path of this scenario.",
)
@as_json
def doctor(file: str | None, as_json: bool) -> None:
    """Check what works on this machine, and what it can run live.

    For everything that is missing, say how to fix it.
    """
    from longfat.live import doctor

    scenario = None if file is None else load_scenario(file, (), None, None, None)
    items = doctor.examine()
    if scenario is not None and not doctor.lacking(items):
        from longfat.live import capability

        items += capability.examine(scenario, Path(str(file)))
    if as_json:
        echo_json(items)
    else:
        doctor.show(items, make_console())
    if doctor.lacking(items):
        sys.exit(1)
