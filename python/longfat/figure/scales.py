"""Ticks of axes and the room for the words beside them."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.figure.data import Panel, Tornado

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LOG_FACTOR, RATIO_TOLERANCE = 10.0, 1e-9
"""Factor between the ends of a logarithmic axis, and by how much equal ratios of its values may differ."""
SHORT_RANGE = 50.0
"""A logarithmic axis that spans a smaller factor has labels between the powers of ten."""
BETWEEN = (1, 2, 5)
LETTER_INCHES = 0.065
"""Width of a letter in titles and axis names on paper."""
LETTERS_PER_INCH = 9.7
"""Letters of all categories, and two more for each, that fit side by side below a panel."""
MARGIN = 0.04
"""Room beyond the values beside categories, as a share of their range."""
MOST_LETTERS = 24
"""Letters of a line of a category."""
MOST_FLAT = 2.5
"""Categories per inch below a panel that do not meet if they are a little tilted."""
MOST_PANEL_INCHES = 3.5
"""A longer title takes two lines."""


def is_log(values: Sequence[float]) -> bool:
    """Whether the axis of some values is logarithmic: they span decades, or have equal ratios."""
    ordered = sorted(values)
    if ordered[0] <= 0.0:
        return False
    ratios = [after / before for before, after in itertools.pairwise(ordered)]
    even = len(ratios) > 1 and max(ratios) - min(ratios) <= RATIO_TOLERANCE * max(ratios)
    return ordered[-1] > LOG_FACTOR * ordered[0] or even


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


def round_ticks(axis: Axis, whole: bool = False) -> None:
    """Spaces the labels of a linear axis at 1, 2 or 5 times a power of ten, or at `whole` numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", steps=(*BETWEEN, 10), integer=whole))


def name_categories(axis: Axes, names: Sequence[str], inches: float, first: float = 0.0) -> None:
    """Writes categories below an axis, at an angle where they need it.

    Args:
        axis: the axes.
        names: the categories.
        inches: the width of the panel.
        first: where the first one stands.
    """
    names = [textwrap.fill(name, MOST_LETTERS) for name in names]
    crowded = sum(len(name) + 2 for name in names) > LETTERS_PER_INCH * inches
    angle = 0 if not crowded else 30 if len(names) < MOST_FLAT * inches else 60
    axis.set_xticks(
        [place + first for place in range(len(names))],
        names,
        rotation=angle,
        ha="right" if angle else "center",
        rotation_mode="anchor",
    )
    axis.set_xlim(first - 0.5, len(names) + first - 0.5)


def stack_categories(axis: Axes, names: Sequence[str]) -> None:
    """Writes categories beside an axis, the first on top; values that are all positive begin at 0."""
    round_ticks(axis.xaxis)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.4, -0.6)
    low, high = min(0.0, axis.dataLim.x0), max(0.0, axis.dataLim.x1)
    room = MARGIN * (high - low)
    if room > 0.0:
        axis.set_xlim(low - room if low < 0.0 else 0.0, high + room)


def needs_no_labels(panels: Sequence[Panel], number: int, columns: int) -> bool:
    """Whether a panel shares the scale of the first in its row, so that it needs no labels."""
    panel, first = panels[number], panels[number - number % columns]
    if panel is first or (panel.y_label and not panel.sideways):
        return False
    if panel.cells or first.cells:
        return panel.levels == first.levels
    if panel.sideways:
        return panel.categories == first.categories
    return panel.y_range is not None and (panel.y_range, panel.y_log) == (first.y_range, first.y_log)


def trimmed(panels: Sequence[Panel], columns: int) -> Iterator[Panel]:
    """Keeps the names of axes only at the left and at the bottom of a grid of panels."""
    for number, panel in enumerate(panels):
        bottom, left = number + columns >= len(panels), number % columns == 0
        yield replace(panel, x_label=panel.x_label if bottom else "", y_label=panel.y_label if left else "")


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
    """Wraps a title to the width of its panel on paper, or the name of an axis to its height."""
    return textwrap.fill(title, max(1, int(inches / LETTER_INCHES)))
