"""Draws the figures of a dossier as SVG: a row for each point, a dot and an interval for each algorithm.

A page with a dozen of such figures has to open at once and to print, so there is no script in it. Colours are
classes, which the page's style gives for light and dark screens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from longfat.figure.data import Curve, Figure, Panel

WIDTH, NAMES, MARGIN = 560, 190, 16
"""Pixels of a panel, of the names of its rows, and of what is left at the right."""
ROW, TOP, BOTTOM, APART = 28, 10, 40, 6
"""Pixels of a row, above and below all rows, and between two algorithms in a row."""
TICKS = 5


def svg(figure: Figure) -> list[str]:
    """Returns the SVG element of each panel."""
    return ["".join(_panel(panel)) for panel in figure.panels]


def _panel(panel: Panel) -> Iterator[str]:
    curves = [curve for curve in panel.curves if any(map(math.isfinite, curve.y))]
    height = TOP + ROW * len(panel.categories) + BOTTOM
    low, high, step = _axis(curves)
    yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(panel.y_label)}">'
    bottom = TOP + ROW * len(panel.categories)
    for i in range(round((high - low) / step) + 1):
        value = low + i * step
        x = _place(value, low, high)
        yield f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{bottom}"/>'
        yield f'<text class="tick" x="{x:.1f}" y="{bottom + 15}">{_number(value, step)}</text>'
    middle = 0.5 * (NAMES + WIDTH - MARGIN)
    yield f'<text class="tick" x="{middle:.1f}" y="{bottom + 32}">{escape(panel.y_label)}</text>'
    for i, name in enumerate(panel.categories):
        y = TOP + ROW * (i + 0.5)
        yield f'<text class="name" x="{NAMES - 10}" y="{y + 4:.1f}">{escape(name)}</text>'
    for number, curve in enumerate(panel.curves):
        yield from _curve(curve, number, len(panel.curves), low, high)
    yield "</svg>"


def _curve(curve: Curve, number: int, of: int, low: float, high: float) -> Iterator[str]:
    halves = curve.error or (math.nan,) * len(curve.y)
    for row, value, half in zip(curve.x, curve.y, halves, strict=True):
        if not math.isfinite(value):
            continue
        x, y = _place(value, low, high), TOP + ROW * (row + 0.5) + APART * (number - 0.5 * (of - 1))
        if math.isfinite(half) and half > 0.0:
            ends = [_place(min(max(value + way * half, low), high), low, high) for way in (-1.0, 1.0)]
            yield f'<line class="c{number}" x1="{ends[0]:.1f}" y1="{y:.1f}" x2="{ends[1]:.1f}" y2="{y:.1f}"/>'
        said = f"{curve.label}: {value:.4g}" + (f" ± {half:.2g}" if math.isfinite(half) else "")
        yield f'<circle class="c{number}" cx="{x:.1f}" cy="{y:.1f}" r="3.4">'
        yield f"<title>{escape(said)}</title></circle>"


def _place(value: float, low: float, high: float) -> float:
    return NAMES + (WIDTH - MARGIN - NAMES) * (value - low) / (high - low)


def _axis(curves: Sequence[Curve]) -> tuple[float, float, float]:
    """Returns the ends of an axis that holds 0, and the distance of its ticks: 1, 2 or 5 times ten to n."""
    values = [value for curve in curves for value in curve.y if math.isfinite(value)] or [1.0]
    least, greatest = min(0.0, *values), max(0.0, *values)
    rough = (greatest - least or 1.0) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1.0, 2.0, 5.0, 10.0) if power * factor >= rough)
    return math.floor(least / step) * step, math.ceil(greatest / step) * step or step, step


def _number(value: float, step: float) -> str:
    return f"{value:,.{max(0, -math.floor(math.log10(step)))}f}"
