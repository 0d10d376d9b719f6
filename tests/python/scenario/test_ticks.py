"""Links that tick, hosts with moderated interrupts and random delays, as a scenario writes them."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

import longfat
from longfat.errors import InputError
from longfat.scenario.model import Scenario

DUMBBELL: dict[str, Any] = {
    "duration": "2 s",
    "bottleneck": {"rate": "100 Mbit/s", "buffer": "50 packets", "service_tick": "1 ms"},
    "flow": [{"rtt": "20 ms"}],
}


def dumbbell(**bottleneck: Any) -> Scenario:
    data = copy.deepcopy(DUMBBELL)
    data["bottleneck"] |= bottleneck
    return Scenario.from_dict(data)


def test_both_ways_of_a_dumbbell_share_one_clock() -> None:
    links = dumbbell().plan["links"]
    assert [(link["service_tick_s"], link["clock"]) for link in links] == [(0.001, "bottleneck")] * 2


def test_each_link_has_a_clock_of_its_own_for_both_its_ways() -> None:
    ticking = {"rate": "10 Mbit/s", "delay": "5 ms", "service_tick": "2 ms"}
    ends = [{"from": "A", "to": "B"}, {"from": "B", "to": "C", "name": "x"}]
    data = {
        "duration": "1 s",
        "link": [*(end | ticking for end in ends), {"from": "C", "to": "D", "rate": "10 Mbit/s"}],
        "flow": [{"from": "A", "to": "D"}],
    }
    clocks = {link["name"]: link.get("clock") for link in Scenario.from_dict(data).plan["links"]}
    assert clocks == {"A-B": "A-B", "B-A": "A-B", "x": "x", "x-back": "x", "C-D": None, "D-C": None}


def test_a_tick_longer_than_the_buffer_takes_to_drain_gets_a_warning() -> None:
    # 50 packets of 1500 bytes at 100 Mbit/s take 6 ms
    assert dumbbell().warnings() == []
    assert dumbbell(service_tick="7 ms", reverse_buffer="10 packets").warnings() == [
        'bottleneck.service_tick = "7 ms" is longer than bottleneck.buffer takes to drain, 6 ms: '
        "a tick can hand out more than fits",
        'bottleneck.service_tick = "7 ms" is longer than bottleneck.reverse_buffer takes to drain, 1.2 ms: '
        "a tick can hand out more than fits",
    ]


@pytest.mark.parametrize("value", ["-1 ms", "1 ns", "11 s", "1", 1, "1 packets"])
def test_a_bad_tick_is_refused_in_one_line_with_what_is_accepted(value: Any) -> None:
    with pytest.raises(InputError) as refusal:
        dumbbell(service_tick=value)
    (line,) = str(refusal.value).splitlines()
    assert "bottleneck.service_tick" in line
    assert "accepted" in line


@pytest.mark.parametrize("key", ["interrupt_moderation", "send_jitter"])
def test_a_bad_time_of_a_host_is_refused(key: str) -> None:
    data = copy.deepcopy(DUMBBELL)
    data["flow"][0][key] = "-1 us"
    with pytest.raises(InputError, match=rf"flow\.0\.{key}.*accepted"):
        Scenario.from_dict(data)


def test_random_delays_are_tcp_s_and_interrupts_are_every_host_s() -> None:
    data = copy.deepcopy(DUMBBELL)
    data["flow"] = [{"rtt": "20 ms", "algorithm": "udt", "interrupt_moderation": "125 us"}]
    assert Scenario.from_dict(data).plan["flows"][0]["transport"]["interrupt_moderation"] == 125e-6
    data["flow"][0]["send_jitter"] = "1 ms"
    with pytest.raises(InputError, match='send_jitter = "1 ms": it does not go with'):
        Scenario.from_dict(data)


def test_what_draws_makes_repeats_differ() -> None:
    data = copy.deepcopy(DUMBBELL)
    assert Scenario.from_dict(data).varies()
    del data["bottleneck"]["service_tick"]
    assert not Scenario.from_dict(data).varies()
    data["flow"][0]["interrupt_moderation"] = "125 us"
    assert not Scenario.from_dict(data).varies()
    data["flow"][0]["send_jitter"] = "1 ms"
    assert Scenario.from_dict(data).varies()


def test_keys_survive_a_scenario_written_out_and_the_run_uses_them() -> None:
    data = copy.deepcopy(DUMBBELL)
    data["flow"][0] |= {"interrupt_moderation": "125 us", "send_jitter": "1 ms"}
    scenario = Scenario.from_dict(data)
    again = Scenario.from_toml(scenario.filled().to_toml())
    assert json.dumps(again.plan) == json.dumps(scenario.filled().plan)
    plain = copy.deepcopy(data)
    del plain["bottleneck"]["service_tick"]
    ticked, smooth = (longfat.run(case).summary["links"][0]["queue_max_packets"] for case in (data, plain))
    assert ticked >= smooth > 0
