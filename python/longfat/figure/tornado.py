"""Tornado charts: a bar for each case, from the value of the base to the value of the case."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.figure import scales, style
from longfat.figure.data import Tornado

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR_INCHES = 0.24
FRAME_INCHES = 0.9
BAR_HEIGHT = 0.62
"""A bar's share of the room from one bar to the next."""
LABEL_WIDTH = 48
"""Letters of a bar's name in one line; a longer one takes two."""
MARGIN = 0.12
"""Free room on both sides of the values, as a share of their range, for the numbers beside the bars."""
BELOW = 3.0
"""On a logarithmic axis a value of 0 stands this factor below the least value that can be drawn."""
BASE_LABEL = "base"


@dataclass(frozen=True)
class _Axis:
    """The axis of values: whether it is logarithmic, its ends, and the least value that is drawn."""

    log: bool
    low: float
    high: float
    least: float

    def place(self, value: float) -> float:
        """Returns where a value is drawn; 0 stands at the least value of a logarithmic axis."""
        return max(value, self.least) if self.log else value

    def span(self, ends: tuple[float, float]) -> tuple[float, float]:
        """Returns the part of a span that the axis shows."""
        return max(ends[0], self.low), min(ends[1], self.high)


def inches(panel: Tornado) -> float:
    """Returns the height of a panel on paper."""
    lines = sum(len(_lines(bar.label)) for bar in panel.bars)
    return FRAME_INCHES + BAR_INCHES * max(1, len(panel.bars), math.ceil(0.6 * lines))


def draw_panel(panel: Tornado, axis: Axes) -> None:
    """Draws a panel with matplotlib."""
    scale = _axis(panel)
    if panel.marked:
        ends = scale.span(panel.marked)
        axis.axvspan(*ends, color=style.MARKED_COLOUR, alpha=style.MARKED_OPACITY, linewidth=0, zorder=0)
    named: set[str] = set()
    for row, bar in enumerate(panel.bars):
        if not math.isfinite(bar.value):
            axis.annotate(_number(bar.value), (0.01, row), xycoords=("axes fraction", "data"), va="center")
            continue
        look: dict[str, Any] = {"color": style.group_colour(bar.group)}
        end = scale.place(bar.value)
        if math.isfinite(panel.base):
            begin = scale.place(panel.base)
            axis.barh(row, end - begin, BAR_HEIGHT, begin, alpha=0.55, zorder=2, **look)
        label = "_" if bar.group in named else bar.group
        axis.plot([end], [row], marker="o", linestyle="none", label=label, zorder=3, **look)
        named.add(bar.group)
        left = bar.value < panel.base
        axis.annotate(
            _number(bar.value),
            (end, row),
            (-5 if left else 5, 0),
            textcoords="offset points",
            ha="right" if left else "left",
            va="center",
            fontsize=7,
        )
    if math.isfinite(panel.base):
        axis.axvline(scale.place(panel.base), color="#111827", linewidth=1.1, label=BASE_LABEL)
    if panel.reference is not None:
        at = scale.place(panel.reference)
        look = {"color": style.REFERENCE_COLOUR, "linestyle": (0, (4, 2)), "linewidth": 1.2}
        axis.axvline(at, label=panel.reference_label, **look)
    if scale.log:
        axis.set_xscale("log")
    axis.set_xlim(scale.low, scale.high)
    if scale.log:
        scales.thin_ticks(axis.xaxis)
    axis.set_yticks(range(len(panel.bars)), ["\n".join(_lines(bar.label)) for bar in panel.bars])
    axis.set_ylim(len(panel.bars) - 0.4, -0.6)
    axis.grid(visible=False, axis="y")
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x_label)


def _axis(panel: Tornado) -> _Axis:
    drawn = list(_drawn(panel))
    known = [value for value in (*drawn, *(panel.marked or ())) if math.isfinite(value)]
    positive = [value for value in drawn if 0.0 < value < math.inf]
    if panel.x_log and positive:
        # the upper end of the span is shown; the lower one may be negative
        low, high = min(positive), max(*positive, *(panel.marked or (0.0,)))
        if any(value <= 0.0 for value in drawn):
            low /= BELOW
        room = max((high / low) ** MARGIN, 1.05)
        return _Axis(True, low / room, high * room, low)
    low, high = min(known, default=0.0), max(known, default=1.0)
    room = MARGIN * (high - low) or abs(high) * MARGIN or 1.0
    return _Axis(False, low - room, high + room, low)


def _drawn(panel: Tornado) -> Iterable[float]:
    """The values that bars and lines end at."""
    yield panel.base
    yield from (bar.value for bar in panel.bars)
    if panel.reference is not None:
        yield panel.reference


def _lines(label: str) -> list[str]:
    return textwrap.wrap(label, LABEL_WIDTH) or [""]


def _number(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else style.NO_VALUES
