"""Figures for papers: PDF, SVG and PNG through matplotlib, without a window system."""

from __future__ import annotations

import functools
import io
import logging
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.drafts import draft_of
from longfat.errors import InputError, LongfatError
from longfat.figure import heat, inline, radar, scales, style, tornado
from longfat.figure.data import FORMATS, Curve, Figure, Panel, Tornado, plain_name
from longfat.units import split
from longfat.words import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

WIDTH_INCHES = 7.0
"""The width of two columns in a paper."""
PANEL_WIDTH_INCHES = 1.75
"""Panels side by side get no narrower; the figure gets wider."""
PANEL_INCHES = 2.3
HISTORY_INCHES = 1.7
ASPECT, LEAST_INCHES, HIGHEST_INCHES = 0.686, 1.5, 3.0
"""Height of a panel over its width where the width is given, and the least and the greatest height."""
HEADROOM = 1.04
"""Where an axis from 0 on ends at least, times the greatest value."""
TITLE_INCHES = 0.3
FRAME_INCHES = 0.5
"""What a panel has above and below its axes."""
MOST_LABELS = 24
"""The most labels in a legend."""
LETTERS_PER_INCH = 16.0
"""Letters of a legend."""
WRITTEN_OUT = (0.1, 1000.0)
"""Values of a logarithmic axis in this range are written out, not as powers of ten."""
BAND = 0.2
"""Opacity of the band around a line."""
BESIDE, APART = 0.8, 0.12
"""Share of a category that its bars and boxes take, and between points that would hide each other."""
GREY = "#374151"
DPI, PAPER_DPI, NOTEBOOK_DPI = 150, 300, 100
WIDTHS = {"column": 3.5, "page": 7.16}
"""Inches of one column and of the whole page of an IEEE paper."""
LENGTHS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches of units; a point is TeX's."""
WIDEST_INCHES = (1.0, 40.0)

RC: Any = {
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e7eb",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.formatter.limits": (-3, 6),
    "axes.formatter.use_mathtext": True,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "longfat",
    "savefig.dpi": "figure",
    "figure.dpi": DPI,  # letters are a little wider at fewer dots, so labels could be cut off
}


def draw(figure: Figure, *, width_in: float | None = None, styles: Sequence[str] = ()) -> Drawing:
    """Draws a figure with matplotlib, without a window system; the caller saves it.

    Args:
        figure: what to draw.
        width_in: its width in inches; by default two columns of a paper, or more if the panels need more.
        styles: matplotlib style files, or names of its own styles; the last one counts.

    Raises:
        InputError: there is no such style, or a file holds none.
    """
    import matplotlib as mpl

    figure = _literal(figure)
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    settings = _settings(styles)
    own = {key for name in styles for key in _style(name)}
    with mpl.rc_context(settings):
        size = (
            settings["figure.figsize"] if "figure.figsize" in own else _size(figure, rows, columns, width_in)
        )
        canvas = shown_in_notebooks()(figsize=size, layout="constrained")
        kind: Any = {"projection": "polar"} if figure.panels[0].radar else {}
        axes = canvas.subplots(rows, columns, squeeze=False, subplot_kw=kind).ravel()
        colour = _cycle(figure, settings) if "axes.prop_cycle" in own else style.colour
        for number, (panel, axis) in enumerate(zip(figure.panels, axes, strict=False)):
            _draw_panel(panel, axis, number, colour, (size[0] / columns, size[1] / rows))
            axis.set_title(scales.wrapped(axis.get_title(loc="left"), size[0] / columns), loc="left")
            if scales.needs_no_labels(figure.panels, number, columns):
                axis.tick_params(labelleft=False)
        for axis in axes[len(figure.panels) :]:
            axis.set_axis_off()
        mirrored = f"{figure.mirrors}: " if figure.mirrors not in ("", figure.name) else ""
        title = f"{mirrored}{figure.title}"
        if title:
            canvas.suptitle(title, fontsize=9).set_gid(inline.TITLE)
        _draw_legend(canvas, figure, axes[: len(figure.panels)], size[0], "lower" if title else "upper")
        if any(panel.cells for panel in figure.panels):
            canvas.draw_without_rendering()  # the width of cells is unknown before
            heat.write_numbers(figure.panels, list(axes))
    return canvas


