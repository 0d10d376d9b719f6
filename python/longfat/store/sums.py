"""Digests of files, by which a reader notices a bit that has changed on the disk.

A Parquet file has no checksum of all its bytes, and a changed bit often decodes to another number. A segment
and a run's samples therefore have the digest of their bytes in their name, a folder of tables or of results
has a file `SHA256SUMS` in the form that `sha256sum --check` reads, and `sweep.json` has its own digest in
`sha256`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

SUMS_FILE = "SHA256SUMS"
OWN = "sha256"
"""The key of a JSON document's own digest."""
NAME_DIGITS = 40
"""Hexadecimal digits of the digest in a name."""
_NAMED = re.compile(rf"(?:^|-)([0-9a-f]{{{NAME_DIGITS}}})\.")


def digest(data: bytes) -> str:
    """Returns the SHA-256 of some bytes, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def of_file(path: str) -> str:
    """Returns the SHA-256 of a file. Raises OSError."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def named(data: bytes) -> str:
    """Returns the part of a file's name that says what its content is."""
    return digest(data)[:NAME_DIGITS]


def fits(name: str, data: bytes) -> bool:
    """Whether a file's content is what its name says."""
    found = _NAMED.search(name)
    return found is not None and found.group(1) == named(data)


def lines(sums: Mapping[str, str]) -> str:
    """Returns the content of `SHA256SUMS` for digests by file name."""
    return "".join(f"{value}  {name}\n" for name, value in sorted(sums.items()))


def parsed(text: str) -> dict[str, str]:
    """Returns the digests by file name. Raises ValueError if a line is not one of `lines`."""
    return {name: value for value, name in pairs(text)}


def pairs(text: str) -> list[tuple[str, str]]:
    """Returns (digest, file name) for each line; see `parsed`."""
    found = []
    for line in text.splitlines():
        value, _, name = line.partition("  ")
        if not name or len(value) != hashlib.sha256().digest_size * 2:
            raise ValueError(f"not a line of {SUMS_FILE}: {line[:80]}")
        found.append((value, name))
    return found


def signed(document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a JSON document with its own digest as the last key."""
    return {**document, OWN: _of_document(document)}


def is_whole(document: Mapping[str, Any]) -> bool:
    """Whether a JSON document is as `signed` left it."""
    return document.get(OWN) == _of_document(document)


def _of_document(document: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != OWN}
    return digest(json.dumps(rest, sort_keys=True).encode())
