"""The author's own text for a dossier, from a file that they keep.

Each key is a section of RFC 9743, and its value is text; empty lines separate paragraphs::

    "5.3.1" = "It reduces the window to 0.7 where RFC 5681 halves it. ..."
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from longfat import documents
from longfat.assess.criteria import CRITERIA
from longfat.errors import InputError
from longfat.words import suggestion


def read(path: Path) -> dict[str, str]:
    """Reads a file of answers; returns the text by section.

    Raises:
        InputError: the file cannot be read, or has another key or value than accepted.
    """
    try:
        given = documents.toml(documents.text(path))
    except OSError as error:
        raise InputError(
            f"--answers {path}: {error.strerror}; accepted: a file such as answers.toml"
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f'{path}: {error}; accepted: lines such as "5.3.1" = "text"') from None
    known = [row.section for row in CRITERIA]
    found = dict(_flat(given))
    for section, text in found.items():
        if section not in known:
            raise InputError(
                f"{path}: {section}: RFC 9743 has no such section{suggestion(section, known)}; accepted: "
                f"{', '.join(known)}"
            )
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f'{path}: {section}: this is not a text; accepted: text, as in "{section}" = "text"'
            )
    return {section: text.strip() for section, text in found.items()}


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Joins the keys of nested tables, which is what TOML makes of 5.3.1 without quotes."""
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value
