"""Which segment of a store holds which run, in about 20 bytes a run for any number of runs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

DIGEST_BYTES = 16
"""Length of a key's digest: two of 10^9 keys share one with a probability below 10^-20."""
FRESH = 4096
"""So many new keys wait unsorted before they are merged into the sorted ones."""


class Index:
    """Keys of runs, each with one segment: the last one that it was put into."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._digests = np.empty(0, dtype=f"S{DIGEST_BYTES}")
        self._segments = np.empty(0, dtype=np.uint32)
        self._fresh: dict[bytes, int] = {}

    def put(self, keys: Iterable[str], segment: str) -> None:
        """Records that these keys are in that segment."""
        number = len(self._names)
        self._names.append(segment)
        for key in keys:
            self._fresh[_digest(key)] = number
        if len(self._fresh) > FRESH:
            self._merge()

    def find(self, key: str) -> str | None:
        """Returns the segment that holds this key, None if there is none."""
        digest = _digest(key)
        number = self._fresh.get(digest)
        if number is None:
            position = self._position(digest)
            if position is None:
                return None
            number = int(self._segments[position])
        return self._names[number]

    def __len__(self) -> int:
        old = sum(self._position(digest) is not None for digest in self._fresh)
        return len(self._digests) + len(self._fresh) - old

    def _position(self, digest: bytes) -> int | None:
        wanted = np.array(digest, dtype=self._digests.dtype)
        position = int(np.searchsorted(self._digests, wanted))
        found = position < len(self._digests) and self._digests[position] == wanted
        return position if found else None

    def _merge(self) -> None:
        fresh = np.array(list(self._fresh), dtype=self._digests.dtype)
        order = np.argsort(fresh)
        fresh = fresh[order]
        numbers = np.fromiter(self._fresh.values(), dtype=np.uint32, count=len(fresh))[order]
        positions = np.searchsorted(self._digests, fresh)
        known = positions < len(self._digests)
        known[known] = self._digests[positions[known]] == fresh[known]
        self._segments[positions[known]] = numbers[known]
        self._digests = np.insert(self._digests, positions[~known], fresh[~known])
        self._segments = np.insert(self._segments, positions[~known], numbers[~known])
        self._fresh = {}


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=DIGEST_BYTES).digest()
