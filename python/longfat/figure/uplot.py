"""Figures over time for a page: as data that the script `uplot.js` draws with the library uPlot."""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from longfat.errors import LongfatError
from longfat.figure import style
from longfat.figure.data import Curve, Figure, History

DIGITS, TIME_DIGITS = 5, 7
"""Significant digits of values and of times in the page."""


def document(figures: Iterable[Figure]) -> dict[str, Any]:
    """Returns what the script draws: the flows to choose from, and a panel below the other over one time.

    Args:
        figures: those of `longfat.figure.histories`; panels without a curve are left out.
    """
    panels = [
        (f"{figure.name}-{number}" if panel.title else figure.name, panel.title or figure.title, panel)
        for figure in figures
        for number, panel in enumerate(figure.panels)
        if isinstance(panel, History) and panel.curves
    ]
    flows = _flows(panel for _, _, panel in panels)
    numbers = {flow["name"]: number for number, flow in enumerate(flows)}
    return {
        "span_s": max((panel.x_range[1] for _, _, panel in panels if panel.x_range), default=0.0),
        "flows": flows,
        "quantiles": any(curve.bands for _, _, panel in panels for curve in panel.curves),
        "panels": [_panel(key, title, panel, numbers) for key, title, panel in panels],
    }


def embedded(value: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def assets() -> dict[str, str]:
    """The script and the style of the panels, and uPlot, which draws them: all of it is in the page."""
    own = resources.files(__package__)
    # found, not imported: the package that brings uPlot imports IPython
    package = importlib.util.find_spec("uplot")
    if package is None or not package.submodule_search_locations:
        raise LongfatError("uPlot, which draws the page, is not installed; pip install uplot-python")
    drawer = Path(package.submodule_search_locations[0]) / "static"
    return {
        "script": own.joinpath("uplot.js").read_text(encoding="utf-8"),
        "style": (drawer / "uPlot.min.css").read_text(encoding="utf-8")
        + own.joinpath("uplot.css").read_text(encoding="utf-8"),
        "uplot": (drawer / "uPlot.iife.js").read_text(encoding="utf-8"),
    }


def _flows(panels: Iterable[History]) -> list[dict[str, Any]]:
    """The flows that have a line, in the order of the panel with the most: name, algorithm and colours."""
    lines = ([curve for curve in _all(panel) if curve.flow and curve.kind == "line"] for panel in panels)
    found: dict[str, dict[str, Any]] = {}
    for curve in (curve for curves in sorted(lines, key=len, reverse=True) for curve in curves):
        found.setdefault(
            curve.flow, {"name": curve.flow, "algorithm": curve.algorithm, "colours": _colours(curve)}
        )
    return list(found.values())


def _all(panel: History) -> tuple[Curve, ...]:
    return (*panel.curves, *panel.details)


def _colours(curve: Curve) -> list[str]:
    """A curve's colour on a light page, and on a dark one."""
    light = style.colour(curve)
    return [light, style.on_dark(light)]


def _panel(key: str, title: str, panel: History, numbers: Mapping[str, int]) -> dict[str, Any]:
    times = panel.curves[0].x
    levels = [curve for curve in _all(panel) if curve.kind == "theory" and not curve.flow]
    return {
        "key": key,
        "title": title,
        "label": panel.y_label,
        "unit": panel.y_label.rpartition(", ")[2] if ", " in panel.y_label else "",
        "from_zero": panel.from_zero,
        "marked": panel.marked,
        "t": _written(times, TIME_DIGITS),
        "series": [_series(curve, numbers) for curve in _all(panel) if curve not in levels],
        "levels": [curve.y[0] for curve in levels],  # the same at all times
        "ticks": [
            {"flow": numbers.get(tick.flow), "label": tick.label, "t": _written(tick.x, TIME_DIGITS)}
            for tick in panel.ticks
            if not tick.flow or tick.flow in numbers
        ],
    }


def _series(curve: Curve, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "flow": numbers.get(curve.flow),
        "label": curve.label,
        "colours": _colours(curve),
        "bound": curve.kind == "theory",
        "y": _written(curve.y),
        "bands": [
            {"label": label, "low": _written(low), "high": _written(high)}
            for label, low, high in _bands(curve)
        ],
    }


def _bands(curve: Curve) -> Iterator[tuple[str, Sequence[float], Sequence[float]]]:
    if curve.error is not None:
        y, half = np.array(curve.y), np.array(curve.error)
        least = 0.0 if not np.any(y < 0.0) else -np.inf  # no window or rate is below zero
        yield "", np.maximum(y - half, least).tolist(), (y + half).tolist()
    for band in curve.bands:
        yield band.label, band.low, band.high


def _written(values: Sequence[float], digits: int = DIGITS) -> list[float | None]:
    """Values with this number of significant digits; None where there is none."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]