def inches(width: str, styles: Sequence[str] = ()) -> float:
    """Returns the inches of a width: "column", "page", or a length such as "8 cm"; a column's if it is "".

    Raises:
        InputError: this is no width, or a style sets one too.
    """
    if width and (own := [name for name in styles if "figure.figsize" in _style(name)]):
        raise InputError(f'width "{width}": style {own[0]} sets figure.figsize; accepted: one of them')
    if not width or width in WIDTHS:
        return WIDTHS[width or "column"]
    number, unit = split(width) or ("", "")
    low, high = WIDEST_INCHES
    if unit not in LENGTHS or not low <= (length := float(number) * LENGTHS[unit]) <= high:
        accepted = f'"column", "page", or a length of {low:g} to {high:g} in, as "8 cm", "90 mm" or "3.5 in"'
        raise InputError(f'width "{width}": {choice(width, [*WIDTHS], accepted, "width")}')
    return length


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

    texts = {key: literal(getattr(figure, key)) for key in ("title", "mirrors", "legend")}
    return replace(figure, panels=tuple(map(panel, figure.panels)), **texts)  # type: ignore[arg-type]


@functools.cache
def shown_in_notebooks() -> type[Drawing]:
    """A matplotlib figure that is a picture in a notebook, also without `%matplotlib inline`."""
    from matplotlib.figure import Figure as Base

    class Shown(Base):
        def _repr_png_(self) -> bytes:
            return picture(self, "png", NOTEBOOK_DPI)

        def __reduce__(self) -> Any:
            return object.__new__, (Base,), self.__getstate__()

    Shown.__name__ = Shown.__qualname__ = Base.__name__
    return Shown


def picture(canvas: Drawing, kind: str, dpi: float | None = None, styles: Sequence[str] = ()) -> bytes:
    """Returns a drawing as a file of a format; the same drawing always gives the same bytes."""
    import matplotlib as mpl

    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    settings = _settings(styles)
    chosen: Any = settings["savefig.dpi"]
    drawn = io.BytesIO()  # matplotlib's own writers raise twice where a disk is full
    with mpl.rc_context(settings):
        canvas.savefig(
            drawn, format=kind, dpi=(dpi or chosen) if chosen == "figure" else chosen, metadata=undated
        )
    return drawn.getvalue()


