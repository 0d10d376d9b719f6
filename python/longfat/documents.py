"""Reads TOML, JSON and texts that come from outside. What is wrong with a text is a ValueError.

The core reads TOML; Python's library, which is many times as slow, says what is wrong, and knows dates. Its
parsers also raise RecursionError where brackets are nested deeply, and an error of `int` where a number has
thousands of digits.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import tomllib
from typing import Any

from longfat import _core, system

MOST_BYTES = 64_000_000
"""The largest scenario, sweep or trace that is read."""
PIECE_BYTES = 1 << 16
"""What is read at once: room for the largest file costs more than reading a usual one."""
TOO_DEEP = "nested too deeply"
TOO_LONG = "a number has too many digits"


def toml(text: str) -> dict[str, Any]:
    """Returns the content of a TOML text; TOML 1.1 if it has no dates. Raises tomllib.TOMLDecodeError."""
    read = _core.toml_tables(text)
    if read is not None:
        return read
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


def text(path: str | os.PathLike[str]) -> str:
    """Returns the text of a file in UTF-8 without a byte order mark; also of a pipe or a device.

    Raises:
        OSError: it cannot be read, is a folder, or is longer than `MOST_BYTES`.
        UnicodeDecodeError: it is not in UTF-8.
    """
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
    except ValueError:
        raise OSError(errno.EINVAL, "a name of a file has no NUL") from None
    # a regular file does not make its reader wait, except in /proc
    file = os.open(path, os.O_RDONLY | system.BINARY | (system.NO_WAIT if is_file else 0))
    pieces, rest = [], MOST_BYTES
    try:
        while rest >= 0 and (piece := os.read(file, PIECE_BYTES)):
            pieces.append(piece)
            rest -= len(piece)
    except BlockingIOError:
        problem = "has no end: it waits for more, as some files of /proc do"
        raise OSError(errno.EAGAIN, problem) from None
    finally:
        os.close(file)
    if rest < 0:
        raise OSError(errno.EFBIG, f"more than {MOST_BYTES / 1e6:g} MB")
    read = b"".join(pieces).decode().removeprefix("\ufeff")
    return read.replace("\r\n", "\n").replace("\r", "\n") if "\r" in read else read
