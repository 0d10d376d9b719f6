"""Values in the order of their tasks, and what happens when one of the tasks fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import pytest
from test_pool import die, square

import longfat
from longfat.errors import InputError, WorkerError
from longfat.runs.ordering import map_ordered


def last_first(number: int) -> int:
    """The sooner, the greater the number."""
    time.sleep(0.05 * (6 - number))
    return number


def slow_first(task: tuple[int, str]) -> int:
    """The first task waits until the second one has failed; others leave a file of their number."""
    number, folder = task
    if number == 0:
        while not Path(folder, "failed").exists():
            time.sleep(0.01)
        time.sleep(0.5)  # until that is known
    if number == 1:
        Path(folder, "failed").touch()
        raise ValueError("one")
    Path(folder, str(number)).touch()
    return number


def forever(number: int) -> int:
    if number:
        time.sleep(600)
    return number


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_values_come_in_the_order_of_their_tasks(jobs: int) -> None:
    assert list(map_ordered(square, iter(range(20)), jobs)) == [i * i for i in range(20)]
    assert list(map_ordered(last_first, range(6), jobs)) == list(range(6))
    assert list(map_ordered(square, [], jobs)) == []


def test_a_failure_comes_in_its_turn_after_the_values_before_it(tmp_path: Path) -> None:
    found = map_ordered(slow_first, [(number, str(tmp_path)) for number in range(100)], 2)
    assert next(found) == 0  # though the second task has failed
    with pytest.raises(ValueError, match="one"):
        next(found)
    assert len(list(tmp_path.iterdir())) < 10  # almost none of the tasks after it ran
    assert list(found) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_tasks_that_cannot_be_read_come_after_the_values_before_them(jobs: int) -> None:
    def tasks() -> Iterator[int]:
        yield 2
        yield 3
        raise InputError("no more")

    found = map_ordered(square, tasks(), jobs)
    assert [next(found), next(found)] == [4, 9]
    with pytest.raises(InputError, match="no more"):
        next(found)


def test_a_worker_that_dies_is_a_failure_in_its_turn() -> None:
    with pytest.raises(WorkerError, match="a worker process ended before its run did"):
        list(map_ordered(die, range(4), 2))


def test_the_number_of_finished_tasks_is_told_before_their_turn(tmp_path: Path) -> None:
    told: list[int] = []
    found = map_ordered(slow_first, [(number, str(tmp_path)) for number in (0, 1)], 2, told.append)
    assert next(found) == 0
    assert told == [1, 2]


@pytest.mark.parametrize("end", [lambda found: found.close(), lambda found: found.throw(KeyboardInterrupt)])
def test_closing_it_or_ctrl_c_ends_the_workers_at_once(end: Callable[[Any], object]) -> None:
    found = map_ordered(forever, range(4), 2)
    assert next(found) == 0
    begin = time.monotonic()
    with suppress(KeyboardInterrupt):
        end(found)
    assert time.monotonic() - begin < 30.0
    assert active_children() == []


SMALL: dict[str, Any] = {
    "duration": "1 s",
    "bottleneck": {"rate": "1 Mbit/s"},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}
WRONG: dict[str, Any] = {**SMALL, "flow": [{"algorithm": "reno"}]}


def seed(result: longfat.Result) -> int:
    number: int = result.summary["seed"]
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_run_many_yields_results_before_the_refusal_of_a_scenario(jobs: int) -> None:
    found = longfat.run_many([SMALL, {**SMALL, "seed": 2}, WRONG, SMALL], jobs=jobs, reduce=seed)
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(InputError, match=r"flow\.0\.rtt"):
        next(found)


@pytest.mark.parametrize("jobs", [1, 2])
def test_run_many_pairs_results_with_positions_if_they_come_as_they_finish(jobs: int) -> None:
    runs = [{**SMALL, "seed": 1 + number} for number in range(5)]
    found = longfat.run_many(runs, jobs=jobs, reduce=seed, ordered=False)
    assert sorted(found) == [(number, 1 + number) for number in range(5)]
