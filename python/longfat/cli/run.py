"""`longfat run`: one scenario, in the simulator or live."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.options import (
    Folder,
    as_changed,
    as_json,
    as_seeded,
    echo_json,
    from_warmup,
    in_window,
    load_scenario,
    make_console,
    of_flows,
    on_ctrl_c,
    source_name,
    warn_of_doubts,
    within_memory,
)

if TYPE_CHECKING:
    from longfat.scenario.model import Scenario


@click.command()
@click.argument("file")
@as_changed
@as_seeded
@click.option(
    "--repeats",
    type=click.IntRange(1, 10_000),
    default=1,
    help="How many runs; the seed goes up by one each.",
)
@click.option(
    "--backend",
    type=click.Choice(["sim", "live"]),
    default="sim",
    show_default=True,
    help="The simulator, or this machine's own TCP.",
)
@within_memory
@of_flows
@from_warmup
@in_window
@click.option(
    "--out", type=Folder(), metavar="DIR", help="Write the summary, the series and the provenance here."
)
@as_json
def run(
    file: str,
    changes: tuple[str, ...],
    seed: int | None,
    repeats: int,
    backend: str,
    traffic: str,
    warmup: str | None,
    window: str | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run the scenario in FILE; - reads standard input."""
    with on_ctrl_c(lambda: "nothing was written"):
        from longfat.cli import tables

        if traffic != "longfat":
            from longfat.live.traffic import refuse_unknown

            refuse_unknown(traffic, backend)
        from longfat.scenario.notes import IDENTICAL

        scenario = load_scenario(file, changes, seed, warmup, window)
        warnings = scenario.warnings()
        if repeats > 1 and backend == "sim" and not scenario.varies():
            warnings.append(IDENTICAL)
        for line in warnings:
            click.echo(f"warning: {line}", err=True)
        summary = _simulate(scenario, repeats, out, backend, source_name(file), traffic)
        from longfat.runs.result import unreached_loads

        shown = summary if repeats == 1 else summary["mean"]
        for line in unreached_loads(shown["background"]):
            click.echo(f"warning: {line}", err=True)
        if backend == "live":
            warn_of_doubts(summary.get("runs", [summary]))
    if as_json:
        echo_json(summary)
        return
    console = make_console()
    tables.print_summary(console, scenario, shown, summary.get("runs", [summary])[0]["notes"])
    if repeats > 1:
        console.print(
            f"Means over {repeats} runs; --json prints every run and the standard errors.", style="dim"
        )
    if out is not None:
        console.print(f"Written to {out}", markup=False)


def _tell(which: str, duration_s: float, since_s: float) -> None:
    """Prints how far a live run is: a plain line, whether the output is a terminal or not."""
    click.echo(f"{which}: {min(since_s, duration_s):.0f} of {duration_s:g} s", err=True)


def _simulate(
    scenario: Scenario, repeats: int, out: Path | None, backend: str, source: str, traffic: str
) -> dict[str, Any]:
    """Runs it, writes `out` and returns the summary, for repeats with mean and standard error."""
    from longfat.runs import result, simulate
    from longfat.store import output

    def once() -> tuple[list[result.Result], dict[str, Any]]:
        if backend == "live":
            from longfat.live import run as live

            results = []
            for i in range(repeats):
                which = f"live run {i + 1} of {repeats}" if repeats > 1 else "live run"
                tell = functools.partial(_tell, which, scenario.duration)
                results.append(live.run(scenario.repeat(i), source, traffic, tell))
        elif repeats == 1:
            results = [simulate.run(scenario)]
        else:
            results = simulate.repeats(scenario, repeats)
        if repeats == 1:
            return results, results[0].summary
        return results, result.aggregate([each.summary for each in results])

    if out is None:
        return once()[1]
    with output.folder(out) as draft:
        results, summary = once()
        output.write(results, summary, sys.argv, draft)
    return summary
