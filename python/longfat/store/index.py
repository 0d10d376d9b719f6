"""Which segment of a store holds which run, in some 20 bytes a run however many there are."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

DIGEST_BYTES = 16
"""Of a key: that two of 10^9 keys have the same is less likely than 10^-20."""
FRESH = 4096
"""Keys that wait unsorted before they are sorted in with the others."""


class Index:
    """Keys of runs, each in one segment: the last that it was put into."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._digests = np.empty(0, dtype=f"S{DIGEST_BYTES}")
        self._segments = np.empty(0, dtype=np.uint32)
        self._fresh: dict[bytes, int] = {}

    def put(self, keys: Iterable[str], segment: str) -> None:
        """These keys are in that segment now."""
        number = len(self._names)
        self._names.append(segment)
        for key in keys:
            self._fresh[_digest(key)] = number
        if len(self._fresh) > FRESH:
            self._sort_in()

    def find(self, key: str) -> str | None:
        """The segment that has this key."""
        digest = _digest(key)
        number = self._fresh.get(digest)
        if number is None:
            place = self._place(digest)
            if place is None:
                return None
            number = int(self._segments[place])
        return self._names[number]

    def __len__(self) -> int:
        old = sum(self._place(digest) is not None for digest in self._fresh)
        return len(self._digests) + len(self._fresh) - old

    def _place(self, digest: bytes) -> int | None:
        wanted = np.array(digest, dtype=self._digests.dtype)
        place = int(np.searchsorted(self._digests, wanted))
        found = place < len(self._digests) and self._digests[place] == wanted
        return place if found else None

    def _sort_in(self) -> None:
        fresh = np.array(list(self._fresh), dtype=self._digests.dtype)
        order = np.argsort(fresh)
        fresh = fresh[order]
        numbers = np.fromiter(self._fresh.values(), dtype=np.uint32, count=len(fresh))[order]
        places = np.searchsorted(self._digests, fresh)
        known = places < len(self._digests)
        known[known] = self._digests[places[known]] == fresh[known]
        self._segments[places[known]] = numbers[known]
        self._digests = np.insert(self._digests, places[~known], fresh[~known])
        self._segments = np.insert(self._segments, places[~known], numbers[~known])
        self._fresh = {}


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=DIGEST_BYTES).digest()
