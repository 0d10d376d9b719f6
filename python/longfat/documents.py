"""Reads TOML and JSON that come from outside. Whatever is wrong with a text is a ValueError.

The parsers of Python's library also raise RecursionError where brackets are nested deeply, and an error of
`int` where a number has thousands of digits.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from collections.abc import Callable
from typing import IO, Any

MOST_BYTES = 64_000_000
"""The largest scenario, sweep or trace that is read."""
TOO_DEEP = "nested too deeply"
TOO_LONG = "a number has too many digits"


def toml(text: str) -> dict[str, Any]:
    """Returns the content of a TOML text. Raises tomllib.TOMLDecodeError, a ValueError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise tomllib.TOMLDecodeError(TOO_LONG) from None
    except RecursionError:
        raise tomllib.TOMLDecodeError(TOO_DEEP) from None


def json_value(text: str | bytes) -> Any:
    """Returns the value of a JSON text. Raises ValueError."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def text(path: str | os.PathLike[str], *, encoding: str = "utf-8", most_bytes: int = MOST_BYTES) -> str:
    """Returns the text of a file; also of a pipe or a device, up to this length.

    Raises:
        OSError: it cannot be read, is a folder, or is longer than `most_bytes`.
        UnicodeDecodeError: it is not in this encoding.
    """
    with _opened(path) as file:
        return _limited(file, most_bytes, encoding)


def text_of_file(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", most_bytes: int = MOST_BYTES
) -> str:
    """As `text`, but of a regular file only. It does not wait for somebody to write into a pipe."""
    with _opened(path, _without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return _limited(file, most_bytes, encoding)


def lines_of_file(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", most_bytes: int = MOST_BYTES
) -> list[str]:
    """As `text_of_file`, but its lines, which end where editors end them and not at all breaks of Unicode."""
    lines = text_of_file(path, encoding=encoding, most_bytes=most_bytes).split("\n")
    return lines if lines[-1] else lines[:-1]


def _opened(path: str | os.PathLike[str], opener: Callable[[str, int], int] | None = None) -> IO[bytes]:
    try:
        return open(path, "rb", opener=opener)
    except ValueError:
        raise OSError(errno.EINVAL, "a name of a file has no NUL") from None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _limited(file: IO[bytes], most_bytes: int, encoding: str) -> str:
    data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"more than {most_bytes / 1e6:g} MB")
    return data.decode(encoding).replace("\r\n", "\n").replace("\r", "\n")
