"""How curves look: an algorithm or a queue has the same colour and marker in every figure.

A row of the registry may choose them: the first rows have Okabe and Ito's colours, which readers with any
colour vision tell apart. Other rows get a colour and a marker that follow from their names.
"""

from __future__ import annotations

import colorsys
import functools
import math
import zlib
from collections.abc import Sequence
from typing import Any

from longfat.figure.data import Curve, Figure
from longfat.scenario import registry

SPARE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280")
CHOSEN_COLOURS = {"adaptive-red": "#e69f00", "bbr": "#d55e00", "bbr3": "#332288"}
"""Colours in place of the registry's, whose blues of BBR are near that of CUBIC, and of a case of a suite."""
MARKERS = ("o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "d", "p", "h", "8", "H")
"""Markers of names without a row, such as a user's own algorithm, and of curves without a name."""
GROUP_COLOURS = {"reproduced": "#009e73", "partly": "#e69f00", "not reproduced": "#d55e00"}
"""Groups of bars that have a colour; the others are grey."""
OTHER_GROUP = "#6b7280"
REFERENCE_COLOUR = "#cc79a7"
SHADES = 3
"""Flows of one algorithm in a history that have shades of its colour."""
SHADED = ("line", "bars", "boxes")
"""Curves of one algorithm that differ in shade; others differ in dash."""
STROKES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))
LIMIT_STROKE = SPARE_COLOURS.index("#6b7280")
"""The stroke of a bound that is drawn as theory."""
MARKED_COLOUR = "#94a3b8"
MARKED_OPACITY = 0.18
"""The shade behind the span that the tables are about; visible on light and on dark pages."""
NO_VALUES = "no values"
HUES = 48
SATURATION = 0.65
LIGHTNESSES = (0.32, 0.45, 0.58)
"""Colours that follow from names: a number of hues, each in a number of shades."""
DARK, LEAST_ON_DARK = 0.4, 0.7
"""Below the one, a colour has lighter shades; on a dark page, none is below the other."""


@functools.cache
def _rows() -> dict[str, registry.Row]:
    """The rows by name; where an algorithm and a queue share a name, the algorithm's."""
    return {row["name"]: row for kind in ("queues", "algorithms") for row in registry.rows(kind)}


def name_colour(name: str) -> str:
    """The colour of an algorithm or a queue: its row's, or one that follows from the name."""
    row = _rows().get(name)
    chosen = CHOSEN_COLOURS.get(name) or (row and row["colour"])
    if chosen:
        return chosen
    number = zlib.crc32(name.encode())
    hue, shade = number % HUES, number // HUES % len(LIGHTNESSES)
    return _hex(hue / HUES, LIGHTNESSES[shade], SATURATION)


def name_marker(name: str) -> str:
    """Matplotlib's marker of an algorithm or a queue: its row's, or one that follows from the name."""
    row = _rows().get(name)
    return (row and row["marker"]) or MARKERS[zlib.crc32(name.encode()) % len(MARKERS)]


def colour(curve: Curve) -> str:
    """A curve's colour: its algorithm's, or one by its stroke; in a history the flow's."""
    if not curve.algorithm:
        return SPARE_COLOURS[curve.stroke % len(SPARE_COLOURS)]
    return flow_colour(curve.algorithm, curve.stroke if curve.kind in SHADED else 0)


def flow_colour(algorithm: str, number: int) -> str:
    """The colour of a flow: its algorithm's, then two shades of it, and others for still more flows."""
    if number >= SHADES:
        return SPARE_COLOURS[number % len(SPARE_COLOURS)]
    hue, lightness, saturation = _hls(name_colour(algorithm))
    room = 1.0 - lightness
    lighter = (lightness + 0.35 * room, lightness + 0.65 * room)
    shades = (lightness, *(lighter if lightness < DARK else (0.5 * lightness, lightness + 0.5 * room)))
    return _hex(hue, shades[number], saturation)


def on_dark(colour: str) -> str:
    """A colour light enough for a dark page."""
    hue, lightness, saturation = _hls(colour)
    return _hex(hue, max(lightness, LEAST_ON_DARK), saturation)


def _hls(colour: str) -> tuple[float, float, float]:
    return colorsys.rgb_to_hls(*(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)))


def _hex(hue: float, lightness: float, saturation: float) -> str:
    parts = colorsys.hls_to_rgb(hue, lightness, saturation)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def stroke(number: int) -> Any:
    """The line style of a curve's stroke, as matplotlib names it."""
    return STROKES[number % len(STROKES)]


def marker(curve: Curve) -> str:
    """A curve's marker, as matplotlib names it."""
    return name_marker(curve.algorithm) if curve.algorithm else MARKERS[curve.stroke % len(MARKERS)]


def group_colour(group: str) -> str:
    """The colour of a group of bars."""
    return GROUP_COLOURS.get(group, OTHER_GROUP)


def error_bars(halves: Sequence[float] | None) -> list[float] | None:
    """Half the length of each error bar; None for a curve without any."""
    if halves is None or all(map(math.isnan, halves)):
        return None
    return [0.0 if math.isnan(half) else half for half in halves]


def is_history(figure: Figure) -> bool:
    """Whether a figure shows quantities over time rather than measured points."""
    kinds = {curve.kind for panel in figure.panels for curve in panel.curves}
    return "line" in kinds and "points" not in kinds
