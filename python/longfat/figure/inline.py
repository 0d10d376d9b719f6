"""Figures within a page: matplotlib's SVG, which follows the page's colours and shows values at the pointer.

The text of the picture is text, in the page's font. Nothing is fetched and nothing runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from longfat.figure.data import Curve, Figure, Panel
from longfat.figure.style import colour, error_bars, on_dark

POINTS = "points-{panel}-{curve}"
"""The id of the group that holds the markers of a measured curve; `matplotlib.draw` sets it."""
TITLE = "title"
"""The id of the figure's title."""
DECIMALS = 1
"""Decimals of a coordinate, in points of 1/72 inch: less than a tenth is less than a screen can show."""
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
    body, above = _untitled(body)
    width, box = _size(body, above)
    body = _named(body, figure)
    body = body[body.index(">") + 1 :]
    body = _themed(_rounded(body))
    body = _styled(_identified(body, escape(figure.name)))
    body = _plain(body)
    body = _lit(body, figure)
    title = escape(figure.title)
    return (
        f'<svg class="figure" role="img" aria-label="{title}" viewBox="{box}" '
        f'style="width: {SCALE * width:.0f}px">{body}'
    )


def _untitled(text: str) -> tuple[str, float]:
    """The picture without its title, which the page has above it, and the height that is free then."""
    found = re.search(rf'<g id="{TITLE}">.*? y="([^"]*)".*?</g>', text, flags=re.DOTALL)
    return (text.replace(found[0], ""), float(found[1])) if found else (text, 0.0)


def _size(text: str, above: float) -> tuple[float, str]:
    """The width of the picture, and the box of it below a height."""
    box = re.search(r'viewBox="([^"]*)"', text)
    assert box is not None
    left, top, width, height = map(float, box[1].split())
    return width, f"{left:g} {top + above:g} {width:g} {height - above:g}"


def _rounded(text: str) -> str:
    def short(found: re.Match[str]) -> str:
        return f"{float(found[0]):.{DECIMALS}f}".removesuffix(".0")

    return re.sub(
        r'(?<= d=")[^"]*|(?<= (?:x|y)=")[^"]*|(?<=transform=")[^"]*|(?<=points=")[^"]*',
        lambda part: _NUMBER.sub(short, part[0]) if "scale" not in part[0] else part[0],
        text,
    )


def _identified(text: str, prefix: str) -> str:
    """Drops the ids that nothing refers to, and makes the others short and unlike those of other figures."""
    wanted = dict.fromkeys(re.findall(r'(?:href="#|url\(#)([^")]+)', text))
    short = {name: f"{prefix}-{number}" for number, name in enumerate(wanted)}

    def kept(found: re.Match[str]) -> str:
        return f' id="{short[found[1]]}"' if found[1] in short else ""

    text = re.sub(r' id="([^"]*)"', kept, text)
    return re.sub(r'(href="#|url\(#)([^")]+)', lambda found: found[1] + short[found[2]], text)


def _plain(text: str) -> str:
    """Leaves out what the page's style says for all figures, and what says nothing."""
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r" font-family: [^;\"]*;", "", text)
    text = text.replace(' transform="rotate(-0 ', ' data-turn="').replace("xlink:href", "href")
    text = re.sub(r' data-turn="[^"]*"', "", text)
    return re.sub(r"\s*\n\s*", "\n", text)


def _styled(text: str) -> str:
    """Writes a style that all markers of a group have once, at the group."""

    def once(found: re.Match[str]) -> str:
        styles = set(re.findall(r'style="([^"]*)"', found[2]))
        if len(styles) != 1:
            return found[0]
        bare = re.sub(r' style="[^"]*"', "", found[2])
        return f'{found[1]} style="{styles.pop()}">{bare}'

    return re.sub(
        r'(<g clip-path="[^"]*")>((?:\s*<use [^>]*?(?:/>|><title>[^<]*</title></use>))+)', once, text
    )


def _themed(text: str) -> str:
    """Lets what is black or light grey on paper follow the page's colours."""
    text = re.sub(r'(<g id="patch_\d+">\s*<path [^>]*?style=")fill: #ffffff', r"\1fill: none", text)
    text = text.replace(f"stroke: {GRID}", "stroke: var(--line)")
    return text.replace(f"stroke: {INK}", "stroke: currentColor").replace(
        f"fill: {INK}", "fill: currentColor"
    )


def _lit(text: str, figure: Figure) -> str:
    """Makes the colours of curves lighter on a dark page, where they need it."""
    used = {colour(curve) for panel in figure.panels for curve in panel.curves}
    lighter = {one: on_dark(one) for one in sorted(used) if one != on_dark(one) and f": {one}" in text}
    for one in lighter:
        text = text.replace(f": {one}", f": var(--c{one[1:]}, {one})")
    rules = "; ".join(f"--c{one[1:]}: {other}" for one, other in lighter.items())
    dark = f"<style>@media screen and (prefers-color-scheme: dark) {{ .figure {{ {rules} }} }}</style>"
    return dark + text if lighter else text


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
    bars: Sequence[float] = error_bars(curve.error) or ()
    for number, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        if x != x or y != y:
            continue
        at = panel.categories[int(x)] if panel.categories else f"{x:.4g}"
        spread = f" ± {bars[number]:.2g}" if bars and bars[number] > 0.0 else ""
        yield f"{curve.label}\n{at}: {y:.4g}{spread}"
