"""Figures for papers: PDF, SVG and PNG through matplotlib, without a window system.

Error bars are standard errors; thin broken lines are theory.
"""

from __future__ import annotations

import functools
import io
import math
import os
import textwrap
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError, LongfatError
from longfat.figure import heat, inline, radar, scales, style, tornado
from longfat.figure.data import FORMATS, Figure, Panel, Tornado, plain_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTH_INCHES = 7.0
"""The width of two columns in a paper."""
PANEL_WIDTH_INCHES = 1.75
"""Panels side by side get no narrower; the figure gets wider."""
PANEL_INCHES = 2.3
HISTORY_INCHES = 1.7
LEGEND_COLUMNS = 5
MOST_LABELS = 24
"""The most labels in a legend."""
WRITTEN_OUT = (0.1, 1000.0)
"""Values of a logarithmic axis in this range are written out, not as powers of ten."""
DPI = 150

RC: Any = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "longfat",
}


def draw(figure: Figure) -> Drawing:
    """Draws a figure with matplotlib, without a window system; the caller saves it."""
    import matplotlib as mpl

    figure = _literal(figure)
    made = shown_in_notebooks()
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    width = max(WIDTH_INCHES, columns * max(map(_panel_width, figure.panels)) if columns > 1 else 0.0)
    round_ = figure.panels[0].radar
    height = _panel_height(figure)
    with mpl.rc_context(RC):
        canvas = made(figsize=(width, height * rows + 0.5), layout="constrained")
        kind: Any = {"projection": "polar"} if round_ else {}
        axes = canvas.subplots(rows, columns, squeeze=False, subplot_kw=kind).ravel()
        for number, (panel, axis) in enumerate(zip(figure.panels, axes, strict=False)):
            _draw_panel(panel, axis, number)
            axis.set_title(scales.wrapped(axis.get_title(loc="left"), width / columns), loc="left")
            if scales.needs_no_labels(figure.panels, number, columns):
                axis.tick_params(labelleft=False)
        for axis in axes[len(figure.panels) :]:
            axis.set_axis_off()
        _draw_legend(canvas, figure, axes[: len(figure.panels)])
        mirrored = f"{figure.mirrors}: " if figure.mirrors not in ("", figure.name) else ""
        canvas.suptitle(f"{mirrored}{figure.title}", fontsize=9)
        if any(panel.cells for panel in figure.panels):
            canvas.draw_without_rendering()  # the width of cells is unknown before
            for panel, axis in zip(figure.panels, axes, strict=False):
                heat.write_numbers(panel, axis)
    return canvas


def literal(text: str) -> str:
    """Returns a text that matplotlib shows as this one: between two $ it would read a formula."""
    return text.replace("$", r"\$")


def _literal(figure: Figure) -> Figure:
    """The same figure with texts that matplotlib shows as they are."""

    def panel(one: Panel) -> Panel:
        curves = tuple(replace(curve, label=literal(curve.label)) for curve in one.curves)
        texts = {key: literal(getattr(one, key)) for key in ("title", "x_label", "y_label")}
        rows = {key: tuple(map(literal, getattr(one, key))) for key in ("categories", "levels")}
        changed = replace(one, curves=curves, **texts, **rows)  # type: ignore[arg-type]
        if not isinstance(changed, Tornado):
            return changed
        bars = tuple(replace(bar, label=literal(bar.label)) for bar in changed.bars)
        return replace(changed, bars=bars, reference_label=literal(changed.reference_label))

    panels = tuple(map(panel, figure.panels))
    return replace(figure, title=literal(figure.title), mirrors=literal(figure.mirrors), panels=panels)


@functools.cache
def shown_in_notebooks() -> type[Drawing]:
    """A matplotlib figure that is a picture in a notebook, also without `%matplotlib inline`."""
    from matplotlib.figure import Figure as Base

    class Shown(Base):
        def _repr_png_(self) -> bytes:
            import matplotlib as mpl

            stream = io.BytesIO()
            with mpl.rc_context(RC):
                self.savefig(stream, format="png")
            return stream.getvalue()

        def __reduce__(self) -> Any:
            return object.__new__, (Base,), self.__getstate__()

    Shown.__name__ = Shown.__qualname__ = Base.__name__
    return Shown


