"""`longfat results`: what a sweep holds, and queries over it."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.options import Folder, as_json
from longfat.terminal import echo, echo_json, make_console


@click.command()
@click.argument("folder", type=Folder(is_read=True), metavar="DIR")
@click.option("--sql", "query", help="A query over the tables runs, flows, failures and claims.")
@as_json
def results(folder: Path, query: str | None, as_json: bool) -> None:
    """Show what the sweep in DIR holds, or the result of a query."""
    from longfat import sweep as sweeps
    from longfat.cli import tables
    from longfat.store.whole import of_anyone

    with of_anyone(folder):
        swept = sweeps.open_sweep(folder)
        if query is None and not as_json:
            tables.print_sweep(make_console(), swept)
            return
    if swept.note:
        echo(f"{folder}: {swept.note}", err=True)
    answer = swept.sql("SELECT * FROM runs" if query is None else query, dates_as_text=True)
    if as_json:
        echo_json(answer.to_pylist(), default=tables.plain)
    else:
        tables.print_query(make_console(), answer)
