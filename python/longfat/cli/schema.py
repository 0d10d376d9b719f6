"""`longfat schema`: the JSON Schema of scenario and sweep files."""

from __future__ import annotations

import json

import click

from longfat.terminal import echo


@click.command()
@click.option("--sweep", "of_sweep", is_flag=True, help="Print the schema of sweep files instead.")
def schema(of_sweep: bool) -> None:
    """Print the JSON Schema of scenario files, for editors.

    The repository has both as schemas/scenario.json and schemas/sweep.json.
    """
    if of_sweep:
        from longfat.sweep.schema import sweep_schema

        found = sweep_schema()
    else:
        from longfat import _core

        echo(_core.definition("schema").rstrip())
        return
    echo(json.dumps(found, indent=2, ensure_ascii=False))
