"""Figures as plotly's data and layout, for pages and programs of one's own."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from longfat.figure import heat, radar, scales, style, tornado
from longfat.figure.data import Curve, Figure, Panel, Tornado

SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "*": "star",
    "X": "x",
    "<": "triangle-left",
    ">": "triangle-right",
    "d": "diamond-tall",
    "p": "pentagon",
    "h": "hexagon",
    "8": "octagon",
    "H": "hexagon2",
    "1": "y-down-open",
    "2": "y-up-open",
    "3": "y-left-open",
    "4": "y-right-open",
    "+": "cross-thin-open",
    "x": "x-thin-open",
    "|": "line-ns-open",
}
"""Plotly's symbols by matplotlib's markers."""
MOST_ON_PAGE = 3
"""Panels side by side that fit on any page; with more the page scrolls, and buttons stand above titles."""
TILTED_GAP = 0.27
"""Between rows of panels whose categories may be written at an angle."""


def draw(figure: Figure) -> dict[str, Any]:
    """Returns a figure as plotly's data and layout, without colours of a page."""
    if figure.panels[0].radar:
        return radar.plotly_figure(figure.panels[0])
    if isinstance(figure.panels[0], Tornado):
        return tornado.plotly_figure(figure.panels[0])
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    traces: list[dict[str, Any]] = []
    panel_height = 230 if style.is_history(figure) else 330
    layout: dict[str, Any] = {
        "height": panel_height * rows + 90,
        "margin": {"l": 64, "r": 16, "t": 30 if columns <= MOST_ON_PAGE else 48, "b": 48},
        "grid": {
            "rows": rows,
            "columns": columns,
            "pattern": "independent",
            "xgap": 0.14,
            "ygap": TILTED_GAP if figure.panels[0].cells else min(0.32, 0.75 * 90 / panel_height),
        },
        "legend": {"orientation": "h", "x": 0.0, "y": 0.0, "yref": "container", "yanchor": "bottom"},
        "annotations": [],
        "shapes": [],
        "hovermode": "closest",
    }
    shown: set[str] = set()
    for number, panel in enumerate(figure.panels, start=1):
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = scales.plotly_axis(
            panel.x_label, panel.x_log, panel.x_range, (x for curve in panel.curves for x in curve.x)
        )
        if panel.categories and not panel.cells:
            layout[f"xaxis{suffix}"] |= {
                "tickvals": list(range(len(panel.categories))),
                "ticktext": list(panel.categories),
                "range": [-0.5, len(panel.categories) - 0.5],
            }
        layout[f"yaxis{suffix}"] = scales.plotly_axis(
            panel.y_label,
            panel.y_log,
            None if panel.cells else panel.y_range,
            (y for curve in panel.curves for y in curve.y),
        )
        if scales.needs_no_labels(figure.panels, number - 1, columns):
            layout[f"yaxis{suffix}"]["showticklabels"] = False
        if panel.marked:
            layout["shapes"].append(
                {
                    "type": "rect",
                    "layer": "below",
                    "xref": f"x{suffix}",
                    "yref": f"y{suffix} domain",
                    "x0": panel.marked[0],
                    "x1": panel.marked[1],
                    "y0": 0,
                    "y1": 1,
                    "fillcolor": style.MARKED_COLOUR,
                    "opacity": style.MARKED_OPACITY,
                    "line": {"width": 0},
                }
            )
        domain = {"xref": f"x{suffix} domain", "yref": f"y{suffix} domain", "showarrow": False}
        layout["annotations"].append(
            {
                **domain,
                "text": scales.wrapped_on_page(panel.title, columns),
                "x": 0.0,
                "y": 1.0,
                "xanchor": "left",
                "yanchor": "bottom",
                "align": "left",
                "font": {"size": 12},
            }
        )
        if scales.is_empty(panel):
            layout["annotations"].append({**domain, "text": style.NO_VALUES, "x": 0.5, "y": 0.5})
        if panel.cells:
            layout[f"xaxis{suffix}"] |= heat.plotly_axis(panel.categories)
            layout[f"yaxis{suffix}"] |= heat.plotly_axis(panel.levels)
            traces.append(heat.plotly_trace(panel) | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
        for curve in panel.curves:
            trace = _trace(curve, panel)
            trace |= {
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "legendgroup": curve.label,
                "showlegend": curve.label not in shown,
            }
            shown.add(curve.label)
            traces.append(trace)
    return {"data": traces, "layout": layout}


def _trace(curve: Curve, panel: Panel) -> dict[str, Any]:
    hue = style.colour(curve)
    trace: dict[str, Any] = {
        "type": "scattergl" if len(curve.x) > 3000 else "scatter",
        "name": curve.label,
        "x": _numbers(curve.x),
        "y": [y if y is not None and (y > 0.0 or not panel.y_log) else None for y in _numbers(curve.y)],
        "line": {"color": hue, "width": 1.6},
        "hovertemplate": f"{curve.label}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    }
    if curve.kind == "theory":
        return trace | {"mode": "lines", "line": {"color": hue, "width": 1.2, "dash": "dash"}}
    if curve.kind == "line":
        return trace | {"mode": "lines", "line": {"color": hue, "width": 1.2}}
    trace["mode"] = "markers" if panel.categories else "lines+markers"
    trace["line"]["dash"] = style.STROKES[curve.stroke % len(style.STROKES)][1]
    trace["marker"] = {
        "color": hue,
        "symbol": SYMBOLS.get(style.marker(curve), "circle"),
        "size": 7,
    }
    bars = style.error_bars(curve)
    if bars:
        trace["error_y"] = {"type": "data", "array": bars, "color": hue, "thickness": 1.2, "width": 3}
    return trace


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Returns numbers that JSON can hold, with as many digits as a screen can show."""
    return [None if not math.isfinite(value) else float(f"{value:.6g}") for value in values]
