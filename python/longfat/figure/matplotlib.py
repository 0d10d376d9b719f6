"""How figures look: for papers through matplotlib (PDF, SVG, PNG), for the interactive page through plotly.

Colours are Okabe and Ito's as far as they go, which readers with any colour vision tell apart; an algorithm
has the same colour and marker everywhere. Error bars are standard errors; broken thin lines are theory.
"""

from __future__ import annotations

import math
import textwrap
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.figure import heat, radar, scales
from longfat.figure.data import FORMATS, Curve, Figure, Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

COLOURS = {
    "sack": "#6b7280",
    "hstcp": "#0072b2",
    "stcp": "#d55e00",
    "bic": "#009e73",
    "fast": "#cc79a7",
    "htcp": "#e69f00",
    "cubic": "#56b4e9",
    "yeah": "#7c3aed",
    "ctcp": "#0f766e",
    "africa": "#92400e",
    "vegas": "#b4005a",
    "westwood": "#5f8f00",
    "westwood+": "#a3c644",
    "illinois": "#b22222",
    "ltcp": "#a08a00",
    "hstcp-lp": "#6f9bd1",
    "ptcp": "#f472b6",
    "newreno": "#9ca3af",
    "reno": "#4b5563",
    "tahoe": "#111827",
    "udt": "#2ca02c",
    "runat": "#bc6c25",
}
"""After Okabe and Ito's seven and a grey, what is furthest from them."""
OWN_COLOURS = ("#6d28d9", "#be185d", "#115e59", "#b45309", "#1d4ed8", "#4d7c0f", "#9f1239", "#155e75")
QUEUE_COLOURS = {
    "droptail": "#6b7280",
    "red": "#d55e00",
    "adaptive-red": "#e69f00",
    "choke": "#92400e",
    "blue": "#0072b2",
    "sred": "#cc79a7",
    "codel": "#009e73",
    "fq_codel": "#7c3aed",
    "pie": "#111827",
}
SPARE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280")
MARKERS = {
    "sack": "o",
    "hstcp": "s",
    "stcp": "^",
    "bic": "D",
    "fast": "v",
    "htcp": "P",
    "yeah": "*",
    "ctcp": "X",
    "africa": "<",
    "cubic": ">",
    "vegas": "d",
    "westwood": "p",
    "westwood+": "h",
    "illinois": "8",
    "ltcp": "H",
    "hstcp-lp": "1",
    "ptcp": "2",
    "newreno": "3",
    "reno": "4",
    "tahoe": "+",
    "udt": "x",
    "runat": "|",
}
PLOTLY_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "*": "star",
    "X": "x",
    "<": "triangle-left",
    ">": "triangle-right",
    "d": "diamond-tall",
    "p": "pentagon",
    "h": "hexagon",
    "8": "octagon",
    "H": "hexagon2",
    "1": "y-down-open",
    "2": "y-up-open",
    "3": "y-left-open",
    "4": "y-right-open",
    "+": "cross-thin-open",
    "x": "x-thin-open",
    "|": "line-ns-open",
}
SECOND_COLOUR = "#94a3b8"
"""Of a second flow of the same algorithm in a history: near enough to its partner to be read as a pair."""
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
PLOTLY_DASHES = ("solid", "dash", "dashdot", "dot", "longdash", "longdashdot")

History = tuple[Sequence[float], Sequence[float]]
"""Times in seconds and values."""
NEAR_LIMIT = 0.2
"""A queue's limit is drawn when the queue fills this share of it; else the queue itself could not be seen."""
LIMIT_STROKE = SPARE_COLOURS.index("#6b7280")

WIDTH_INCHES = 7.0
"""Two columns of a paper."""
PANEL_WIDTH_INCHES = 1.75
"""Panels side by side get no narrower; the figure gets wider."""
PANEL_INCHES = 2.3
HISTORY_INCHES = 1.7
MARKED_COLOUR = "#94a3b8"
MARKED_OPACITY = 0.18
"""Of the window that figures are of, behind a history; to be seen on a light and on a dark page."""
MOST_RATE_BINS = 200
"""Of a history of rates; fewer where they would be shorter than a round trip or a sample."""
LEGEND_COLUMNS = 5
PLAIN_TICKS = (0.1, 1000.0)
"""Values of a logarithmic axis that are written as they are, not as powers of ten."""
DPI = 150
NO_VALUES = "no values"
MOST_ON_PAGE = 3
"""Panels side by side that have room on any page; with more it scrolls, and buttons stand above titles."""
PAGE_PANEL_PIXELS = 200
TILTED_GAP = 0.27
"""Between rows of panels whose categories may be written at an angle."""

