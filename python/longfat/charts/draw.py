"""Draws charts with matplotlib, as wide as a column or a page of a paper."""

from __future__ import annotations

import io
import logging
import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from longfat.charts.groups import Axis, Chart, Group
from longfat.errors import InputError
from longfat.figure import scales, style
from longfat.figure.data import FORMATS
from longfat.figure.matplotlib import RC, literal, write
from longfat.words import choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

Width = Literal["column", "page"]
WIDTHS: tuple[Width, ...] = get_args(Width)
INCHES: dict[Width, tuple[float, float]] = {"column": (3.5, 2.4), "page": (7.16, 3.0)}
"""Width and height of a figure: one column and the whole page of an IEEE paper."""
DPI = 300
BAND = 0.2
"""Opacity of a confidence band."""
BARS = 0.8
"""Share of a category that its bars or boxes take."""
TILT_FROM = 34
"""Letters of all categories together that fit side by side along 3.5 inches."""
CELL_DIGITS = 3
DARK = 0.6
STROKES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
GREY = "#374151"


def save(chart: Chart, file: Path, width: Width = "column", styles: Sequence[str] = ()) -> Path:
    """Draws a chart into a file whose ending is the format; the same chart gives the same bytes.

    Raises:
        InputError: the format or a style is unknown, or the file cannot be written.
    """
    import matplotlib as mpl

    kind = file.suffix.removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f'{file}: format "{kind}": {choice(kind, FORMATS, what="format")}')
    undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
    settings: Any = _settings(styles)
    with mpl.rc_context(settings):
        drawing = draw(chart, width, styles)
        dpi = settings["savefig.dpi"]
        drawn = io.BytesIO()
        drawing.savefig(drawn, format=kind, dpi=DPI if dpi == "figure" else dpi, metadata=undated)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write(file, drawn.getvalue())
        except OSError as error:
            raise InputError(f"{file}: {error.strerror}; accepted: a file that can be written") from None
    return file


def draw(chart: Chart, width: Width = "column", styles: Sequence[str] = ()) -> Drawing:
    """Draws a chart as a matplotlib figure, without a window system.

    Args:
        chart: what to draw.
        width: "column" for one column of a page, "page" for all of it.
        styles: matplotlib style files, or names of its own styles; the last one counts.

    Raises:
        InputError: the width or a style is unknown.
    """
    import matplotlib as mpl

    from longfat.figure.matplotlib import shown_in_notebooks

    if width not in WIDTHS:
        raise InputError(f'width "{width}": {choice(width, WIDTHS)}')
    chart = _literal(chart)
    settings: Any = _settings(styles)
    with mpl.rc_context(settings):
        size = settings["figure.figsize"] if _sets(styles, "figure.figsize") else INCHES[width]
        canvas = shown_in_notebooks()(figsize=size, layout="constrained")
        axis = canvas.subplots()
        colours = _colours(chart, settings if _sets(styles, "axes.prop_cycle") else None)
        if chart.kind == "heat":
            _heat(chart, axis, canvas)
        else:
            _KINDS[chart.kind](chart, axis, colours)
            _finish(chart, axis, width)
            _legend(chart, canvas, axis, width)
    return canvas


def _literal(chart: Chart) -> Chart:
    """The same chart with texts that matplotlib shows as they are."""

    def axis(one: Axis) -> Axis:
        return replace(one, label=literal(one.label), categories=tuple(map(literal, one.categories)))

    return replace(
        chart,
        x=axis(chart.x),
        y=axis(chart.y),
        groups=tuple(replace(group, label=literal(group.label)) for group in chart.groups),
        by=literal(chart.by),
        levels=tuple(map(literal, chart.levels)),
    )


def _settings(styles: Sequence[str]) -> dict[str, Any]:
    import matplotlib as mpl

    defaults: Any = mpl.rcParamsDefault
    found: dict[str, Any] = {**defaults, **RC, "savefig.dpi": "figure"}
    found.pop("backend", None)
    for name in styles:
        found |= _style(name)
    return found


