"""Rewrites click's errors in the form of all others: the option, its value, and what would be accepted."""

from __future__ import annotations

import re

import click

from longfat.words import choice, shown, suggestion


def message(error: click.ClickException) -> str:
    """Returns one line about a command line that click refuses."""
    if isinstance(error, click.BadOptionUsage):  # has no context
        if "not take" in error.message:
            return f"{error.option_name}: it takes no value; accepted: {error.option_name} alone"
        values = "two values" if "2 arguments" in error.message else "a value"
        return f"{error.option_name}: its value is missing; accepted: {error.option_name} and {values}"
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return error.format_message()
    listed = f"accepted: what `{context.command_path} --help` lists"
    if (command := getattr(error, "command_name", None)) is not None:
        known = context.command.list_commands(context) if isinstance(context.command, click.Group) else []
        return f"{command}: there is no such command{suggestion(command, known)}; {listed}"
    match error:
        case click.NoSuchOption():
            near = suggestion(
                error.option_name, [name for known in context.command.params for name in known.opts]
            )
            return f"{error.option_name}: there is no such option{near}; {listed}"
        case click.MissingParameter(param=click.Parameter() as missing):
            said = f"{_name(missing)} is missing"
        case click.BadParameter(param=click.Parameter() as wrong):
            return _refused(error, wrong)
        case _:
            said = error.format_message().rstrip(".")
    usage = " ".join(context.get_usage().split()).removeprefix("Usage: ")
    return f"{said}; usage: {usage}"


def _name(parameter: click.Parameter) -> str:
    is_option = isinstance(parameter, click.Option)
    return parameter.opts[0] if is_option else parameter.human_readable_name.removesuffix("...")


def _refused(error: click.BadParameter, wrong: click.Parameter) -> str:
    """What is wrong with a value; types of Longfat's own begin with the value."""
    found = re.match(r"""(?:(['"])(.*)\1|(\S+)) is not """, error.message, re.DOTALL)
    if found is None:
        return f"{_name(wrong)} {error.message}"
    value = found[2] or found[3]
    kind = wrong.type
    if isinstance(kind, click.Choice):
        return f"{_name(wrong)} {shown(value)}: {choice(value, list(kind.choices))}"
    if not isinstance(kind, click.types.IntParamType):
        return f"{_name(wrong)} {error.message}"
    least, most = getattr(kind, "min", None), getattr(kind, "max", None)
    bounds = "" if least is None else f" from {least}" + (" on" if most is None else "")
    bounds += "" if most is None else f"{'' if bounds else ' up'} to {most}"
    problem = "it is out of range" if re.fullmatch(r"[+-]?\d+", value) else "this is not a whole number"
    return f"{_name(wrong)} {shown(value)}: {problem}; accepted: a whole number{bounds}"
