"""`longfat list`: what a scenario can name, with its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from longfat.cli.options import as_json
from longfat.terminal import echo_json, make_console

if TYPE_CHECKING:
    from longfat.scenario.registry import Kind


def _rows(kind: Kind, as_json: bool) -> None:
    from longfat.scenario import registry

    rows = registry.rows(kind)
    if as_json:
        echo_json(rows)
        return
    from longfat.cli import tables

    tables.print_rows(make_console(), kind.capitalize(), rows)


@click.group("list", context_settings={"help_option_names": ["-h", "--help"]})
def list_() -> None:
    """List what a scenario can name, with parameters and sources."""


@list_.command()
@as_json
def algorithms(as_json: bool) -> None:
    """List the congestion control algorithms and their parameters."""
    _rows("algorithms", as_json)


@list_.command()
@as_json
def queues(as_json: bool) -> None:
    """List the queueing disciplines and their parameters."""
    _rows("queues", as_json)


@list_.command()
@as_json
def routers(as_json: bool) -> None:
    """List the explicit-rate routers and their parameters."""
    _rows("routers", as_json)


@list_.command()
@as_json
def stacks(as_json: bool) -> None:
    """List the stacks of hosts, with the source of each value."""
    from longfat.scenario.stacks import STACKS

    if as_json:
        echo_json(STACKS)
        return
    from longfat.cli import tables

    tables.print_stacks(make_console(), STACKS)