STYLE: Any = {
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
    """A figure in matplotlib, without a window system; the caller saves it."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Canvas

    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    width = max(WIDTH_INCHES, columns * max(map(_panel_width, figure.panels)) if columns > 1 else 0.0)
    round_ = figure.panels[0].radar
    height = radar.INCHES if round_ else HISTORY_INCHES if _is_history(figure) else PANEL_INCHES
    with mpl.rc_context(STYLE):
        canvas = Canvas(figsize=(width, height * rows + 0.5), layout="constrained")
        kind: Any = {"projection": "polar"} if round_ else {}
        axes = canvas.subplots(rows, columns, squeeze=False, subplot_kw=kind).ravel()
        for number, (panel, axis) in enumerate(zip(figure.panels, axes, strict=False)):
            _draw_panel(panel, axis)
            axis.set_title(scales.wrapped(axis.get_title(loc="left"), width / columns), loc="left")
            if scales.needs_no_labels(figure.panels, number, columns):
                axis.tick_params(labelleft=False)
        for axis in axes[len(figure.panels) :]:
            axis.set_axis_off()
        _draw_legend(canvas, figure, axes[: len(figure.panels)])
        mirrored = f"{figure.mirrors}: " if figure.mirrors not in ("", figure.name) else ""
        canvas.suptitle(f"{mirrored}{figure.title}", fontsize=9)
        if any(panel.cells for panel in figure.panels):
            canvas.draw_without_rendering()  # how wide cells are is not known before
            for panel, axis in zip(figure.panels, axes, strict=False):
                heat.write_numbers(panel, axis)
    return canvas


def save(figure: Figure, directory: Path | str, formats: Iterable[str] = FORMATS) -> list[Path]:
    """Draws a figure and writes it as directory/NAME.FORMAT; the same figure always gives the same bytes."""
    import matplotlib as mpl

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    canvas = draw(figure)
    written = []
    with mpl.rc_context(STYLE):
        for kind in formats:
            path = folder / f"{figure.name}.{kind}"
            undated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}.get(kind)
            canvas.savefig(path, format=kind, dpi=DPI, metadata=undated)
            written.append(path)
    return written


def least_pixels(figure: Figure) -> int:
    """How wide a figure is at least on a page; 0 where any width will do."""
    columns = min(figure.columns, len(figure.panels))
    return PAGE_PANEL_PIXELS * columns if columns > MOST_ON_PAGE else 0


def plotly_figure(figure: Figure) -> dict[str, Any]:
    """A figure as plotly's data and layout; the page's script draws it and adds the page's colours."""
    if figure.panels[0].radar:
        return radar.plotly_figure(figure.panels[0], colour)
    columns = min(figure.columns, len(figure.panels))
    rows = math.ceil(len(figure.panels) / columns)
    traces: list[dict[str, Any]] = []
    panel_height = 230 if _is_history(figure) else 330
    layout: dict[str, Any] = {
        "height": panel_height * rows + 90,
        "margin": {"l": 64, "r": 16, "t": 30 if columns <= MOST_ON_PAGE else 48, "b": 48},
        "grid": {
            "rows": rows,
            "columns": columns,
            "pattern": "independent",
            "xgap": 0.14,
            "ygap": TILTED_GAP if figure.panels[0].cells else min(0.32, 0.75 * 90 / panel_height),
        },
        "legend": {"orientation": "h", "x": 0.0, "y": 0.0, "yref": "container", "yanchor": "bottom"},
        "annotations": [],
        "shapes": [],
        "hovermode": "closest",
    }
    shown: set[str] = set()
    for number, panel in enumerate(figure.panels, start=1):
        suffix = "" if number == 1 else str(number)
        layout[f"xaxis{suffix}"] = scales.plotly_axis(
            panel.x_label, panel.x_log, panel.x_range, (x for curve in panel.curves for x in curve.x)
        )
        if panel.categories and not panel.cells:
            layout[f"xaxis{suffix}"] |= {
                "tickvals": list(range(len(panel.categories))),
                "ticktext": list(panel.categories),
                "range": [-0.5, len(panel.categories) - 0.5],
            }
        layout[f"yaxis{suffix}"] = scales.plotly_axis(
            panel.y_label,
            panel.y_log,
            None if panel.cells else panel.y_range,
            (y for curve in panel.curves for y in curve.y),
        )
        if scales.needs_no_labels(figure.panels, number - 1, columns):
            layout[f"yaxis{suffix}"]["showticklabels"] = False
        if panel.marked:
            layout["shapes"].append(
                {
                    "type": "rect",
                    "layer": "below",
                    "xref": f"x{suffix}",
                    "yref": f"y{suffix} domain",
                    "x0": panel.marked[0],
                    "x1": panel.marked[1],
                    "y0": 0,
                    "y1": 1,
                    "fillcolor": MARKED_COLOUR,
                    "opacity": MARKED_OPACITY,
                    "line": {"width": 0},
                }
            )
        domain = {"xref": f"x{suffix} domain", "yref": f"y{suffix} domain", "showarrow": False}
        layout["annotations"].append(
            {
                **domain,
                "text": scales.wrapped_on_page(panel.title, columns),
                "x": 0.0,
                "y": 1.0,
                "xanchor": "left",
                "yanchor": "bottom",
                "align": "left",
                "font": {"size": 12},
            }
        )
        if scales.is_empty(panel):
            layout["annotations"].append({**domain, "text": NO_VALUES, "x": 0.5, "y": 0.5})
        if panel.cells:
            layout[f"xaxis{suffix}"] |= heat.plotly_axis(panel.categories)
            layout[f"yaxis{suffix}"] |= heat.plotly_axis(panel.levels)
            traces.append(heat.plotly_trace(panel) | {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"})
        for curve in panel.curves:
            trace = _plotly_trace(curve, panel)
            trace |= {
                "xaxis": f"x{suffix}",
                "yaxis": f"y{suffix}",
                "legendgroup": curve.label,
                "showlegend": curve.label not in shown,
            }
            shown.add(curve.label)
            traces.append(trace)
    return {"data": traces, "layout": layout}


def plot_cwnd(result: Any, *, names: Sequence[str] | None = None) -> Drawing:
    """Draws cwnd over time of a Result's flows (all, or those named), as a matplotlib figure."""
    known = {flow["name"]: flow for flow in result.summary["flows"]}
    flows = list(known.values()) if names is None else [known[name] for name in names]
    series = {flow["name"]: result.flow(flow["name"]) for flow in flows}
    histories = {
        name: (columns["time_s"].tolist(), columns["cwnd"].tolist()) for name, columns in series.items()
    }
    summary = result.summary
    return draw(
        cwnd_figure(flows, histories, summary["duration_s"], _title(result), window_s=summary["window_s"])
    )


def cwnd_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    title: str = "Congestion window",
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's flows with their histories of cwnd; a flow is drawn from its start on.

    Args:
        flows: of a summary.
        histories: of cwnd, segments, by the flows' names.
        span_s: length of the run.
        title: of the figure.
        window_s: what a summary's figures are restricted to; marked unless it is the whole run.
    """
    panel = _flows_panel("cwnd, segments", flows, histories, span_s, window_s)
    return Figure("cwnd", "cwnd", title, _marking(panel), (panel,), columns=1)


def rate_figure(
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's flows with their throughput: means over bins of their counters' gain.

    Args:
        flows: of a summary.
        histories: of the bytes of IP that have reached the receivers, by the flows' names.
        span_s: length of the run.
        window_s: as of `cwnd_figure`.
    """
    known = list(flows)
    times = next(iter(histories.values()), ((), ()))[0]
    period_s = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    least_s = max([period_s, *(flow["rtt_s"] for flow in known if flow.get("rtt_s"))])
    bin_s = _round_bin(span_s, least_s)
    rates = {name: _binned(history, bin_s) for name, history in histories.items()}
    panel = _flows_panel("throughput, Mbit/s", known, rates, span_s, window_s)
    caption = f"Of IP that reached the receivers; means over {bin_s:g} s. {_marking(panel)}".strip()
    return Figure("throughput", "throughput", "Throughput", caption, (panel,), columns=1)


def _round_bin(span_s: float, least_s: float) -> float:
    """A round width that gives a run up to `MOST_RATE_BINS`, none of them shorter than `least_s`."""
    wanted = max(span_s / MOST_RATE_BINS, least_s)
    power = 10.0 ** math.floor(math.log10(wanted)) if wanted > 0.0 else 1.0
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= wanted * (1.0 - 1e-9))


def _binned(history: History, bin_s: float) -> History:
    """The rate in Mbit/s of a counter of bytes, in the middle of each whole bin."""
    import numpy as np

    time, counted = (np.asarray(column, dtype=np.float64) for column in history)
    if time.size < 2:
        return (), ()
    edges = bin_s * np.arange(math.floor(time[0] / bin_s), math.floor(time[-1] / bin_s + 1e-6) + 1)
    rates = np.diff(np.interp(edges, time, counted)) * 8e-6 / bin_s
    return (0.5 * (edges[:-1] + edges[1:])).tolist(), rates.tolist()


def _flows_panel(
    label: str,
    flows: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    window_s: Sequence[float] | None,
) -> Panel:
    curves = []
    met: dict[str, int] = {}
    for flow in flows:
        name, algorithm, start_s = flow["name"], flow["algorithm"], flow.get("start_s") or 0.0
        met[algorithm] = met.get(algorithm, -1) + 1
        time, values = histories[name]
        if all(map(math.isnan, values)):
            continue  # a source without a window
        begun = tuple(y if x >= start_s else math.nan for x, y in zip(time, values, strict=True))
        curves.append(
            Curve(f"{name} ({algorithm})", tuple(time), begun, None, algorithm, "line", met[algorithm])
        )
    marked = _marked(span_s, window_s)
    return Panel("", "time, s", label, tuple(curves), x_range=(0.0, span_s), marked=marked)


def _marked(span_s: float, window_s: Sequence[float] | None) -> tuple[float, float] | None:
    """The window of the figures, unless it is the whole run."""
    if window_s is None or (window_s[0] <= 0.0 and window_s[1] >= span_s):
        return None
    return window_s[0], window_s[1]


def _marking(panel: Panel) -> str:
    """What a caption says of the mark."""
    return (
        f"Shaded: what the tables are of, {panel.marked[0]:g} s to {panel.marked[1]:g} s."
        if panel.marked
        else ""
    )


def queue_figure(
    links: Iterable[Mapping[str, Any]],
    histories: Mapping[str, History],
    span_s: float,
    *,
    window_s: Sequence[float] | None = None,
) -> Figure:
    """The figure of a summary's links with their histories of the queue, and its limit where that is near.

    Args:
        links: of a summary.
        histories: of the queue, packets, by the links' names.
        span_s: length of the run.
        window_s: as of `cwnd_figure`.
    """
    panels = []
    marked = _marked(span_s, window_s)
    for position, link in enumerate(links):
        time, queue = histories[link["name"]]
        curves = [Curve(link["name"], tuple(time), tuple(queue), None, None, "line", position)]
        limit = link.get("queue_limit_packets")
        title = link["name"] if limit is None else f"{link['name']}, room for {limit:,.0f} packets"
        if limit is not None and max(queue, default=0.0) >= NEAR_LIMIT * limit:
            curves.append(Curve("limit", (0.0, span_s), (limit, limit), None, None, "theory", LIMIT_STROKE))
        # an empty queue needs no fine scale
        y_range = None if max(queue, default=0.0) > 0.0 else (0.0, 1.0)
        panel = Panel(title, "time, s", "packets", tuple(curves), x_range=(0.0, span_s), y_range=y_range)
        panels.append(replace(panel, marked=marked))
    caption = _marking(panels[0]) if panels else ""
    return Figure("queue", "queue", "Queues", caption, tuple(panels), columns=1)


def colour(curve: Curve) -> str:
    """A curve's colour: its algorithm's; later flows of a history differ, so that a pair can be told."""
    name = curve.algorithm or ""
    own = COLOURS.get(name) or QUEUE_COLOURS.get(name)
    if own is None and curve.algorithm and curve.kind == "points":
        # a user's own: the same in every panel, whatever its line style stands for
        return OWN_COLOURS[zlib.crc32(curve.algorithm.encode()) % len(OWN_COLOURS)]
    if own is None:
        return SPARE_COLOURS[curve.stroke % len(SPARE_COLOURS)]
    if curve.kind == "line" and curve.stroke:
        return SECOND_COLOUR if curve.stroke == 1 else SPARE_COLOURS[curve.stroke % len(SPARE_COLOURS)]
    return own


def _title(result: Any) -> str:
    return str(result.scenario.title) or "Congestion window"


def _is_history(figure: Figure) -> bool:
    kinds = {curve.kind for panel in figure.panels for curve in panel.curves}
    return "line" in kinds and "points" not in kinds


def _draw_panel(panel: Panel, axis: Axes) -> None:
    if panel.radar:
        radar.draw_panel(panel, axis, colour)
        return
    if panel.cells:
        heat.draw_panel(panel, axis)
        _say_if_empty(panel, axis)
        return
    if panel.marked:
        axis.axvspan(*panel.marked, color=MARKED_COLOUR, alpha=MARKED_OPACITY, linewidth=0, zorder=0)
    for curve in panel.curves:
        style: dict[str, Any] = {"color": colour(curve), "label": curve.label}
        if curve.kind == "theory":
            axis.plot(curve.x, curve.y, linestyle=(0, (4, 2)), linewidth=0.9, **style)
        elif curve.kind == "line":
            axis.plot(curve.x, curve.y, linewidth=0.9, **style)
        else:
            axis.errorbar(
                curve.x,
                curve.y,
                yerr=_bars(curve),
                marker=MARKERS.get(curve.algorithm or "", "o"),
                linestyle="none" if panel.categories else DASHES[curve.stroke % len(DASHES)],
                capsize=2,
                **style,
            )
    if panel.categories:
        axis.set_xticks(range(len(panel.categories)), panel.categories, rotation=60, ha="right")
        axis.set_xlim(-0.5, len(panel.categories) - 0.5)
    elif panel.x_range:
        axis.set_xlim(*panel.x_range)
    if panel.x_log:
        axis.set_xscale("log")
        if all(PLAIN_TICKS[0] <= x <= PLAIN_TICKS[1] for curve in panel.curves for x in curve.x):
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
        axis.text(0.5, 0.5, NO_VALUES, transform=axis.transAxes, ha="center", va="center", color="#6b7280")


def _panel_width(panel: Panel) -> float:
    return max(PANEL_WIDTH_INCHES, heat.inches(panel), scales.words_inches(panel))


def _draw_legend(canvas: Drawing, figure: Figure, axes: Iterable[Axes]) -> None:
    """One legend for all panels, in the order of the curves: what has one label looks the same in each."""
    handles: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    labels = list(dict.fromkeys(curve.label for panel in figure.panels for curve in panel.curves))
    if len(labels) > 1:
        columns = min(len(labels), LEGEND_COLUMNS)
        canvas.legend([handles[label] for label in labels], labels, loc="outside lower center", ncols=columns)


def _bars(curve: Curve) -> list[float] | None:
    if curve.error is None or all(math.isnan(error) for error in curve.error):
        return None
    return [0.0 if math.isnan(error) else error for error in curve.error]


def _any_positive(panel: Panel) -> bool:
    return any(y > 0.0 for curve in panel.curves for y in curve.y)


def _plotly_trace(curve: Curve, panel: Panel) -> dict[str, Any]:
    hue = colour(curve)
    trace: dict[str, Any] = {
        "type": "scattergl" if len(curve.x) > 3000 else "scatter",
        "name": curve.label,
        "x": _numbers(curve.x),
        "y": [y if y is not None and (y > 0.0 or not panel.y_log) else None for y in _numbers(curve.y)],
        "line": {"color": hue, "width": 1.6},
        "hovertemplate": f"{curve.label}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    }
    if curve.kind == "theory":
        return trace | {"mode": "lines", "line": {"color": hue, "width": 1.2, "dash": "dash"}}
    if curve.kind == "line":
        return trace | {"mode": "lines", "line": {"color": hue, "width": 1.2}}
    trace["mode"] = "markers" if panel.categories else "lines+markers"
    trace["line"]["dash"] = PLOTLY_DASHES[curve.stroke % len(PLOTLY_DASHES)]
    trace["marker"] = {
        "color": hue,
        "symbol": PLOTLY_MARKERS[MARKERS.get(curve.algorithm or "", "o")],
        "size": 7,
    }
    bars = _bars(curve)
    if bars:
        trace["error_y"] = {"type": "data", "array": bars, "color": hue, "thickness": 1.2, "width": 3}
    return trace


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers that JSON can say, to as many digits as a screen can show."""
    return [None if not math.isfinite(value) else float(f"{value:.6g}") for value in values]
