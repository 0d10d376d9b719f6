"""Figures of results, for scripts; the code is in `longfat.figure`."""

from longfat.figure.matplotlib import cwnd_figure, draw, plot_cwnd, queue_figure, rate_figure, save

__all__ = ["cwnd_figure", "draw", "plot_cwnd", "queue_figure", "rate_figure", "save"]
