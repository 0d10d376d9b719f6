"""Maps the bytes of a script to the segments that the model counts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right


class PartError(Exception):
    """Something concerns a part of a segment, which the model has not."""


class Segments:
    """The segments of a connection's data. The first byte is number 1, the first segment number 0."""

    def __init__(self, mss_bytes: int) -> None:
        self.mss_bytes = mss_bytes
        self.edges = [1]
        """Where segments begin, and where the last one ends."""

    def write(self, count: int, next_segment: int) -> int:
        """Adds bytes, some of them to a segment that has not left. Returns how many segments they add."""
        before = len(self.edges)
        end = self.edges[-1] + count
        if before > 1 and next_segment < before - 1 and self.edges[-1] - self.edges[-2] < self.mss_bytes:
            self.edges.pop()
        while self.edges[-1] < end:
            self.edges.append(min(end, self.edges[-1] + self.mss_bytes))
        return len(self.edges) - before

    def acknowledged(self, number: int, finished: bool) -> int:
        """Returns the next segment that an acknowledgement of this number expects."""
        if number > self.edges[-1]:
            # the FIN's own number; otherwise what was never sent, which a sender ignores
            beyond = not (finished and number == self.edges[-1] + 1)
            return len(self.edges) - 1 + beyond
        index = bisect_left(self.edges, number)
        if self.edges[index] != number:
            raise PartError(f"an acknowledgement of {number}, in the middle of a segment")
        return index

    def block(self, start: int, end: int) -> tuple[int, int] | None:
        """Returns the whole segments of a SACK block: a part of one counts for nothing (RFC 6675, 4)."""
        first, last = bisect_left(self.edges, start), bisect_right(self.edges, end) - 1
        return (first, last) if first < last else None

    def within(self, begin: int, end: int) -> list[int] | None:
        """Returns the segments that these bytes are, or None if their ends are not those of segments."""
        first, last = bisect_left(self.edges, begin), bisect_left(self.edges, end)
        if last >= len(self.edges) or (self.edges[first], self.edges[last]) != (begin, end):
            return None
        return list(range(first, last))

    def bytes_of(self, segment: int) -> str:
        """Returns a segment as scripts write it, such as 1:1001."""
        if segment + 1 >= len(self.edges):
            return f"segment {segment}"
        return f"{self.edges[segment]}:{self.edges[segment + 1]}"
