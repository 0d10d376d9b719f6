"""`longfat assess`: a dossier on one congestion control, by the questions of RFC 9743."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import click

from longfat.cli.completion import algorithms
from longfat.cli.options import Folder, Grouped, Name, as_json, on_ctrl_c, on_stack, within_memory
from longfat.errors import InputError
from longfat.terminal import echo, echo_json, make_console
from longfat.words import Backend


@click.command(
    cls=Grouped,
    groups={
        "Assessment": ("--baseline", "--stack", "--quick", "--only", "--answers"),
        "Runs": ("--jobs", "--scheduler", "--memory", "--runs"),
        "Live runs": ("--backend", "--retry"),
        "Results and files": ("--out", "--markdown", "--json"),
    },
)
@click.argument("algorithm", shell_complete=algorithms, metavar="ALGORITHM")
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="ALGORITHM",
    shell_complete=algorithms,
    help="Compare with this one; can be given again. By default standard TCP (reno) and cubic.",
)
@on_stack
@click.option("--quick/--full", default=True, help="A few points and 5 repeats, or more points and 20.")
@click.option(
    "--only",
    multiple=True,
    metavar="SECTION",
    help="Only this section of the RFC, such as 5.1 or 7.6; separate several with commas.",
)
@click.option(
    "--answers",
    type=Name("a file such as answers.toml"),
    metavar="FILE",
    help="Your own text for sections of the RFC (TOML).",
)
@click.option(
    "--backend",
    type=click.Choice(get_args(Backend)),
    default="sim",
    show_default=True,
    help="live: what this machine can carry also runs on its own TCP, in real time, beside the simulation.",
)
@click.option("--retry", is_flag=True, help="With --backend live: try again what was not valid.")
@click.option("--jobs", type=click.IntRange(1), help="How many processes; one for each processor by default.")
@click.option("--scheduler", metavar="ADDRESS", help="A dask scheduler whose workers run the runs.")
@within_memory
@click.option(
    "--out", type=Folder(), metavar="DIR", help="Where the dossier goes; out/assess-ALGORITHM by default."
)
@click.option(
    "--runs", type=Folder(), metavar="DIR", help="Where finished runs are stored; --out by default."
)
@click.option("--markdown", "as_markdown", is_flag=True, help="Print the dossier as Markdown.")
@as_json
def assess(
    algorithm: str,
    baselines: tuple[str, ...],
    stack: str,
    quick: bool,
    only: tuple[str, ...],
    answers: Path | None,
    backend: Backend,
    retry: bool,
    jobs: int | None,
    scheduler: str | None,
    out: Path | None,
    runs: Path | None,
    as_markdown: bool,
    as_json: bool,
) -> None:
    """Assess a congestion control by RFC 9743 (BCP 133).

    ALGORITHM is a name, your own file.py:Class, a kernel's file.bpf.o, or a table { name = ..., ... }. It
    runs the questions of the RFC as experiments, beside baselines, and writes a dossier: a page, JSON and
    Markdown. Run it again after an interruption to continue.

    The RFC has no thresholds, and neither has this command: the exit code is 0 for any numbers,
    also where the algorithm failed in some runs.
    """
    if as_json and as_markdown:
        raise InputError("--markdown cannot be used with --json; accepted: one of them")
    if jobs is not None and scheduler is not None:
        raise InputError("--jobs cannot be used with --scheduler; accepted: one of them")
    if retry and backend != "live":
        raise InputError(
            "--retry cannot be used without --backend live; accepted: both, or --backend live alone"
        )
    from longfat.assess import answers as own_text
    from longfat.assess.tasks import assessment

    asked = assessment(algorithm, baselines, only, "quick" if quick else "full", stack)
    folder = out or Path("out") / f"assess-{_short(asked.algorithm.label)}"
    with on_ctrl_c(lambda: f"finished runs are kept in {runs or folder}"):
        from longfat.assess import command, markdown, table

        document = command.run(
            asked,
            folder,
            answers=own_text.read(answers) if answers else None,
            jobs=jobs,
            scheduler=scheduler,
            runs=runs,
            console=make_console(stderr=True),
            backend=backend,
            retry=retry,
        )
    if as_json:
        echo_json(document)
        return
    if as_markdown:
        echo(markdown.text(document))
        return
    console = make_console()
    table.show(document, console)
    console.print(f"report: {folder / 'index.html'}", soft_wrap=True, markup=False)


def _short(label: str) -> str:
    """A label as the name of a folder."""
    return "".join(character if character.isalnum() or character in "+_.-" else "-" for character in label)
