"""Radar charts: categories around a circle and a closed curve for each case; a round curve is even."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure import style
from longfat.figure.data import Panel

INCHES = 4.5


def draw_panel(panel: Panel, axis: Any) -> None:
    """Draws a panel on polar axes of matplotlib."""
    spokes = [2.0 * math.pi * i / len(panel.categories) for i in range(len(panel.categories))]
    for curve in panel.curves:
        angles = [spokes[round(x)] for x in curve.x]
        axis.plot(
            [*angles, angles[0]],
            [*curve.y, curve.y[0]],
            color=style.colour(curve),
            marker="o",
            linestyle=style.stroke(curve.stroke),
            label=curve.label,
        )
    axis.set_xticks(spokes, panel.categories)
    if panel.y_range:
        axis.set_rlim(*panel.y_range)
    axis.set_title(panel.title or panel.y_label, loc="left")
