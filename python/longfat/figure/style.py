"""How curves look: an algorithm or a queue has the same colour and marker in every figure.

A row of the registry may choose them: the first rows have Okabe and Ito's colours, which readers with any
colour vision tell apart. Other rows get a colour and a marker that follow from their names.
"""

from __future__ import annotations

import colorsys
import functools
import math
import zlib
from typing import Any

from longfat.figure.data import Curve, Figure
from longfat.scenario import registry

SPARE_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b7280")
VARIANT_COLOURS = {"adaptive-red": "#e69f00"}
"""Cases of a suite that are drawn like rows of their own."""
MARKERS = ("o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "d", "p", "h", "8", "H")
"""Markers of names without a row, such as a user's own algorithm, and of curves without a name."""
GROUP_COLOURS = {"reproduced": "#009e73", "partly": "#e69f00", "not reproduced": "#d55e00"}
"""Groups of bars that have a colour; the others are grey."""
OTHER_GROUP = "#6b7280"
REFERENCE_COLOUR = "#cc79a7"
SECOND_COLOUR = "#94a3b8"
"""A second flow of the same algorithm in a history: near enough to its partner to be read as a pair."""
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


@functools.cache
def _rows() -> dict[str, registry.Row]:
    """The rows by name; where an algorithm and a queue share a name, the algorithm's."""
    return {row["name"]: row for kind in ("queues", "algorithms") for row in registry.rows(kind)}


def name_colour(name: str) -> str:
    """The colour of an algorithm or a queue: its row's, or one that follows from the name."""
    row = _rows().get(name)
    chosen = row["colour"] if row else VARIANT_COLOURS.get(name)
    if chosen:
        return chosen
    number = zlib.crc32(name.encode())
    hue, shade = number % HUES, number // HUES % len(LIGHTNESSES)
    parts = colorsys.hls_to_rgb(hue / HUES, LIGHTNESSES[shade], SATURATION)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def name_marker(name: str) -> str:
    """Matplotlib's marker of an algorithm or a queue: its row's, or one that follows from the name."""
    row = _rows().get(name)
    return (row and row["marker"]) or MARKERS[zlib.crc32(name.encode()) % len(MARKERS)]


def colour(curve: Curve) -> str:
    """A curve's colour: its algorithm's, except for later flows of a history, to tell a pair apart."""
    if not curve.algorithm or (curve.kind == "line" and curve.stroke > 1):
        return SPARE_COLOURS[curve.stroke % len(SPARE_COLOURS)]
    if curve.kind == "line" and curve.stroke == 1:
        return SECOND_COLOUR
    return name_colour(curve.algorithm)


def stroke(number: int) -> Any:
    """The line style of a curve's stroke, as matplotlib names it."""
    return STROKES[number % len(STROKES)]


def marker(curve: Curve) -> str:
    """A curve's marker, as matplotlib names it."""
    return name_marker(curve.algorithm) if curve.algorithm else MARKERS[curve.stroke % len(MARKERS)]


def group_colour(group: str) -> str:
    """The colour of a group of bars."""
    return GROUP_COLOURS.get(group, OTHER_GROUP)


def error_bars(curve: Curve) -> list[float] | None:
    """Half the length of each error bar; None for a curve without any."""
    if curve.error is None or all(math.isnan(error) for error in curve.error):
        return None
    return [0.0 if math.isnan(error) else error for error in curve.error]


def is_history(figure: Figure) -> bool:
    """Whether a figure shows quantities over time rather than measured points."""
    kinds = {curve.kind for panel in figure.panels for curve in panel.curves}
    return "line" in kinds and "points" not in kinds
