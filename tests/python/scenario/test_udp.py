"""Transports over UDP as scenarios have them: which options they take, and what their figures say."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import longfat
from longfat.errors import ScenarioError
from longfat.scenario import registry
from longfat.scenario.model import Scenario

OVER_UDP = [row["name"] for row in registry.rows("algorithms") if row["transport"] != "tcp"]


def scenario(algorithm: Any, **options: Any) -> dict[str, Any]:
    flow = {"algorithm": algorithm, "rtt": "40 ms"} | options
    return {
        "duration": "10 s",
        "bottleneck": {"rate": "20 Mbit/s", "access_rate": "100 Mbit/s"},
        "flow": [flow],
    }


def refusal(algorithm: Any, **options: Any) -> str:
    with pytest.raises(ScenarioError) as refused:
        Scenario.from_dict(scenario(algorithm, **options), source="x.toml")
    return str(refused.value)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("initial_window", 10),
        ("max_window", 100),
        ("initial_ssthresh", 50),
        ("slow_start", "limited"),
        ("max_ssthresh", 100),
        ("delayed_ack", False),
        ("delayed_ack_timeout", "40 ms"),
        ("byte_counting", True),
        ("loss_detection", "reno-classic"),
        ("recovery", "prr"),
        ("ecn", True),
    ],
)
@pytest.mark.parametrize("algorithm", OVER_UDP)
def test_options_of_tcp_are_refused_by_name(algorithm: str, option: str, value: Any) -> None:
    told = refusal(algorithm, **{option: value})
    assert told.startswith(f"x.toml: flow.0.{option} = ")
    assert f': it does not go with "{algorithm}", which is not TCP; accepted: beside it algorithm' in told
    assert "accepted: beside it algorithm, mss, " in told
    assert "\n" not in told


def test_a_timeout_is_for_those_that_wait_for_acknowledgements() -> None:
    Scenario.from_dict(scenario("runat", rto_min="1 s"))
    assert 'rto_min = "1 s": it does not go with "cbr"' in refusal("cbr", rto_min="1 s")


def test_rates_and_times_need_units_and_come_back_as_written() -> None:
    assert 'cbr.rate = 50: a rate needs a unit; accepted: "50 Mbit/s"' in refusal({"name": "cbr", "rate": 50})
    assert "onoff.on = 3: a time needs a unit" in refusal({"name": "onoff", "on": 3})
    algorithm = {"name": "onoff", "rate": "1500 kbit/s", "on": "200 ms", "off": "1 min"}
    read = Scenario.from_dict(scenario(algorithm))
    assert read.flow[0].algorithm.parameters == {"rate": 1.5, "on": 0.2, "off": 60.0}
    written = Scenario.from_toml(read.to_toml())
    assert written == read


def test_the_parameters_of_blasts_have_units_too() -> None:
    sabul = {"name": "sabul", "least_period": "12 us"}
    tsunami = {"name": "tsunami", "target_rate": "1 Gbit/s", "error_rate": 0.05}
    read = Scenario.from_dict(scenario(sabul)), Scenario.from_dict(scenario(tsunami))
    assert read[0].flow[0].algorithm.parameters == {"least_period": pytest.approx(12e-6)}
    assert read[1].flow[0].algorithm.parameters == {"target_rate": 1000.0, "error_rate": 0.05}
    assert 'rbudp.rate = 50: a rate needs a unit; accepted: "50 Mbit/s"' in refusal(
        {"name": "rbudp", "rate": 50}
    )
    told = refusal({"name": "rbudp", "rate": "200 Mbit/s"})
    assert "is above the host's own link" in told


def test_a_rate_above_the_access_rate_is_refused_with_both_rates() -> None:
    told = refusal({"name": "cbr", "rate": "200 Mbit/s"})
    assert told == (
        'x.toml: flow.0.algorithm.rate = "200 Mbit/s": it is above the host\'s own link; '
        'accepted: up to "100 Mbit/s" (bottleneck.access_rate)'
    )


@pytest.mark.parametrize("algorithm", OVER_UDP)
def test_a_scenario_with_its_defaults_filled_in_is_read_again(algorithm: str) -> None:
    full = Scenario.from_dict(scenario(algorithm)).filled()
    again = Scenario.from_toml(full.to_toml())
    assert again.filled().to_toml() == full.to_toml()
    assert "initial_window" not in full.to_toml()


def test_rows_say_what_carries_an_algorithm() -> None:
    carried = {row["name"]: row["transport"] for row in registry.rows("algorithms")}
    assert (carried["reno"], carried["udt"], carried["runat"]) == ("tcp", "udp", "udp")
    assert {carried[name] for name in ("sabul", "rbudp", "tsunami")} == {"udp"}
    assert (carried["cbr"], carried["onoff"]) == ("datagrams", "datagrams")
    for row in registry.rows("algorithms"):
        if row["transport"] != "tcp":
            assert row["linux_module"] is None
            assert row["live"] is (row["transport"] == "datagrams")  # a kernel sends those, but has no UDT


def test_a_source_without_a_window_has_null_in_the_figures_and_nan_in_the_series() -> None:
    ran = longfat.run(scenario({"name": "cbr", "rate": "10 Mbit/s"}))
    flow = ran.summary["flows"][0]
    assert flow["cwnd_mean"] is None
    assert flow["throughput_bps"] == pytest.approx(10e6, rel=0.01)
    assert all(map(math.isnan, ran.flow("1")["cwnd"]))
    json.dumps(ran.summary, allow_nan=False)


def test_a_run_with_windows_and_without_has_its_pages_and_tables(tmp_path: Path) -> None:
    tables = scenario("udt")
    tables["flow"].append({"algorithm": {"name": "cbr", "rate": "5 Mbit/s"}, "rtt": "40 ms"})
    ran = longfat.run(tables)
    assert ran.summary["flows"][0]["cwnd_mean"] > 2.0
    ran.plot_cwnd().savefig(tmp_path / "cwnd.svg")
    assert (tmp_path / "cwnd.svg").stat().st_size > 1000


@pytest.mark.parametrize(("algorithm", "varies"), [("cbr", False), ("onoff", True), ("udt", True)])
def test_only_what_draws_numbers_varies_with_the_seed(algorithm: str, varies: bool) -> None:
    assert Scenario.from_dict(scenario(algorithm)).varies() == varies
