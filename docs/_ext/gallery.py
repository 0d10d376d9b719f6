"""Draws the gallery: a picture of each scenario, and its file, in place of the page's links to the files.

It runs every file of `scenarios/` to its end, over all processors, and draws the throughput of each flow over
time. It keeps a picture that is newer than its scenario and than the core.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
SCENARIOS = DOCS.parent / "scenarios"
PICTURES = DOCS / "_generated" / "gallery"
FILE = re.compile(r"^\[`scenarios/([^`]+)\.toml`\]\(.*\)$", re.MULTILINE)
"""The line of the page that links a scenario."""
MOST_LABELS = 8
"""Curves of one picture that a legend names."""


def drawn(result: Any) -> Any:
    """The picture of a run as data: throughput over time of every flow. Called in a worker process."""
    from dataclasses import replace

    (figure,) = result.figures(("throughput",))
    (panel,) = figure.panels
    if len(panel.curves) > MOST_LABELS:
        panel = replace(panel, curves=tuple(replace(curve, label="") for curve in panel.curves))
    return replace(figure, mirrors="", title="", panels=(panel,))


def draw_gallery() -> None:
    """Runs the scenarios whose pictures are missing or older than they, and draws them."""
    from dataclasses import replace

    from longfat import _core, plots, run_many

    core = Path(_core.__file__).stat().st_mtime
    PICTURES.mkdir(parents=True, exist_ok=True)
    stale = []
    for scenario in sorted(SCENARIOS.glob("*.toml")):
        picture = PICTURES / f"{scenario.stem}.png"
        newest = max(core, scenario.stat().st_mtime, Path(__file__).stat().st_mtime)
        if not picture.is_file() or picture.stat().st_mtime < newest:
            stale.append(scenario)
    for scenario, figure in zip(stale, run_many(stale, reduce=drawn), strict=True):
        plots.save(replace(figure, name=scenario.stem), PICTURES, ["png"])


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replaces every link to a scenario on the gallery's page."""
    if docname != "gallery":
        return
    draw_gallery()
    app.env.note_reread()  # the scenarios can change while the page does not
    source[0] = FILE.sub(
        r"![Throughput over time of the flows of \1.toml](_generated/gallery/\1.png)\n\n"
        r"<details><summary>scenarios/\1.toml</summary>\n\n"
        r"```{literalinclude} ../scenarios/\1.toml\n:language: toml\n```\n\n</details>",
        source[0],
    )


def setup(app: Any) -> dict[str, bool]:
    """Registers with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
