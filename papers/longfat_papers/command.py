"""`longfat suite`, the published experiments of papers, and `longfat claims`, the ledger of stored suites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from longfat.cli.completion import files, names
from longfat.cli.options import Folder, as_json, on_ctrl_c, within_memory
from longfat.errors import InputError
from longfat.terminal import echo_json, make_console


def _suites(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem[str]]:
    import longfat_papers as suites

    return [*files(".py")(context, parameter, begun), *names(suites.names)(context, parameter, begun)]


@click.command()
@click.argument("name", shell_complete=_suites)
@click.option("--quick/--full", default=True, help="A few points and repeats, or all that the paper has.")
@click.option(
    "--only", multiple=True, metavar="ID", help="Only this claim or experiment; separate several with commas."
)
@click.option("--jobs", type=click.IntRange(1), help="How many processes; one for each processor by default.")
@within_memory
@click.option("--out", type=Folder(), metavar="DIR", help="Where results and report go; out/NAME by default.")
@click.option(
    "--runs", type=Folder(), metavar="DIR", help="Where finished runs are stored; --out by default."
)
@click.option(
    "--backend",
    type=click.Choice(["sim", "live"]),
    default="sim",
    show_default=True,
    help="Where to run: the simulator only, or also this machine's own TCP.",
)
@click.option(
    "--assumptions",
    is_flag=True,
    help="Also run the claims under each reading of what the paper leaves open.",
)
@click.option(
    "--assumption",
    "chosen",
    multiple=True,
    metavar="ID",
    help="With --assumptions: only the readings of this one; separate several with commas.",
)
@click.option(
    "--readings-repeats",
    type=click.IntRange(1),
    metavar="N",
    help="With --assumptions: the most repeats under a reading; 1 by default.",
)
@as_json
def suite(
    name: str,
    quick: bool,
    only: tuple[str, ...],
    jobs: int | None,
    out: Path | None,
    runs: Path | None,
    backend: str,
    assumptions: bool,
    chosen: tuple[str, ...],
    readings_repeats: int | None,
    as_json: bool,
) -> None:
    """Run the published experiments of a paper and check its claims.

    NAME is an installed suite, or a folder or a Python file (./mypaper, paper.py) that defines one.
    With --assumptions it also runs the claims with one assumption changed at a time, and with pairs of
    those that moved a claim.
    With --backend live it runs the experiments between this machine's own TCPs, in real time, and the same
    files in the simulator. Simulated results in DIR stay. The same command continues an interrupted one.

    The exit code is 0 when everything was measured, with any verdicts: a claim that is not
    reproduced is a result. It is 1 when a run or a check failed, and 2 when the input is bad.
    """
    if not assumptions and (chosen or readings_repeats):
        option = "--assumption" if chosen else "--readings-repeats"
        raise InputError(f"{option} cannot be used without --assumptions; accepted: both, or neither")
    if assumptions and backend == "live":
        raise InputError("--assumptions cannot be used with --backend live; accepted: --backend sim")
    place = Path(name).resolve()
    folder = out or Path("out") / (place.name if place.is_dir() else place.stem)

    def kept() -> str:
        written = (folder / "suite.json").exists()
        return f"finished runs are kept in {folder}" if written else "nothing was written"

    with on_ctrl_c(kept):
        import longfat_papers as suites

        found = suites.get(name)
        options: dict[str, Any] = {
            "mode": "quick" if quick else "full",
            "only": list(only),
            "jobs": jobs,
            "out": folder,
            "console": make_console(stderr=as_json),
            "runs": runs,
        }
        outcome: Any
        if assumptions:
            repeats: dict[str, Any] = {} if readings_repeats is None else {"repeats": readings_repeats}
            outcome = suites.run_assumptions(found, **options, assumptions=chosen, **repeats)
        elif backend == "live":
            outcome = suites.run_live(found, **options)
        else:
            outcome = suites.run_suite(found, **options)
    if as_json:
        echo_json(outcome.to_json())
    (outcome.base if assumptions else outcome).raise_if_invalid()


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
    from longfat_papers.kit.runner import claims_table

    make_console().print(claims_table(rows))
