"""`longfat claims`: the ledger of stored suites."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.options import Folder, as_json
from longfat.terminal import echo_json, make_console


@click.command()
@click.argument("folder", type=Folder(is_read=True), default=Path("out"), metavar="[DIR]")
@as_json
def claims(folder: Path, as_json: bool) -> None:
    """Show the ledger of claims stored under DIR, out by default."""
    from longfat.store import ledger

    rows = ledger.load_ledgers(folder)
    if as_json:
        echo_json(rows)
        return
    from longfat.suites.kit.runner import claims_table

    make_console().print(claims_table(rows))
