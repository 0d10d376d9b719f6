"""What commands share: options, the console, Ctrl-C, and how a scenario is read and changed."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from longfat.cli.completion import files, names
from longfat.errors import InputError, Interrupted
from longfat.terminal import echo
from longfat.words import choice, shown

if TYPE_CHECKING:
    from longfat.live.programs import User
    from longfat.runs.capture import Recording
    from longfat.scenario.model import Scenario


OTHERS = "Other options"
"""The heading of --help, and of what no other group fits."""


class Grouped(click.Command):
    """A command whose help has its options under headings."""

    def __init__(self, *args: Any, groups: Mapping[str, Sequence[str]], **kwargs: Any) -> None:
        """Makes the command.

        Args:
            args: as of a command.
            groups: headings with the options below them, each by its first name, such as "--out".
            kwargs: as of a command.
        """
        super().__init__(*args, **kwargs)
        self.groups = {heading: tuple(names) for heading, names in groups.items()}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, each group under its heading."""
        heading_of = {name: heading for heading, names in self.groups.items() for name in names}
        rows: dict[str, list[tuple[str, str]]] = {heading: [] for heading in (*self.groups, OTHERS)}
        for option in self.get_params(ctx):
            row = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if row is not None:
                rows[heading_of.get(option.opts[0], OTHERS)].append(row)
        for heading, listed in rows.items():
            with formatter.section(heading):
                formatter.write_dl(listed)


class Name(click.Path):
    """A path; refuses the empty string, which `Path` would read as the current folder."""

    def __init__(self, accepted: str) -> None:
        """Makes the type.

        Args:
            accepted: what the path may name, such as "a file".
        """
        super().__init__(path_type=Path)
        self._accepted = accepted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path, or fails if the text is empty."""
        if value == "":
            self.fail(f'"" is an empty name; accepted: {self._accepted}', param, ctx)
        return super().convert(value, param, ctx)


class Folder(Name):
    """A path to a folder."""

    def __init__(self, *, is_read: bool = False) -> None:
        """Makes the type.

        Args:
            is_read: whether the folder has to be there.
        """
        super().__init__("a folder")
        self._is_read = is_read

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Completes folders only."""
        return [CompletionItem(incomplete, type="dir")]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the path, or fails if the text is empty or no folder that can be read."""
        path: Path = super().convert(value, param, ctx)
        if self._is_read:
            try:
                os.scandir(path).close()
            except OSError as error:
                raise InputError(f"{path}: {error.strerror}; accepted: a folder of results") from None
        return path


@contextmanager
def on_ctrl_c(outcome: Callable[[], str]) -> Iterator[None]:
    """Turns Ctrl-C in the block into one line that says what happened to the work."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {outcome()}") from None


