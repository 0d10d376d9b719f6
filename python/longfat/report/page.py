"""Pages: one self-contained file each, rendered from a template and values. Nothing here knows a study.

A page works offline: its figures are in it, as SVG.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from longfat import documents
from longfat.errors import InputError, LongfatError
from longfat.figure import inline, matplotlib
from longfat.figure.data import Figure
from longfat.runs import pool
from longfat.store.whole import read_text, write_text

PAGE = "index.html"
FIGURES = "figures"
FEW = 4
"""This number of figures is drawn sooner than workers have started."""


def entries(
    root: Path, shown: Sequence[tuple[Figure, Mapping[str, Any]]], jobs: int | None = None
) -> list[dict[str, Any]]:
    """Returns the `entry` of each figure and its experiment.

    Args:
        root: the page's folder.
        shown: figures and experiments, as `entry` takes them.
        jobs: the number of processors that draw; all if None.
    """
    draw = functools.partial(_entry_of, root)
    drawn = pool.map_unordered(draw, shown, 1 if len(shown) <= FEW else jobs)
    return [value for _, value in sorted(drawn, key=operator.itemgetter(0))]


def _entry_of(root: Path, shown: tuple[Figure, Mapping[str, Any]]) -> dict[str, Any]:
    return entry(root, *shown)


def entry(root: Path, figure: Figure, experiment: Mapping[str, Any]) -> dict[str, Any]:
    """Saves a figure below `root` and returns what a template shows of it.

    Args:
        root: the page's folder.
        figure: what to draw.
        experiment: `runs`, how many runs it shows, and perhaps the `mode` that they ran in.
    """
    links = downloads(root, figure)
    drawn = (root / FIGURES / f"{figure.name}.svg").read_text(encoding="utf-8")
    return {
        "name": figure.name,
        "mirrors": figure.mirrors,
        "title": figure.title,
        "caption": figure.caption,
        "mode": experiment.get("mode", ""),
        "runs": experiment["runs"],
        "links": links,
        "svg": inline.svg(drawn, figure),
        "table": figure.table,
    }


def downloads(root: Path, figure: Figure) -> list[dict[str, str]]:
    """Saves a figure below `root` in every format and returns the links to its files."""
    files = matplotlib.save(figure, root / FIGURES)
    return [{"label": path.suffix[1:].upper(), "href": f"{FIGURES}/{quote(path.name)}"} for path in files]


def render(root: Path, package: str, template: str, *, file: str = PAGE, **values: Any) -> Path:
    """Writes the page of a folder, whole or not at all, and returns its path.

    Args:
        root: the folder.
        package: the package that holds the template.
        template: its file; it may extend and include those of `longfat.report`.
        file: the name of the page.
        values: what the template shows.
    """
    path = root / file
    try:
        write_text(path, text(package, template, **values))
    except PermissionError as error:
        raise InputError(f"{path}: {error.strerror}; accepted: a folder that can be written") from None
    except OSError as error:
        raise LongfatError(f"{path}: {error.strerror}") from None
    return path


def text(package: str, template: str, **values: Any) -> str:
    """Returns a rendered template; arguments as those of `render`."""
    environment = Environment(
        loader=FunctionLoader(functools.partial(_template, package)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    environment.filters["number"] = _number
    environment.filters["code"] = _code
    return environment.get_template(template).render(values)


def _template(package: str, name: str) -> str:
    own = resources.files(package).joinpath(name)
    found = own if own.is_file() else resources.files(__package__).joinpath(name)
    return found.read_text(encoding="utf-8")


def _code(text: str) -> Markup:
    """Escapes a text and sets what stands between backticks as code."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(text))))


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
    accepted = "accepted: what a command wrote there"
    try:
        document = documents.json_value(read_text(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; {accepted}") from None
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise InputError(f"{path}: damaged: it is no JSON object in UTF-8; {accepted}")
    lacking = [key for key in keys if key not in document]
    if lacking:
        raise InputError(f"{path}: damaged: it has no {lacking[0]}; {accepted}")
    return document
