"""Figures of results, for scripts; the code is in `longfat.figure`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.histories import cwnd_figure, queue_figure, rate_figure
from longfat.figure.matplotlib import draw, save
from longfat.figure.plotly import draw as plotly_figure
from longfat.runs.result import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

__all__ = [
    "Curve",
    "Figure",
    "Panel",
    "cwnd_figure",
    "draw",
    "plot_cwnd",
    "plotly_figure",
    "queue_figure",
    "rate_figure",
    "save",
]


def plot_cwnd(result: Result, *, names: Sequence[str] | None = None) -> Drawing:
    """Draws cwnd over time of a Result's flows (all, or those named), as a matplotlib figure."""
    return result.plot_cwnd(names=names)
