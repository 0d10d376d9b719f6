"""`longfat run`: one scenario, in the simulator or live."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.completion import algorithms, files, names
from longfat.cli.options import (
    OTHERS,
    STACK,
    Folder,
    Grouped,
    all_flows,
    as_captured,
    as_changed,
    as_json,
    as_seeded,
    as_user,
    capture_of,
    from_warmup,
    in_window,
    load_scenario,
    of_flows,
    on_ctrl_c,
    show_programs,
    source_name,
    tell_of_capture,
    warn_of_doubts,
    warn_of_failures,
    within_memory,
)
from longfat.errors import InputError, LongfatError
from longfat.terminal import echo, echo_json, make_console
from longfat.words import MOST_REPEATS

if TYPE_CHECKING:
    from longfat.runs.capture import Recording
    from longfat.runs.qlog import Logging
    from longfat.runs.result import Result
    from longfat.scenario.model import Scenario


def _presets() -> tuple[str, ...]:
    from longfat.cli.presets import PRESETS

    return PRESETS


@click.command(
    cls=Grouped,
    groups={
        "Network without a file": (
            "--preset",
            "--flow",
            "--rate",
            "--rtt",
            "--buffer",
            "--duration",
            "--stack",
        ),
        "Scenario": ("--set", "--seed", "--repeats", "--warmup", "--window"),
        "Live runs": ("--backend", "--traffic", "--user"),
        "Results and files": ("--out", "--plot", "--all-flows", "--json"),
        "Packets and logs": ("--pcap", "--snaplen", "--pcap-link", "--qlog", "--qlog-version"),
        OTHERS: ("--memory",),
    },
)
@click.argument("file", required=False, shell_complete=files(".toml"))
@click.option(
    "--preset",
    metavar="NAME",
    shell_complete=names(_presets),
    help="Run this network in place of FILE: dumbbell, or parking-lot with two bottlenecks.",
)
@click.option(
    "--flow",
    "flows",
    multiple=True,
    metavar="ALGORITHM",
    shell_complete=algorithms,
    help="With --preset: a flow of this algorithm; can be given again.",
)
@click.option(
    "--rate", metavar="RATE", help="With --preset: the rate of a bottleneck; 100 Mbit/s by default."
)
@click.option("--rtt", metavar="TIME", help="With --preset: the two-way propagation delay; 40 ms by default.")
@click.option("--buffer", metavar="SIZE", help="With --preset: a bottleneck's buffer; 100 % BDP by default.")
@click.option("--duration", metavar="TIME", help="With --preset: the length of the run; 60 s by default.")
@click.option(
    "--stack",
    type=STACK,
    metavar="NAME",
    help="With --preset: the hosts of the flows, one of `longfat list stacks`; linux by default.",
)
@as_changed
@as_seeded
@click.option(
    "--repeats",
    type=click.IntRange(1, MOST_REPEATS),
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
@as_user
@from_warmup
@in_window
@click.option(
    "--out", type=Folder(), metavar="DIR", help="Write the summary, the series and the provenance here."
)
@as_captured
@click.option(
    "--qlog",
    metavar="FILE",
    shell_complete=files(),
    help="Write what each flow's sender does into this file, in qlog.",
)
@click.option(
    "--qlog-version",
    metavar="VERSION",
    help="With --qlog: current, the default, or 0.3 for tools that read only that.",
)
@click.option("--plot", is_flag=True, help="Draw cwnd, RTT and queues over time in the terminal.")
@all_flows
@as_json
def run(
    file: str | None,
    preset: str | None,
    flows: tuple[str, ...],
    rate: str | None,
    rtt: str | None,
    buffer: str | None,
    duration: str | None,
    stack: str | None,
    changes: tuple[str, ...],
    seed: int | None,
    repeats: int,
    backend: str,
    traffic: str,
    user: str | None,
    warmup: str | None,
    window: str | None,
    out: Path | None,
    pcap: str | None,
    snaplen: int | None,
    pcap_links: tuple[str, ...],
    qlog: str | None,
    qlog_version: str | None,
    plot: bool,
    every_flow: bool,
    as_json: bool,
) -> None:
    """Run the scenario in FILE; - reads standard input.

    Without a file, --preset dumbbell --flow cubic --flow bbr runs two flows over one bottleneck.
    """
    if plot and as_json:
        raise InputError("--plot cannot be used with --json; accepted: one of them")
    capture = capture_of(pcap, snaplen, pcap_links, file)
    if capture is not None and repeats > 1:
        raise InputError(
            "--pcap cannot be used with --repeats, since a capture is of one run; accepted: one of them"
        )
    logs = _logs(qlog, qlog_version, repeats, backend, file)

    def left() -> str:
        if capture is not None:
            return f"{pcap} has the packets up to now"
        return "nothing was written" if logs is None else "the logs have the events up to now"

    with on_ctrl_c(left):
        if traffic != "longfat":
            from longfat.live.traffic import refuse_unknown

            refuse_unknown(traffic, backend)
        from longfat.scenario.model import IDENTICAL

        values = {"rate": rate, "rtt": rtt, "buffer": buffer, "duration": duration}
        name, document, hosts = _source(file, preset, flows, stack, values)
        scenario = load_scenario(name, changes, seed, warmup, window, hosts, document)
        warnings = scenario.warnings()
        if repeats > 1 and backend == "sim" and not scenario.varies():
            warnings.append(IDENTICAL)
        for line in warnings:
            echo(f"warning: {line}", err=True)
        results, summary, failure = _simulate(
            scenario, repeats, out, backend, source_name(name), traffic, user, capture, logs
        )
        from longfat.runs.result import unreached_loads

        shown = summary if repeats == 1 else summary["mean"]
        for line in unreached_loads(shown["background"]):
            echo(f"warning: {line}", err=True)
        if backend == "live":
            warn_of_doubts(summary.get("runs", [summary]))
            warn_of_failures(summary.get("runs", [summary]))
        if capture is not None:
            tell_of_capture(scenario, capture, summary["capture"])
        if logs is not None:
            from longfat.runs.qlog import doubt

            if told := doubt(summary["qlog"]):
                echo(f"warning: {told}", err=True)
    if as_json:
        from longfat.runs import observations

        for line in observations.warnings(summary.get("runs", [summary])):
            echo(f"warning: {line}", err=True)
        echo_json(summary)
        if failure is not None:
            raise failure
        return
    from longfat.cli import tables

    console = make_console()
    tables.print_summary(console, scenario, summary, every_flow=every_flow)
    if plot:
        from longfat.cli import sketch

        console.print()
        sketch.draw(console, results[0], repeats)
    if out is not None and failure is None:
        console.print(f"Written to {out}", markup=False)
    if capture is not None:
        console.print(f"{summary['capture']['packets']} packets written to {pcap}", markup=False)
    if logs is not None:
        console.print(f"Events written to {', '.join(summary['qlog']['files'].values())}", markup=False)
    if failure is not None:
        raise failure


def _logs(
    qlog: str | None, version: str | None, repeats: int, backend: str, file: str | None
) -> Logging | None:
    """The logs that the options ask for."""
    if qlog is None:
        if version is not None:
            raise InputError("--qlog-version cannot be used without --qlog FILE; accepted: both, or neither")
        return None
    from longfat.runs.qlog import VERSIONS, Logging, Qlog

    if backend == "live":
        raise InputError(
            "--qlog cannot be used with --backend live: a kernel does not report enough; "
            "accepted: the simulator"
        )
    if repeats > 1:
        raise InputError(
            "--qlog cannot be used with --repeats, since a log is of one run; accepted: one of them"
        )
    if version is not None and version not in VERSIONS:
        raise InputError(
            f"--qlog-version {version}: there is no such version; accepted: {' or '.join(VERSIONS)}"
        )
    return Logging(Qlog(qlog, version or VERSIONS[0]), file, by_flags=True)


def _source(
    file: str | None,
    preset: str | None,
    flows: tuple[str, ...],
    stack: str | None,
    values: dict[str, str | None],
) -> tuple[str, dict[str, Any] | None, str | None]:
    """How messages name the scenario, and its tables and its stack if it comes from a preset."""
    given = [f"--{name}" for name, value in {"flow": flows, **values, "stack": stack}.items() if value]
    if preset is None:
        if given:
            raise InputError(
                f"{given[0]} cannot be used without --preset; accepted: both, such as --preset dumbbell"
            )
        if file is None:
            raise InputError("FILE is missing; accepted: a scenario file, or --preset dumbbell --flow cubic")
        return file, None, None
    if file is not None:
        raise InputError(f"{file} cannot be used with --preset; accepted: one of them")
    from longfat.cli import presets

    return f"--preset {preset}", presets.tables(preset, flows, **values), stack or presets.STACK


def _tell(which: str, duration_s: float, since_s: float) -> None:
    """Prints how far a live run is, and what is left: it takes as long as the scenario says."""
    from longfat.runs.progress import about

    left_s = max(0.0, duration_s - since_s)
    echo(f"{which}: {min(since_s, duration_s):.0f} of {duration_s:g} s, about {about(left_s)} left", err=True)


def _simulate(
    scenario: Scenario,
    repeats: int,
    out: Path | None,
    backend: str,
    source: str,
    traffic: str,
    user: str | None,
    capture: Recording | None,
    logs: Logging | None,
) -> tuple[list[Result], dict[str, Any], LongfatError | None]:
    """Runs it and writes `out`.

    Returns results and summary, for repeats with mean and standard error, and why they could not be written.
    """
    from longfat.cli import waiting
    from longfat.runs import repeats as repeated
    from longfat.runs import result, simulate

    def once() -> tuple[list[result.Result], dict[str, Any]]:
        if backend == "live":
            from longfat.live import programs
            from longfat.live import run as live

            caller = programs.user(user)
            show_programs(scenario, caller)

            def tell(i: int) -> Callable[[float], None]:
                which = f"live run {i + 1} of {repeats}" if repeats > 1 else "live run"
                return functools.partial(_tell, which, scenario.duration)

            results = live.repeats(scenario, repeats, source, traffic, tell, caller, capture)
        elif repeats == 1:
            with waiting.expected(scenario, source):
                results = [simulate.run(scenario, capture=capture, qlog=logs, name=source)]
        else:
            results = simulate.repeats(scenario, repeats, name=source, progress=True)
        if repeats == 1:
            return results, results[0].summary
        return results, repeated.aggregate([each.summary for each in results])

    if out is None:
        return *once(), None
    from longfat.store import output

    found, failure = output.written(out, once, lambda found, draft: output.write(*found, sys.argv, draft))
    return *found, failure