def _sets(styles: Sequence[str], key: str) -> bool:
    return any(key in _style(name) for name in styles)


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
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("matplotlib")
    logger.addHandler(handler)
    earlier, logger.propagate = logger.propagate, False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read: Any = mpl.rc_params_from_file(name, fail_on_error=True, use_default_template=False)
    except Exception as error:
        raise InputError(f"style {name}: {_line(str(error))}; accepted: a matplotlib style file") from None
    finally:
        logger.removeHandler(handler)
        logger.propagate = earlier
    if said:
        raise InputError(f"style {name}: {_line(said[0])}; accepted: a matplotlib style file")
    return {key: read[key] for key in read if key != "backend"}


def _line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _colours(chart: Chart, settings: dict[str, Any] | None) -> list[str]:
    """A colour for each group: an algorithm's own, unless a style brings colours."""
    if settings is not None:
        cycle = settings["axes.prop_cycle"].by_key().get("color", list(style.SPARE_COLOURS))
        return [cycle[number % len(cycle)] for number in range(len(chart.groups))]
    if chart.by.split(" ")[0] in ("algorithm", "queue"):
        own = [style.name_colour(group.name) for group in chart.groups]
        if len(set(own)) == len(own):
            return own
    return [style.SPARE_COLOURS[number % len(style.SPARE_COLOURS)] for number in range(len(chart.groups))]


def _look(chart: Chart, number: int, group: Group) -> tuple[str, Any]:
    """The marker and the stroke of a group."""
    if chart.by.split(" ")[0] in ("algorithm", "queue"):
        return style.name_marker(group.name), STROKES[number % len(STROKES)]
    return MARKERS[number % len(MARKERS)], STROKES[number % len(STROKES)]


def _lines(chart: Chart, axis: Axes, colours: Sequence[str]) -> None:
    for number, (group, colour) in enumerate(zip(chart.groups, colours, strict=True)):
        marker, stroke = _look(chart, number, group)
        apart = (number - 0.5 * (len(chart.groups) - 1)) * 0.12 if chart.x.categories else 0.0
        axis.errorbar(
            group.x + apart,
            group.y,
            yerr=_bars(group),
            marker=marker,
            linestyle="none" if chart.x.categories else stroke,
            capsize=2,
            color=colour,
            label=group.label,
        )


def _bar(chart: Chart, axis: Axes, colours: Sequence[str]) -> None:
    wide = BARS / len(chart.groups)
    for number, (group, colour) in enumerate(zip(chart.groups, colours, strict=True)):
        at = group.x + (number - 0.5 * (len(chart.groups) - 1)) * wide
        axis.bar(at, group.y, 0.92 * wide, color=colour, label=group.label)
        half = _bars(group)
        if half is not None:
            axis.errorbar(at, group.y, yerr=half, fmt="none", ecolor=GREY, elinewidth=0.9, capsize=2)
    axis.grid(visible=False, axis="x")


def _box(chart: Chart, axis: Axes, colours: Sequence[str]) -> None:
    wide = BARS / len(chart.groups)
    for number, (group, colour) in enumerate(zip(chart.groups, colours, strict=True)):
        at = group.x + (number - 0.5 * (len(chart.groups) - 1)) * wide
        drawn = axis.boxplot(
            list(group.values),
            positions=at.tolist(),
            widths=0.8 * wide,
            patch_artist=True,
            manage_ticks=False,
            flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": colour},
            medianprops={"color": GREY, "linewidth": 1.1},
        )
        for part in drawn["boxes"]:
            part.set(facecolor=colour, alpha=0.75, linewidth=0.7, label="")
        if drawn["boxes"]:
            drawn["boxes"][0].set_label(group.label)
        for part in (*drawn["whiskers"], *drawn["caps"]):
            part.set(color=GREY, linewidth=0.7)
    axis.grid(visible=False, axis="x")


