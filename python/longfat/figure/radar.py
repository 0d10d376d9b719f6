"""Radar charts: categories around a circle and a closed curve for each case; a round curve is even."""

from __future__ import annotations

import math
from typing import Any

from longfat.figure import style
from longfat.figure.data import Panel

INCHES = 4.5
PIXELS = 520


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
            linestyle=style.STROKES[curve.stroke % len(style.STROKES)][0],
            label=curve.label,
        )
    axis.set_xticks(spokes, panel.categories)
    if panel.y_range:
        axis.set_rlim(*panel.y_range)
    axis.set_title(panel.title or panel.y_label, loc="left")


def plotly_figure(panel: Panel) -> dict[str, Any]:
    """Returns a panel as plotly's data and layout."""
    names = list(panel.categories)
    data = [
        {
            "type": "scatterpolar",
            "mode": "lines+markers",
            "name": curve.label,
            "theta": [names[round(x)] for x in (*curve.x, curve.x[0])],
            "r": [value if math.isfinite(value) else None for value in (*curve.y, curve.y[0])],
            "line": {
                "color": style.colour(curve),
                "dash": style.STROKES[curve.stroke % len(style.STROKES)][1],
            },
            "hovertemplate": f"{curve.label}<br>%{{theta}}: %{{r:.4g}}<extra></extra>",
        }
        for curve in panel.curves
    ]
    radius: dict[str, Any] = {"title": {"text": panel.y_label}}
    if panel.y_range:
        radius["range"] = list(panel.y_range)
    layout = {
        "height": PIXELS,
        "margin": {"l": 64, "r": 64, "t": 30, "b": 48},
        "legend": {"orientation": "h"},
        "polar": {"angularaxis": {"type": "category"}, "radialaxis": radius},
    }
    return {"data": data, "layout": layout}
