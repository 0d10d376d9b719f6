"""One description of a table, for the terminal, for Markdown, and for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rich.table
from markupsafe import Markup, escape

from longfat.report import terminal

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|"})


def as_markdown(text: str) -> str:
    """Returns a text that Markdown shows as it is: a file's name may have its marks."""
    return text.translate(_MARKS)


@dataclass(frozen=True)
class Table:
    """A table as texts.

    Attributes:
        headings: the heading of each column.
        rows: the cells.
        texts: the number of columns, from the left, that hold texts; the others hold numbers.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    texts: int = 1

    def fitted(self, width: int, leading: int = 0) -> list[rich.table.Table]:
        """Returns what a terminal of this width shows; arguments as those of `terminal.fitted`."""
        headings = [(heading, i >= self.texts) for i, heading in enumerate(self.headings)]
        shown = list(terminal.fitted(headings, self.rows, width, leading=leading))
        last = self.texts - 1
        if all(f"{table.columns[last].header}" == self.headings[last] for table in shown):
            return shown
        # further tables would have the first text only, which may not tell the rows apart
        texts, *rows = ("\n".join(line[: self.texts]) for line in (self.headings, *self.rows))
        joined = [[text, *row[self.texts :]] for text, row in zip(rows, self.rows, strict=True)]
        return list(
            terminal.fitted([(texts, False), *headings[self.texts :]], joined, width, leading=leading)
        )

    def markdown(self) -> str:
        """Returns the table as Markdown."""
        rules = "|".join("---" if i < self.texts else "---:" for i in range(len(self.headings)))
        head, *lines = (
            "".join(f" {as_markdown(cell)} |" if cell else " |" for cell in line)
            for line in (self.headings, *self.rows)
        )
        return "\n".join(f"|{line}" for line in (head, f"{rules}|", *lines))

    def html(self, width: str = "wide", text: str = "") -> Markup:
        """Returns the table as HTML; `width` is the class of the table, and `text` that of texts."""
        head = f"<thead>{self._row('th', self.headings, '')}</thead>"
        body = "\n".join(self._row("td", row, text) for row in self.rows)
        table = f'<table class="{width}">\n{head}\n<tbody>\n{body}\n</tbody>\n</table>'
        return Markup(f'<div class="scroll">\n{table}\n</div>')

    def _row(self, tag: str, cells: Sequence[str], text: str) -> str:
        names = [text if i < self.texts else "number" for i in range(len(cells))]
        opened = [f'<{tag} class="{name}">' if name else f"<{tag}>" for name in names]
        shown = [f"{opened[i]}{escape(cell)}</{tag}>" for i, cell in enumerate(cells)]
        return f"<tr>{''.join(shown)}</tr>"
