"""Reads TOML, JSON and measured numbers that come from outside. What is wrong with a text is a ValueError.

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
CUT_SHORT = "its packed data end early: the file was cut short"
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
    """Returns the text of a file without a byte order mark; also of a pipe or a device, up to this length.

    Raises:
        OSError: it cannot be read, is a folder, or is longer than `most_bytes`.
        UnicodeDecodeError: it is not in this encoding.
    """
    with _opened(path) as file:
        data = _limited(file, most_bytes)
    return data.decode(encoding).removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def bytes_of_file(path: str | os.PathLike[str], *, most_bytes: int = MOST_BYTES) -> bytes:
    """Returns the content of a regular file. It does not wait for another program to write into a pipe.

    Raises:
        OSError: it cannot be read, is no regular file, or is longer than `most_bytes`.
    """
    with _opened(path, _without_waiting) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return _limited(file, most_bytes)


def measured_lines(data: bytes, *, most_bytes: int = MOST_BYTES) -> list[str]:
    """Returns the lines of a text that another program wrote, of numbers that were measured.

    It may be packed by gzip or zstd, and is in UTF-8, or in UTF-16 with its byte order mark. Lines end where
    editors end them, and not at all breaks of Unicode.

    Raises:
        ValueError: it is no such text, is damaged, or has more than `most_bytes` unpacked.
    """
    plain = _unpacked(data, most_bytes + 1)
    if len(plain) > most_bytes:
        raise ValueError(f"more than {most_bytes / 1e6:g} MB when unpacked")
    encoding = "utf-16" if plain[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = plain.decode(encoding)
    except UnicodeDecodeError:
        raise ValueError("not a text in UTF-8 or UTF-16") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unpacked(data: bytes, most_bytes: int) -> bytes:
    """The first `most_bytes` bytes of what was packed, or the data themselves; ValueError if damaged."""
    is_gzip, is_zstd = data.startswith(b"\x1f\x8b"), data.startswith(b"\x28\xb5\x2f\xfd")
    if not is_gzip and not is_zstd:
        return data
    import gzip
    import io
    import zlib

    try:
        if is_gzip:
            return gzip.GzipFile(fileobj=io.BytesIO(data)).read(most_bytes)
        import pyarrow

        unpacked: bytes = pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd").read(most_bytes)
        return unpacked
    except EOFError:
        raise ValueError(CUT_SHORT) from None
    except (OSError, zlib.error) as error:
        cut = str(error).startswith("Truncated")  # pyarrow
        raise ValueError(
            CUT_SHORT if cut else "its packed data are damaged, or something follows them"
        ) from None


def _opened(path: str | os.PathLike[str], opener: Callable[[str, int], int] | None = None) -> IO[bytes]:
    try:
        return open(path, "rb", opener=opener or _waiting_for_pipes)
    except ValueError:
        raise OSError(errno.EINVAL, "a name of a file has no NUL") from None


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def _waiting_for_pipes(path: str, flags: int) -> int:
    """A regular file does not make its reader wait, except in /proc."""
    return os.open(path, flags | (os.O_NONBLOCK if stat.S_ISREG(os.stat(path).st_mode) else 0))


def _limited(file: IO[bytes], most_bytes: int) -> bytes:
    data = bytearray()
    while len(data) <= most_bytes:
        part = file.read(most_bytes + 1 - len(data))
        if part is None:
            raise OSError(errno.EAGAIN, "has no end: it waits for more, as some files of /proc do")
        if not part:
            return bytes(data)
        data += part
    raise OSError(errno.EFBIG, f"more than {most_bytes / 1e6:g} MB")