def save(figure: Figure, directory: Path | str, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Draws a figure and writes directory/NAME.FORMAT; the same figure always gives the same bytes."""
    import matplotlib as mpl

    folder = Path(directory)
    try:
        plain_name(figure.name)
    except ValueError as error:
        raise InputError(f"a figure of {folder.parent}: {error}") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror}; accepted: a folder that can be written") from None
    canvas = draw(figure)
    written = []
    with mpl.rc_context(RC):
        canvas.draw_without_rendering()
        canvas.set_layout_engine("none")  # the layout is done: it takes longer than to write a format
        for kind in formats:
            path = folder / f"{figure.name}.{kind}"
            undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
            drawn = io.BytesIO()  # matplotlib's own writers raise twice where a disk is full
            canvas.savefig(drawn, format=kind, dpi=DPI, metadata=undated)
            try:
                write(path, drawn.getvalue())
            except OSError as error:
                raise LongfatError(f"{path}: {error.strerror}") from None
            written.append(path)
    return written


def write(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all; replaces a link of that name. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.unlink(missing_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _panel_height(figure: Figure) -> float:
    first = figure.panels[0]
    if isinstance(first, Tornado):
        return tornado.inches(first)
    return radar.INCHES if first.radar else HISTORY_INCHES if style.is_history(figure) else PANEL_INCHES


def _draw_panel(panel: Panel, axis: Axes, number: int) -> None:
    if panel.radar:
        radar.draw_panel(panel, axis)
        return
    if isinstance(panel, Tornado):
        tornado.draw_panel(panel, axis)
        _say_if_empty(panel, axis)
        return
    if panel.cells:
        heat.draw_panel(panel, axis)
        _say_if_empty(panel, axis)
        return
    if panel.marked:
        axis.axvspan(
            *panel.marked, color=style.MARKED_COLOUR, alpha=style.MARKED_OPACITY, linewidth=0, zorder=0
        )
    for place, curve in enumerate(panel.curves):
        look: dict[str, Any] = {"color": style.colour(curve), "label": _legible(curve.label)}
        # a logarithmic axis would draw a line down to a value of 0
        y = [value if value > 0.0 or not panel.y_log else math.nan for value in curve.y]
        if curve.kind == "theory":
            axis.plot(curve.x, y, linestyle=(0, (4, 2)), linewidth=0.9, **look)
        elif curve.kind == "line":
            axis.plot(curve.x, y, linewidth=0.9, **look)
        else:
            drawn = axis.errorbar(
                curve.x,
                y,
                yerr=style.error_bars(curve),
                marker=style.marker(curve),
                linestyle="none" if panel.categories else style.STROKES[curve.stroke % len(style.STROKES)],
                capsize=2,
                **look,
            )
            drawn.lines[0].set_gid(inline.POINTS.format(panel=number, curve=place))
    if panel.categories:
        axis.set_xticks(range(len(panel.categories)), panel.categories, rotation=60, ha="right")
        axis.set_xlim(-0.5, len(panel.categories) - 0.5)
    elif panel.x_range:
        axis.set_xlim(*panel.x_range)
    if panel.x_log:
        axis.set_xscale("log")
        if all(WRITTEN_OUT[0] <= x <= WRITTEN_OUT[1] for curve in panel.curves for x in curve.x):
            axis.xaxis.set_major_formatter("{x:g}")
        scales.thin_ticks(axis.xaxis)
    if panel.y_log and _any_positive(panel):
        axis.set_yscale("log")
    if panel.y_range:
        axis.set_ylim(*panel.y_range)
    elif not panel.y_log:
        axis.set_ylim(bottom=0.0)
    if axis.get_yscale() == "log":
        scales.thin_ticks(axis.yaxis)
    _say_if_empty(panel, axis)
    axis.set_title(panel.title, loc="left")
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(textwrap.fill(panel.y_label, scales.LABEL_WIDTH))


def _say_if_empty(panel: Panel, axis: Axes) -> None:
    if scales.is_empty(panel):
        axis.text(
            0.5, 0.5, style.NO_VALUES, transform=axis.transAxes, ha="center", va="center", color="#6b7280"
        )


def _panel_width(panel: Panel) -> float:
    return max(PANEL_WIDTH_INCHES, heat.inches(panel), scales.words_inches(panel))


def _legible(label: str) -> str:
    """Returns a label that a legend shows: matplotlib leaves out empty ones and those that begin with "_"."""
    return f" {label}" if not label or label.startswith("_") else label


def _draw_legend(canvas: Drawing, figure: Figure, axes: Iterable[Axes]) -> None:
    """Draws one legend for all panels, in the order of the curves; a label looks the same in each."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    from matplotlib.lines import Line2D

    labels = list(dict.fromkeys(_legible(curve.label) for panel in figure.panels for curve in panel.curves))
    if isinstance(figure.panels[0], Tornado):
        labels = list(handles)
    if len(labels) > 1:
        columns = min(len(labels), LEGEND_COLUMNS)
        keys = [handles[label] for label in labels]
        if len(labels) > MOST_LABELS:  # more would leave no room for the axes
            left = len(labels) - MOST_LABELS + 1
            keys, labels = keys[:-left], labels[:-left]
            keys.append(Line2D([], [], linestyle="none"))
            labels.append(f"and {left} more")
        canvas.legend(keys, labels, loc="outside lower center", ncols=columns)


def _any_positive(panel: Panel) -> bool:
    return any(y > 0.0 for curve in panel.curves for y in curve.y)
