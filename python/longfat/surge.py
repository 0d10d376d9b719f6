"""SURGE's web users: the constants that Barford and Crovella print, and the load that such users offer.

P. Barford, M. Crovella: Generating Representative Web Workloads for Network and Server Performance
Evaluation, SIGMETRICS 1998. What a user does is in `crates/sim/src/workload/surge.rs`; the sources of the
constants and the choices are on the page `docs/models/surge.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist


@dataclass(frozen=True)
class Habits:
    """The distributions that a user draws from; sizes in bytes, times in seconds."""

    body_mu: float = 9.357
    body_sigma: float = 1.318
    tail_share: float = 0.07
    tail_least_bytes: float = 133_000.0
    tail_shape: float = 1.1
    largest_bytes: float = 10e6  # chosen here: about what the largest of 2000 files is
    files_shape: float = 2.43
    files_most: int = 150  # the authors' program
    active_off_shape: float = 1.46
    active_off_scale_s: float = 0.382
    inactive_off_least_s: float = 1.0
    inactive_off_shape: float = 1.5

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

    def mean_files(self) -> float:
        """Mean number of files of an object."""
        return math.fsum(float(n) ** -self.files_shape for n in range(1, self.files_most + 1))

    def mean_active_off_s(self) -> float:
        """Mean time between two files of an object."""
        return self.active_off_scale_s * math.gamma(1.0 + 1.0 / self.active_off_shape)

    def mean_inactive_off_s(self) -> float:
        """Mean time between two objects."""
        return self.inactive_off_least_s * self.inactive_off_shape / (self.inactive_off_shape - 1.0)


def mean_transfer_s(
    habits: Habits, rtt_s: float, mss_bytes: float, window_segments: float, rate_bps: float
) -> float:
    """Mean time of a file on an idle path: opening, doubling windows, and its bits at the path's rate.

    A round trip for the SYN exchange and one for each window, from the initial one on; no losses, no queue.
    """
    rounds, sent, window = 0.0, 0.0, window_segments
    share = 1.0
    while share > 0.0:
        rounds += share  # the share of files that need another round
        sent += window * mss_bytes
        window *= 2.0
        share = habits.larger(sent)
    return rtt_s * (1.0 + rounds) + 8.0 * habits.mean_file_bytes() / rate_bps


def offered_bps(
    habits: Habits,
    rtt_s: float,
    mss_bytes: float,
    header_bytes: float,
    window_segments: float,
    rate_bps: float,
) -> float:
    """What one user offers to an idle path, bit/s of IP: an object's bytes over the user's mean cycle."""
    files = habits.mean_files()
    cycle_s = (
        files * mean_transfer_s(habits, rtt_s, mss_bytes, window_segments, rate_bps)
        + (files - 1.0) * habits.mean_active_off_s()
        + habits.mean_inactive_off_s()
    )
    packets = 1.0 + header_bytes / mss_bytes
    return 8.0 * files * habits.mean_file_bytes() * packets / cycle_s


def users_for(load_bps: float, one_user_bps: float) -> int:
    """The number of users that offers a load, at least one."""
    return max(1, round(load_bps / one_user_bps))
