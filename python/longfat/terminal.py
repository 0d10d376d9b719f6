"""The one place where text goes to a terminal: without the characters that would steer it.

Titles, names, cells of a query and file names may come from elsewhere, and an escape sequence in one of
them could move the cursor, set the window's title or hide what follows. `printable` shows such characters.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from longfat.numbers import finite

if TYPE_CHECKING:
    from rich.console import Console

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""The control characters of ASCII and Latin-1 but tab and line feed, and those that change the direction or
the line of a text (Unicode: Bidi_Control, LS, PS)."""
PICTURES, DELETE, OTHER = 0x2400, "\u2421", "\ufffd"
"""The first of Unicode's pictures of control characters, that of DEL, and what stands for the rest."""
FILE_WIDTH = 160
"""Letters of a line in a pipe or a file, which need not break lines at 80."""


def printable(text: str) -> str:
    """Returns a text with a picture in the place of each character that would steer a terminal."""
    return _STEERING.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    return chr(PICTURES + code) if code < 0x20 else DELETE if code == 0x7F else OTHER


def echo(text: object, *, err: bool = False) -> None:
    """Prints a line, to standard error if `err`."""
    click.echo(printable(str(text)), err=err)


def echo_json(document: Any, default: Callable[[Any], Any] | None = None) -> None:
    """Prints one JSON value on one line; null stands for numbers that are not finite."""
    text = json.dumps(finite(document), allow_nan=False, default=default)
    click.echo(text.replace("\x7f", "\\u007f"))  # JSON escapes the other control characters


def make_console(*, stderr: bool = False) -> Console:
    """Returns a console for tables; for a pipe or a file it is wide."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = FILE_WIDTH
    return safe(console)


def safe(console: Console) -> Console:
    """Returns a console that shows control characters in the texts that it is given."""
    from rich.console import ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
    from rich.segment import Segment

    class Shown:
        def __init__(self, renderable: ConsoleRenderable) -> None:
            self._renderable = renderable

        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            for segment in console.render(self._renderable, options):
                # rich's own control codes are segments of their own
                yield segment if segment.control else Segment(printable(segment.text), segment.style)

    class Hook(RenderHook):
        def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
            return [Shown(renderable) for renderable in renderables]

    console.push_render_hook(Hook())
    return console
