"""`longfat`: all commands, and how errors become lines and exit codes.

Exit codes: 0 done, 1 a run or a check failed, 2 bad input, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

from longfat.errors import InputError, Interrupted, LongfatError
from longfat.packages import WITHOUT_PAPERS, added, loaded
from longfat.terminal import echo

COMMANDS = {
    "assess": "assess.assess",
    "bpf": "bpf.bpf",
    "compare": "compare.compare",
    "crosscheck": "crosscheck.crosscheck",
    "doctor": "doctor.doctor",
    "import": "imports.import_",
    "list": "registry.list_",
    "plot": "plot.plot",
    "report": "report.report",
    "results": "results.results",
    "run": "run.run",
    "schema": "schema.schema",
    "shell": "shell.shell",
    "sweep": "sweep.sweep",
}
"""The module and the name of each command."""
GROUP = "longfat.commands"
"""The group of entry points by which other packages add commands."""
PAPERS = ("claims", "suite")
"""Commands of the package longfat-papers."""


def _command(name: str) -> click.Command:
    if name not in COMMANDS:
        return _added(name)
    module, _, attribute = COMMANDS[name].partition(".")
    command: click.Command = getattr(import_module(f"longfat.cli.{module}"), attribute)
    return command


def _added(name: str) -> click.Command:
    """A command of another package; if that cannot be imported, one that gives the reason as its error."""
    try:
        found: click.Command = loaded(added(GROUP)[name])
    except LongfatError as error:
        reason = error

        @click.command(
            name,
            short_help=f"not available: {reason}",
            add_help_option=False,
            context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        )
        def found() -> None:
            raise reason

    return found


def commands() -> list[str]:
    """Returns the names of Longfat's commands and of those that other packages add."""
    return sorted({*COMMANDS, *added(GROUP)})


class _App(click.Group):
    """Imports a command when it is asked for, and handles Ctrl-C before click does, with an empty line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names in the order of the help."""
        return commands()

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Returns a command; None if there is no such name, for which click then suggests others."""
        if cmd_name in COMMANDS or cmd_name in (known := commands()):
            return _command(cmd_name)
        if cmd_name in PAPERS:
            raise InputError(f"{cmd_name}: the command {WITHOUT_PAPERS}")
        self.commands = {name: _command(name) for name in known}
        return None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None


def _version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        from longfat import __version__

        echo(f"longfat, version {__version__}")
        context.exit()


@click.group(cls=_App, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def app() -> None:
    """A laboratory for congestion control on long fat networks."""


UNMAPPED = "failed to map segment from shared object"
"""What the loader of libraries (ld.so of glibc) says where memory is missing."""
LONGEST_LINE = 2000
"""The most characters of an error's line."""


def _tell(problem: str) -> None:
    """Prints an error on one line, without the middle of a key or value that goes on for pages."""
    if len(problem) > LONGEST_LINE:
        half = LONGEST_LINE // 2
        problem = f"{problem[:half]} ... {problem[-half:]}"
    echo(f"error: {problem}", err=True)


def end_code() -> int:
    """Runs the command line; every error becomes a line and an exit code here."""
    try:
        # the exit code of click's `Exit`
        code = app(standalone_mode=False, prog_name="longfat")
    except (KeyboardInterrupt, click.Abort):
        echo("interrupted", err=True)
        return Interrupted.exit_code
    except Interrupted as ended:
        echo(str(ended), err=True)
        return ended.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        echo(error.format_message(), err=True)
        return InputError.exit_code
    except click.ClickException as error:
        from longfat.cli import usage

        _tell(usage.message(error))
        return InputError.exit_code
    except LongfatError as error:
        for line in error.lines():
            _tell(line)
        return error.exit_code
    except BrokenPipeError:
        # the flush at exit needs somewhere to write
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return LongfatError.exit_code
    except OSError as error:
        _tell(f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
        return LongfatError.exit_code
    except (MemoryError, ImportError) as error:
        if isinstance(error, ImportError) and UNMAPPED not in str(error):
            raise
        _tell("there is not enough memory for this process; accepted: a higher limit (ulimit -v)")
        return LongfatError.exit_code
    return code if isinstance(code, int) else 0
