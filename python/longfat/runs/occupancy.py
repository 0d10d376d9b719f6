"""How many connections that carry files are open at once.

The numbers are those of fluid models, with shares and means in place of random draws: a path without losses,
where a connection doubles what it sends with each round trip and then has an equal share of the path.

Reference: Jean-Marie, Robert, On the transient behavior of the processor sharing queue, Queueing Systems 17,
1994: an overloaded path has a number of connections that grows linearly (:func:`growth`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from operator import mul
from typing import NamedTuple

Larger = Callable[[float], float]
"""The share of files with more than this many bytes."""

_STEPS = 200
_ROUNDS = 60.0
"""No file takes more doublings."""
_MOST_BEGUN = 0.1
"""Once only this share of users has not begun, fewer begin than before (chosen here)."""


class Path(NamedTuple):
    """What connections share."""

    bytes_per_s: float
    rtt_s: float
    first_bytes: float
    """The initial window."""


def rounds(path: Path, larger: Larger) -> float:
    """Returns the round trips that a file takes on average while the window doubles, after the handshake."""
    doublings = range(1, int(_ROUNDS))
    return 1.0 + math.fsum(larger(path.first_bytes * (2.0**k - 1.0)) for k in doublings)


def growth(per_s: float, bytes_per_s: float, larger: Larger, largest: float) -> float:
    """Returns by how many a second the connections become more that share an overloaded path equally.

    With g more a second, C bytes a second give one that opens at u the first C ln(t/u) / g bytes by t, and
    those with longer files are open: 1 = (per_s / C) * integral of exp(-g x / C) * larger(x) dx.
    """
    edges = [0.0, *(largest ** (k / _STEPS) for k in range(_STEPS + 1))]
    pieces = [(0.5 * (a + b), (b - a) * larger(0.5 * (a + b))) for a, b in pairwise(edges)]

    def load(more_per_s: float) -> float:
        return per_s * math.fsum(w * math.exp(-more_per_s * x / bytes_per_s) for x, w in pieces) / bytes_per_s

    low, high = 0.0, per_s
    if load(low) <= 1.0:
        return 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if load(middle) > 1.0 else (low, middle)
    return high


def beginners(path: Path, larger: Larger, waiting: Larger, span_s: float) -> Callable[[float], float]:
    """Returns which share of users has its first file open at once at most, by how many users there are.

    Args:
        path: what they share.
        larger: the sizes of files.
        waiting: the share of users that has not begun yet at this time; they begin after a rest.
        span_s: the run.
    """
    end_s = span_s
    while waiting(end_s / 2.0) < _MOST_BEGUN:
        end_s /= 2.0
    step_s = end_s / _STEPS
    begin = [waiting(k * step_s) - waiting((k + 1) * step_s) for k in range(_STEPS)]

    def most(users: float) -> float:
        share = 1.0
        for _ in range(_STEPS):  # the fewer share the path, the sooner they are done
            each = path.bytes_per_s / max(1.0, share * users)
            still = [_still(path, larger, each, k * step_s) for k in range(_STEPS)]
            earlier, share = share, max(_convolved(begin, still))
            if share > 0.99 * earlier:
                break
        return share

    return most


def _still(path: Path, larger: Larger, each: float, age_s: float) -> float:
    """The share of files that take longer than this."""
    trips = age_s / path.rtt_s - 1.0
    if trips < 1.0:
        return 1.0
    doubled = path.first_bytes * (2.0 ** min(trips, _ROUNDS) - 1.0)
    return larger(min(doubled, each * (age_s - path.rtt_s)))


def _convolved(begin: list[float], still: list[float]) -> list[float]:
    return [math.fsum(map(mul, begin[: k + 1], still[k::-1])) for k in range(len(begin))]
