from typing import Any

import pytest

from longfat import _core
from longfat.scenario.model import Scenario
from samples import scenario


def test_twenty_percent_of_the_reference_bdp_are_175_packets() -> None:
    # Li, Leith, Shorten 2007: 250 Mbit/s x 42 ms = 875 packets of 1500 bytes.
    plan = scenario(
        {"bottleneck.rate": "250 Mbit/s", "bottleneck.buffer": "20 % BDP", "flow.0.rtt": "42 ms"}
        | {"flow.1.rtt": "82 ms"}
    ).plan
    assert plan["links"][0]["queue"] == {
        "kind": "droptail",
        "limit_packets": 175,
        "limit_bytes": None,
    }


@pytest.mark.parametrize(
    ("buffer", "limit"),
    [
        ("175 packets", {"limit_packets": 175}),
        ("512 KiB", {"limit_bytes": 524288}),
        ("10 ms", {"limit_packets": 8}),  # 10 Mbit/s x 10 ms = 12500 bytes = 8.33 packets
        ("1 us", {"limit_packets": 1}),
        ("100 % BDP", {"limit_packets": 33}),  # 10 Mbit/s x 40 ms = 50000 bytes
    ],
)
def test_buffers_become_whole_packets_or_bytes(buffer: str, limit: dict[str, int]) -> None:
    assert scenario({"bottleneck.buffer": buffer}).plan["links"][0]["queue"] == {
        "kind": "droptail",
        "limit_packets": None,
        "limit_bytes": None,
        **limit,
    }


def test_buffer_rtt_replaces_the_smallest_rtt() -> None:
    plan = scenario({"bottleneck.buffer": "100 % BDP", "bottleneck.buffer_rtt": "80 ms"}).plan
    assert plan["links"][0]["queue"]["limit_packets"] == 66


@pytest.mark.parametrize(
    ("buffer", "packets"), [("50 packets", 1000), ("3000 packets", 3000), ("6 MB", 4000)]
)
def test_the_reverse_buffer_is_the_forward_one_but_at_least_1000_packets(buffer: str, packets: int) -> None:
    plan = scenario({"bottleneck.buffer": buffer}).plan
    queue = plan["links"][1]["queue"]
    assert (queue["kind"], queue["limit_packets"]) == ("droptail", packets)


def test_a_queue_has_every_parameter_in_the_registrys_units() -> None:
    queue = {
        "kind": "red",
        "min": "25 packets",
        "max": "75 packets",
        "weight": 0.002,
        "target_delay": "0.02 s",
    }
    planned = scenario({"bottleneck.queue": queue | {"gentle": False}}).plan["links"][0]["queue"]
    given = {
        "kind": "red",
        "min": 25.0,
        "max": 75.0,
        "weight": 0.002,
        "target_delay": 20.0,
        "gentle": "false",
    }
    assert planned == planned | given | {
        "max_p": 0.1,
        "adaptive": "false",
        "ecn": "false",
        "limit_packets": 50,
    }


def test_losses_go_to_the_link_that_they_are_meant_for() -> None:
    plan = scenario({"bottleneck.loss": 1e-5, "bottleneck.ack_loss": {"every": 10}}).plan
    none = {"kind": "none"}
    assert [(link["loss"], link["ack_loss"]) for link in plan["links"]] == [
        ({"kind": "random", "probability": 1e-5}, none),
        (none, {"kind": "every", "packets": 10}),
    ]


def test_counted_flows_are_entries_of_their_own_with_staggered_starts() -> None:
    plan = scenario(flow=[{"rtt": "40 ms", "start": "1 s", "count": 3, "stagger": "500 ms"}]).plan
    assert [(flow["name"], flow["start_s"]) for flow in plan["flows"]] == [("1", 1.0), ("2", 1.5), ("3", 2.0)]


def test_staggering_shifts_uniform_starts() -> None:
    flow = {"rtt": "40 ms", "start": {"uniform": ["0 s", "2 s"]}, "count": 2, "stagger": "1 s"}
    plan = scenario(flow=[flow]).plan
    assert [entry["start_s"] for entry in plan["flows"]] == [{"uniform": [0.0, 2.0]}, {"uniform": [1.0, 3.0]}]


def test_the_way_back_has_the_queue_that_was_asked_for_and_its_own_limit() -> None:
    given = scenario(
        {
            "bottleneck.queue": "codel",
            "bottleneck.reverse_queue": {"kind": "red", "ecn": True},
            "bottleneck.reverse_buffer": "70 packets",
        }
    )
    queues = [link["queue"] for link in given.plan["links"]]
    assert [queue["kind"] for queue in queues] == ["codel", "red"]
    assert (queues[1]["limit_packets"], queues[1]["ecn"]) == (70, "true")
    assert given.varies()
    assert Scenario.from_toml(given.to_toml()) == given
    assert [link["queue"]["kind"] for link in scenario().plan["links"]] == ["droptail", "droptail"]


def test_reverse_flows_send_over_the_reverse_link() -> None:
    plan = scenario({"flow.1.direction": "reverse"}).plan
    assert [(flow["forward"], flow["reverse"]) for flow in plan["flows"]] == [([0], [1]), ([1], [0])]


def test_background_in_both_directions_is_two_entries() -> None:
    web = {"kind": "web", "sessions": 7, "direction": "both"}
    entries = scenario(background=[web]).plan["background"]
    assert [(entry["name"], entry["flow"]["forward"]) for entry in entries] == [
        ("web-1-forward", [0]),
        ("web-1-reverse", [1]),
    ]
    assert {entry["sessions"] for entry in entries} == {7}
    assert {entry["flow"]["rtt_s"] for entry in entries} == {0.04}


def test_infinite_windows_are_null() -> None:
    flow = scenario({"flow.0.max_window": 500}).plan["flows"][0]["transport"]
    assert (flow["initial_ssthresh"], flow["max_window"]) == (None, 500.0)


def test_a_users_own_algorithm_is_custom_in_the_plan() -> None:
    class Mine:
        def on_ack(self, ack: Any, window: Any) -> None: ...
        def on_congestion(self, event: Any, window: Any) -> None: ...

    assert scenario({"flow.0.algorithm": Mine}).plan["flows"][0]["transport"]["algorithm"]["kind"] == "custom"


def test_planning_twice_gives_the_same_and_filling_in_changes_nothing() -> None:
    first = scenario(background=[{"kind": "web"}])
    assert first.plan == first.plan == first.filled().plan


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"flow.0.rtt": {"uniform": ["1 ms", "2 ms"]}, "flow.0.start": {"exponential": "1 s"}},
        {"bottleneck.loss": {"gilbert_elliott": {"good_to_bad": 1e-3, "bad_to_good": 0.5}}},
        {
            "flow.0.bytes": "1 MB",
            "flow.0.stop": "5 s",
            "flow.0.loss_detection": "newreno",
            "flow.0.recovery": "prr",
        },
        {"background": [{"kind": "web", "rtt": {"exponential": "30 ms"}}]},
        {"bottleneck.buffer": "64 KiB", "window": ["1 s", "2 s"]},
    ],
)
def test_the_core_takes_every_kind_of_plan(values: dict[str, Any]) -> None:
    summary = _core.simulate(scenario({"duration": "3 s"} | values).core, {})["summary"]
    assert summary["packets"] > 0
