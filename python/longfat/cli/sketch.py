"""Curves in a terminal, drawn with the dots of braille letters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from longfat.figure.data import Panel, joined
from longfat.report.columns import number
from longfat.runs.result import Result

COLOURS = ("bright_blue", "bright_yellow", "bright_green", "bright_magenta", "bright_cyan", "bright_red")
"""The colours of flows; more flows are not drawn."""
ROWS, ROWS_OF_ONE = 10, 6
"""Lines of a plot, and of each flow's own plot where the output has no colours."""
MOST_LETTERS, LEAST_LETTERS = 110, 16
"""Letters of the axis of time in a very wide and in a very narrow terminal."""
ACROSS, UP = 2, 4
"""Dots of a braille letter."""
BLANK = 0x2800
DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bits of a braille letter's two columns, from above."""

Array = NDArray[np.float64]


def draw(console: Console, result: Result, repeats: int = 1) -> None:
    """Draws cwnd and RTT of the fastest flows, and the queues, of the first of the runs."""
    known = [flow for flow in result.summary["flows"] if np.isfinite(result.flow(flow["name"])["cwnd"]).any()]
    if not known:
        console.print("No flow has a congestion window.", style="dim")
    order = sorted(known, key=lambda flow: -(flow["throughput_bps"] or 0.0))[: len(COLOURS)]
    shown = [flow["name"] for flow in known if flow in order]
    more = f" (the {len(shown)} fastest of {len(known)} flows)" if len(shown) < len(known) else ""
    which = f", of the first of {repeats} runs" if repeats > 1 else ""
    figures = result.figures(("cwnd", "rtt", "queue"), names=shown)
    named: list[str] = []
    for panel in joined(figures).panels:
        if any(math.isfinite(y) for curve in panel.curves for y in curve.y):
            unit = panel.y_label.rpartition(", ")[2]
            title = panel.title if panel.title.endswith(unit) else f"{panel.title}, {unit}"
            of_flows = len(panel.curves) > 1 and panel.curves[0].algorithm
            console.print(Text(f"{title}{which}{more if of_flows else ''}", style="bold"))
            named = _panel(console, panel, named)


def _panel(console: Console, panel: Panel, named: list[str]) -> list[str]:
    """Draws a panel, with a legend if its curves have other names than those before; returns their names."""
    shown = [curve for curve in panel.curves if curve.kind == "line"][: len(COLOURS)]
    curves, names = (
        [(np.array(curve.x), np.array(curve.y)) for curve in shown],
        [curve.label for curve in shown],
    )
    span_s = panel.x_range[1] if panel.x_range else max(float(times[-1]) for times, _ in curves)
    top = max(float(np.nanmax(values)) for _, values in curves if np.isfinite(values).any())
    if console.color_system is None and len(curves) > 1:
        for name, curve in zip(names, curves, strict=True):
            console.print(name)
            for line in lines([curve], span_s, top, console.width, ROWS_OF_ONE):
                console.print(line)
        return names
    for line in lines(curves, span_s, top, console.width):
        console.print(line)
    if len(names) > 1 and names != named:
        legend = Text("  ")
        for name, colour in zip(names, COLOURS, strict=False):
            legend.append("━ ", colour)
            legend.append(f"{name}  ")
        console.print(legend)
    return names


def lines(
    curves: Sequence[tuple[Array, Array]], span_s: float, top: float, width: int, rows: int = ROWS
) -> Iterator[Text]:
    """Yields the lines of a plot of curves (times, values) from time 0 to `span_s`, and from 0 to `top`."""
    labels = {0: number(top, 3), rows // 2: number(top * (1 - (rows // 2) / rows), 3), rows - 1: "0"}
    margin = max(map(len, labels.values())) + 1
    across = max(LEAST_LETTERS, min(MOST_LETTERS, width - margin - 2))
    cells: dict[tuple[int, int], tuple[int, int]] = {}
    for place, (times_s, values) in enumerate(curves):
        for x, (low, high) in enumerate(_spans(times_s, values, span_s, ACROSS * across)):
            if math.isnan(low):
                continue
            for y in range(_height(low, top, rows), _height(high, top, rows) + 1):
                cell = (x // ACROSS, rows - 1 - y // UP)
                bit = DOTS[x % ACROSS][UP - 1 - y % UP]
                cells[cell] = (cells.get(cell, (0, 0))[0] | bit, place)
    for row in range(rows):
        line = Text()
        line.append(f"{labels.get(row, ''):>{margin}}", "dim")
        line.append("┤" if row in labels else "│", "dim")
        for column in range(across):
            bits, place = cells.get((column, row), (0, 0))
            line.append(chr(BLANK + bits) if bits else " ", COLOURS[place])
        line.rstrip()
        yield line
    yield Text(" " * margin + "└" + "─" * across, "dim")
    half, end = number(span_s / 2, 3), f"{number(span_s, 4)} s"
    axis = f"{'0 s':<{across // 2 - len(half) // 2}}{half}"
    yield Text(" " * (margin + 1) + f"{axis:<{across - len(end)}}{end}", "dim")


def _spans(times_s: Array, values: Array, span_s: float, columns: int) -> list[tuple[float, float]]:
    """The least and the greatest value in each column of dots; each reaches to the one before it."""
    edges = np.linspace(0.0, span_s, columns + 1)
    found: list[tuple[float, float]] = []
    before = math.nan
    for begin, end in zip(
        np.searchsorted(times_s, edges[:-1]), np.searchsorted(times_s, edges[1:]), strict=True
    ):
        part = values[begin:end]
        part = part[np.isfinite(part)]
        if not part.size:
            found.append((before, before))  # between two samples, or before the start
            continue
        low, high = float(part.min()), float(part.max())
        if not math.isnan(before):
            low, high = min(low, before), max(high, before)
        found.append((low, high))
        before = float(part[-1])
    return found


def _height(value: float, top: float, rows: int) -> int:
    return min(rows * UP - 1, max(0, round(value / top * (rows * UP - 1)))) if top > 0.0 else 0
