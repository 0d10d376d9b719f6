"""VCP and Quick-Start as a scenario file has them."""

from __future__ import annotations

from typing import Any

import pytest

import longfat
from longfat.errors import ScenarioError
from longfat.runs.result import Result
from longfat.scenario.model import Scenario


def scenario(router: Any, **flow: Any) -> Scenario:
    bottleneck: dict[str, Any] = {"rate": "100 Mbit/s", "buffer": "100 packets"}
    if router is not None:
        bottleneck["router"] = router
    table = {"duration": "4 s", "sample": {"events": True}, "bottleneck": bottleneck}
    return Scenario.from_dict(table | {"flow": [{"rtt": "100 ms"} | flow]})


def done_s(run: Result) -> float:
    events = run.events.to_pandas()
    return float(events[events["event"] == "done"]["time_s"].iloc[0])


def test_a_rate_is_asked_for_in_bits_a_second_and_by_nobody_who_does_not_say_so() -> None:
    asking = scenario("quickstart", quick_start="41 Mbit/s")
    assert asking.plan["flows"][0]["transport"]["quick_start"] == 41e6
    assert scenario("quickstart").plan["flows"][0]["transport"]["quick_start"] is None
    assert asking.notes() == []
    assert 'quick_start = "41 Mbit/s"' in asking.filled().to_toml()


def test_a_transfer_with_quick_start_is_complete_sooner_and_one_past_a_plain_router_is_not() -> None:
    times = {
        name: done_s(longfat.run(scenario(router, bytes="500 kB", **asked)))
        for name, router, asked in (
            ("without", "quickstart", {}),
            ("with", "quickstart", {"quick_start": "41 Mbit/s"}),
            ("plain", None, {"quick_start": "41 Mbit/s"}),
        )
    }
    assert times["with"] < 0.4 * times["without"]
    assert times["plain"] == pytest.approx(times["without"], abs=1e-4)


def test_a_request_to_a_router_that_does_not_take_part_is_noted() -> None:
    for router in (None, "xcp"):
        (line,) = scenario(router, quick_start="41 Mbit/s").notes()
        assert line.endswith("routers on its way take no part: bottleneck")


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ({"quick_start": 41e6}, "flow.0.quick_start = 41000000.0: a rate needs a unit"),
        ({"quick_start": "79 kbit/s"}, "accepted: from 80 kbit/s to 1.31072 Gbit/s"),
        ({"quick_start": "2 Gbit/s"}, "accepted: from 80 kbit/s to 1.31072 Gbit/s"),
        (
            {"quick_start": "1 Mbit/s", "algorithm": "xcp"},
            'quick_start = "1 Mbit/s": it does not go with "xcp"',
        ),
        (
            {"quick_start": "1 Mbit/s", "algorithm": "vcp"},
            'quick_start = "1 Mbit/s": it does not go with "vcp"',
        ),
        (
            {"quick_start": "1 Mbit/s", "algorithm": "udt"},
            'quick_start = "1 Mbit/s": it does not go with "udt"',
        ),
    ],
)
def test_unsound_requests_are_refused_in_one_line(flow: dict[str, Any], expected: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario("quickstart", **flow)
    assert expected in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_vcp_flow_has_a_header_of_no_bytes_and_is_noted_without_its_router() -> None:
    routed = scenario("vcp", algorithm="vcp")
    assert routed.plan["flows"][0]["header_bytes"] == 52
    assert routed.notes() == []
    (line,) = scenario(None, algorithm="vcp").notes()
    assert line.endswith("crosses links without a router: bottleneck")


def test_a_cadpc_flow_is_noted_on_links_whose_router_does_not_answer_its_queries() -> None:
    assert scenario("ptp", algorithm="cadpc").notes() == []
    for router in (None, "xcp"):
        (line,) = scenario(router, algorithm="cadpc").notes()
        assert line.endswith("learns nothing of links without a PTP router: bottleneck")


def test_an_interval_that_vcp_s_senders_and_routers_do_not_share_is_noted() -> None:
    def notes(router: Any) -> list[str]:
        return scenario(router, algorithm="vcp").notes()

    assert notes("vcp") == []
    assert notes({"kind": "vcp", "interval": "0.1 s"}) == [
        "flow.0 (vcp) scales by an interval of 200 ms, routers on its way measure over another: "
        "bottleneck (100 ms)"
    ]


def test_an_rcp_flow_has_twelve_bytes_of_header_and_is_noted_without_its_router() -> None:
    routed = scenario("rcp", algorithm="rcp")
    assert routed.plan["flows"][0]["header_bytes"] == 64
    assert routed.notes() == []
    (line,) = scenario(None, algorithm="rcp").notes()
    assert line.endswith("crosses links without a router: bottleneck")


def test_short_rcp_transfers_at_a_high_load_are_complete_in_a_fraction_of_xcp_s_time() -> None:
    def mean_s(protocol: str) -> list[float]:
        table = {
            "duration": "10 s",
            "bottleneck": {"rate": "50 Mbit/s", "buffer": "100 % BDP", "router": protocol},
            "background": [
                {"kind": "short", "algorithm": protocol, "rtt": "100 ms", "load": "80 %", "largest": "1 MB"}
            ],
        }
        rows = longfat.run(Scenario.from_dict(table)).summary["completion_times"]
        return [row["mean_s"] for row in rows if row["from_bytes"] in (10_000, 100_000)]

    rcp, xcp = mean_s("rcp"), mean_s("xcp")
    # a transfer takes two round trips at least: 0.2 s
    assert len(rcp) == len(xcp) == 2
    assert all(0.2 < ours < 0.6 * theirs for ours, theirs in zip(rcp, xcp, strict=True))
