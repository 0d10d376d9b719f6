"""What a shell completes where a command takes a file, an algorithm or another name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem[str]]]
"""What click calls with the text so far, for `shell_complete`."""


def files(*endings: str) -> Complete:
    """Completes folders, and files whose names have one of these endings; without endings any file."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        if not endings:
            return [CompletionItem(begun, type="file")]
        found = [CompletionItem(path) for path in sorted(_paths(begun)) if path.endswith(endings)]
        return [CompletionItem(begun, type="dir"), *found]

    return complete


def objects(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem[str]]:
    """Completes folders, and objects with eBPF programs."""
    from longfat.scenario.loading import OBJECT

    return files(OBJECT)(context, parameter, begun)


def names(listed: Callable[[], Iterable[str]]) -> Complete:
    """Completes one of the listed names."""

    def complete(_: click.Context, __: click.Parameter, begun: str) -> list[CompletionItem[str]]:
        return [CompletionItem(name) for name in listed() if name.startswith(begun)]

    return complete


def algorithms(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem[str]]:
    """Completes an algorithm: a name, a class of a Python file, or a kernel's object."""
    from longfat.scenario import registry

    known = {
        name: row["title"] for row in registry.rows("algorithms") for name in (row["name"], *row["aliases"])
    }
    items = [CompletionItem(name, help=title) for name, title in known.items() if name.startswith(begun)]
    own = [CompletionItem(f"{path}:{name}") for path in sorted(_paths(begun)) for name in _classes(path)]
    return [*objects(context, parameter, begun), *items, *own]


def _paths(begun: str) -> Iterator[str]:
    """Paths that begin like this, as the user would go on typing them."""
    folder, slash, begin = begun.rpartition("/")
    try:
        for path in Path(f"{folder}{slash}" or ".").expanduser().iterdir():
            if path.name.startswith(begin) and path.name.startswith(".") == begin.startswith("."):
                yield f"{folder}{slash}{path.name}"
    except (OSError, RuntimeError):  # no such folder, or no such user
        return


def _classes(path: str) -> list[str]:
    """The public classes of a Python file that defines an algorithm."""
    if not path.endswith(".py"):
        return []
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8")
    except (OSError, ValueError):
        return []
    return re.findall(r"^class ([A-Za-z]\w*)", text, re.MULTILINE) if "def on_ack" in text else []
