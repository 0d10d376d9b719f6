"""`longfat doctor`: what this machine can run live."""

from __future__ import annotations

import sys

import click

from longfat.cli.options import (
    as_json,
    echo_json,
    make_console,
)


@click.command()
@as_json
def doctor(as_json: bool) -> None:
    """Check what this machine can run live.

    For everything that is missing, say how to fix it.
    """
    from longfat.live import doctor

    items = doctor.examine()
    if as_json:
        echo_json(items)
    else:
        doctor.show(items, make_console())
    if doctor.lacking(items):
        sys.exit(1)
