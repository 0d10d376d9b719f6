"""A run as an object: steps change nothing, and what is set between them takes effect."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import longfat
import random_scenarios
from longfat.errors import AlgorithmError, InputError, LongfatError
from longfat.runs import memory
from longfat.runs.result import Result
from longfat.scenario.model import Scenario

ROOT = Path(__file__).parents[3]
ONE = {
    "title": "one",
    "duration": "10 s",
    "bottleneck": {"rate": "10 Mbit/s", "buffer": "20 packets"},
    "flow": [{"algorithm": "reno", "rtt": "42 ms"}],
}


def held(result: Result) -> dict[str, Any]:
    """Everything that a result holds, but how long it took."""
    summary = {key: value for key, value in result.summary.items() if key != "performance"}
    rest = ("flows", "links", "transfers", "events", "internals", "reads_rtt")
    return {"summary": summary, **{key: result._output[key] for key in rest}}


def in_steps(scenario: Scenario, seed: int, *, rates: bool = True) -> Result:
    """Runs a scenario in steps of random lengths, from 1 ns to a third of the run, and looks between them."""
    draw = random.Random(seed)
    sim = longfat.Simulation(scenario, rates=rates)
    while not sim.done:
        span = 0.3 * scenario.duration * 1e-9 ** (draw.random() * draw.random())
        if draw.random() < 0.2:
            sim.run_until(min(sim.now_s + span, scenario.duration))
        else:
            sim.step(max(span, 1e-9))
        sim.snapshot()
    return sim.result()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_scenarios.own_algorithms(tmp_path_factory.mktemp("own"))


@pytest.mark.parametrize("number", range(100, 130))
def test_a_run_in_steps_gives_the_same_bytes_as_a_whole_run(number: int, own: Path) -> None:
    scenario = Scenario.from_dict(random_scenarios.draw(number, own, (300.0, 3000.0)))
    assert held(in_steps(scenario, number, rates=number % 2 == 0)) == held(longfat.run(scenario))


@pytest.mark.parametrize("name", ["background-as-measured", "xcp", "dualpi2", "lopez-fig-4-7", "handovers"])
def test_a_scenario_of_the_gallery_gives_the_same_bytes_in_steps(name: str) -> None:
    scenario = Scenario.load(str(ROOT / "scenarios" / f"{name}.toml"))
    shorter = scenario.with_values({"duration": "3 s", "window": ["1 s", "3 s"]})
    assert held(in_steps(shorter, 1)) == held(longfat.run(shorter))


def test_a_snapshot_is_what_a_sample_at_that_time_sees() -> None:
    sim = longfat.Simulation(ONE)
    sim.run_until("2 s")
    snapshot = json.loads(json.dumps(sim.snapshot(), allow_nan=False))
    result = sim.run()
    for series, state in (
        (result.flow("1"), snapshot["flows"]["1"]),
        (result.link("bottleneck"), snapshot["links"]["bottleneck"]),
    ):
        row = int(np.flatnonzero(series["time_s"] == 2.0)[0])
        seen = {name: float(column[row]) for name, column in series.items()}
        assert {name: state[name] for name in seen if np.isfinite(seen[name])} == {
            name: value for name, value in seen.items() if np.isfinite(value)
        }
    assert snapshot["time_s"] == 2.0


def test_a_step_ends_where_the_run_does() -> None:
    sim = longfat.Simulation(ONE)
    sim.step("3 s")
    assert (sim.now_s, sim.done) == (3.0, False)
    sim.step("1 h")
    assert (sim.now_s, sim.done) == (10.0, True)
    assert sim.result() is sim.run()


@pytest.mark.parametrize("span", [1e12, 1e300, "1e30 s"])
def test_a_step_beyond_all_times_goes_on_to_the_end(span: str | float) -> None:
    sim = longfat.Simulation(ONE)
    sim.step("1 s")
    assert refusal(lambda: sim.run_until(span)).endswith("accepted: a time from 1 s to 10 s")
    assert refusal(lambda: sim.step(-1e300)).endswith('accepted: a time such as "10 ms"')
    sim.step(span)
    assert (sim.now_s, sim.done) == (10.0, True)


def test_a_window_and_a_pacing_rate_can_be_set_and_released() -> None:
    sim = longfat.Simulation(ONE)
    sim.run_until("2 s")
    flow = sim.flows["1"]
    flow.set(cwnd=4, hold=True)
    sim.step("1 s")
    assert flow.cwnd == 4.0
    before = flow.state()["delivered_bytes"]
    sim.step("2 s")
    # four segments of 1448 bytes in a round trip of 42 ms and the transmission of one packet and its ACK
    assert flow.state()["delivered_bytes"] - before == pytest.approx(2.0 * 4 * 1448 / 0.0433, rel=0.04)
    flow.set(cwnd=100, hold=True, pacing_rate="1.2 Mbit/s")
    sent = flow.state()["packets_sent"]
    sim.step("1 s")
    assert flow.state()["packets_sent"] - sent == pytest.approx(100, abs=1)
    flow.release()
    sim.step("2 s")
    assert flow.cwnd != 100.0


def test_the_rate_of_a_link_can_be_set() -> None:
    sim = longfat.Simulation(ONE)
    sim.run_until("2 s")
    link = sim.link("bottleneck")
    assert link.rate == 10e6
    link.rate = "2 Mbit/s"
    sim.step("1 s")
    before = link.state()["bytes_out"]
    sim.step("2 s")
    assert 8 * (link.state()["bytes_out"] - before) == pytest.approx(4e6, rel=0.01)
    sim.link("bottleneck").rate = 5e6
    result = sim.run()
    # 2 s of 10, 3 s of 2 and 5 s of 5 Mbit/s
    assert result.summary["links"][0]["rate_bps"] == pytest.approx(5.1e6)
    assert 0.9 < result.summary["links"][0]["utilization"] <= 1.0


def test_the_result_says_what_was_changed() -> None:
    sim = longfat.Simulation(ONE)
    sim.run_until("2 s")
    sim.flows["1"].set(cwnd=10)
    sim.step("1 s")
    sim.flows["1"].set(cwnd=20)
    sim.link("reverse").rate = "1 Mbit/s"
    assert sim.run().summary["notes"] == [
        "flow 1 was changed from outside, for the first time at 2 s",
        "link reverse was changed from outside, for the first time at 3 s",
    ]
    assert sim.flows["1"].cwnd == sim.result().flow("1")["cwnd"][-1]


def refusal(act: Any) -> str:
    with pytest.raises(InputError) as refused:
        act()
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_bad_input_gets_one_line_that_says_what_is_accepted() -> None:
    sim = longfat.Simulation(ONE)
    sim.run_until("2 s")
    flow, link = sim.flows["1"], sim.link("bottleneck")
    assert refusal(lambda: sim.flows["2"]) == 'flow "2": there is no such flow; accepted: "1"'
    assert refusal(lambda: sim.link("botleneck")).startswith(
        'link "botleneck": there is no such link, did you mean "bottleneck"?'
    )
    assert (
        refusal(lambda: sim.step("0 s"))
        == 'step: "0 s": this is not a time above 0; accepted: a time such as "10 ms"'
    )
    assert refusal(lambda: sim.step("10")) == 'step: "10": a time needs a unit; accepted: "10 ms"'
    assert refusal(lambda: sim.step("soon")).startswith('step: "soon": this is not a time; accepted:')
    assert refusal(lambda: sim.step(float("nan"))).startswith("step: nan: this is not a time")
    assert refusal(lambda: sim.step([])).startswith("step: []: ")  # type: ignore[arg-type]
    assert (
        refusal(lambda: sim.run_until("1 s"))
        == 'run_until: "1 s": it is not a time that is left; accepted: a time from 2 s to 10 s'
    )
    assert refusal(lambda: sim.run_until("11 s")).endswith("accepted: a time from 2 s to 10 s")
    assert refusal(sim.result) == "there is no result at 2 s; accepted: after the end at 10 s"
    assert (
        refusal(lambda: flow.set())
        == "flow 1: there is nothing to set; accepted: cwnd, pacing_rate or both; hold goes with cwnd"
    )
    for cwnd in (0.5, float("nan"), 1e9, True, "10"):
        assert "accepted: segments from 1 to 1e+08" in refusal(lambda cwnd=cwnd: flow.set(cwnd=cwnd))
    assert refusal(lambda: flow.set(pacing_rate="5")).startswith(
        'flow 1: pacing_rate = "5": a rate needs a unit'
    )
    for hold in ("yes", 1, None):
        told = refusal(lambda hold=hold: flow.set(cwnd=5, hold=hold))
        assert told.startswith("flow 1: hold = ")
        assert told.endswith(": this is not a switch; accepted: True or False")
    for part in (sim, flow, link):
        with pytest.raises(AttributeError, match="rte"):
            part.rte = 5e6
    for rate in (0.0, "1 bit/s", "x", None):
        assert refusal(lambda rate=rate: setattr(link, "rate", rate)).startswith("link bottleneck: rate = ")
    assert sim.run().summary["notes"] == []


def test_a_window_that_memory_has_no_room_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_given", 180e6)
    flow = longfat.Simulation(ONE).flows["1"]
    assert refusal(lambda: flow.set(cwnd=1e8)) == (
        "flow 1: cwnd = 100000000.0: it is more than the run's memory has room for; "
        "accepted: up to 1090909 segments"
    )
    flow.set(cwnd=1000)


def test_a_simulation_that_has_ended_says_so() -> None:
    sim = longfat.Simulation(ONE)
    sim.run()
    ended = "the simulation has ended at 10 s; make a new one to begin again"
    assert refusal(lambda: sim.step("1 s")) == ended
    assert refusal(lambda: sim.run_until("11 s")) == ended
    for change in (
        lambda: sim.flows["1"].set(cwnd=3),
        lambda: sim.flows["1"].release(),
        lambda: setattr(sim.link("bottleneck"), "rate", "1 Mbit/s"),
    ):
        assert "the simulation has ended; make a new one to begin again" in refusal(change)


def test_links_and_flows_that_cannot_be_changed_say_why() -> None:
    tables = {
        **ONE,
        "bottleneck": {**ONE["bottleneck"], "router": "xcp"},  # type: ignore[dict-item]
        "flow": [{"algorithm": "xcp", "rtt": "42 ms"}, {"algorithm": "udt", "rtt": "42 ms"}],
    }
    sim = longfat.Simulation(tables)
    set_rate = lambda sim: refusal(lambda: setattr(sim.link("bottleneck"), "rate", "1 Mbit/s"))  # noqa: E731
    assert set_rate(sim) == "link bottleneck: its router knows its rate; accepted: a link without a router"
    assert refusal(lambda: sim.flows["2"].set(cwnd=5)).startswith("flow 2 has no window: UDP carries it")
    fixed = longfat.Simulation(ONE, rates=False)
    assert set_rate(fixed).startswith("link bottleneck: the rates of this run are fixed; accepted:")
    varying = {**ONE, "bottleneck": {"rate": {"steps": [["0 s", "5 Mbit/s"], ["1 s", "9 Mbit/s"]]}}}
    varying["bottleneck"]["buffer"] = "20 packets"
    assert set_rate(longfat.Simulation(varying)).startswith(
        "link bottleneck: its rate varies as the scenario"
    )


def with_algorithm(folder: Path, body: str) -> dict[str, Any]:
    file = folder / "mine.py"
    file.write_text(
        f"class Mine:\n    def on_ack(self, ack, window):\n        {body}\n\n"
        "    def on_congestion(self, event, window):\n        window.ssthresh = 2.0\n"
    )
    return {**ONE, "flow": [{"algorithm": f"{file}:Mine", "rtt": "42 ms"}]}


def test_a_user_s_algorithm_that_fails_ends_the_simulation(tmp_path: Path) -> None:
    sim = longfat.Simulation(with_algorithm(tmp_path, "raise ValueError('no idea')"))
    with pytest.raises(AlgorithmError, match="no idea"):
        sim.step("1 s")
    with pytest.raises(LongfatError, match="ended early; make a new one"):
        sim.step("1 s")


def test_ctrl_c_in_a_step_ends_the_simulation(tmp_path: Path) -> None:
    sim = longfat.Simulation(with_algorithm(tmp_path, "raise KeyboardInterrupt"))
    with pytest.raises(KeyboardInterrupt):
        sim.step("1 s")
    with pytest.raises(LongfatError, match="ended early; make a new one"):
        _ = sim.flows["1"].cwnd


def test_a_simulation_cannot_be_used_while_it_goes_on(tmp_path: Path) -> None:
    tables = with_algorithm(tmp_path, "import sys; sys.modules['seen_by_mine'].flows['1'].cwnd")
    sim = longfat.Simulation(tables)
    import sys

    sys.modules["seen_by_mine"] = sim  # type: ignore[assignment]
    try:
        with pytest.raises(AlgorithmError, match="wait until its step has ended"):
            sim.step("1 s")
    finally:
        del sys.modules["seen_by_mine"]
