"""Rates that vary and explicit-rate routers: how files have them, what the core gets, what a run gives."""

import pickle
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import ScenarioError
from longfat.scenario.model import Scenario
from samples import scenario, table

SINE = {"sine": {"max": "10 Mbit/s", "min": "3 Mbit/s", "period": "4 s"}}
STEPS = {"steps": [["0 s", "10 Mbit/s"], ["3 s", "2 Mbit/s"], ["6 s", "8 Mbit/s"]]}


def trace(folder: Path, text: str) -> str:
    (folder / "some.trace").write_text(text)
    return str(folder / "some.trace")


def times_ms(file: Path) -> list[float]:
    """The times of a trace, as they reach the plan."""
    (there, _) = scenario({"bottleneck.rate": {"trace": str(file)}}).plan["links"]
    times: list[float] = there["capacity"]["trace_ms"]
    return times


def problem(rate: Any) -> str:
    with pytest.raises(ScenarioError) as refused:
        scenario({"bottleneck.rate": rate})
    text = str(refused.value)
    assert "\n" not in text
    return text


def test_what_varies_reaches_the_plan_in_si_units(tmp_path: Path) -> None:
    link = scenario({"bottleneck.rate": SINE, "bottleneck.buffer": "100 % BDP"}).plan["links"][0]
    assert link["rate_bps"] == 1e7
    assert link["capacity"] == {"sine": {"least_bps": 3e6, "period_s": 4.0}}
    assert link["queue"]["limit_packets"] == 33  # of the greatest rate: 10 Mbit/s x 40 ms
    link = scenario({"bottleneck.rate": STEPS}).plan["links"][0]
    assert link["capacity"] == {"steps": [[0.0, 1e7], [3.0, 2e6], [6.0, 8e6]]}
    # 4 lines in 8 ms: 4 x 12000 bits
    link = scenario({"bottleneck.rate": {"trace": trace(tmp_path, "0\n3\n3\n8\n")}}).plan["links"][0]
    assert (link["rate_bps"], link["capacity"]) == (6e6, {"trace_ms": [0, 3, 3, 8]})
    assert scenario().plan["links"][0]["capacity"] is None


@pytest.mark.parametrize("rate", [SINE, STEPS])
def test_a_rate_that_varies_is_written_as_it_was_read(rate: Any) -> None:
    first = scenario({"bottleneck.rate": rate, "bottleneck.router": {"kind": "xcp", "gamma": 0.2}})
    again = Scenario.from_toml(first.filled().to_toml())
    assert again.plan == first.plan
    changed = first.with_values({"bottleneck.router.alpha": 0.3})
    assert changed.bottleneck.router is not None
    assert changed.bottleneck.router.parameters == {"alpha": 0.3, "gamma": 0.2}


def test_a_rate_that_varies_goes_to_worker_processes() -> None:
    first = scenario({"bottleneck.rate": SINE})
    assert pickle.loads(pickle.dumps(first)).plan == first.plan


def test_one_value_of_a_sine_can_be_set_and_the_original_stays() -> None:
    first = scenario({"bottleneck.rate": SINE})
    second = first.with_values({"bottleneck.rate.sine.min": "5 Mbit/s"})
    plans = [each.plan["links"][0]["capacity"]["sine"]["least_bps"] for each in (first, second)]
    assert plans == [3e6, 5e6]


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"sawtooth": 1}, "accepted: a rate such as"),
        ({"sine": {"max": "1 Mbit/s"}}, "sine: min is missing; accepted: { max = "),
        (
            {"sine": {"max": "1 Mbit/s", "min": "2 Mbit/s", "period": "1 s"}},
            "sine.min is above sine.max; accepted: the lesser rate as min",
        ),
        ({"sine": {"max": 5, "min": "2 Mbit/s", "period": "1 s"}}, "sine.max: a rate needs a unit"),
        (
            {"sine": SINE["sine"] | {"period": "0 s"}},
            "sine.period: the time is too small; accepted: from 1 ms",
        ),
        ({"steps": []}, "steps: this is no such list; accepted: a list of 1 to"),
        (
            {"steps": [["1 s", "1 Mbit/s"]]},
            'steps, pair 1: the first step is later; accepted: "0 s", the beginning',
        ),
        (
            {"steps": [["0 s", "1 Mbit/s"], ["0 s", "2 Mbit/s"]]},
            "steps, pair 2: the time is not later; accepted: a time after the one before",
        ),
        ({"steps": [["0 s", "0 Mbit/s"]]}, "steps, pair 1: the rate is too small; accepted: from 1 kbit/s"),
        ({"trace": "nowhere.trace"}, "trace nowhere.trace: No such file or directory; accepted: a file"),
    ],
)
def test_unsound_rates_are_refused_in_one_line(rate: Any, expected: str) -> None:
    assert expected in problem(rate)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "some.trace: it is empty; accepted: one time in ms"),
        ("0\n0\n", "some.trace: no line has a time after 0 ms"),
        ("1\n5\n4\n", "some.trace, line 3: 4 comes after 5"),
        ("1\ntwo\n", "some.trace, line 2: 'two'"),
        ("1\n-2\n", "some.trace, line 2: '-2'"),
        ("1\n1e10\n", "some.trace, line 2: '1e10'; accepted: times from 0 to 1000000000 ms"),
        ("µ\n", "some.trace: it has no line of numbers; accepted: one time"),
    ],
)
def test_unsound_traces_are_refused_with_their_line(tmp_path: Path, text: str, expected: str) -> None:
    assert expected in problem({"trace": trace(tmp_path, text)})


def test_only_the_bottleneck_s_rate_can_vary() -> None:
    with pytest.raises(ScenarioError, match=r"only bottleneck\.rate and link\.rate can vary"):
        scenario({"bottleneck.reverse_rate": SINE})


