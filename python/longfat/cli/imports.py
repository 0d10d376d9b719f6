"""`longfat import`: the TCP connections of a capture, as a run's result."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from longfat.cli.completion import files
from longfat.cli.options import Folder, all_flows, as_json, on_ctrl_c
from longfat.errors import LongfatError
from longfat.terminal import echo, echo_json, make_console


@click.command("import")
@click.argument("file", shell_complete=files())
@click.option(
    "--out",
    type=Folder(),
    metavar="DIR",
    help="Write the summary and the series here, as run does; longfat report draws them.",
)
@all_flows
@as_json
def import_(file: str, out: Path | None, every_flow: bool, as_json: bool) -> None:
    """Read the TCP connections of the capture FILE: pcapng or pcap, of any program; - is standard input.

    gzip, zstd and xz are unpacked. The exit code is 1 if the file is damaged: then the numbers are those of
    what could be read.
    """
    with on_ctrl_c(lambda: "nothing was written"):
        from longfat.cli import tables
        from longfat.runs.imported import read_capture
        from longfat.store import output

        if out is None:
            imported, failure = read_capture(file), None
        else:
            imported, failure = output.written(
                out,
                lambda: read_capture(file),
                lambda found, draft: output.write_import(found, sys.argv, draft),
            )
        for note in imported.summary["notes"]:
            echo(f"note: {note}", err=True)
    if as_json:
        echo_json(imported.summary)
    else:
        console = make_console()
        tables.print_flows(console, imported.summary, every_flow=every_flow)
        if out is not None and failure is None:
            console.print(f"Written to {out}", markup=False)
    if failure is not None:
        raise failure
    if imported.summary["capture"]["damage"]:
        raise click.exceptions.Exit(LongfatError.exit_code)
