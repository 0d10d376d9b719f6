"""`longfat bpf`: what an object with eBPF programs needs, and what its programs do."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from longfat.cli.completion import objects
from longfat.cli.options import as_json, on_ctrl_c
from longfat.terminal import echo, echo_json, make_console

if TYPE_CHECKING:
    from rich.console import Console

    from longfat.ebpf import Check


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def bpf() -> None:
    """Look into congestion control in eBPF (FILE.bpf.o), before a kernel takes it."""


@bpf.command()
@click.argument("file", shell_complete=objects)
@as_json
def check(file: str, as_json: bool) -> None:
    """Say what an object needs, and who can run it.

    FILE is an object, FILE.bpf.o or FILE.bpf.o:NAME. The answer says what the object needs and what of that
    is missing, whether the simulator runs it, and whether this machine's kernel would take it (its verifier
    looks at the programs; nothing is registered). Exit code 2 if nothing in the object is usable.
    """
    from longfat import ebpf

    found = ebpf.check(*ebpf.split(file))
    if as_json:
        echo_json(found)
    else:
        _show(found, make_console())
    if not found["usable"]:
        sys.exit(2)


def _show(found: Check, console: Console) -> None:
    def say(text: str) -> None:
        console.print(text, markup=False, soft_wrap=True)

    say(f"{found['file']}: license {found['license']!r}, {found['instructions']} instructions")
    for kind in ("map", "helper", "kfunc", "extern", "field"):
        needs = [need for need in found["needs"] if need["kind"] == kind]
        here = [need["name"] for need in needs if need["here"]]
        missing = [need["name"] for need in needs if not need["here"] and not need["optional"]]
        optional = [need["name"] for need in needs if not need["here"] and need["optional"]]
        if here:
            say(f"  {kind}s: {', '.join(here)}")
        if missing:
            say(f"  {kind}s that are missing in the simulator: {', '.join(missing)}")
        if optional:
            say(f"  {kind}s that it does without in the simulator: {', '.join(optional)}")
    if found["problem"] is not None:
        say(f"simulator: no: {found['problem']}")
    for each in found["algorithms"]:
        marks = ["needs ECN"] if each["needs_ecn"] else []
        marks += ["controls the window in every phase"] if each["model_based"] else []
        more = f" ({'; '.join(marks)})" if marks else ""
        say(f"{each['name']}{more}: {', '.join(each['callbacks']) or 'incomplete'}")
        say(f"  simulator: {'yes' if each['problem'] is None else 'no: ' + each['problem']}")
        reason = "" if each["reason"] is None else f": {each['reason']}"
        say(f"  this kernel: {each['kernel']}{reason}")


@bpf.command()
@click.argument("file", shell_complete=objects)
@click.option("--rate", default="10 Mbit/s", show_default=True, help="The bottleneck's rate.")
@click.option("--rtt", default="40 ms", show_default=True, help="The round-trip time.")
@click.option("--buffer", default="100 % BDP", show_default=True, help="The bottleneck's buffer.")
@click.option("--duration", default="5 s", show_default=True, help="How long the flow sends.")
@click.option("--every", type=click.IntRange(2), metavar="N", help="Lose one packet in N.")
@click.option("--callback", "only", multiple=True, metavar="NAME", help="Show only this callback.")
@click.option("--most", type=click.IntRange(1), default=200, show_default=True, help="How many are shown.")
@as_json
def trace(
    file: str,
    rate: str,
    rtt: str,
    buffer: str,
    duration: str,
    every: int | None,
    only: tuple[str, ...],
    most: int,
    as_json: bool,
) -> None:
    """Print the callbacks of an object's programs.

    FILE is an object, FILE.bpf.o or FILE.bpf.o:NAME. It runs in the simulator, with one flow and the stack
    "linux". Each line has the time, cwnd/ssthresh before and after, and the callback with its arguments.
    """
    from longfat import ebpf

    bottleneck: dict[str, Any] = {"rate": rate, "buffer": buffer}
    if every is not None:
        bottleneck["loss"] = {"every": every}
    flow = {"rtt": rtt, "stack": "linux"}
    scenario = {"duration": duration, "bottleneck": bottleneck, "flow": [flow]}
    with on_ctrl_c(lambda: "nothing was written"):
        traced = ebpf.trace(*ebpf.split(file), scenario, most, only)
    if as_json:
        echo_json(
            {
                "name": traced.name,
                "total": traced.total,
                "callbacks": traced.entries,
                "summary": traced.summary,
            }
        )
        return
    for entry in traced.entries:
        before = ebpf.window(entry["cwnd_before"], entry["ssthresh_before"])
        after = ebpf.window(entry["cwnd_after"], entry["ssthresh_after"])
        change = before if before == after else f"{before} -> {after}"
        echo(f"{entry['time_s']:.6f}  {change:<24} {ebpf.in_words(entry)}")
    if traced.total > len(traced.entries):
        echo(f"{traced.total - len(traced.entries)} more; --most shows more of them", err=True)
