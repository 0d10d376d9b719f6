"""Random scenarios, and what holds in the runs of all of them; `make soak` is the long form."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import balances
import random_scenarios
from longfat.runs import simulate
from longfat.runs.result import Result
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from samples import scenario


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_scenarios.own_algorithms(tmp_path_factory.mktemp("own"))


def names(value: Any) -> set[str]:
    """Every string in nested tables that may name an algorithm, a queue, a router or a kind of traffic."""
    if isinstance(value, dict):
        return set().union(*map(names, value.values()))
    if isinstance(value, list):
        return set().union(*map(names, value))
    return {value.rpartition(":")[2]} if isinstance(value, str) else set()


def test_random_scenarios_draw_everything_that_the_registries_have(own: Path) -> None:
    drawn: set[str] = set()
    for number in range(1200):
        drawn |= names(random_scenarios.draw(number, own))
    for kind in ("algorithms", "queues", "routers"):
        missing = {row["name"] for row in registry.rows(kind)} - drawn
        assert missing == set(), f"no scenario of 1200 has these {kind}"
    assert {"web", "surge", "short", "bulk", "onoff", "Steady", "Jumping", "linux", "quic"} <= drawn


def test_a_number_draws_the_same_scenario_again_and_another_one_another(own: Path) -> None:
    assert random_scenarios.draw(7, own) == random_scenarios.draw(7, own)
    assert random_scenarios.draw(7, own) != random_scenarios.draw(8, own)


@pytest.mark.parametrize("number", range(40))
def test_a_random_scenario_gives_the_same_bytes_by_both_drivers_and_keeps_the_books(
    number: int, own: Path
) -> None:
    drawn = Scenario.from_dict(random_scenarios.draw(number, own, (300.0, 3000.0)))
    result, difference = balances.difference(drawn)
    assert difference is None
    assert balances.violations(result) == []


def changed(result: Result, kind: str, name: str, column: str, add: float) -> Result:
    """The same result with a number added to the last sample of a column."""
    output = copy.deepcopy(dict(result._output))
    values = np.frombuffer(output[kind][name][column]).copy()
    values[-1] += add
    output[kind][name][column] = values.tobytes()
    return Result(result.scenario, output, result.wall_s)


@pytest.mark.parametrize(
    ("kind", "name", "column", "add", "told"),
    [
        ("links", "bottleneck", "packets_in", 1.0, "in = out + dropped + queued"),
        ("links", "bottleneck", "packets_lost", -1e6, "packets_lost falls"),
        ("links", "bottleneck", "bytes_out", 1e9, "sends no more than its rate"),
        ("links", "bottleneck", "queue_packets", 1000.0, "queue_packets <= 50"),
        ("flows", "1", "packets_lost", 1e6, "sent >= arrived + lost"),
        ("flows", "1", "delivered_bytes", 1e9, "delivers what was sent first"),
        ("flows", "1", "acked_bytes", 1e9, "acked <= delivered"),
        ("flows", "1", "received_bytes", 1e9, "receives no more than its path carries"),
        ("flows", "1", "cwnd", -1e9, "cwnd is finite and at least 1"),
        ("flows", "1", "srtt_s", -0.05, "sRTT is at least the path's"),
    ],
)
def test_a_packet_that_is_made_up_is_noticed(
    kind: str, name: str, column: str, add: float, told: str
) -> None:
    result = simulate.run(scenario())
    assert balances.violations(result) == []
    found = balances.violations(changed(result, kind, name, column, add))
    assert any(told in line for line in found), found


def test_a_byte_in_which_two_runs_differ_is_said() -> None:
    result = simulate.run(scenario())
    assert balances._differs(result._output, result._output) is None
    other = changed(result, "flows", "2", "cwnd", 0.5)
    last = len(result.flow("2")["cwnd"]) - 1
    found = balances._differs(result._output, other._output)
    assert found is not None
    assert found.startswith(f"flows 2: cwnd: sample {last}: ")
