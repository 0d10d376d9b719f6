"""Ticks of axes and the room for the words beside them, for both libraries."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from longfat.figure.data import Panel, Tornado

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SHORT_RANGE = 50.0
"""A logarithmic axis that spans a smaller factor has labels between the powers of ten."""
BETWEEN = (1, 2, 5)
LETTER_INCHES = 0.065
"""Width of a letter in titles and axis names on paper."""
LETTER_PIXELS = 6.5
LABEL_WIDTH = 28
"""Letters of an axis beside a panel; a longer label takes two lines."""
PAGE_LABEL_WIDTH = 36
PAGE_PIXELS = 1100
"""Width of a figure on the page, roughly."""
MOST_PANEL_INCHES = 3.5
"""A longer title takes two lines."""


def is_short(low: float, high: float) -> bool:
    """Whether powers of ten alone would be too few labels for a logarithmic axis."""
    if low <= 0.0:
        return False
    powers = math.floor(math.log10(high)) - math.ceil(math.log10(low)) + 1
    return high < SHORT_RANGE * low or powers < 2


def thin_ticks(axis: Axis) -> None:
    """Spaces the labels of a logarithmic axis: at 1, 2, 5 over a short range, else at powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if is_short(*axis.get_view_interval()):
        axis.set_major_locator(LogLocator(subs=BETWEEN))
        axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())


def plotly_axis(
    label: str, log: bool, limits: tuple[float, float] | None, values: Iterable[float]
) -> dict[str, Any]:
    """Returns an axis for plotly; without limits, the drawn values decide its range."""
    text = "<br>".join(textwrap.wrap(label, PAGE_LABEL_WIDTH))
    axis: dict[str, Any] = {"title": {"text": text, "standoff": 6}, "automargin": True}
    if log:
        axis |= {
            "type": "log",
            "exponentformat": "power",
            "dtick": 1,
            "minor": {"ticks": "outside", "ticklen": 3},
        }
        known = limits or [value for value in values if value > 0.0]
        if known and is_short(min(known), max(known)):
            axis |= _short_ticks(min(known), max(known))
    else:
        axis["rangemode"] = "tozero"
    if limits:
        axis["range"] = [math.log10(limit) for limit in limits] if log else list(limits)
    return axis


def needs_no_labels(panels: Sequence[Panel], number: int, columns: int) -> bool:
    """Whether a panel shares the scale of the first in its row, so that it needs no labels."""
    panel, first = panels[number], panels[number - number % columns]
    if panel is first or panel.y_label:
        return False
    if panel.cells or first.cells:
        return panel.levels == first.levels
    return panel.y_range is not None and (panel.y_range, panel.y_log) == (first.y_range, first.y_log)


def is_empty(panel: Panel) -> bool:
    """Whether a panel has nothing to show."""
    rows = [*panel.cells, *(curve.y for curve in panel.curves)]
    if isinstance(panel, Tornado):
        rows.append(tuple(bar.value for bar in panel.bars))
    return not any(math.isfinite(value) for row in rows for value in row)


def words_inches(panel: Panel) -> float:
    """Returns the width of a panel with room for its title and axis name, up to a limit."""
    return min(MOST_PANEL_INCHES, LETTER_INCHES * (2 + max(len(panel.title), len(panel.x_label))))


def wrapped(title: str, inches: float) -> str:
    """Wraps a title to the width of its panel on paper."""
    return textwrap.fill(title, max(1, int(inches / LETTER_INCHES)))


def wrapped_on_page(title: str, columns: int) -> str:
    """Wraps a title to the width of its panel on a page."""
    return "<br>".join(textwrap.wrap(title, int(PAGE_PIXELS / columns / LETTER_PIXELS)))


def _short_ticks(low: float, high: float) -> dict[str, Any]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = {float(f"{digit}e{power}"): digit for power in powers for digit in range(1, 10)}
    ticks = [tick for tick, digit in digits.items() if digit in BETWEEN]
    minor = {"ticks": "outside", "ticklen": 3, "tickmode": "array", "tickvals": list(digits)}
    return {
        "tickmode": "array",
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
        "minor": minor,
    }
