"""`longfat report`: builds the page of a folder again."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import click

from longfat import drafts
from longfat.cli.options import Folder
from longfat.errors import InputError
from longfat.terminal import echo

PAGES = {
    "compare.json": "longfat.compare.page",
    "dossier.json": "longfat.assess.page",
    "crosscheck.json": "longfat.crosscheck.page",
    "sweep.json": "longfat.sweep.page",
    "unfinished.json": "longfat.sweep.page",
    "summary.json": "longfat.report.run",
}
"""The file that identifies a folder's content, and the module that builds its page."""
GROUP = "longfat.pages"
"""The group of entry points by which other packages add pages: functions, by the identifying file."""


def build(directory: Path | str) -> Path:
    """Writes index.html and figures/ into a folder of stored results; returns the page's path.

    The folder may come from elsewhere: its names stay within it, and its texts are only shown.

    Raises:
        InputError: the folder holds no stored results, or they cannot be read.
        LongfatError: a file of them is missing or damaged.
    """
    from longfat.store.whole import of_anyone, refuse_incomplete

    root = Path(directory)
    refuse_incomplete(root)
    added = {point.name: point.load for point in entry_points(group=GROUP)}
    own = {file: lambda module=module: import_module(module).build for file, module in PAGES.items()}
    for file, load in {**added, **own}.items():
        if (root / file).is_file():
            with of_anyone(root):
                drafts.clear_abandoned(root)
                page: Path = load()(root)
            return page
    raise InputError(
        f"{root}: there are no stored results; accepted: a folder written by `longfat run --out`, `suite`, "
        "`compare`, `sweep`, `crosscheck` or `assess`"
    )


@click.command()
@click.argument("folder", type=Folder(is_read=True), metavar="DIR")
def report(folder: Path) -> None:
    """Rebuild index.html and the figures from the results in DIR."""
    echo(build(folder))
