"""How heat maps look: one hue from light to dark, each cell with its number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from longfat.figure.data import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "viridis"
"""Readable with any colour vision, and in grey."""
DIGITS = 3
DARK = 0.6
"""Above this share of the range numbers are dark, since viridis ends in yellow."""
DIGITS_SIZE = 6.0
DARK_INK = "#111827"
"""The colour of numbers on light cells; it does not depend on the colours of the page."""
LEAST_SIZE = 4.0
"""Smaller numbers could not be read."""
DIGIT_WIDTH = 0.65
"""Width of a digit as a share of its height."""
CELL_INCHES = 0.36
"""Width of a cell with room for its number."""
MOST_INCHES = 3.5
"""The widest panel beside others; cells that get narrower have no numbers."""


def inches(panel: Panel) -> float:
    """Returns the width of a panel whose cells have room for their numbers, up to a limit."""
    return min(MOST_INCHES, CELL_INCHES * (1 + len(panel.categories))) if panel.cells else 0.0


def bounds(panel: Panel) -> tuple[float, float]:
    """Returns the range of values; the panel's own range if it has one."""
    known = [value for row in panel.cells for value in row if math.isfinite(value)]
    if panel.y_range:
        return panel.y_range
    return (min(known), max(known)) if known else (0.0, 1.0)


def draw_panel(panel: Panel, axis: Axes) -> None:
    """Draws the cells of a panel."""
    low, high = bounds(panel)
    axis.pcolormesh(panel.cells, cmap=COLOURS, vmin=low, vmax=high)
    axis.set_yticks([i + 0.5 for i in range(len(panel.levels))], panel.levels)
    axis.grid(visible=False)
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)


def write_numbers(panels: Sequence[Panel], axes: Sequence[Axes]) -> None:
    """Writes its value into each cell, as small as needed; a bar of colours where cells are too small."""
    for panel, axis in zip(panels, axes, strict=False):
        if panel.cells and not _numbers(panel, axis):
            axis.figure.colorbar(axis.collections[0], ax=axis)


def _numbers(panel: Panel, axis: Axes) -> bool:
    """Writes the values of a panel; returns whether the cells have room for them."""
    texts = {
        (x, y): f"{value:.{DIGITS}g}"
        for y, row in enumerate(panel.cells)
        for x, value in enumerate(row)
        if math.isfinite(value)
    }
    if not texts:
        return True
    room = axis.get_window_extent()
    points = 72.0 / axis.figure.dpi
    width, height = (points * room.width / len(panel.categories), points * room.height / len(panel.levels))
    size = min(DIGITS_SIZE, height, width / (DIGIT_WIDTH * max(map(len, texts.values()))))
    if size < LEAST_SIZE:
        return False
    low, high = bounds(panel)
    for (x, y), text in texts.items():
        light = high > low and (panel.cells[y][x] - low) / (high - low) > DARK
        ink = DARK_INK if light else "white"
        axis.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=size, color=ink)
    return True
