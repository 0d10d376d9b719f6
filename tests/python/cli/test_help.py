"""The help of commands whose options stand under headings."""

from __future__ import annotations

import re

import click
import pytest
from click.testing import CliRunner

from longfat.cli.app import COMMANDS, app
from longfat.cli.options import OTHERS, Grouped


def of(name: str) -> click.Command:
    command = app.get_command(click.Context(app), name)
    assert command is not None
    return command


GROUPED = [name for name in COMMANDS if isinstance(of(name), Grouped)]


def test_the_commands_with_many_options_have_groups() -> None:
    assert {"run", "compare", "assess"} <= set(GROUPED)


@pytest.mark.parametrize("name", GROUPED)
def test_each_option_stands_in_exactly_one_group(name: str) -> None:
    command = of(name)
    assert isinstance(command, Grouped)
    grouped = [option for names in command.groups.values() for option in names]
    there = [param.opts[0] for param in command.params if isinstance(param, click.Option)]
    assert sorted(grouped) == sorted(there)


@pytest.mark.parametrize("name", GROUPED)
def test_the_help_shows_each_option_once_below_its_heading(name: str) -> None:
    command = of(name)
    assert isinstance(command, Grouped)
    shown = CliRunner().invoke(app, [name, "--help"]).output
    sections = re.split(r"^(\S.*):\n", shown, flags=re.MULTILINE)
    found = {
        heading: re.findall(r"^  (?:-h, )?(--[\w-]+)", text, re.MULTILINE)
        for heading, text in zip(sections[1::2], sections[2::2], strict=True)
    }
    expected = {heading: set(options) for heading, options in command.groups.items()}
    expected[OTHERS] = expected.get(OTHERS, set()) | {"--help"}
    assert {heading: set(options) for heading, options in found.items()} == expected
    assert all(len(options) == len(set(options)) for options in found.values())