def test_a_trace_is_named_with_the_folder_of_its_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = 'duration = "5 s"\n[bottleneck]\nrate = { trace = "some.trace" }\n[[flow]]\nrtt = "20 ms"\n'
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"trace deep/some\.trace: No such file"):
        Scenario.load("deep/a.toml")
    trace(tmp_path / "deep", "10\n5\n")
    with pytest.raises(ScenarioError, match=r"trace deep/some\.trace, line 2: 5 comes after 10"):
        Scenario.load("deep/a.toml")


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x1c", "\x1e"])
def test_only_line_ends_separate_the_times_of_a_trace(tmp_path: Path, separator: str) -> None:
    file = tmp_path / "some.trace"
    file.write_bytes(f"1\n2{separator}\n3".encode())
    with pytest.raises(ValueError, match=r"line 2: .*accepted: one time in ms"):
        times_ms(file)
    file.write_bytes(b"1\r\n 2 \n3\r")
    assert times_ms(file) == [1, 2, 3]


def test_a_trace_lies_beside_its_scenario(tmp_path: Path) -> None:
    trace(tmp_path, "10\n20\n")
    (tmp_path / "x.toml").write_text(
        'duration = "5 s"\n[bottleneck]\nrate = { trace = "some.trace" }\nbuffer = "20 packets"\n'
        '[[flow]]\nrtt = "50 ms"\n'
    )
    link = longfat.run(tmp_path / "x.toml").summary["links"][0]
    # 12000 bits each 10 ms, the last time with the run's end
    assert link["rate_bps"] == pytest.approx(499 * 12000 / 5)
    assert 0.9 < link["utilization"] <= 1.0


def test_the_ready_trace_is_read() -> None:
    times = times_ms(Path(__file__).parents[3] / "scenarios" / "fading.trace")
    assert (len(times), times[-1]) == (2500, 5000)


def test_inefficiency_is_the_share_of_the_varying_capacity_that_was_not_used() -> None:
    # a window of 3 packets each 40 ms carries 0.9 Mbit/s of a mean of 6.5
    flow = {"rtt": "40 ms", "max_window": 3, "delayed_ack": False}
    ran = longfat.run(
        scenario({"bottleneck.rate": SINE}, duration="40 s", window=["4 s", "40 s"], flow=[flow])
    )
    link, metrics = ran.summary["links"][0], ran.summary["metrics"]
    assert link["rate_bps"] == pytest.approx(6.5e6, rel=1e-6)
    assert metrics["inefficiency"] == pytest.approx(1 - 0.9 / 6.5, abs=0.02)


def test_an_xcp_flow_carries_its_header_and_needs_its_router() -> None:
    flows = [{"algorithm": "xcp", "rtt": "40 ms", "mss": "1428 B"}, {"algorithm": "reno", "rtt": "40 ms"}]
    routed = scenario({"bottleneck.router": "xcp"}, flow=flows)
    plan = routed.plan
    assert [flow["header_bytes"] for flow in plan["flows"]] == [72, 52]
    assert plan["links"][0]["router"] == {
        "kind": "xcp",
        "alpha": 0.4,
        "beta": 0.226,
        "gamma": 0.1,
        "restarts": "false",
    }
    assert plan["links"][1]["router"] is None
    assert routed.packet_bytes == 1500.0
    assert routed.notes() == []
    assert scenario(flow=flows).notes() == ["flow.0 (xcp) crosses links without a router: bottleneck"]


def test_xcp_fills_the_link_without_loss_as_a_file_has_it() -> None:
    bottleneck = table()["bottleneck"] | {"router": "xcp"}
    flows = [{"algorithm": "xcp", "rtt": "40 ms", "count": 3}]
    ran = longfat.run(scenario(bottleneck=bottleneck, flow=flows, window=["4 s", "10 s"]))
    assert ran.summary["links"][0]["utilization"] > 0.95
    assert ran.summary["metrics"]["jain"] > 0.99
    assert sum(flow["packets_lost"] for flow in ran.summary["flows"]) == 0


@pytest.mark.parametrize(
    ("router", "expected"),
    [
        ("xpc", '"xpc" is not a router, did you mean "xcp"?'),
        ({"kind": "xcp", "alpha": 2}, "xcp.alpha = 2: it is too large; accepted: from"),
        ({"kind": "xcp", "delta": 2}, 'xcp has no parameter "delta"'),
        (
            {"kind": "friendly", "protocol": "sack"},
            'friendly.protocol = "sack": there is no such choice; accepted: "xcp", "vcp", "jetmax", "rcp", '
            '"maxnet" or "erica"',
        ),
        (
            {"kind": "friendly", "inspect": 0},
            "friendly.inspect = 0: it is too small; accepted: from 0.01 to 1",
        ),
        ({"kind": "dqw", "weight": 1}, "dqw.weight = 1: it is too large; accepted: from 0.01 to 0.99"),
        (
            {"kind": "xcp-i", "estimator": "oracel"},
            'xcp-i.estimator = "oracel": there is no such choice, did you mean "oracle"?; accepted: ',
        ),
        ({"kind": "vcp", "interval": 200}, 'vcp.interval = 200: a time needs a unit; accepted: "200 ms"'),
        (
            {"kind": "xcp-i", "packet_bytes": 500},
            'xcp-i.packet_bytes = 500: a size needs a unit; accepted: "500 B"',
        ),
        (3, 'accepted: the name of a router such as "xcp"'),
    ],
)
def test_unsound_routers_are_refused_in_one_line(router: Any, expected: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario({"bottleneck.router": router})
    assert expected in str(refused.value)
