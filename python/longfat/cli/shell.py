"""`longfat shell`: any command on a scenario's path, live."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.completion import files
from longfat.cli.options import (
    Folder,
    as_captured,
    as_changed,
    as_json,
    as_seeded,
    as_user,
    capture_of,
    load_scenario,
    show_programs,
    source_name,
    tell_of_capture,
    warn_of_doubts,
)
from longfat.errors import InputError, LongfatError
from longfat.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.live.programs import Front, User
    from longfat.runs.capture import Recording
    from longfat.runs.result import Result
    from longfat.scenario.model import Scenario

LONGEST_S = 86400.0
"""A shell lasts at most a day, unless --duration says otherwise."""
TIMED_OUT = 124
"""The exit code of a command that --duration has ended, as that of timeout(1)."""
MOST_ROWS = 20
"""The summary has this many connections at most: those with the most bytes."""


@click.command()
@click.argument("file", shell_complete=files(".toml"))
@click.argument("command", nargs=-1, type=click.UNPROCESSED, shell_complete=files())
@click.option("--peer-command", metavar="CMD", help="Run this at side B, by /bin/sh.")
@as_changed
@as_seeded
@click.option("--duration", metavar="TIME", help="End the command after this time; a day by default.")
@as_user
@click.option("--outside", is_flag=True, help="Give side A this machine's own network, behind the path.")
@click.option(
    "--out", type=Folder(), metavar="DIR", help="Write the summary, the series and the provenance here."
)
@as_captured
@as_json
def shell(
    file: str,
    command: tuple[str, ...],
    peer_command: str | None,
    changes: tuple[str, ...],
    seed: int | None,
    duration: str | None,
    user: str | None,
    outside: bool,
    out: Path | None,
    pcap: str | None,
    snaplen: int | None,
    pcap_links: tuple[str, ...],
    as_json: bool,
) -> None:
    """Run COMMAND on the path of the scenario in FILE; without a COMMAND, your shell.

    COMMAND runs at side A of a real network that the scenario's router emulates, --peer-command at side B.
    {peer} and {peer6} in either stand for the other side's addresses. The scenario's flows, backgrounds and
    programs run beside it. COMMAND has your terminal, and its exit code becomes that of longfat. A summary
    goes to standard error. For example:

    longfat shell path.toml --peer-command "iperf3 -s -1" -- iperf3 -c {peer}
    """
    from longfat.live import programs

    if file == "-":
        raise InputError("FILE = -: the command needs the standard input; accepted: a scenario file")
    capture = capture_of(pcap, snaplen, pcap_links, file)
    caller = programs.user(user)
    scenario = _with_commands(file, changes, seed, duration, command or _own_shell(caller), peer_command)
    for line in scenario.warnings():
        echo(f"warning: {line}", err=True)
    show_programs(scenario, caller, but=(programs.COMMAND, programs.PEER))
    environment = _prompts(scenario) if not command else {}
    if wrong := programs.unusable(programs.command(scenario.program[0]), os.environ):
        echo(f"error: {wrong[1]}", err=True)
        raise click.exceptions.Exit(wrong[0])
    with _terminal(as_json, environment) as front:
        summary, failure = _run(scenario, source_name(file), caller, front, outside, capture, out)
    told = make_console(stderr=True)
    _tell(told, scenario, summary)
    warn_of_doubts([summary])
    if out is not None and failure is None:
        told.print(f"Written to {out}", markup=False)
    if capture is not None:
        tell_of_capture(scenario, capture, summary["capture"])
        told.print(f"{summary['capture']['packets']} packets written to {pcap}", markup=False)
    if as_json:
        echo_json(summary)
    if failure is not None:
        raise failure
    code = summary["programs"][0]["exit_code"]
    raise click.exceptions.Exit(TIMED_OUT if code is None else code)


def _own_shell(user: User | None) -> tuple[str, ...]:
    return (user.shell if user else os.environ.get("SHELL") or "/bin/sh",)


def _with_commands(
    file: str,
    changes: tuple[str, ...],
    seed: int | None,
    duration: str | None,
    command: tuple[str, ...],
    peer_command: str | None,
) -> Scenario:
    """The scenario with the commands as its first programs, and a duration that does not end them."""
    from longfat.live.programs import COMMAND, PEER
    from longfat.units import TIME

    first: list[dict[str, Any]] = [{"name": COMMAND, "side": "a", "command": list(command)}]
    if peer_command is not None:
        first.append({"name": PEER, "side": "b", "command": peer_command})
    return load_scenario(
        file, changes, seed, None, None, first=first, lasting=duration or TIME.write(LONGEST_S)
    )


def _prompts(scenario: Scenario) -> dict[str, str]:
    """Variables that let an interactive shell show which path it is on."""
    path = _path(scenario)
    # bash takes PS1 from its files, and this comes after them
    before = f"PS1='[{path}] '\"$PS1\"; unset PROMPT_COMMAND"
    return {"PROMPT_COMMAND": before, "PS1": f"[{path}] $ "}


def _path(scenario: Scenario) -> str:
    from longfat.units import TIME

    rate = scenario.to_dict()["bottleneck"]["rate"]
    told = rate if isinstance(rate, str) else "a varying rate"
    return f"{told} x {TIME.write(float(f'{scenario.network().program_rtt_s:.4g}'))}"


@contextlib.contextmanager
def _terminal(as_json: bool, environment: Mapping[str, str]) -> Iterator[Front]:
    """Lends the standard streams to the command: Ctrl-C is for it, and the terminal comes back as it was."""
    import termios

    from longfat.live.programs import COMMAND, Front

    sys.stdout.flush()
    streams = tuple(map(os.dup, (0, 2 if as_json else 1, 2)))
    keys = (signal.SIGINT, signal.SIGQUIT)
    usual = {number: signal.signal(number, _leave_to_the_command) for number in keys}
    foreground = modes = None
    with contextlib.suppress(OSError, termios.error):
        foreground, modes = os.tcgetpgrp(0), termios.tcgetattr(0)
    try:
        yield Front(COMMAND, (streams[0], streams[1], streams[2]), os.getpgrp(), environment)
    finally:
        if foreground == os.getpgrp() and modes is not None:
            _take_back(foreground, modes)
        for number, handler in usual.items():
            signal.signal(number, handler)
        for stream in streams:
            os.close(stream)


def _leave_to_the_command(number: int, frame: Any) -> None:
    """The command gets the signal too; a handler, unlike SIG_IGN, does not pass to it."""


def _take_back(foreground: int, modes: list[Any]) -> None:
    """Puts this process group into the terminal's foreground again, with the terminal's modes from before."""
    import termios

    stops = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    with contextlib.suppress(OSError, termios.error):
        os.tcsetpgrp(0, foreground)
        termios.tcsetattr(0, termios.TCSADRAIN, modes)
    signal.signal(signal.SIGTTOU, stops)


def _run(
    scenario: Scenario,
    source: str,
    user: User | None,
    front: Front,
    outside: bool,
    capture: Recording | None,
    out: Path | None,
) -> tuple[dict[str, Any], LongfatError | None]:
    """Runs the command and writes `out`; returns the summary, and why the result could not be written."""
    from longfat.live import run as live
    from longfat.live.outside import Forwarder
    from longfat.store import output

    def once() -> tuple[list[Result], dict[str, Any]]:
        if not outside:
            result = live.run(scenario, source, user=user, front=front, capture=capture)
            return [result], result.summary
        with Forwarder().running() as forwarder:
            result = live.run(scenario, source, user=user, front=front, outside=forwarder, capture=capture)
        return [result], result.summary

    if out is None:
        return once()[1], None
    found, failure = output.written(out, once, lambda found, draft: output.write(*found, sys.argv, draft))
    return found[1], failure


def _tell(console: Console, scenario: Scenario, summary: Mapping[str, Any]) -> None:
    """Prints what happened on the path: the bottleneck, and the connections with the most bytes."""
    from longfat.report.columns import CONNECTIONS, number, rows
    from longfat.report.terminal import fitted

    told = [f"longfat: {number(summary['duration_s'])} s on {_path(scenario)}"]
    for way, link in zip(("a to b", "b to a"), summary["links"], strict=True):
        packet_ms = 8e3 * scenario.packet_bytes / link["rate_bps"]
        told.append(
            f"longfat: {way}: {link['packets_in']:,} packets, "
            f"{link['packets_dropped'] + link['packets_lost']:,} dropped, {link['packets_marked']:,} marked, "
            f"utilization {number(link['utilization'], 3)}, "
            f"mean queue {number(link['queue_mean_packets'], 3)} packets "
            f"({number(link['queue_mean_packets'] * packet_ms, 3)} ms)"
        )
    for line in told:
        console.print(line, markup=False, soft_wrap=True)
    found = sorted(
        summary["connections"], key=lambda row: row["a_to_b_bytes"] + row["b_to_a_bytes"], reverse=True
    )
    if not found:
        return
    listed = [(column.heading, column.is_number) for column in CONNECTIONS]
    cells = rows(CONNECTIONS, found[:MOST_ROWS])
    for table in fitted(listed, cells, console.width):
        console.print(table)
    if len(found) > MOST_ROWS:
        console.print(f"and {len(found) - MOST_ROWS} more connections; --json and --out have all")
