"""What notebooks show of results, and how a result is written into a folder."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.figure import histories, matplotlib
from longfat.figure.data import Figure, joined
from longfat.report import columns, groups, panels, run
from longfat.runs.repeats import Results
from longfat.runs.result import Result
from longfat.store import output

if TYPE_CHECKING:
    from longfat.sweep.grid import Sweep
    from longfat.sweep.handle import Swept

FLOWS = ("name", "algorithm", "rtt_s", "throughput_bps", "loss_ratio", "timeouts", "srtt_mean_s")
"""Columns of the flows that a notebook shows."""
MOST_ROWS = 12
MOST_POINTS = 400
"""Points of a history in a small plot."""
SMALL_WIDTH = 640
"""The width of a small plot, in pixels."""
PANEL_PIXELS, HEAD_PIXELS = 250, 110
"""The height of a panel and of what is above the first one."""


def save(result: Result | Results, folder: Path | str) -> Path:
    """Writes a run, or repeats of it, as `longfat run --out` does; see `Result.save`."""
    path = Path(folder)
    results = [result] if isinstance(result, Result) else list(result)
    summary = results[0].summary if len(results) == 1 else result.summary
    with output.folder(path) as draft:
        output.write(results, summary, [f"longfat.{type(result).__name__}.save"], draft)
    return path


def report(result: Result | Results, folder: Path | str) -> Path:
    """Writes a run, or repeats of it, with a page; see `Result.report`."""
    return run.build(save(result, folder))


class Panels:
    """The panels of a run's page for a notebook; `html` is a page of its own."""

    def __init__(self, result: Result, wanted: Sequence[str], names: Sequence[str] | None) -> None:
        self._result, self._wanted = result, tuple(wanted)
        self._names = None if names is None else [str(name) for name in names]

    @property
    def html(self) -> str:
        """The page with the panels and everything that draws them."""
        return panels.page(self._result.figures(self._wanted, names=self._names, most=run.MOST_NUMBERS))

    def save(self, file: Path | str) -> Path:
        """Writes the page into a file."""
        path = Path(file)
        path.write_text(self.html, encoding="utf-8")
        return path

    def __repr__(self) -> str:
        return f"<Panels of {self._result!r}; .save(file) writes a page>"

    def _repr_html_(self) -> str:
        page = self.html
        height = HEAD_PIXELS + PANEL_PIXELS * page.count('"key":"')
        return (
            f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width: 100%; height: {height}px; '
            'border: 0" title="histories of a run"></iframe>'
        )


def result_html(result: Result) -> str:
    """A run in a notebook: its flows, its metrics, and small plots of cwnd and queues."""
    summary = result.summary
    by_group = groups.grouped(summary, result.scenario)
    shown = columns.GROUPS if by_group else columns.FLOWS
    listed = [column for column in shown if by_group or column.key in FLOWS]
    rows = columns.rows(listed, (by_group or summary)["flows"])
    metrics = columns.metrics(summary["metrics"], meaningless=result.scenario.meaningless_metrics())
    told = "; ".join(f"{name} {value}" for name, value in metrics if value != "-")
    figures = result.figures(("cwnd", "queue"), most=MOST_POINTS, most_links=histories.MOST_LINKS)
    return block(
        result.scenario.title or "Run",
        [
            table([column.heading for column in listed], rows, [column.is_number for column in listed]),
            f"<p>{html.escape(told)}</p>",
            small(joined(figures)),
            *(f"<p>{figure.caption}</p>" for figure in figures if figure.caption),
        ],
    )


def swept_html(swept: Swept) -> str:
    """A sweep's results in a notebook: its axes, how many runs there are, and its first figure."""
    from longfat.sweep import figures

    document = swept.document
    parts = [_axes_table(document["axes"])]
    failed = swept.failures.num_rows
    counted = f"{swept.runs.num_rows} runs, {failed} failure{'' if failed == 1 else 's'}"
    parts.append(f"<p>{html.escape(swept.note or counted)}</p>")
    parts += [small(figure) for figure in figures.page(swept)[:1]]
    return block(document["title"] or "Sweep", parts)


def sweep_html(sweep: Sweep) -> str:
    """A sweep that has not run in a notebook: its axes and the number of runs."""
    axes = [{"keys": axis.keys, "values": axis.steps} for axis in sweep.axes]
    return block(sweep.title or "Sweep", [_axes_table(axes), f"<p>{sweep.count()} runs</p>"])


def small(figure: Figure) -> str:
    """A figure as an image for a notebook, which follows its width."""
    text = matplotlib.picture(matplotlib.draw(figure), "svg").decode()
    text = text[text.index("<svg") :]
    sized = re.sub(
        r'(<svg[^>]*?) width="[^"]*"',
        r"\1",
        re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1),
        count=1,
    )
    return f'<div style="max-width: {SMALL_WIDTH}px; background: white">{sized}</div>'


def _axes_table(axes: Iterable[Mapping[str, Any]]) -> str:
    rows = []
    for axis in axes:
        values = [" & ".join(map(str, step)) for step in axis["values"]]
        shown = ", ".join(values[:MOST_ROWS]) + (", ..." if len(values) > MOST_ROWS else "")
        rows.append([" & ".join(axis["keys"]), shown])
    return table(["axis", "values"], rows)


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[bool] = ()) -> str:
    """Returns a table; columns of numbers stand to the right."""
    right = [*numbers, *(False for _ in headings)]

    def line(cells: Sequence[str], tag: str) -> str:
        inner = "".join(
            f'<{tag} style="text-align: {"right" if right[i] else "left"}">{html.escape(str(cell))}</{tag}>'
            for i, cell in enumerate(cells)
        )
        return f"<tr>{inner}</tr>"

    shown = [line(row, "td") for row in rows[:MOST_ROWS]]
    if len(rows) > MOST_ROWS:
        shown.append(f'<tr><td colspan="{len(headings)}">and {len(rows) - MOST_ROWS} more</td></tr>')
    return f"<table><thead>{line(headings, 'th')}</thead><tbody>{''.join(shown)}</tbody></table>"


def block(title: str, parts: Iterable[str]) -> str:
    """Returns parts below a title."""
    return f"<div><strong>{html.escape(title)}</strong>{''.join(parts)}</div>"
