"""Changes that leave results as they are, on random scenarios; `make relations` is the long form."""

import copy
import random
from typing import Any

import pytest

import random_scenarios
import relations
import scaling
import trials
from longfat.runs import simulate
from longfat.scenario.model import Scenario
from samples import table
from trials import Trial, View

NUMBERS = range(60)
PACKETS = (300.0, 1500.0)
SAYS_NOTHING = {"idle flow", "unused link", "unused node", "nodes", "beside", "times", "packets"}
"""Relations that are about some scenarios only."""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    own = random_scenarios.own_algorithms(tmp_path_factory.mktemp("own"))
    return [random_scenarios.draw(number, own, PACKETS) for number in NUMBERS]


@pytest.mark.parametrize("name", relations.RELATIONS)
def test_a_change_that_has_no_effect_leaves_the_results_of_random_scenarios_as_they_are(
    name: str, drawn: list[dict[str, Any]]
) -> None:
    found = {
        number: difference
        for number, tables in zip(NUMBERS, drawn, strict=True)
        if (difference := relations.check(name, tables, number)) is not None
    }
    assert found == {}


@pytest.mark.parametrize("name", relations.RELATIONS)
def test_a_relation_is_about_many_scenarios_and_leaves_their_tables_alone(
    name: str, drawn: list[dict[str, Any]]
) -> None:
    before = copy.deepcopy(drawn)
    made = [relations.RELATIONS[name](tables, random.Random(1)) for tables in drawn]
    assert drawn == before
    number = sum(trial is not None for trial in made)
    assert number >= (15 if name in SAYS_NOTHING else len(NUMBERS))


def views(one: dict[str, Any], other: dict[str, Any]) -> tuple[View, View]:
    first, second = (View.of(simulate.run(Scenario.from_dict(tables))) for tables in (one, other))
    return first, second


LOSSY = table(bottleneck={"rate": "10 Mbit/s", "buffer": "50 packets", "loss": 0.01}, sample={"events": True})


@pytest.mark.parametrize("compare", [trials.equal, trials.equal_but_samples, trials.equal_until(5.0)])
def test_results_of_two_seeds_are_seen_to_differ(compare: trials.Compare) -> None:
    assert compare(*views(LOSSY, LOSSY)) is None
    assert compare(*views(LOSSY, LOSSY | {"seed": 2})) is not None


def test_what_differs_after_the_end_of_the_shorter_run_is_not_compared() -> None:
    later = copy.deepcopy(LOSSY)
    later["bottleneck"]["outages"] = [{"begin": "8 s", "length": "1 s"}]
    assert trials.equal_until(8.0)(*views(LOSSY, later)) is None
    assert trials.equal_until(9.5)(*views(LOSSY, later)) is not None


def test_the_first_difference_in_time_is_told() -> None:
    later = copy.deepcopy(LOSSY)
    later["bottleneck"]["outages"] = [{"begin": "8 s", "length": "1 s"}]
    found = trials.equal(*views(LOSSY, later))
    assert found is not None
    assert " at 8.1 s: " in found


def test_a_run_whose_timeout_is_not_scaled_is_no_slow_motion() -> None:
    tables = table(duration="8 s", bottleneck={"rate": "10 Mbit/s", "buffer": "3 packets", "loss": 0.05})
    trial = scaling.times(tables, random.Random(1))
    assert trial is not None
    assert trials.finding(trial) is None
    other = copy.deepcopy(trial.other)
    other["flow"][0]["rto_min"] = "200 ms"
    assert trials.finding(trial._replace(other=other)) is not None


def test_a_flow_that_counts_bytes_does_not_scale_with_its_packets() -> None:
    trial = scaling.packets(table(), random.Random(3))
    assert trial is not None
    assert trials.finding(trial) is None
    other = copy.deepcopy(trial.other)
    other["bottleneck"]["buffer"] = "15 kB"
    one = trial.one | {"bottleneck": trial.one["bottleneck"] | {"buffer": "15 kB"}}
    assert trials.finding(trial._replace(one=one, other=other)) is not None


def test_other_units_are_really_other_ones(drawn: list[dict[str, Any]]) -> None:
    trial = relations.in_other_units(drawn[0], random.Random(1))
    assert trial.one != trial.other
    assert trial.other["duration"] != trial.one["duration"]


def test_a_finding_is_made_smaller_while_it_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def lossy(tables: dict[str, Any], draws: random.Random) -> Trial:
        return Trial(tables, tables | {"seed": 2}, trials.equal)

    monkeypatch.setitem(relations.RELATIONS, "lossy", lossy)
    assert relations.check("lossy", LOSSY, 1) is not None
    small = relations.shrunk("lossy", LOSSY, 1)
    assert small == {
        "duration": "10 s",
        "bottleneck": {"rate": "10 Mbit/s", "loss": 0.01},
        "flow": [{"rtt": "40 ms"}],
    }
