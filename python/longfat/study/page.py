"""The page of a study: what its command stored, read and checked, and rendered by the study's template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from longfat.report.page import read, render


def build(
    path: Path,
    package: str,
    keys: Sequence[str],
    shown: Callable[[dict[str, Any]], dict[str, Any]],
) -> Path:
    """Builds the page beside a stored document; returns its path.

    Args:
        path: the document, a JSON object.
        package: the package with the template, `page.html.j2`.
        keys: what the document has to have.
        shown: returns what the template shows of the document.

    Raises:
        InputError: the document is no JSON object or lacks a key, or the page cannot be written.
    """
    document = read(path, *keys, "provenance")
    values = shown(document) | {"provenance": document["provenance"]}
    return render(path.parent, package, "page.html.j2", **values)
