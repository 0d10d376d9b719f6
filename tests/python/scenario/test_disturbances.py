"""Links that disturb packets: what scenarios say of it, and what is refused."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import InputError
from longfat.scenario.model import Scenario

UNDISTURBED = {
    "reorder": None,
    "jitter": 0.0,
    "duplicate": 0.0,
    "added_delay": None,
    "remark": None,
    "overtaking": False,
    "outages": [],
}


def data(**keys: Any) -> dict[str, Any]:
    return {
        "duration": "2 s",
        "bottleneck": {"rate": "10 Mbit/s", **keys},
        "flow": [{"rtt": "20 ms"}],
    }


def disturbances(scenario: dict[str, Any]) -> list[dict[str, Any] | None]:
    return [link["disturbance"] for link in Scenario.from_dict(scenario).plan["links"]]


def test_only_the_medium_disturbs_the_way_back() -> None:
    outages = [{"begin": "1 s", "length": "100 ms", "queue": "drains"}]
    there, back = disturbances(
        data(
            reorder={"probability": "1 %", "delay": "10 ms"},
            jitter="2 ms",
            duplicate=0.1,
            added_delay={"steps": [["0 s", "0 ms"], ["1 s", "20 ms"]]},
            outages=outages,
        )
    )
    assert there is not None
    assert back is not None
    assert there["disturbed"] == {
        "reorder": {"probability": 0.01, "delay_s": 0.01},
        "jitter": 0.002,
        "duplicate": 0.1,
        "added_delay": {"steps": [[0.0, 0.0], [1.0, 0.02]]},
        "remark": None,
        "overtaking": False,
        "outages": [{"begin_s": 1.0, "length_s": 0.1, "drains": True}],
    }
    assert back["disturbed"] == UNDISTURBED | {
        key: there["disturbed"][key] for key in ("added_delay", "outages")
    }
    assert there["medium"] == back["medium"] == "bottleneck"
    assert disturbances(data()) == disturbances(data(jitter="0 s", duplicate=0, outages=[])) == [None, None]


def test_both_ways_of_a_link_share_its_medium() -> None:
    link = {"from": "A", "to": "B", "rate": "10 Mbit/s", "delay": "5 ms", "name": "dish"}
    handovers = {"handovers": {"period": "15 s", "range": "20 ms"}}
    found = disturbances(
        {"duration": "1 s", "link": [link | {"added_delay": handovers}], "flow": [{"from": "A", "to": "B"}]}
    )
    added = {"handovers": {"period_s": 15.0, "range_s": 0.02}}
    planned = {"disturbed": UNDISTURBED | {"added_delay": added}, "medium": "dish"}
    assert found == [planned, planned]


def test_a_trace_of_delays_is_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "leo.delays").write_text("# ms ms\n0 3\n15000, 12.5\n\n30000 4 # down again\n")
    file = tmp_path / "x.toml"
    file.write_text(
        'duration = "1 s"\n[bottleneck]\nrate = "10 Mbit/s"\nadded_delay = { trace = "leo.delays" }\n'
        '[[flow]]\nrtt = "20 ms"\n'
    )
    scenario = Scenario.load(file)
    steps = [[0.0, 0.003], [15.0, 0.0125], [30.0, 0.004]]
    assert scenario.plan["links"][0]["disturbance"]["disturbed"] == UNDISTURBED | {
        "added_delay": {"steps": steps}
    }
    written = scenario.filled().to_dict()["bottleneck"]["added_delay"]
    digest = hashlib.sha256((tmp_path / "leo.delays").read_bytes()).hexdigest()
    assert written == {"trace": str(tmp_path / "leo.delays"), "sha256": digest}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"reorder": 0.01}, 'accepted: { probability = 0.01, delay = "10 ms" }'),
        (
            {"reorder": {"probability": 2, "delay": "10 ms"}},
            "probability: the number is too large; accepted: a share of the packets",
        ),
        ({"reorder": {"probability": 0.1, "delay": 10}}, "delay: "),
        ({"jitter": "200 s"}, "accepted: from 0 s to 100 s"),
        ({"duplicate": -1}, "accepted: a share of the packets from 0 to 1"),
        ({"added_delay": "20 ms"}, "accepted: { steps = "),
        (
            {"added_delay": {"steps": []}},
            "steps: this is no such list; accepted: a list of 1 to 100000 pairs",
        ),
        (
            {"added_delay": {"steps": [["1 s", "1 ms"], ["1 s", "2 ms"]]}},
            "steps, pair 2: the time is not later; accepted: a time after",
        ),
        (
            {"added_delay": {"handovers": {"period": "1 ms", "range": "1 ms"}}},
            "handovers.period: the time is too small; accepted: from 100 ms",
        ),
        ({"added_delay": {"trace": "nowhere.delays"}}, "No such file"),
        ({"overtaking": 3}, "true or false"),
        ({"outages": {"begin": "1 s", "length": "1 s"}}, "accepted: a list"),
        (
            {"outages": [{"begin": "1 s"}]},
            'outage 1: length is missing; accepted: { begin = "10 s", length = "2 s" }',
        ),
        ({"outages": [{"begin": "1 s", "length": "1 s", "queue": "x"}]}, '"waits" or "drains"'),
        (
            {"outages": [{"begin": "1 s", "length": "1 s"}, {"begin": "1.5 s", "length": "1 s"}]},
            "outage 2 begins too early; accepted: a begin after the end of the outage before",
        ),
        (
            {"outages": [{"begin": "1 s", "length": "1 s"}], "service_tick": "1 ms"},
            ": a queue that is served at ticks cannot wait; accepted: with service_tick, queue = "
            '"drains" in '
            "each of them",
        ),
    ],
)
def test_bad_values_are_refused_in_one_line(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        Scenario.from_dict(data(**keys))
    lines = str(refused.value).splitlines()
    assert len(lines) == 1
    assert said in lines[0]
    assert next(iter(keys)) in lines[0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("", "it is empty"),
        ("0 1\n0 2\n", "line 2: 0 comes after 0"),
        ("0 one\n", "line 1: '0 one'"),
        ("0\n", "line 1: '0': 1 column; accepted: "),
        ("0 1e9\n", "delays up to 100 s"),
        ("0 1\nnan 1\n", "line 2"),
    ],
)
def test_a_bad_trace_is_refused_with_its_line(tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "x.delays"
    path.write_text(lines)
    with pytest.raises(InputError, match="added_delay") as refused:
        Scenario.from_dict(data(added_delay={"trace": str(path)}))
    assert said in str(refused.value)


def test_repeats_differ_where_a_disturbance_is_drawn() -> None:
    drawn = [
        {"jitter": "2 ms"},
        {"duplicate": 0.5},
        {"reorder": {"probability": 0.5, "delay": "1 ms"}},
        {"added_delay": {"handovers": {"period": "1 s", "range": "1 ms"}}},
    ]
    fixed = [{}, {"duplicate": 1}, {"added_delay": {"steps": [["0 s", "1 ms"]]}}]
    fixed.append({"outages": [{"begin": "1 s", "length": "1 s"}]})
    assert all(Scenario.from_dict(data(**keys)).varies() for keys in drawn)
    assert not any(Scenario.from_dict(data(**keys)).varies() for keys in fixed)


def test_an_added_delay_is_in_the_round_trip_time_twice() -> None:
    def srtt(**keys: Any) -> float:
        scenario = data(**keys) | {"duration": "20 s", "window": ["10 s", "20 s"]}
        scenario["flow"] = [{"rtt": "20 ms", "max_window": 5, "delayed_ack": False}]
        return float(longfat.run(scenario).summary["flows"][0]["srtt_mean_s"])

    added = srtt(added_delay={"steps": [["0 s", "0 ms"], ["5 s", "30 ms"]]}) - srtt()
    assert added == pytest.approx(0.06, abs=1e-3)
