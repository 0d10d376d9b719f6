"""Figures within a page: matplotlib's SVG, which follows the page's colours and shows values at the pointer.

The text of the picture is text, in the page's font. Nothing is fetched and nothing runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.style import error_bars

POINTS = "points-{panel}-{curve}"
"""The id of the group that holds the markers of a measured curve; `matplotlib.draw` sets it."""
DECIMALS = 1
"""Of a coordinate, in points of 1/72 inch: half of a tenth is less than a screen can show."""
SCALE = 1.5
"""Pixels of a point: the letters of a figure are as large as those of a page's small print."""
GRID = "#e5e7eb"
INK = "#000000"
MOST_NAMED = 3000
"""Points of a figure that say their values; more would make the page large."""

_NUMBER = re.compile(rf"-?\d+\.\d{{{DECIMALS + 1},}}")
_USE = re.compile(r"<use [^>]*?/>")


def svg(text: str, figure: Figure) -> str:
    """Returns the file of a figure, as `matplotlib.save` writes it, as a part of a page."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL)
    width, box = _size(body)
    body = _named(body, figure)
    body = body[body.index(">") + 1 :]
    body = _themed(_rounded(body))
    body = re.sub(r'\b(id=")', rf"\1{figure.name}-", body)
    body = re.sub(r'(xlink:href="#|href="#|url\(#)', rf"\1{figure.name}-", body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    title = escape(figure.title)
    return (
        f'<svg class="figure" role="img" aria-label="{title}" viewBox="{box}" '
        f'style="width: {SCALE * width:.0f}px" xmlns:xlink="http://www.w3.org/1999/xlink">{body}'
    )


def pixels(text: str) -> int:
    """Returns the width of a figure's file on a page where it has as much room as it wants."""
    return round(SCALE * _size(text)[0])


def _size(text: str) -> tuple[float, str]:
    box = re.search(r'viewBox="([^"]*)"', text)
    assert box is not None
    return float(box[1].split()[2]), box[1]


def _rounded(text: str) -> str:
    def short(found: re.Match[str]) -> str:
        return f"{float(found[0]):.{DECIMALS}f}".removesuffix(".0")

    return re.sub(
        r'(?<= d=")[^"]*|(?<= (?:x|y)=")[^"]*|(?<=transform=")[^"]*|(?<=points=")[^"]*',
        lambda part: _NUMBER.sub(short, part[0]) if "scale" not in part[0] else part[0],
        text,
    )


def _themed(text: str) -> str:
    """Lets what is black or light grey on paper follow the page's colours."""
    text = re.sub(r'(<g id="patch_\d+">\s*<path [^>]*?style=")fill: #ffffff', r"\1fill: none", text)
    text = text.replace(f"stroke: {GRID}", "stroke: var(--line)")
    return text.replace(f"stroke: {INK}", "stroke: currentColor").replace(
        f"fill: {INK}", "fill: currentColor"
    )


def _named(text: str, figure: Figure) -> str:
    """Gives each marker of a measured curve its values, which a browser shows at the pointer."""
    total = sum(len(curve.x) for panel in figure.panels for curve in panel.curves)
    if total > MOST_NAMED:
        return text
    for i, panel in enumerate(figure.panels):
        for k, curve in enumerate(panel.curves):
            begin = text.find(f'<g id="{POINTS.format(panel=i, curve=k)}">')
            if begin < 0:
                continue
            end = _group_end(text, begin)
            part, told = text[begin:end], list(_told(panel, curve))
            if len(_USE.findall(part)) == len(told):
                text = text[:begin] + _titled(part, told) + text[end:]
    return text


def _titled(part: str, told: Sequence[str]) -> str:
    """Gives each marker in turn a title."""
    titles = iter(told)
    return _USE.sub(lambda use: f"{use[0][:-2]}><title>{escape(next(titles))}</title></use>", part)


def _group_end(text: str, begin: int) -> int:
    """The end of the group that begins at a position."""
    depth = 0
    for tag in re.finditer(r"<(/?)g\b", text[begin:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            return begin + tag.end() + 1
    return len(text)


def _told(panel: Panel, curve: Curve) -> Iterator[str]:
    """What the markers of a curve say, in their order; a point without a value has none."""
    bars: Sequence[float] = error_bars(curve) or ()
    for number, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        if x != x or y != y:
            continue
        at = panel.categories[int(x)] if panel.categories else f"{x:.4g}"
        spread = f" ± {bars[number]:.2g}" if bars and bars[number] > 0.0 else ""
        yield f"{curve.label}\n{at}: {y:.4g}{spread}"
