"""How heat maps look: one hue from light to dark, each cell with its number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat.suites.figure import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = "viridis"
"""Of both libraries; told apart with any colour vision, and in grey."""
DIGITS = 3
MOST_NUMBERS = 150
"""Cells beyond which numbers would not be read."""
DARK = 0.6
"""Of the range: above it numbers are dark on light, since viridis ends in yellow."""
DIGITS_SIZE = 6


def bounds(panel: Panel) -> tuple[float, float]:
    """The least and the greatest value; the panel's own range if it has one."""
    known = [value for row in panel.cells for value in row if math.isfinite(value)]
    if panel.y_range:
        return panel.y_range
    return (min(known), max(known)) if known else (0.0, 1.0)


def draw_panel(panel: Panel, axis: Axes) -> None:
    """Draws the cells of a panel with matplotlib."""
    low, high = bounds(panel)
    axis.pcolormesh(panel.cells, cmap=COLOURS, vmin=low, vmax=high)
    axis.set_xticks(
        [i + 0.5 for i in range(len(panel.categories))], panel.categories, rotation=45, ha="right"
    )
    axis.set_yticks([i + 0.5 for i in range(len(panel.levels))], panel.levels)
    axis.grid(visible=False)
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if len(panel.categories) * len(panel.levels) > MOST_NUMBERS:
        return
    for y, row in enumerate(panel.cells):
        for x, value in enumerate(row):
            if math.isfinite(value):
                light = high > low and (value - low) / (high - low) > DARK
                axis.text(
                    x + 0.5,
                    y + 0.5,
                    f"{value:.{DIGITS}g}",
                    ha="center",
                    va="center",
                    fontsize=DIGITS_SIZE,
                    color="black" if light else "white",
                )


def plotly_trace(panel: Panel) -> dict[str, Any]:
    """The cells of a panel as plotly's data."""
    low, high = bounds(panel)
    shown = [[value if math.isfinite(value) else None for value in row] for row in panel.cells]
    return {
        "type": "heatmap",
        "x": list(panel.categories),
        "y": list(panel.levels),
        "z": shown,
        "zmin": low,
        "zmax": high,
        "colorscale": COLOURS.capitalize(),
        "showscale": False,
        "texttemplate": f"%{{z:.{DIGITS}g}}",
        "hovertemplate": f"{panel.x_label} %{{x}}<br>{panel.y_label} %{{y}}<br>%{{z:.4g}}<extra></extra>",
    }
