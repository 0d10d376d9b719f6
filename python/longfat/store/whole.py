"""Files that appear whole or not at all: each is written under another name and then renamed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """Yields the name of a draft beside `path`, which becomes `path` if the block ends without an error.

    If the block raises, the draft is removed and `path` stays as it was. Names of drafts begin with a dot.
    """
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield scratch
        scratch.replace(path)
    except BaseException:
        with suppress(OSError):
            scratch.unlink()
        raise


def prepare(folder: Path) -> None:
    """Makes a folder, with its parents, if it is missing. Raises OSError if no file can be made in it."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):  # has no name, so two machines may try at once
        pass


def clear_drafts(folder: Path) -> None:
    """Removes the drafts that killed programs left in a folder and below; nobody else may write there."""
    for path in folder.rglob(".*"):
        if path.suffix.removeprefix(".").isdecimal() and path.is_file():
            with suppress(OSError):
                path.unlink()


def write_text(path: Path, text: str) -> None:
    """Writes a text file in UTF-8. Raises OSError."""
    with draft(path) as scratch:
        scratch.write_text(text, encoding="utf-8")


def write_json(path: Path, document: Any, default: Callable[[Any], Any] | None = None) -> None:
    """Writes a JSON file.

    Args:
        path: the file.
        document: its content.
        default: turns values that JSON does not know into values that it knows; see `json.dumps`.

    Raises:
        OSError: the file cannot be written.
        ValueError: the document holds a number that is not finite, which JSON does not have.
    """
    write_text(path, json.dumps(document, indent=1, allow_nan=False, default=default) + "\n")


def write_table(path: Path, table: pyarrow.Table) -> None:
    """Writes a Parquet file with checksums of its pages. Raises OSError."""
    from pyarrow import parquet

    with draft(path) as scratch:
        parquet.write_table(table, scratch, compression="zstd", write_page_checksum=True)


def read_table(path: Path) -> pyarrow.Table:
    """Reads a Parquet file. Raises OSError or ValueError if it is missing or damaged."""
    from pyarrow import parquet

    return parquet.read_table(path, page_checksum_verification=True)
