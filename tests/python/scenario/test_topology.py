"""Scenarios of nodes and links: paths, plans, figures, and what is refused."""

from typing import Any

import pytest

import longfat
from longfat import _core
from longfat.errors import ScenarioError
from longfat.scenario.model import Scenario


def links(*given: dict[str, Any]) -> list[dict[str, Any]]:
    """Links of 10 Mbit/s, 5 ms and 50 packets but for what is given."""
    return [{"rate": "10 Mbit/s", "delay": "5 ms", "buffer": "50 packets"} | link for link in given]


CHAIN = ({"from": "A", "to": "R"}, {"from": "R", "to": "B"})


def table(*given: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """One flow from A to B for 5 s."""
    return {
        "duration": "5 s",
        "link": links(*(given or CHAIN)),
        "flow": [{"from": "A", "to": "B"}],
    } | changes


def network(*given: dict[str, Any], **changes: Any) -> Scenario:
    return Scenario.from_dict(table(*given, **changes))


def test_a_flow_takes_the_path_with_the_least_delay_and_its_rtt_is_that_path_s() -> None:
    # 4 + 3 ms by R against 9 ms straight; back likewise, as links are duplex
    built = network(
        {"from": "A", "to": "B", "delay": "9 ms"},
        {"from": "A", "to": "R", "delay": "4 ms"},
        {"from": "R", "to": "B", "delay": "3 ms"},
    )
    plan = built.plan
    flow = plan["flows"][0]
    assert [link["name"] for link in plan["links"]] == ["A-B", "A-R", "R-B", "B-A", "R-A", "B-R"]
    assert (flow["forward"], flow["reverse"]) == ([1, 2], [5, 4])
    assert flow["rtt_s"] == pytest.approx(0.014)


def test_of_paths_as_long_the_one_with_fewer_links_is_taken() -> None:
    built = network(*CHAIN, {"from": "A", "to": "B", "delay": "10 ms"})
    assert built.plan["flows"][0]["forward"] == [2]


def test_links_of_one_way_make_the_way_back_another_one() -> None:
    one_way = {"duplex": False}
    built = network(
        {"from": "A", "to": "B"} | one_way,
        {"from": "B", "to": "R", "delay": "20 ms"} | one_way,
        {"from": "R", "to": "A", "delay": "1 ms"} | one_way,
    )
    flow = built.plan["flows"][0]
    assert (flow["forward"], flow["reverse"]) == ([0], [1, 2])
    assert flow["rtt_s"] == pytest.approx(0.026)


def test_the_way_back_is_drop_tail_with_the_same_rate_delay_and_buffer() -> None:
    built = network(
        {"name": "x", "from": "A", "to": "R", "queue": "red", "router": "xcp", "loss": 0.1, "ack_loss": 0.2},
        {"from": "R", "to": "B", "layer": 2},
    )
    there, other, back, _ = built.plan["links"]
    assert (there["name"], back["name"]) == ("x", "x-back")
    assert there["queue"]["kind"] == "red"
    assert there["router"]["kind"] == "xcp"
    limit = {"limit_packets": 50, "limit_bytes": None}
    assert back["queue"] == {"kind": "droptail", **limit}
    assert back["router"] is None
    assert (back["rate_bps"], back["delay_s"]) == (there["rate_bps"], there["delay_s"])
    assert (there["loss"], there["ack_loss"]) == ({"kind": "random", "probability": 0.1}, {"kind": "none"})
    assert (back["loss"], back["ack_loss"]) == ({"kind": "none"}, {"kind": "random", "probability": 0.2})
    assert (there["layer2"], other["layer2"]) == (False, True)
    assert there["nodes"] == back["nodes"][::-1]


def test_a_buffer_in_bdp_goes_by_the_smallest_rtt_of_a_flow() -> None:
    flows = [{"from": "A", "to": "B"}, {"from": "A", "to": "R"}]
    built = network({"from": "A", "to": "R", "buffer": "100 % BDP"}, CHAIN[1], flow=flows)
    # 10 Mbit/s x 10 ms = 12 500 bytes
    assert built.plan["links"][0]["queue"]["limit_packets"] == 8


def test_a_path_of_two_links_takes_as_long_as_its_links_and_carries_what_the_narrower_one_does() -> None:
    ran = longfat.run(
        network({"from": "A", "to": "R", "rate": "5 Mbit/s"}, CHAIN[1], window=["2 s", "5 s"])
    ).summary
    by_name = {link["name"]: link for link in ran["links"]}
    assert list(by_name) == ["A-R", "R-B", "R-A", "B-R"]
    assert by_name["A-R"]["utilization"] > 0.95
    assert by_name["R-B"]["utilization"] == pytest.approx(0.5 * by_name["A-R"]["utilization"], rel=0.01)
    assert ran["flows"][0]["rtt_s"] == pytest.approx(0.02)
    assert ran["metrics"]["inefficiency"] == pytest.approx(1 - by_name["A-R"]["utilization"], abs=1e-6)


def test_two_bottlenecks_let_the_flow_over_both_have_less_than_those_over_one() -> None:
    # the parking lot: Floyd, CCR 1991
    flows = [{"from": "A", "to": "C"}, {"from": "A", "to": "B"}, {"from": "B", "to": "C"}]
    given = {"from": "A", "to": "B"}, {"from": "B", "to": "C"}
    ran = longfat.run(network(*given, flow=flows, duration="40 s", window=["5 s", "40 s"])).summary
    long, *short = (flow["goodput_bps"] for flow in ran["flows"])
    assert all(long < 0.8 * rate for rate in short)
    assert all(link["utilization"] > 0.9 for link in ran["links"][:2])


def test_the_same_results_by_both_drivers() -> None:
    built = network(*CHAIN, flow=[{"from": "A", "to": "B"}, {"from": "B", "to": "R", "start": "1 s"}])
    fast, plain = (_core.simulate(built.core, {}, fast=fast)["summary"] for fast in (True, False))
    assert fast["flows"] == plain["flows"]
    assert fast["links"] == plain["links"]


def test_background_traffic_has_its_own_ends_and_its_load_is_a_share_of_the_narrowest_link() -> None:
    built = network(
        {"from": "A", "to": "R"},
        {"from": "R", "to": "B", "rate": "4 Mbit/s"},
        background=[{"kind": "short", "load": "50 %", "from": "A", "to": "B"}],
    )
    assert built.network().asked_bps[0] == pytest.approx(2e6)
    plan = built.plan["background"][0]["flow"]
    assert (plan["forward"], plan["rtt_s"]) == ([0, 1], pytest.approx(0.02))


def test_a_scenario_of_links_is_written_and_read_back() -> None:
    built = network(
        *CHAIN,
        node=[{"name": "A"}],
        background=[{"kind": "surge", "load": "20 %", "from": "A", "to": "B"}],
    )
    assert Scenario.from_toml(built.to_toml()) == built
    assert Scenario.from_toml(built.filled().to_toml()) == built.filled()
    assert Scenario.from_toml(built.filled().to_toml()).plan == built.plan
    assert built.with_values({"flow.0.to": "R"}).flow[0].to == "R"


def test_an_xcp_flow_over_links_without_its_router_is_run_and_said() -> None:
    built = network(
        {"from": "A", "to": "R", "router": "xcp"},
        CHAIN[1],
        flow=[{"algorithm": "xcp", "from": "A", "to": "B"}],
    )
    expected = ["flow.0 (xcp) crosses links without a router: R-B"]
    assert built.notes() == expected
    assert built.warnings() == []
    assert longfat.run(built).summary["notes"] == expected
    assert longfat.run(network()).summary["notes"] == []


def test_the_series_of_links_have_the_capacity_at_each_sample() -> None:
    steps = {"steps": [["0 s", "10 Mbit/s"], ["2 s", "4 Mbit/s"]]}
    ran = longfat.run(network({"from": "A", "to": "R", "rate": steps}, CHAIN[1]))
    series = ran.link("A-R")
    late = series["time_s"] >= 2.0
    assert set(series["capacity_bps"][late]) == {4e6}
    assert set(series["capacity_bps"][~late]) == {1e7}
    assert set(ran.link("R-A")["capacity_bps"]) == {1e7}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"bottleneck": {"rate": "1 Mbit/s"}}, "link: [bottleneck] and [[link]] exclude each other"),
        ({"flow": [{"from": "A"}]}, "flow.0.to: this key is missing; accepted: the name of a node"),
        (
            {"flow": [{"from": "A", "to": "C"}]},
            'flow.0.to = "C": no link leads there; accepted: "A", "R", "B"',
        ),
        (
            {"flow": [{"from": "A", "to": "A"}]},
            'flow.0.to = "A": this is the node of `from`, too; accepted: two nodes',
        ),
        (
            {"node": [{"name": "C"}], "flow": [{"from": "A", "to": "C"}]},
            'flow.0: no path leads from "A" to "C"; accepted: nodes that links connect, both ways',
        ),
        (
            {"link": links({"from": "A", "to": "B", "duplex": False})},
            'flow.0: no path leads from "B" to "A"',
        ),
        (
            {"flow": [{"from": "A", "to": "B", "rtt": "1 ms"}]},
            'flow.0.rtt = "1 ms": it does not go with [[link]]',
        ),
        ({"link": links({"from": "A", "to": "A"})}, 'link.0.to = "A": this is the node of `from`, too'),
        (
            {"link": links({"from": "A", "to": "B"}, {"from": "B", "to": "A"})},
            'link.0: two links are called "B-A"',
        ),
        ({"node": [{"name": "A"}, {"name": "A"}]}, 'node.1: two nodes are called "A"'),
        ({"link": links({"to": "B"})}, 'link.0.from: this key is missing; accepted: a name such as "R1"'),
        (
            {"link": links({"from": "A", "to": "B", "layer": 4})},
            "link.0.layer = 4: there is no such choice; accepted: 2 or 3",
        ),
        (
            {"link": links({"from": "A", "to": "B", "layer": 2, "router": "xcp-i"})},
            'link.0.router = "xcp-i": a switch (layer = 2) has no router; accepted: with a router, layer = 3',
        ),
        (
            {"link": links({"from": "A", "to": "B", "colour": 4})},
            "link.0.colour: there is no such key; accepted: ",
        ),
        ({"link": links({"from": "A", "to": "B", "delay": 4})}, "link.0.delay = 4: "),
        ({"link": links({"from": "A", "to": "B", "router": "xpc"})}, "link.0.router"),
        (
            {"link": links({"from": "A", "to": "B", "delay": "0 s", "buffer": "50 % BDP"})},
            'link.0.buffer = "50 % BDP": this is in BDP, and links without delay have none; accepted: '
            "packets, bytes or a time",
        ),
        ({"link": []}, "bottleneck: this key is missing; accepted: a table, [bottleneck]"),
        (
            {"background": [{"kind": "web", "from": "A", "to": "Z"}]},
            'background.0.to = "Z": no link leads there',
        ),
    ],
)
def test_networks_that_do_not_fit_together_are_refused_in_one_line(
    changes: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        network(**changes)
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].startswith(f"scenario: {expected}")


def test_a_dumbbell_s_flows_name_no_nodes_and_nodes_need_links() -> None:
    dumbbell = {"duration": "1 s", "bottleneck": {"rate": "1 Mbit/s"}, "flow": [{"rtt": "1 ms", "from": "A"}]}
    problem = r'flow.0.from = "A": it goes with \[\[link\]\], not with \[bottleneck\]'
    with pytest.raises(ScenarioError, match=problem):
        Scenario.from_dict(dumbbell)
    alone = {"duration": "1 s", "node": [{"name": "A"}], "flow": [{"rtt": "1 ms"}]}
    with pytest.raises(
        ScenarioError, match=r"\[\[node\]\] stands without \[\[link\]\]; accepted: both, or \[bottleneck\]"
    ):
        Scenario.from_dict(alone)
