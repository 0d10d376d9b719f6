"""Fills what the site's pages say they generate: a comment `generated: NAME` becomes Markdown.

Tables come from the registries (`docs/tables.py`). The gallery runs every file of `scenarios/` to its end,
over all processors, and draws the throughput of each flow over time. It keeps a picture that is newer than
its scenario and than the core.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
SCENARIOS = DOCS.parent / "scenarios"
PICTURES = DOCS / "_generated" / "gallery"
ASKED = re.compile(r"<!-- generated: ([a-z0-9.-]+) -->")
MOST_LABELS = 8
"""Curves of one picture that a legend names."""

sys.path.insert(0, str(DOCS))


def drawn(result: Any) -> Any:
    """The picture of a run as data: throughput over time of every flow. Called in a worker process."""
    from dataclasses import replace

    (figure,) = result.figures(("throughput",))
    (panel,) = figure.panels
    if len(panel.curves) > MOST_LABELS:
        panel = replace(panel, curves=tuple(replace(curve, label="") for curve in panel.curves))
    return replace(figure, mirrors="", title="", panels=(panel,))


def about(scenario: Path) -> str:
    """What the comment at the top of a scenario file says, on one line."""
    words = []
    for line in scenario.read_text(encoding="utf-8").splitlines():
        if line.startswith("#:"):
            continue  # for editors
        if not line.startswith("#"):
            break
        words.append(line.removeprefix("#").strip())
    return " ".join(words)


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


def gallery() -> str:
    """A section for each scenario: title, what it is, its picture, the file."""
    import tomllib

    draw_gallery()
    sections = []
    for scenario in sorted(SCENARIOS.glob("*.toml")):
        title = tomllib.loads(scenario.read_text(encoding="utf-8"))["title"]
        sections.append(
            f"## {title}\n\n{about(scenario)}\n\n"
            f"![Throughput over time: {title}](_generated/gallery/{scenario.stem}.png)\n\n"
            f"    longfat run scenarios/{scenario.name}\n\n"
            f"<details><summary>scenarios/{scenario.name}</summary>\n\n"
            f"```{{literalinclude}} ../scenarios/{scenario.name}\n:language: toml\n```\n\n</details>"
        )
    return "\n\n".join(sections)


def fill(app: Any, docname: str, source: list[str]) -> None:
    """Replaces every `generated: NAME` of a page."""
    import tables

    makers = {**tables.TABLES, "gallery": gallery}
    if ASKED.search(source[0]):
        app.env.note_reread()  # what is generated can change while the page does not
    source[0] = ASKED.sub(lambda asked: makers[asked[1]](), source[0])


def setup(app: Any) -> dict[str, bool]:
    """Registers with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
