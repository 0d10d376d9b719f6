"""`longfat report`: builds the page of a folder again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import click

from longfat import drafts
from longfat.cli.options import Folder
from longfat.errors import InputError, LongfatError
from longfat.packages import WITHOUT_PAPERS, added, loaded
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
SUITE = "suite.json"
"""The file that identifies the folder of a suite; the package longfat-papers builds its page."""
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
    build_page = _builder(root)
    with of_anyone(root):
        drafts.clear_abandoned(root)
        page: Path = build_page(root)
    return page


def _builder(root: Path) -> Any:
    """The function that builds the page of a folder."""
    broken = []
    for file, point in added(GROUP).items():
        if file not in PAGES and (root / file).is_file():
            try:
                return loaded(point)
            except LongfatError as error:
                broken.append(f"{root}: {error}")
    for file, module in PAGES.items():
        if (root / file).is_file():
            for problem in broken:
                echo(f"warning: {problem}", err=True)
            return import_module(module).build
    if broken:
        raise LongfatError(broken[0])
    if (root / SUITE).is_file():
        raise InputError(f"{root}: the page of a suite {WITHOUT_PAPERS}")
    raise InputError(
        f"{root}: there are no stored results; accepted: a folder written by `longfat run --out`, `suite`, "
        "`compare`, `sweep`, `crosscheck` or `assess`"
    )


@click.command()
@click.argument("folder", type=Folder(is_read=True), metavar="DIR")
def report(folder: Path) -> None:
    """Rebuild index.html and the figures from the results in DIR."""
    echo(build(folder))
