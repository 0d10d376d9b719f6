"""Tables in a terminal: none is wider than it, and no number is cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

GAP = 2
"""Blanks between two columns."""
LONGEST_TEXT = 24
"""A longer text takes several lines where it has to; a number never does."""


def fitted(
    headings: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence[str]],
    width: int,
    *,
    title: str | None = None,
    leading: int = 0,
) -> Iterator[Table]:
    """Yields one table, or several that fit below each other; each begins with what tells the rows apart.

    Args:
        headings: the heading of each column, and whether it holds numbers.
        rows: the cells; one with line breaks takes several lines.
        width: the letters of a line.
        title: stands above the first table.
        leading: empty lines between rows.
    """
    needed = [
        _needed(heading, is_number, [row[i] for row in rows])
        for i, (heading, is_number) in enumerate(headings)
    ]
    whole = _wide(needed, range(len(needed))) <= width
    least = needed if whole else [_least(need, *headings[i]) for i, need in enumerate(needed)]
    texts = next((i for i, (_, is_number) in enumerate(headings) if is_number), len(headings))
    keys = list(range(max(1, texts)))
    if whole or _wide(least, keys) > width / 2:
        keys = keys[:1]
    left = list(range(len(keys), len(headings)))
    while True:
        taken, room = list(keys), width - _wide(least, keys)
        while left and (len(taken) == len(keys) or least[left[0]] + GAP <= room):
            room -= least[left[0]] + GAP
            taken.append(left.pop(0))
        yield _table(headings, rows, taken, least, title, leading)
        title = None
        if not left:
            return


def _table(
    headings: Sequence[tuple[str, bool]],
    rows: Sequence[Sequence[str]],
    taken: Sequence[int],
    widths: Sequence[int],
    title: str | None,
    leading: int,
) -> Table:
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="dim",
        box=None,
        pad_edge=False,
        leading=leading,
    )
    for i in taken:
        heading, is_number = headings[i]
        justify = "right" if is_number else "left"
        table.add_column(Text(heading), justify=justify, width=widths[i], overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(row[i]) for i in taken))
    return table


def _wide(widths: Sequence[int], columns: Sequence[int]) -> int:
    return sum(widths[i] for i in columns) + GAP * (len(columns) - 1)


def _needed(heading: str, is_number: bool, cells: Sequence[str]) -> int:
    """The width in which every cell takes one line; the words of a heading may stand below each other."""
    words = max(map(len, heading.split()), default=0)
    return max([words, *(len(line) for cell in cells for line in cell.split("\n"))])


def _least(needed: int, heading: str, is_number: bool) -> int:
    words = max(map(len, heading.split()), default=0)
    return needed if is_number else max(words, min(needed, LONGEST_TEXT))
