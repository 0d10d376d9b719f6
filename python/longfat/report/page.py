"""Pages: one self-contained file each, rendered from a template and values. Nothing here knows a study.

A page works offline: the script that draws its figures is in it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from longfat import documents
from longfat.errors import InputError, LongfatError
from longfat.figure import matplotlib, plotly
from longfat.figure.data import Figure
from longfat.store.whole import read_text, write_text

PAGE = "index.html"
FIGURES = "figures"


def entry(root: Path, figure: Figure, experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Saves a figure below `root` and returns what a template shows of it.

    Args:
        root: the page's folder.
        figure: what to draw.
        experiment: `runs`, how many runs it shows, and perhaps the `mode` that they ran in.
    """
    return {
        "name": figure.name,
        "mirrors": figure.mirrors,
        "title": figure.title,
        "caption": figure.caption,
        "mode": experiment.get("mode", ""),
        "runs": experiment["runs"],
        "links": downloads(root, figure),
        "plot": plotly.draw(figure),
        "least_pixels": plotly.least_pixels(figure),
        "table": figure.table,
    }


def downloads(root: Path, figure: Figure) -> list[dict[str, str]]:
    """Saves a figure below `root` in every format and returns the links to its files."""
    files = matplotlib.save(figure, root / FIGURES)
    return [{"label": path.suffix[1:].upper(), "href": f"{FIGURES}/{path.name}"} for path in files]


def render(root: Path, package: str, template: str, **values: Any) -> Path:
    """Writes the page of a folder, whole or not at all, and returns its path.

    Args:
        root: the folder.
        package: the package that holds the template.
        template: its file; it may extend and include those of `longfat.report`.
        values: what the template shows.
    """
    environment = Environment(
        loader=FunctionLoader(functools.partial(_template, package)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["number"] = _number
    if values.get("figures"):
        from plotly.offline import get_plotlyjs

        values["plotlyjs"] = get_plotlyjs()
    text = environment.get_template(template).render(values)
    path = root / PAGE
    try:
        write_text(path, text)
    except PermissionError as error:
        raise InputError(f"{path}: {error.strerror}; accepted: a folder that can be written") from None
    except OSError as error:
        raise LongfatError(f"{path}: {error.strerror}") from None
    return path


def _template(package: str, name: str) -> str:
    own = resources.files(package).joinpath(name)
    found = own if own.is_file() else resources.files(__package__).joinpath(name)
    return found.read_text(encoding="utf-8")


def _number(value: Any, digits: int = 4) -> str:
    """Formats a value for a table; a dash stands for None."""
    if value is None:
        return "–"
    return (
        f"{value:,}"
        if isinstance(value, int)
        else f"{value:.{digits}g}"
        if isinstance(value, float)
        else str(value)
    )


def read(path: Path, *keys: str) -> dict[str, Any]:
    """Reads a stored JSON object and checks that it has these keys."""
    try:
        document = documents.json_value(read_text(path))
    except (OSError, ValueError):
        raise InputError(f"{path}: cannot be read as stored results") from None
    if not isinstance(document, dict):
        raise InputError(f"{path}: cannot be read as stored results")
    lacking = [key for key in keys if key not in document]
    if lacking:
        raise InputError(f"{path}: damaged: it has no {lacking[0]}")
    return document
