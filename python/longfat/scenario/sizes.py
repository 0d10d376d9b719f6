"""File sizes with a lognormal body and a Pareto tail, as Barford and Crovella print them, and their means.

P. Barford, M. Crovella: Generating Representative Web Workloads for Network and Server Performance
Evaluation, SIGMETRICS 1998. The page `docs/models/surge.md` has the sources of the constants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from statistics import NormalDist


@dataclass(frozen=True)
class FileSizes:
    """The distribution in bytes: lognormal below `tail_least_bytes`, bounded Pareto from there on."""

    body_mu: float = 9.357
    body_sigma: float = 1.318
    tail_share: float = 0.07
    tail_least_bytes: float = 133_000.0
    tail_shape: float = 1.1
    largest_bytes: float = 10e6  # chosen here: about the size of the largest of 2000 files

    def body_fits(self) -> bool:
        """Whether at least half of the lognormal is below the tail; sizes are drawn again until they are."""
        return self.body_mu <= math.log(self.tail_least_bytes)

    def larger(self, size: float) -> float:
        """The share of files with more than ``size`` bytes."""
        if size >= self.largest_bytes:
            return 0.0
        if size >= self.tail_least_bytes:
            beyond = math.pow(self.tail_least_bytes / size, self.tail_shape)
            end = math.pow(self.tail_least_bytes / self.largest_bytes, self.tail_shape)
            return self.tail_share * (beyond - end) / (1.0 - end)
        body = _normal(self.body_mu, self.body_sigma)
        below = body.cdf(math.log(size)) / body.cdf(math.log(self.tail_least_bytes))
        return 1.0 - (1.0 - self.tail_share) * below

    def mean_file_bytes(self) -> float:
        """The mean size of a file, bytes."""
        mu, sigma, least = self.body_mu, self.body_sigma, math.log(self.tail_least_bytes)
        # A lognormal weighted by its size is one with a greater mu.
        weighted, unweighted = _normal(mu + sigma**2, sigma), _normal(mu, sigma)
        body = math.exp(mu + 0.5 * sigma**2) * weighted.cdf(least) / unweighted.cdf(least)
        ratio, shape = self.tail_least_bytes / self.largest_bytes, self.tail_shape
        if ratio == 1.0:
            tail = self.tail_least_bytes
        else:
            stretch = (
                -math.log(ratio) if shape == 1.0 else (1.0 - math.pow(ratio, shape - 1.0)) / (shape - 1.0)
            )
            tail = self.tail_least_bytes * shape * stretch / (1.0 - math.pow(ratio, shape))
        return (1.0 - self.tail_share) * body + self.tail_share * tail


def _normal(mu: float, sigma: float) -> NormalDist:
    from statistics import NormalDist  # slow to import, and only some backgrounds need it

    return NormalDist(mu, sigma)
