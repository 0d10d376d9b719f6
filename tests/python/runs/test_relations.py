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
from longfat.scenario import registry
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


def test_what_is_sampled_does_not_change_connections_that_come_and_go() -> None:
    short = {"kind": "short", "rtt": "71.1318 us", "gap": "49.2634 us"}
    tables = {
        "duration": "3.64524 ms",
        "bottleneck": {"rate": "4.87177 Gbit/s", "queue": "fq_codel"},
        "background": [short],
        "sample": {"cwnd": "713664 ns", "queue": "214099 ns"},
    }
    found = {seed: relations.check("sampling", tables, seed) for seed in range(8)}
    assert set(found.values()) == {None}


def test_an_idle_flow_beside_backgrounds_alone_has_the_round_trip_time_of_their_buffers() -> None:
    slow = {"kind": "onoff", "rtt": "2 ms", "sources": 3, "load": "90 %"}
    fast = {"kind": "bulk", "rtt": "1 ms", "flows": 2}
    tables = {"duration": "50 ms", "bottleneck": {"rate": "100 Mbit/s", "buffer": "50 % BDP"}}
    assert relations.check("idle flow", {**tables, "background": [slow, fast]}, 1) is None
    large = {**slow, "mss": "8948 B"}  # now no part has both the least time and the largest packet
    assert relations.idle_flow({**tables, "background": [large, fast]}, random.Random(1)) is None


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


ALONE = (
    *("yeah", "africa", "ltcp", "hstcp-lp", "ctcp", "vegas", "westwood", "westwood+", "illinois", "tri_s"),
    *("prague", "hybla", "veno", "lp", "cdg", "ledbat", "ledbat++", "cadpc"),
)
"""Algorithms that look at times: those of their parameters are scaled with all others."""
PER_TIME = {"vegas": ("alpha_rate", "beta_rate"), "westwood+": ("hz",)}
IN_TIME = {"cdg": ("scale",), "ledbat": ("base_history",), "ledbat++": ("base_history",)}
"""Parameters of another unit than a time or a rate that scale as these do."""


def slow(algorithm: str, loss: float, k: int) -> dict[str, Any]:
    """Two flows at 1/k of the speed."""
    chosen: dict[str, Any] = {"name": algorithm}
    row = registry.find("algorithms", algorithm)
    for parameter in row["parameters"]:
        name = parameter["name"]
        timed = parameter["unit"] in ("s", "ms") or name in IN_TIME.get(algorithm, ())
        factor = k if timed else 1 / k if name in PER_TIME.get(algorithm, ()) else None
        if factor is not None:
            value = float(parameter["default"]) * factor
            chosen[name] = registry.written(algorithm, parameter, value)
    timers = {"delayed_ack_timeout": f"{40 * k} ms", "initial_rto": f"{k} s"}
    flow = {"algorithm": chosen, "rto_min": f"{200 * k} ms"} | (timers if row["transport"] == "tcp" else {})
    way = {"rate": f"{8_000_000 // k} bit/s", "access_rate": f"{80_000_000 // k} bit/s", "loss": loss}
    return {
        "duration": f"{10 * k} s",
        "bottleneck": way | {"buffer": "30 packets"},
        "flow": [flow | {"rtt": f"{40 * k} ms"}, flow | {"rtt": f"{60 * k} ms", "start": f"{k} s"}],
        "sample": {"cwnd": f"{100 * k} ms", "queue": f"{100 * k} ms"},
    }


@pytest.mark.parametrize("algorithm", ALONE)
def test_an_algorithm_whose_times_are_parameters_does_the_same_in_slow_motion(algorithm: str) -> None:
    for loss in (0.0, 0.003):
        assert (
            scaling.equal_in_slow_motion(*views(slow(algorithm, loss, 1), slow(algorithm, loss, 2))) is None
        )


def test_cubic_which_grows_with_the_seconds_does_not() -> None:
    assert scaling.equal_in_slow_motion(*views(slow("cubic", 0.0, 1), slow("cubic", 0.0, 2))) is not None


def test_a_buffer_in_bytes_does_not_scale_with_the_packets() -> None:
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