def _curves(chart: Chart, axis: Axes, colours: Sequence[str]) -> None:
    stepped = chart.kind == "cdf"
    for number, (group, colour) in enumerate(zip(chart.groups, colours, strict=True)):
        _, stroke = _look(chart, number, group)
        drawing: dict[str, Any] = {"drawstyle": "steps-post"} if stepped else {}
        axis.plot(
            group.x, group.y, linestyle=stroke, linewidth=1.0, color=colour, label=group.label, **drawing
        )
        half = _bars(group)
        if half is not None:
            least = 0.0 if np.nanmin(group.y) >= 0.0 else -np.inf  # no window or rate is below zero
            low, high = np.clip(group.y - half, least, None), group.y + half
            if stepped:
                high = np.clip(high, 0.0, 1.0)
            axis.fill_between(
                group.x, low, high, color=colour, alpha=BAND, linewidth=0, step="post" if stepped else None
            )


_KINDS = {"lines": _lines, "bars": _bar, "box": _box, "cdf": _curves, "timeline": _curves}


def _heat(chart: Chart, axis: Axes, canvas: Drawing) -> None:
    known = [value for row in chart.cells for value in row if math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    shown = axis.pcolormesh(np.array(chart.cells), vmin=low, vmax=high, cmap="viridis")
    axis.set_xticks([place + 0.5 for place in range(len(chart.x.categories))], list(chart.x.categories))
    axis.set_yticks([place + 0.5 for place in range(len(chart.levels))], list(chart.levels))
    if sum(map(len, chart.x.categories)) > TILT_FROM:
        axis.tick_params(axis="x", labelrotation=45)
    axis.grid(visible=False)
    axis.set_xlabel(chart.x.label)
    axis.set_ylabel(chart.by)
    canvas.colorbar(shown, ax=axis, label=chart.y.label)
    if len(chart.cells) * len(chart.x.categories) > 100:
        return
    for up, row in enumerate(chart.cells):
        for across, value in enumerate(row):
            if math.isfinite(value):
                light = high > low and (value - low) / (high - low) > DARK
                text = f"{value:.{CELL_DIGITS}g}"
                place = (across + 0.5, up + 0.5)
                axis.text(
                    *place, text, ha="center", va="center", color="black" if light else "white", fontsize=6
                )


def _finish(chart: Chart, axis: Axes, width: Width) -> None:
    axis.set_xlabel(chart.x.label)
    axis.set_ylabel(chart.y.label)
    if chart.x.categories:
        letters = sum(len(text) + 2 for text in chart.x.categories)
        tilted = letters > TILT_FROM * INCHES[width][0] / INCHES["column"][0]
        axis.set_xticks(
            range(len(chart.x.categories)),
            list(chart.x.categories),
            rotation=30 if tilted else 0,
            ha="right" if tilted else "center",
            rotation_mode="anchor",
        )
        axis.set_xlim(-0.5, len(chart.x.categories) - 0.5)
    elif chart.x.log:
        axis.set_xscale("log")
        scales.thin_ticks(axis.xaxis)
    values = np.concatenate([group.y for group in chart.groups] or [np.zeros(1)])
    if chart.kind == "cdf":
        axis.set_ylim(0.0, 1.0)
    elif not np.any(values < 0.0):
        axis.set_ylim(bottom=0.0)
    if chart.kind == "timeline":
        axis.set_xlim(left=min((group.x[0] for group in chart.groups if group.x.size), default=0.0))


def _legend(chart: Chart, canvas: Drawing, axis: Axes, width: Width) -> None:
    """One line of names above the axes, or several where they need them."""
    if not any(group.label for group in chart.groups) or (
        len(chart.groups) == 1 and not chart.groups[0].label
    ):
        return
    handles, labels = axis.get_legend_handles_labels()
    letters = max(map(len, labels), default=0) + 6
    columns = max(1, min(len(labels), int(16 * INCHES[width][0] / letters)))
    title = chart.by if all(label.replace(".", "", 1).isdigit() for label in labels) else None
    canvas.legend(handles, labels, loc="outside upper center", ncols=columns, title=title, title_fontsize=7)


def _bars(group: Group) -> Any:
    return group.half if np.isfinite(group.half).any() else None
