"""SURGE's web users: the constants that Barford and Crovella print, and the load that such users offer.

P. Barford, M. Crovella: Generating Representative Web Workloads for Network and Server Performance
Evaluation, SIGMETRICS 1998. The behaviour of a user is in `crates/sim/src/workload/surge.rs`; the page
`docs/models/surge.md` has the sources of the constants and the choices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from longfat.scenario.sizes import FileSizes


@dataclass(frozen=True)
class Habits(FileSizes):
    """The distributions that a user draws from; sizes in bytes, times in seconds."""

    files_shape: float = 2.43
    files_most: int = 150  # the authors' program
    active_off_shape: float = 1.46
    active_off_scale_s: float = 0.382
    inactive_off_least_s: float = 1.0
    inactive_off_shape: float = 1.5

    def mean_files(self) -> float:
        """The mean number of files of an object."""
        return math.fsum(float(n) ** -self.files_shape for n in range(1, self.files_most + 1))

    def mean_active_off_s(self) -> float:
        """The mean time between two files of an object."""
        return self.active_off_scale_s * math.gamma(1.0 + 1.0 / self.active_off_shape)

    def mean_inactive_off_s(self) -> float:
        """The mean time between two objects."""
        return self.inactive_off_least_s * self.inactive_off_shape / (self.inactive_off_shape - 1.0)


def mean_transfer_s(
    habits: Habits, rtt_s: float, mss_bytes: float, window_segments: float, rate_bps: float
) -> float:
    """The mean time of a file on an idle path: handshake, doubling windows, and its bits at the path's rate.

    Counts a round trip for the SYN exchange and one for each window, from the initial one on; no losses, no
    queue.
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
    """The load of one user on an idle path, bit/s of IP: an object's bytes over the user's mean cycle."""
    files = habits.mean_files()
    cycle_s = (
        files * mean_transfer_s(habits, rtt_s, mss_bytes, window_segments, rate_bps)
        + (files - 1.0) * habits.mean_active_off_s()
        + habits.mean_inactive_off_s()
    )
    packets = 1.0 + header_bytes / mss_bytes
    return 8.0 * files * habits.mean_file_bytes() * packets / cycle_s


def users_for(load_bps: float, one_user_bps: float) -> int:
    """The number of users that offer a load, at least one."""
    return max(1, round(load_bps / one_user_bps))
