"""Marks beyond RFC 3168: the words of `ecn`, `abe`, the ends of slow-start, and what is said about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import InputError, ScenarioError
from longfat.live.check import check
from longfat.scenario.model import Scenario

ROOT = Path(__file__).parents[3]


def scenario(queue: Any = "droptail", **flow: Any) -> Scenario:
    bottleneck = {"rate": "10 Mbit/s", "buffer": "100 % BDP", "queue": queue}
    flows = [{"algorithm": "reno", "rtt": "40 ms"} | flow]
    return Scenario.from_dict({"duration": "20 s", "bottleneck": bottleneck, "flow": flows})


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ({"ecn": "l4"}, 'accepted: true, false, "accurate" or "l4s"'),
        ({"ecn": 1}, 'accepted: true, false, "accurate" or "l4s"'),
        ({"abe": True, "algorithm": "hstcp"}, 'abe = true: it does not go with "hstcp"'),
        ({"abe": True, "algorithm": "dctcp"}, 'accepted: beside it "reno"'),
        ({"slow_start": "hystart"}, "hystart++"),
        ({"slow_start": "hystart++", "algorithm": "xcp"}, "which its routers guide"),
        ({"slow_start": "search", "algorithm": "prague"}, "which controls the window itself"),
        ({"slow_start": "search", "algorithm": {"name": "cubic", "hystart": True}}, "cubic's own HyStart"),
        (
            {"slow_start": "search", "algorithm": {"name": "cubic", "variant": "linux", "hystart": "auto"}},
            "hystart = false",
        ),
        ({"algorithm": {"name": "dctcp", "g": 2}}, "dctcp.g"),
        ({"algorithm": {"name": "prague", "rtt_target": 5}}, "a time needs a unit"),
    ],
)
def test_unsound_keys_are_refused_in_one_line(flow: dict[str, Any], expected: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(**flow)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_slow_start_that_is_written_out_takes_the_place_of_a_variant_s_own() -> None:
    found = scenario(slow_start="search", algorithm={"name": "cubic", "variant": "linux"})
    assert found.flow[0].algorithm.parameters["hystart"] == "off"


def test_what_ecn_is_reaches_the_plan_as_a_word() -> None:
    for value, word in ((True, "on"), (False, "off"), ("accurate", "accurate"), ("l4s", "l4s")):
        assert scenario(ecn=value).plan["flows"][0]["transport"]["ecn"] == word


def test_a_flow_with_ect_1_is_noted_where_no_queue_knows_l4s_and_where_its_response_is_not_scalable() -> None:
    assert scenario("dualpi2", algorithm="prague").notes() == []
    assert scenario("dualpi2", algorithm="dctcp", ecn="l4s").notes() == []
    (queue,) = scenario("codel", algorithm="prague").notes()
    assert queue == 'flow.0 (prague) sends ECT(1), but no queue on its way knows L4S; these do: "dualpi2"'
    (response,) = scenario("dualpi2", algorithm="cubic", ecn="l4s").notes()
    assert response.startswith(
        "flow.0 (cubic) sends ECT(1), but its response to marks is not the scalable one"
    )
    assert scenario("dualpi2", algorithm="dctcp").notes() == []


def test_flows_that_answer_the_extent_of_marks_shrink_by_prr_unless_the_key_says_otherwise() -> None:
    def recovery(**flow: Any) -> str:
        return str(scenario(**flow).plan["flows"][0]["transport"]["recovery"])

    assert [recovery(algorithm=name) for name in ("reno", "dctcp", "prague")] == [
        "rate-halving",
        "prr",
        "prr",
    ]
    assert recovery(algorithm="dctcp", recovery="rate-halving") == "rate-halving"
    assert recovery(algorithm="dctcp", stack="quic") == "immediate"


def test_dctcp_shares_two_bottlenecks_as_in_figure_17_of_its_paper() -> None:
    flows = longfat.run(ROOT / "scenarios/dctcp-two-bottlenecks.toml").summary["flows"]
    for group, printed in (("S1", 46e6), ("S2", 475e6), ("S3", 54e6)):
        rates = [flow["throughput_bps"] for flow in flows if flow["name"].startswith(group)]
        assert sum(rates) / len(rates) == pytest.approx(printed, rel=0.05), group


def test_a_ramp_of_marks_keeps_the_queue_of_figure_17_near_a_millisecond_as_in_ns_3() -> None:
    summary = longfat.run(ROOT / "scenarios/dctcp-two-bottlenecks-red.toml").summary
    (queue,) = (link["queue_mean_packets"] for link in summary["links"] if link["name"] == "T2-R1")
    assert 12_000 * queue / 1e9 == pytest.approx(1e-3, rel=0.2)
    rates = [flow["throughput_bps"] for flow in summary["flows"] if flow["name"].startswith("S2")]
    assert sum(rates) / len(rates) == pytest.approx(471e6, rel=0.1)


def test_abe_without_marks_is_noted() -> None:
    (line,) = scenario(abe=True).notes()
    assert line == "flow.0: abe = true has no effect without ecn = true"
    assert scenario(abe=True, ecn=True).notes() == []


def test_a_live_run_refuses_feedback_that_the_kernel_lacks() -> None:
    for flow in ({"ecn": "accurate"}, {"ecn": "l4s"}, {"abe": True, "ecn": True}, {"slow_start": "search"}):
        with pytest.raises(InputError, match="kernel"):
            check(scenario(**flow))


def test_abe_keeps_more_of_a_link_whose_queue_is_short() -> None:
    short = {"kind": "red", "min": "5 packets", "max": "6 packets", "max_p": 1.0, "weight": 1.0}
    marking = short | {"ecn": True, "harddrop": False}

    def used(**flow: Any) -> float:
        return longfat.run(scenario(marking, ecn=True, **flow)).summary["links"][0]["utilization"]

    # RFC 8511: beta 0.8 instead of 0.5 where the buffer is shorter than the path
    assert used(abe=True) > used() + 0.02


@pytest.mark.parametrize(
    ("end", "buffer", "left"), [("hystart++", "100 % BDP", 0.3), ("search", "600 % BDP", 0.01)]
)
def test_slow_start_ends_before_a_buffer_overflows_by_a_window(end: str, buffer: str, left: float) -> None:
    # With SEARCH the queue that slow-start builds lengthens the round trip by which it looks back. Until it
    # sees that deliveries no longer double, the window has six times the path's product.
    def lost(slow_start: str) -> float:
        flows = [{"algorithm": "reno", "rtt": "80 ms", "slow_start": slow_start}]
        data = {"duration": "6 s", "bottleneck": {"rate": "50 Mbit/s", "buffer": buffer}, "flow": flows}
        return longfat.run(Scenario.from_dict(data)).summary["flows"][0]["packets_lost"]

    assert lost("standard") > 500
    assert lost(end) <= left * lost("standard")
