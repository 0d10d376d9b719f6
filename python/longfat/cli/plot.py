"""`longfat plot`: a figure for a paper, from stored results."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.options import Grouped, Name, as_json, on_ctrl_c
from longfat.errors import InputError, LongfatError
from longfat.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from longfat.figure.request import Request
    from longfat.figure.tables import Source

FIGURES = "figures"


@click.command(
    cls=Grouped,
    groups={
        "What it shows": ("--kind", "--x", "--y", "--by", "--panels", "--rows", "--where"),
        "Axes": (
            "--log-x",
            "--linear-x",
            "--log-y",
            "--x-limits",
            "--y-limits",
            "--x-label",
            "--y-label",
            "--title",
        ),
        "The file": ("--width", "--format", "--style", "--out", "--json"),
    },
)
@click.argument(
    "folders", nargs=-1, required=True, type=Name("a folder of results, or a sweep file"), metavar="DIR..."
)
@click.option(
    "--kind",
    default="",
    metavar="KIND",
    help="lines, bars, heat, cdf, box, timeline or scatter; bars where x has words, else lines.",
)
@click.option("--x", default="", metavar="COLUMN", help="What is along the axis, such as path or rtt.")
@click.option(
    "--y",
    default="",
    metavar="COLUMN",
    help='What is measured, such as throughput_bps; "a / b" divides one column by another.',
)
@click.option(
    "--by",
    default="",
    metavar="COLUMN",
    help="What curves or bars are told apart by, such as algorithm; of a heat map, the axis that points up.",
)
@click.option("--panels", default="", metavar="COLUMN", help="A panel for each value of this column.")
@click.option("--rows", default="", metavar="COLUMN", help="A row of panels for each value of this column.")
@click.option(
    "--where",
    multiple=True,
    metavar="COLUMN=VALUE",
    help="Only rows with this value, or one of several that commas separate.",
)
@click.option("--log-x", is_flag=True, help="A logarithmic scale of x; the values decide it by default.")
@click.option("--linear-x", is_flag=True, help="A linear scale of x.")
@click.option("--log-y", is_flag=True, help="A logarithmic scale of y.")
@click.option("--x-limits", type=(str, str), metavar="A B", help='The ends of the axis: "0 ms" "80 ms".')
@click.option("--y-limits", type=(str, str), metavar="A B", help="The ends of the axis that points up.")
@click.option("--x-label", metavar="TEXT", help="The name of the axis.")
@click.option("--y-label", metavar="TEXT", help="The name of the axis that points up.")
@click.option("--title", default="", metavar="TEXT", help="Stands above the figure.")
@click.option(
    "--width",
    default="",
    metavar="WIDTH",
    help='column (the usual one), page, or a length such as "8 cm" or "3.5 in".',
)
@click.option("--format", "form", default="", metavar="FORMAT", help="pdf (the usual one), svg or png.")
@click.option(
    "--style",
    "styles",
    multiple=True,
    metavar="FILE",
    help="A matplotlib style file, or the name of one of its styles; can be given again.",
)
@click.option(
    "--out",
    type=Name("a file"),
    metavar="FILE",
    help="The file; DIR/figures/KIND-Y-X-BY-WHERE.FORMAT by default.",
)
@as_json
def plot(
    folders: tuple[Path, ...],
    kind: str,
    x: str,
    y: str,
    by: str,
    panels: str,
    rows: str,
    where: tuple[str, ...],
    width: str,
    form: str,
    styles: tuple[str, ...],
    out: Path | None,
    log_x: bool,
    linear_x: bool,
    as_json: bool,
    **look: Any,
) -> None:
    """Draw a figure for a paper from the results in DIR.

    DIR is a folder of `longfat run --out`, `sweep` or `compare`, or a sweep file (.toml), whose missing runs
    are done first. Several folders have one more column, folder. Means have 95 % confidence intervals over
    repeats (Student's t).
    """
    from longfat.figure.data import FORMATS
    from longfat.figure.grouping import figure
    from longfat.figure.matplotlib import inches, save_as
    from longfat.figure.request import KINDS, Look, Request, check, usual_kind
    from longfat.sources import open_folders
    from longfat.store.whole import of_anyone
    from longfat.words import choice

    for option, value, known in (("--kind", kind, KINDS), ("--format", form, FORMATS)):
        if value and value not in known:
            raise InputError(f'{option} "{value}": {choice(value, known)}')
    if out is not None and out.suffix.removeprefix(".") not in FORMATS:
        raise InputError(
            f"--out {out}: there is no such format; accepted: a name that ends in .{', .'.join(FORMATS)}"
        )
    if out is not None and form not in ("", out.suffix.removeprefix(".")):
        raise InputError(f"--format {form} cannot be used with --out {out}; accepted: one of them")
    if log_x and linear_x:
        raise InputError("--log-x cannot be used with --linear-x; accepted: one of them")
    width_in = inches(width, styles)
    kept: dict[str, list[str]] = {}
    for key, values in map(_condition, where):
        kept.setdefault(key, []).extend(values)
    scale = True if log_x else False if linear_x else None

    def asked(source: Source) -> Request:
        chosen: Any = kind or usual_kind(source, x, by, kept)
        return Request(chosen, y, x, by, panels, rows, kept)

    def refuse_unknown(source: Source) -> None:
        if len(folders) == 1:  # several have a column more
            check(asked(source), source, values=False)

    opened = [_stored(folder, refuse_unknown) for folder in folders]
    with ExitStack() as held:
        for folder in opened:
            held.enter_context(of_anyone(folder))
        source = open_folders(opened)
        found = figure(check(asked(source), source), source, Look(scale, **look), width_in)
        file = out or _named(opened[0], found.name, form or FORMATS[0])
        save_as(found, file, width_in=width_in, styles=styles)
    if as_json:
        echo_json({"file": str(file), "caption": found.caption})
        return
    echo(file)
    echo(found.caption, err=True)


def _named(folder: Path, name: str, form: str) -> Path:
    """The file of a chart in a folder of results, whose columns are in its name."""
    from longfat.figure.data import plain_name

    try:
        return folder / FIGURES / f"{plain_name(name)}.{form}"
    except ValueError as error:
        raise InputError(f"{folder}: {error}; --out names another file") from None


def _condition(text: str) -> tuple[str, list[str]]:
    key, found, values = text.partition("=")
    if not found or not key.strip() or not values.strip():
        raise InputError(
            f'--where {text}: this is no condition; accepted: COLUMN=VALUE, such as "algorithm=cubic,bbr"'
        )
    return key.strip(), [value.strip() for value in values.split(",")]


def _stored(folder: Path, refuse_unknown: Callable[[Source], None]) -> Path:
    """The folder itself; for a sweep file its results, whose missing runs are done first.

    The columns that the chart needs are looked for in results of the same file, or in a first run.
    """
    if folder.suffix != ".toml" or folder.is_dir():
        return folder
    from longfat import sweep as sweeps
    from longfat.sources import open_folders
    from longfat.sweep import estimate
    from longfat.sweep.run import plan
    from longfat.sweep.tables import SWEEP_FILE

    asked = sweeps.load(folder)
    estimate.refuse_large(asked, accepted=False)
    target = Path("out") / folder.stem
    console = make_console(stderr=True)
    with on_ctrl_c(lambda: f"finished runs are kept in {target}; run again to continue"):
        if (target / SWEEP_FILE).is_file() and sweeps.open_sweep(target).document.get("plan") == plan(asked):
            refuse_unknown(open_folders([target]))
        else:
            import tempfile
            from dataclasses import replace

            with tempfile.TemporaryDirectory(prefix="longfat-") as other:
                first = sweeps.run(asked.first(), other, jobs=1)
                if not first["failed"]:
                    refuse_unknown(replace(open_folders([Path(other)]), folder=folder))
        document = sweeps.run(asked, target, console=console)
    if document["failed"] == document["runs"]:
        raise LongfatError(f"{folder}: every run failed: {document['errors'][0]}")
    for error in document["errors"]:
        console.print(f"failed: {error}", markup=False, soft_wrap=True)
    return target
