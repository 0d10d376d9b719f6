"""How curves look: an algorithm or a queue has the same colour and marker in every figure.

The first colours are Okabe and Ito's, which readers with any colour vision tell apart. What has no colour
here gets one that follows from its name alone, so that a new row of the registry needs no entry.
"""

from __future__ import annotations

import colorsys
import math
import zlib

from longfat.figure.data import Curve, Figure

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
"""Chosen by hand: Okabe and Ito's seven and a grey, then what is furthest from them."""
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
SECOND_COLOUR = "#94a3b8"
"""A second flow of the same algorithm in a history: near enough to its partner to be read as a pair."""
STROKES = (
    ("-", "solid"),
    ("--", "dash"),
    ("-.", "dashdot"),
    (":", "dot"),
    ((0, (5, 1)), "longdash"),
    ((0, (1, 1)), "longdashdot"),
)
"""Line styles by a curve's stroke: matplotlib's and plotly's."""
LIMIT_STROKE = SPARE_COLOURS.index("#6b7280")
"""The stroke of a bound that is drawn as theory."""
MARKED_COLOUR = "#94a3b8"
MARKED_OPACITY = 0.18
"""The shade behind the span that the tables are about; visible on light and on dark pages."""
NO_VALUES = "no values"
HUES = 48
SATURATION = 0.65
LIGHTNESSES = (0.32, 0.45, 0.58)
"""Colours that follow from names: so many hues, in so many shades."""


def name_colour(name: str) -> str:
    """The colour of an algorithm or a queue: chosen by hand, or from its name."""
    chosen = COLOURS.get(name) or QUEUE_COLOURS.get(name)
    if chosen is not None:
        return chosen
    number = zlib.crc32(name.encode())
    hue, shade = number % HUES, number // HUES % len(LIGHTNESSES)
    parts = colorsys.hls_to_rgb(hue / HUES, LIGHTNESSES[shade], SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def name_marker(name: str) -> str:
    """Matplotlib's marker of an algorithm or a queue: chosen by hand, or from its name."""
    shapes = tuple(MARKERS.values())
    return MARKERS.get(name) or shapes[zlib.crc32(name.encode()) % len(shapes)]


def colour(curve: Curve) -> str:
    """A curve's colour: its algorithm's, except for later flows of a history, to tell a pair apart."""
    if not curve.algorithm or (curve.kind == "line" and curve.stroke > 1):
        return SPARE_COLOURS[curve.stroke % len(SPARE_COLOURS)]
    if curve.kind == "line" and curve.stroke == 1:
        return SECOND_COLOUR
    return name_colour(curve.algorithm)


def marker(curve: Curve) -> str:
    """A curve's marker, as matplotlib names it."""
    return name_marker(curve.algorithm) if curve.algorithm else "o"


def error_bars(curve: Curve) -> list[float] | None:
    """Half the length of each error bar; None for a curve without any."""
    if curve.error is None or all(math.isnan(error) for error in curve.error):
        return None
    return [0.0 if math.isnan(error) else error for error in curve.error]


def is_history(figure: Figure) -> bool:
    """Whether a figure shows quantities over time rather than measured points."""
    kinds = {curve.kind for panel in figure.panels for curve in panel.curves}
    return "line" in kinds and "points" not in kinds
