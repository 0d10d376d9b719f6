"""File sizes with a lognormal body and a Pareto tail, as Barford and Crovella print them, and their means.

P. Barford, M. Crovella: Generating Representative Web Workloads for Network and Server Performance
Evaluation, SIGMETRICS 1998. Where the constants come from is on the page `docs/models/surge.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class FileSizes:
    """The distribution, bytes: lognormal below the tail's least, bounded Pareto from there on."""

    body_mu: float = 9.357
    body_sigma: float = 1.318
    tail_share: float = 0.07
    tail_least_bytes: float = 133_000.0
    tail_shape: float = 1.1
    largest_bytes: float = 10e6  # chosen here: about what the largest of 2000 files is

    def body_fits(self) -> bool:
        """Whether at least half of the lognormal lies below the tail: sizes are drawn until they do."""
        return self.body_mu <= math.log(self.tail_least_bytes)

    def larger(self, size: float) -> float:
        """The share of files with more than ``size`` bytes."""
        if size >= self.largest_bytes:
            return 0.0
        if size >= self.tail_least_bytes:
            beyond = math.pow(self.tail_least_bytes / size, self.tail_shape)
            end = math.pow(self.tail_least_bytes / self.largest_bytes, self.tail_shape)
            return self.tail_share * (beyond - end) / (1.0 - end)
        body = NormalDist(self.body_mu, self.body_sigma)
        below = body.cdf(math.log(size)) / body.cdf(math.log(self.tail_least_bytes))
        return 1.0 - (1.0 - self.tail_share) * below

    def mean_file_bytes(self) -> float:
        """Mean size of a file."""
        mu, sigma, least = self.body_mu, self.body_sigma, math.log(self.tail_least_bytes)
        # a lognormal weighted by its size is one with a greater mu
        weighted, plain = NormalDist(mu + sigma**2, sigma), NormalDist(mu, sigma)
        body = math.exp(mu + 0.5 * sigma**2) * weighted.cdf(least) / plain.cdf(least)
        ratio, shape = self.tail_least_bytes / self.largest_bytes, self.tail_shape
        if ratio == 1.0:
            tail = self.tail_least_bytes
        else:
            stretch = (
                -math.log(ratio) if shape == 1.0 else (1.0 - math.pow(ratio, shape - 1.0)) / (shape - 1.0)
            )
            tail = self.tail_least_bytes * shape * stretch / (1.0 - math.pow(ratio, shape))
        return (1.0 - self.tail_share) * body + self.tail_share * tail