all_flows = click.option(
    "--all-flows", "every_flow", is_flag=True, help="Print a row for each flow, not for each group of many."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def as_captured(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --pcap, --snaplen and --pcap-link, for `capture_of`."""
    options = (
        click.option(
            "--pcap",
            metavar="FILE",
            shell_complete=files(),
            help="Write the packets of the run into this pcapng file, for Wireshark or tshark.",
        ),
        click.option(
            "--snaplen",
            type=int,
            metavar="BYTES",
            help="With --pcap: the most bytes of a packet to keep; 96 by default, 0 for whole packets.",
        ),
        click.option(
            "--pcap-link",
            "pcap_links",
            multiple=True,
            metavar="NAME",
            help="With --pcap: only the packets of this link; can be given again.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def capture_of(
    pcap: str | None, snaplen: int | None, links: tuple[str, ...], file: str | None
) -> Recording | None:
    """The capture that the options ask for, of the scenario in this file, or None."""
    if pcap is None:
        for name, given in (("--snaplen", snaplen is not None), ("--pcap-link", bool(links))):
            if given:
                raise InputError(f"{name} cannot be used without --pcap FILE; accepted: both, or neither")
        return None
    from longfat.runs.capture import SNAPLEN, Capture, Recording

    return Recording(Capture(pcap, SNAPLEN if snaplen is None else snaplen, links), file, by_flags=True)


def tell_of_capture(scenario: Scenario, capture: Recording, written: dict[str, Any]) -> None:
    """Prints what readers of the capture have to know."""
    from longfat.runs.capture import advice, doubt

    if line := doubt(written):
        echo(f"warning: {line}", err=True)
    if line := advice(scenario, capture.capture.links):
        echo(f"note: {written['file']}: {line}", err=True)


class _Memory(click.ParamType[float]):
    """A size such as 8GiB, which all runs of the command may take together."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the size in bytes, or fails if the text is none."""
        from longfat.runs import memory

        try:
            return memory.parse(value)
        except ValueError as error:
            self.fail(f"{shown(value)}: {error}", param, ctx)


def _give(_: click.Context, __: click.Parameter, memory_bytes: float | None) -> None:
    from longfat.runs import memory

    memory.give(memory_bytes)


within_memory = click.option(
    "--memory",
    type=_Memory(),
    metavar="SIZE",
    expose_value=False,
    callback=_give,
    help="How much memory all runs together may take: 8GiB; by default nine tenths of what is free.",
)
as_changed = click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help='Change a value: "flow.0.rtt=82 ms".'
)
as_seeded = click.option("--seed", type=int, help="Use this seed instead of the scenario's.")
from_warmup = click.option(
    "--warmup", metavar="TIME", help="Leave this much time at the start out of all results."
)
in_window = click.option("--window", metavar="A,B", help='Restrict all results to this span: "100 s,600 s".')
as_user = click.option(
    "--user", metavar="NAME", help="Run programs as this user; by default, after sudo, as its caller."
)


class _Stack(click.ParamType[str]):
    """The name of a stack."""

    name = "stack"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the name, or fails if there is no such stack."""
        from longfat.scenario.stacks import NAMES

        if value not in NAMES:
            self.fail(f"{shown(value)}: {choice(value, NAMES, what='stack')}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Completes the name of a stack."""
        from longfat.scenario.stacks import NAMES

        return names(lambda: NAMES)(ctx, param, incomplete)


STACK = _Stack()
on_stack = click.option(
    "--stack",
    type=STACK,
    metavar="NAME",
    default="linux",
    show_default=True,
    help="The hosts of flows that name none, one of `longfat list stacks`.",
)
of_flows = click.option(
    "--traffic",
    type=click.Choice(["longfat", "iperf3"]),
    default="longfat",
    show_default=True,
    help="What generates the TCP traffic of a live run.",
)


def _standard_input() -> str:
    from longfat import documents

    text = sys.stdin.read(documents.MOST_BYTES + 1)
    if len(text) > documents.MOST_BYTES:
        raise InputError(
            f"{source_name('-')}: it has more than {documents.MOST_BYTES / 1e6:g} MB; "
            "accepted: a scenario (TOML)"
        )
    return text


def source_name(file: str) -> str:
    """How messages name a scenario file."""
    return "standard input" if file == "-" else file


def load_scenario(
    file: str,
    changes: tuple[str, ...],
    seed: int | None,
    warmup: str | None,
    window: str | None,
    stack: str | None = None,
    tables: Mapping[str, Any] | None = None,
    first: list[dict[str, Any]] | None = None,
    lasting: str | None = None,
) -> Scenario:
    """Reads a scenario from a file or standard input and applies the options to it.

    `stack` is that of the flows and backgrounds over TCP that name none; `tables` are read in place
    of the file. `first` are programs before those of the file. `lasting` replaces its duration; its window is
    then the whole run.
    """
    from longfat.scenario.model import Scenario, assignment

    overrides: dict[str, Any] = dict(map(assignment, changes))
    if seed is not None:
        overrides["seed"] = seed
    if window is not None:
        overrides["window"] = [part.strip() for part in window.split(",")]
        if len(overrides["window"]) != 2:
            raise InputError(
                f'--window "{window}": these are not two times; accepted: two times such as "100 s,600 s"'
            )
    if tables is not None:
        scenario = Scenario.from_dict(tables, source=file, stack=stack, changes=overrides)
    elif file == "-":
        text = _standard_input()
        scenario = Scenario.from_toml(text, source=source_name(file), overrides=overrides, stack=stack)
    else:
        scenario = Scenario.load(file, overrides=overrides, stack=stack, first=first, lasting=lasting)
    if warmup is not None:
        if window is not None:
            raise InputError("--warmup cannot be used with --window; accepted: one of them")
        try:
            scenario = scenario.after_warmup(warmup)
        except ValueError as error:
            raise InputError(f"--warmup {shown(warmup)}: {error}") from None
    return scenario


def as_typed(command: str | list[str]) -> str:
    """A command as a user would type it."""
    import shlex

    return command if isinstance(command, str) else shlex.join(command)


def show_programs(scenario: Scenario, user: User | None, but: Sequence[str] = ()) -> None:
    """Prints what a scenario starts, except for what the user has typed: a file from elsewhere is code."""
    as_whom = f" as {user.name}" if user else ""
    for program, name in zip(scenario.program, scenario.program_names(), strict=True):
        if name not in but:
            echo(f"program {name} at side {program.side}{as_whom}: {as_typed(program.command)}", err=True)


def warn_of_doubts(summaries: list[dict[str, Any]]) -> None:
    """Prints a line for each reason not to trust a live run."""
    from longfat.live import doubts

    for line in doubts(summaries):
        echo(f"warning: {line}", err=True)


def warn_of_failures(summaries: list[dict[str, Any]]) -> None:
    """Prints a line for each program that has ended with an error."""
    from longfat.live.programs import failures

    for line in (line for summary in summaries for line in failures(summary)):
        echo(f"warning: {line}", err=True)
