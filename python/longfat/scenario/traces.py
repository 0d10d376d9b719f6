"""The reader of traces: text files of numbers over time, from measurements.

A line has the numbers of one moment, separated by spaces, tabs, commas or semicolons. What follows a `#` is a
comment; blank lines do not count; the first line may name the columns. `documents.measured_lines` has the
encodings.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from longfat import documents
from longfat.scenario.form import Schema, table

SHA256 = re.compile(r"[0-9a-f]{64}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_LETTER = re.compile(r"[^\W\d_]")
_SEPARATORS = re.compile(r"[ \t,;]+")
_UNIT = re.compile(r"(?:^|[_ (\[/])(ns|us|µs|μs|s|secs?|seconds?)[)\]]?$", re.IGNORECASE)
"""The unit at the end of a column's name, where it is not ms."""
LONGEST_INT = 15
"""Digits that a float has room for."""
LONGEST_SHOWN = 40
"""The most characters of a line that a message has."""


@dataclass(frozen=True)
class Source:
    """The file of a trace, and the bytes that were read of it."""

    path: str
    data: bytes = field(repr=False)

    @functools.cached_property
    def sha256(self) -> str:
        """The digest of its bytes, in hexadecimal digits."""
        import hashlib

        return hashlib.sha256(self.data).hexdigest()

    def written(self) -> dict[str, Any]:
        """How a scenario file names it: with the digest, so that another content is refused."""
        return {"trace": self.path, "sha256": self.sha256}


class Kind(NamedTuple):
    """What the lines of one kind of trace hold.

    Attributes:
        columns: the number of columns; all of them are in ms.
        accepted: the form of a line, for messages.
        convert: returns how to make such a trace, or another value, of the lines of a file that has other
            columns.
    """

    columns: int
    accepted: str
    convert: Callable[[Sequence[Sequence[str]]], str]


class Row(NamedTuple):
    """A line of numbers."""

    where: str
    """The file and the line, for messages."""
    line: str
    """What it says."""
    numbers: list[float]

    @property
    def shown(self) -> str:
        """The line as messages quote it."""
        return _shown(self.line)


def is_named(value: Mapping[str, Any]) -> bool:
    """Whether a table names a trace: `trace`, and perhaps `sha256`."""
    return "trace" in value and set(value) <= {"trace", "sha256"}


def renamed(value: Any, names: Mapping[str, str]) -> Any:
    """Returns nested tables with these names of files in place of those with these digests."""
    if isinstance(value, Mapping):
        if is_named(value) and value.get("sha256") in names:
            return {**value, "trace": names[value["sha256"]]}
        return {key: renamed(item, names) for key, item in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value


def schema(description: str) -> Schema:
    """The JSON Schema of such a table."""
    digest = {
        "type": "string",
        "pattern": f"^{SHA256.pattern}$",
        "description": "The digest of the file; another content is refused",
    }
    return table({"trace": {"type": "string", "description": description}}, {"sha256": digest})


def read(value: Mapping[str, Any], base: Path, kind: Kind, example: str) -> tuple[Source, Iterator[Row]]:
    """Reads the file that a table names.

    Args:
        value: the table, with `trace` and perhaps `sha256`.
        base: the folder that the name is relative to.
        kind: what its lines hold.
        example: the name of such a file.

    Raises:
        ValueError: it cannot be read, or is not what `sha256` says; the rows raise it where a line is wrong.
    """
    name, digest = value["trace"], value.get("sha256")
    if not isinstance(name, str):
        raise ValueError(f'trace: accepted: the name of a file such as "{example}"')
    if digest is not None and not (isinstance(digest, str) and SHA256.fullmatch(digest)):
        raise ValueError("sha256: accepted: the 64 hexadecimal digits that sha256sum prints, or no such key")
    path = base / name
    source = Source(str(path.resolve()), _bytes(path))
    if digest not in (None, source.sha256):
        raise ValueError(
            f"trace {path}: its content has changed: its SHA-256 is {source.sha256[:16]}..., and the "
            f"scenario has {digest[:16]}...; accepted: the file as it was, or the scenario without sha256"
        )
    return source, rows(path, source.data, kind)


def rows(path: Path, data: bytes, kind: Kind) -> Iterator[Row]:
    """Yields the lines of a trace; ValueError names the line that is wrong."""
    lines = _lines(path, data)
    if lines == [""]:  # without a byte order mark
        unpacked = " when it is unpacked" if len(data) > len("\ufeff".encode()) else ""
        raise ValueError(f"trace {path}: it is empty{unpacked}; accepted: {kind.accepted}")
    is_first, has_rows = True, False
    for number, line in enumerate(lines, start=1):
        # most traces have many lines of one number each
        if line.isdecimal() and line.isascii() and kind.columns == 1:
            words = [line]
        else:
            words = _words(line)
            if not words:
                continue
        where = f"trace {path}, line {number}"
        head, is_first = is_first and not any(map(_NUMBER.fullmatch, words)), False
        if head and all(map(_LETTER.search, words)):
            _check_head(where, line, words, kind)
            continue
        if len(words) != kind.columns and all(map(_NUMBER.fullmatch, words)):
            following = [found for text in lines[number - 1 : number + 20] if (found := _words(text))]
            columns = f"{len(words)} column{'s' if len(words) > 1 else ''}"
            raise ValueError(
                f"{where}: {_shown(line)}: {columns}; accepted: {kind.accepted}; "
                + kind.convert(following[:2])
            )
        try:
            yield Row(where, line, [_number(word) for word in words])
            has_rows = True
        except ValueError:
            raise ValueError(f"{where}: {_shown(line)}; accepted: {kind.accepted}") from None
    if not has_rows:
        raise ValueError(f"trace {path}: it has no line of numbers; accepted: {kind.accepted}")


def _words(line: str) -> list[str]:
    text = line.partition("#")[0].strip(" \t,;")
    return _SEPARATORS.split(text) if text else []


def _check_head(where: str, line: str, names: Sequence[str], kind: Kind) -> None:
    """Refuses names of columns that say another unit."""
    unit = next(filter(None, map(_UNIT.search, names)), None)
    if unit is not None:
        raise ValueError(f"{where}: {_shown(line)}: a column in {unit[1]}; accepted: {kind.accepted}")


def _number(word: str) -> float:
    """A number; a whole one is an int, so that 1.0 and 1 make the same plan."""
    if len(word) < LONGEST_INT and word.isdecimal() and word.isascii():
        return int(word)
    if not _NUMBER.fullmatch(word):
        raise ValueError("not a number")
    value = float(word)
    return int(value) if value.is_integer() else value


def _shown(line: str) -> str:
    text = line.strip()
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}...")


def _bytes(path: Path) -> bytes:
    try:
        return documents.bytes_of_file(path)
    except OSError as error:
        raise ValueError(
            f"trace {path}: {error.strerror}; accepted: a file, relative to the scenario's folder"
        ) from None


def _lines(path: Path, data: bytes) -> list[str]:
    try:
        return documents.measured_lines(data)
    except ValueError as error:
        raise ValueError(
            f"trace {path}: {error}; accepted: a text file of numbers, also packed by gzip or zstd"
        ) from None