def save(figure: Figure, directory: Path | str, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Draws a figure and writes directory/NAME.FORMAT; the same figure always gives the same bytes."""
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
    canvas.draw_without_rendering()
    canvas.set_layout_engine("none")  # the layout is done: it takes longer than to write a format
    written = []
    for kind in formats:
        path = folder / f"{figure.name}.{kind}"
        try:
            write(path, picture(canvas, kind, DPI))
        except OSError as error:
            raise LongfatError(f"{path}: {error.strerror}") from None
        written.append(path)
    return written


def save_as(figure: Figure, file: Path, *, width_in: float | None = None, styles: Sequence[str] = ()) -> Path:
    """Draws a figure into a file whose ending is the format; arguments as those of `draw`.

    Raises:
        InputError: the format or a style is unknown, or the file cannot be written.
    """
    kind = file.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f'{file}: format "{kind}": {choice(kind, FORMATS, what="format")}')
    drawn = picture(draw(figure, width_in=width_in, styles=styles), kind, PAPER_DPI, styles)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, drawn)
    except OSError as error:
        raise InputError(f"{file}: {error.strerror}; accepted: a file that can be written") from None
    return file


def write(path: Path, data: bytes) -> None:
    """Writes a file, whole or not at all; replaces a link of that name. Raises OSError."""
    draft = draft_of(path)
    try:
        draft.unlink(missing_ok=True)
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def _settings(styles: Sequence[str]) -> Any:
    """What a figure is drawn with; the settings of the user's own matplotlib do not count."""
    import matplotlib as mpl

    defaults: Any = mpl.rcParamsDefault
    found: dict[str, Any] = {**defaults, **RC}
    found.pop("backend", None)
    for name in styles:
        found |= _style(name)
    return found


def _style(name: str) -> dict[str, Any]:
    """The settings of a style file, or of a style that matplotlib has."""
    import matplotlib as mpl
    from matplotlib import style as library

    found: Any = library.library.get(name)
    if found is not None:
        return dict(found)
    if not Path(name).is_file():
        near = choice(name, [*library.library], "a matplotlib style file, or the name of a style")
        raise InputError(f"style {name}: no such file or style; {near}")
    problems: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: problems.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("matplotlib")
    logger.addHandler(handler)
    earlier, logger.propagate = logger.propagate, False
    read: Any = {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read = mpl.rc_params_from_file(name, fail_on_error=True, use_default_template=False)
    except Exception as error:
        problems.insert(0, str(error))
    finally:
        logger.removeHandler(handler)
        logger.propagate = earlier
    if problems:
        problem = " ".join(problems[0].split()).rstrip(".")
        raise InputError(f"style {name}: {problem}; accepted: a matplotlib style file")
    return {key: read[key] for key in read if key != "backend"}


def _cycle(figure: Figure, settings: Any) -> Callable[[Curve], str]:
    """The colours that a style brings, in the order of the labels."""
    colours = settings["axes.prop_cycle"].by_key().get("color", list(style.SPARE_COLOURS))
    labels = list(dict.fromkeys(curve.label for panel in figure.panels for curve in panel.curves))
    return lambda curve: colours[labels.index(curve.label) % len(colours)]


def _size(figure: Figure, rows: int, columns: int, width_in: float | None) -> tuple[float, float]:
    """Width and height of a figure in inches."""
    first = figure.panels[0]
    if width_in is not None:
        height = min(max(ASPECT * width_in / columns, LEAST_INCHES if columns > 1 else 0.0), HIGHEST_INCHES)
        return width_in, rows * height + (TITLE_INCHES if figure.title else 0.0)
    if isinstance(first, Tornado):
        height = tornado.inches(first)
    elif first.sideways:
        height = tornado.FRAME_INCHES + tornado.BAR_INCHES * len(first.categories)
    else:
        height = radar.INCHES if first.radar else HISTORY_INCHES if style.is_history(figure) else PANEL_INCHES
    widest = max(
        max(PANEL_WIDTH_INCHES, heat.inches(panel), scales.words_inches(panel)) for panel in figure.panels
    )
    return max(WIDTH_INCHES, columns * widest if columns > 1 else 0.0), height * rows + 0.5


def _draw_panel(
    panel: Panel, axis: Axes, number: int, colour: Callable[[Curve], str], size: tuple[float, float]
) -> None:
    if panel.radar:
        radar.draw_panel(panel, axis)
        return
    if isinstance(panel, Tornado):
        tornado.draw_panel(panel, axis)
    elif panel.cells:
        heat.draw_panel(panel, axis)
        scales.name_categories(axis, panel.categories, size[0], 0.5)
    else:
        _draw_curves(panel, axis, number, colour)
        below, beside = panel.x_label, panel.y_label
        if panel.sideways:
            below, beside = beside, below
            scales.stack_categories(axis, panel.categories)
        else:
            _scale(panel, axis)
            if panel.categories:
                scales.name_categories(axis, panel.categories, size[0])
        axis.set_title(panel.title, loc="left")
        axis.set_xlabel(scales.wrapped(below, max(1.0, size[0] - FRAME_INCHES)))
        axis.set_ylabel(scales.wrapped(beside, max(1.0, size[1] - FRAME_INCHES)))
    if scales.is_empty(panel):
        centre: Any = {"transform": axis.transAxes, "ha": "center", "va": "center"}
        axis.text(0.5, 0.5, style.NO_VALUES, color="#6b7280", **centre)


def _draw_curves(panel: Panel, axis: Axes, number: int, colour: Callable[[Curve], str]) -> None:
    if panel.marked:
        axis.axvspan(
            *panel.marked, color=style.MARKED_COLOUR, alpha=style.MARKED_OPACITY, linewidth=0, zorder=0
        )
    met: dict[str, int] = {}
    for place, (curve, (shift, wide)) in enumerate(zip(panel.curves, _beside(panel), strict=True)):
        hue = colour(curve)
        again = met[hue] = met.get(hue, -1) + 1
        look: dict[str, Any] = {"color": hue, "label": _legible(curve.label)}
        x, y = np.array(curve.x, dtype=float) + shift, np.array(curve.y, dtype=float)
        if panel.y_log:
            y[~(y > 0.0)] = np.nan  # a logarithmic axis would draw a line down to a value of 0
        half, spread = style.error_bars(curve.error), style.error_bars(curve.x_error)
        if curve.kind in ("points", "cloud"):
            joined = curve.kind == "points" and not panel.categories
            look |= {
                "marker": style.marker(curve),
                "linestyle": style.stroke(curve.stroke) if joined else "none",
            }
            if panel.sideways:
                x, y, half, spread = y, x, spread, half
            size = 2 if curve.kind == "points" else 0
            drawn = axis.errorbar(x, y, yerr=half, xerr=spread, capsize=size, **look)
            drawn.lines[0].set_gid(inline.POINTS.format(panel=number, curve=place))
        elif curve.kind == "bars":
            axis.bar(x, y, 0.92 * wide, hatch="///" * again, edgecolor="white", linewidth=0, **look)
            if half is not None:
                axis.errorbar(x, y, yerr=half, fmt="none", ecolor=GREY, elinewidth=0.9, capsize=2)
        elif curve.kind == "boxes":
            _draw_boxes(curve, axis, x, 0.8 * wide, look)
        elif curve.kind == "theory":
            axis.plot(x, y, linestyle=(0, (4, 2)), linewidth=0.9, **look)
        else:
            stepped = curve.kind == "steps"
            stroke = style.stroke(curve.stroke if stepped else again)
            axis.plot(
                x, y, linestyle=stroke, linewidth=0.9, drawstyle="steps-post" if stepped else None, **look
            )
            if half is not None:
                least = 0.0 if not np.any(y < 0.0) else -np.inf  # no window or rate is below zero
                low, high = np.maximum(y - half, least), np.minimum(y + half, 1.0 if stepped else np.inf)
                axis.fill_between(
                    x, low, high, color=hue, alpha=BAND, linewidth=0, step="post" if stepped else None
                )
            for shade, band in enumerate(curve.bands):
                opacity = BAND * (1 + shade)
                axis.fill_between(
                    x, band.low, band.high, color=hue, alpha=opacity, linewidth=0, label=band.label
                )
    if any(curve.kind in ("bars", "boxes") for curve in panel.curves):
        axis.grid(visible=False, axis="x")


def _draw_boxes(curve: Curve, axis: Axes, x: Any, wide: float, look: dict[str, Any]) -> None:
    drawn = axis.boxplot(
        list(curve.samples),
        positions=x.tolist(),
        widths=wide,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": look["color"], "alpha": 0.75, "linewidth": 0.7},
        flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": look["color"]},
        medianprops={"color": GREY, "linewidth": 1.1},
        whiskerprops={"color": GREY, "linewidth": 0.7},
        capprops={"color": GREY, "linewidth": 0.7},
    )
    for box in drawn["boxes"][:1]:
        box.set_label(look["label"])


def _beside(panel: Panel) -> Iterator[tuple[float, float]]:
    """Where the bars, boxes or points of each curve stand beside a category, and the room that they have."""
    places = [x for curve in panel.curves for x in curve.x]
    count = len(panel.curves) if panel.categories and len(set(places)) < len(places) else 1
    wide = BESIDE / max(1, count)
    for number, curve in enumerate(panel.curves):
        step = wide if curve.kind in ("bars", "boxes") else min(APART, wide)
        yield (number - 0.5 * (count - 1)) * step if count > 1 else 0.0, wide


def _scale(panel: Panel, axis: Axes) -> None:
    """The ranges of the axes, and whether they are logarithmic; ticks are at round values."""
    known = [x for curve in panel.curves for x in curve.x if math.isfinite(x)]
    scales.round_ticks(axis.xaxis, whole=all(map(float.is_integer, map(float, known))))
    scales.round_ticks(axis.yaxis)
    if panel.x_range:
        axis.set_xlim(*panel.x_range)
    if panel.x_log:
        axis.set_xscale("log")
        if all(WRITTEN_OUT[0] <= x <= WRITTEN_OUT[1] for curve in panel.curves for x in curve.x):
            axis.xaxis.set_major_formatter("{x:g}")
        scales.thin_ticks(axis.xaxis)
    values = [y for curve in panel.curves for row in (curve.y, *curve.samples) for y in row]
    if panel.y_log and any(y > 0.0 for y in values):
        axis.set_yscale("log")
    if panel.y_range:
        axis.set_ylim(*panel.y_range)
    elif panel.from_zero and not panel.y_log and not any(y < 0.0 for y in values):
        greatest = max((y for y in values if math.isfinite(y)), default=0.0)
        axis.set_ylim(0.0, max(axis.get_ylim()[1], HEADROOM * greatest))
    if axis.get_yscale() == "log":
        scales.thin_ticks(axis.yaxis)


def _legible(label: str) -> str:
    """Returns a label that a legend shows: matplotlib leaves out empty ones and those that begin with "_"."""
    return f" {label}" if not label or label.startswith("_") else label


def _draw_legend(canvas: Drawing, figure: Figure, axes: Iterable[Axes], width_in: float, where: str) -> None:
    """Draws one legend for all panels, in the order of the curves; a label looks the same in each."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    from matplotlib.lines import Line2D

    curves = [curve for panel in figure.panels for curve in panel.curves]
    named = [name for curve in curves for name in (curve.label, *(band.label for band in curve.bands))]
    labels = list(dict.fromkeys(map(_legible, named)))
    if isinstance(figure.panels[0], Tornado):
        labels = list(handles)
    labels = [label for label in labels if label in handles]
    if len(labels) < (1 if where == "upper" else 2) or labels == [" "]:  # a title names a single curve
        return
    keys = [handles[label] for label in labels]
    if len(labels) > MOST_LABELS:  # more would leave no room for the axes
        left = len(labels) - MOST_LABELS + 1
        keys, labels = keys[:-left], labels[:-left]
        keys.append(Line2D([], [], linestyle="none"))
        labels.append(f"and {left} more")
    columns = max(1, min(len(labels), int(LETTERS_PER_INCH * width_in / (max(map(len, labels)) + 6))))
    side: Any = f"outside {where} center"
    canvas.legend(keys, labels, loc=side, ncols=columns, title=figure.legend or None)
