"""How many connections with files are open at once, where theory knows it."""

from __future__ import annotations

import math

import pytest

from longfat.runs.occupancy import Path, beginners, growth, rounds
from longfat.scenario.sizes import FileSizes

MEAN = 50e3
LONGEST = 5e6


def exponential(size: float) -> float:
    return math.exp(-size / MEAN)


def path(bytes_per_s: float = 1e6, rtt_s: float = 0.1) -> Path:
    return Path(bytes_per_s, rtt_s, 3000.0)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.95])
def test_connections_do_not_grow_in_number_on_a_path_with_room(load: float) -> None:
    assert growth(load * 1e6 / MEAN, 1e6, exponential, LONGEST) == 0.0


@pytest.mark.parametrize("load", [1.1, 1.5, 4.0])
def test_exponential_files_stay_at_the_rate_at_which_the_path_cannot_carry_them(load: float) -> None:
    # without memory, any order of service completes C / mean files a second
    grown = growth(load * 1e6 / MEAN, 1e6, exponential, LONGEST)
    assert grown == pytest.approx((load - 1.0) * 1e6 / MEAN, rel=0.02)


def test_fewer_files_stay_if_a_few_of_them_are_most_of_the_load() -> None:
    files = FileSizes()
    per_s = 1.2 * 1e6 / files.mean_file_bytes()
    grown = growth(per_s, 1e6, files.larger, files.largest_bytes)
    assert 0.0 < grown < 0.25 * (per_s - 1e6 / files.mean_file_bytes())


@pytest.mark.parametrize(("segments", "trips"), [(3, 1), (4, 2), (9, 2), (10, 3), (21, 3), (22, 4)])
def test_a_file_takes_a_round_trip_for_each_doubling(segments: int, trips: int) -> None:
    # windows of 3, 6, 12 segments
    assert rounds(path(), lambda size: float(size < 1000.0 * segments)) == trips


def waiting(at_s: float) -> float:
    return min(1.0, at_s**-1.5) if at_s > 0.0 else 1.0


def small(size: float) -> float:
    return float(size < 1000.0)


@pytest.mark.parametrize("rtt_s", [0.05, 0.2])
def test_users_with_small_files_are_those_that_began_two_round_trips_ago(rtt_s: float) -> None:
    # most of them just after the first ones began
    most = beginners(path(1e9, rtt_s), small, waiting, 20.0)(1000.0)
    assert most == pytest.approx(1.0 - waiting(1.0 + 2.0 * rtt_s), abs=0.05)


def test_no_user_is_done_on_a_path_that_carries_nothing() -> None:
    assert beginners(path(1.0), exponential, waiting, 20.0)(1000.0) > 0.9


def test_more_users_hold_each_other_up() -> None:
    shares = [beginners(path(1e7), FileSizes().larger, waiting, 20.0)(users) for users in (10.0, 1e3, 1e5)]
    assert shares == sorted(shares)
    assert shares[-1] > 2.0 * shares[0]
