"""Background flows: loads that are reached, sizes and gaps as said, files of measured values."""

from __future__ import annotations

import json
import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import longfat
from longfat.errors import ScenarioError
from longfat.runs import metrics
from longfat.runs.repeats import aggregate
from longfat.runs.result import unreached_loads
from longfat.scenario.model import Scenario
from samples import scenario, table

ONE_PERCENT = 1.628
"""Kolmogorov-Smirnov: samples of the right distribution exceed this once in a hundred times."""


def alone(*, duration: str = "110 s", rate: str = "200 Mbit/s", **keys: Any) -> dict[str, Any]:
    """One background on an idle path; figures without the first 10 s."""
    return {
        "duration": duration,
        "window": ["10 s", duration],
        "bottleneck": {"rate": rate, "buffer": "1000 packets"},
        "background": [{"rtt": {"exponential": "40 ms"}, **keys}],
    }


def distance(samples: np.ndarray, cdf: Any) -> float:
    """sqrt(n) times the greatest distance of the samples' distribution from `cdf`."""
    ordered = np.sort(samples)
    p = np.array([cdf(x) for x in ordered])
    n = len(ordered)
    steps = np.arange(n + 1) / n
    return float(max(np.max(p - steps[:-1]), np.max(steps[1:] - p)) * math.sqrt(n))


@pytest.fixture(scope="module")
def loaded() -> longfat.Result:
    """Short flows that are to load 200 Mbit/s by a fifth."""
    return longfat.run(alone(kind="short", load="20 %"))


def test_short_flows_reach_the_share_of_the_bottleneck_that_was_asked_for(loaded: longfat.Result) -> None:
    (short,) = loaded.summary["background"]
    assert short["load_bps"] == 40e6
    assert short["offered_bps"] == pytest.approx(40e6, rel=0.05)
    assert short["throughput_bps"] == pytest.approx(40e6, rel=0.05)
    assert loaded.summary["links"][0]["utilization"] == pytest.approx(0.2, rel=0.05)
    assert unreached_loads(loaded.summary["background"]) == []


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_a_load_is_reached_at_several_seeds_within_half_a_minute(seed: int) -> None:
    tables = alone(kind="short", load="50 Mbit/s", duration="40 s", rate="500 Mbit/s")
    (short,) = longfat.run(tables, seed=seed).summary["background"]
    assert short["load_reached"] == pytest.approx(1.0, abs=0.05)


def test_gaps_and_sizes_of_a_run_are_the_ones_it_asked_for(loaded: longfat.Result) -> None:
    transfers = loaded.to_pandas("transfers").sort_values("start_s")
    gap_s = loaded.scenario.plan["background"][0]["gap_s"]
    begun = transfers[transfers["start_s"] < 100.0]  # those are complete
    gaps = np.diff(begun["start_s"].to_numpy())
    assert len(gaps) > 7000
    assert distance(gaps, lambda x: 1 - math.exp(-x / gap_s)) < ONE_PERCENT
    sizes = begun["bytes"].to_numpy()
    body, tail = sizes[sizes < 133e3], sizes[sizes >= 133e3]
    assert len(tail) / len(sizes) == pytest.approx(0.07, abs=0.002)
    normal = NormalDist(9.357, 1.318)
    assert distance(body, lambda x: normal.cdf(math.log(x)) / normal.cdf(math.log(133e3))) < ONE_PERCENT
    bound = 1 - (133e3 / 10e6) ** 1.1
    assert distance(tail, lambda x: (1 - (133e3 / x) ** 1.1) / bound) < ONE_PERCENT


def test_a_load_is_made_of_sizes_and_headers() -> None:
    def gap_s(**keys: Any) -> float:
        (entry,) = Scenario.from_dict(alone(kind="short", **keys)).plan["background"]
        assert isinstance(entry["gap_s"], float)
        return entry["gap_s"]

    # 100 B are a packet of 152 B, 2000 B two packets of 2104 B together: 80 000 bit/s are 10 000 B a second
    measured = {"empirical": [["100 B", 3], "2000 B"]}
    assert gap_s(sizes=measured, load="80 kbit/s") == pytest.approx((0.75 * 152 + 0.25 * 2104) / 1e4)
    assert gap_s(load="10 %") == pytest.approx(2 * gap_s(load="20 %"))
    assert gap_s(load="10 %") == gap_s(load="20 Mbit/s")
    assert gap_s(gap="7 ms") == 0.007


def test_a_share_is_of_the_link_that_the_data_cross() -> None:
    def gaps_s(direction: str) -> list[float]:
        tables = alone(kind="short", load="10 %", direction=direction)
        tables["bottleneck"]["reverse_rate"] = "50 Mbit/s"
        return [entry["gap_s"] for entry in Scenario.from_dict(tables).plan["background"]]

    (forward,), (reverse,) = gaps_s("forward"), gaps_s("reverse")
    assert reverse == pytest.approx(4 * forward)
    assert gaps_s("both") == [forward, forward]


def test_users_take_a_share_as_they_take_a_rate() -> None:
    def users(load: str) -> int:
        (entry,) = Scenario.from_dict(alone(kind="surge", load=load)).plan["background"]
        return int(entry["users"])

    assert users("2 %") == users("4 Mbit/s") > 10


@pytest.mark.parametrize("kind", [{"kind": "short", "load": "20 %"}, {"kind": "bulk", "flows": 2}])
def test_both_directions_load_both_links(kind: dict[str, Any]) -> None:
    result = longfat.run(alone(direction="both", duration="30 s", rate="50 Mbit/s", **kind))
    forward, reverse = result.summary["background"]
    assert (forward["name"], reverse["name"]) == (f"{kind['kind']}-1-forward", f"{kind['kind']}-1-reverse")
    for link in result.summary["links"]:
        assert link["utilization"] > 0.15
    assert forward["throughput_bps"] > 7e6
    assert reverse["throughput_bps"] > 7e6


def test_a_load_that_cannot_be_reached_is_said_with_the_load_reached() -> None:
    result = longfat.run(alone(kind="short", load="150 %", duration="20 s", rate="20 Mbit/s"))
    (short,) = result.summary["background"]
    assert short["throughput_bps"] < 20.1e6
    assert short["load_reached"] == pytest.approx(short["throughput_bps"] / 30e6)
    (line,) = unreached_loads(result.summary["background"])
    assert line.startswith("short-1: a load of 30 Mbit/s was asked for, ")
    assert f"({short['load_reached']:.1%} of it) was reached" in line
    mean = aggregate([result.summary, result.summary])["mean"]
    assert unreached_loads(mean["background"]) == [line]


def test_a_background_that_stops_opens_nothing_more_and_its_load_counts_until_then() -> None:
    keys = {"kind": "short", "load": "20 %", "rtt": "20 ms", "stop": "10 s"}
    ran = longfat.run(
        scenario(
            {"bottleneck.rate": "200 Mbit/s"},
            duration="20 s",
            window=["0 s", "20 s"],
            flow=[],
            background=[keys],
        )
    )
    starts = ran.transfers["start_s"].to_numpy()
    assert 9.5 < starts.max() < 10.0
    (entry,) = ran.summary["background"]
    assert entry["load_bps"] == pytest.approx(20e6)
    assert entry["load_reached"] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "bulk", "flows": 3, "stop": "10 s"},
        {"kind": "onoff", "sources": 3, "algorithm": {"name": "onoff", "rate": "9 Mbit/s"}, "stop": "10 s"},
    ],
)
def test_endless_background_flows_that_stop_leave_the_link_idle_and_completed_nothing(
    keys: dict[str, Any],
) -> None:
    ran = longfat.run(scenario(duration="20 s", flow=[], background=[keys | {"rtt": "20 ms"}]))
    link = ran.link("bottleneck")
    sent = np.interp([9.0, 11.0, 20.0], link["time_s"], link["bytes_out"])
    assert sent[0] > 2e6
    assert sent[2] == sent[1]
    assert ran.summary["background"][0]["transfers_completed"] == 0


def test_an_exponential_with_a_least_value_keeps_its_mean_and_has_no_nearer_path() -> None:
    keys = {
        "kind": "short",
        "gap": "10 ms",
        "rtt": {"exponential": "100 ms", "least": "20 ms"},
        "sizes": {"empirical": ["1 kB"]},
    }
    ran = longfat.run(scenario(duration="60 s", flow=[], background=[keys]))
    # two round trips on an idle path: one for the SYN, one for the packet
    rtts = ran.transfers["completion_time_s"].to_numpy() / 2.0
    assert rtts.min() > 0.02
    assert rtts.min() < 0.021
    assert rtts.mean() == pytest.approx(0.1, rel=0.05)
    assert np.median(rtts) == pytest.approx(0.02 + 0.08 * np.log(2.0), rel=0.05)


def test_bulk_flows_fill_the_link_and_are_not_asked_for_a_load() -> None:
    start = {"uniform": ["0 s", "5 s"]}
    result = longfat.run(alone(kind="bulk", flows=5, start=start, rate="20 Mbit/s", duration="60 s"))
    (bulk,) = result.summary["background"]
    assert bulk["throughput_bps"] > 0.9 * 20e6
    assert (bulk["load_bps"], bulk["offered_bps"], bulk["load_reached"]) == (None, None, None)
    assert (bulk["transfers_started"], bulk["transfers_completed"]) == (0, 0)  # all began before the window
    assert (
        longfat.run(result.scenario, window=("0 s", "60 s")).summary["background"][0]["transfers_started"]
        == 5
    )
    json.dumps(result.summary, allow_nan=False)


def test_on_off_sources_send_their_load_and_are_on_for_their_share_of_the_time() -> None:
    algorithm = {"name": "onoff", "on": "200 ms", "off": "600 ms", "periods": "exponential"}
    tables = alone(kind="onoff", sources=100, load="10 %", algorithm=algorithm, duration="60 s")
    (entry,) = Scenario.from_dict(tables).plan["background"]
    # 20 Mbit/s of a hundred that are on for a quarter of the time
    assert entry["flow"]["transport"]["algorithm"]["parameters"]["rate"] == pytest.approx(0.8)
    assert entry["start_s"] == {"uniform": [0.0, 0.8]}
    result = longfat.run(tables)
    (onoff,) = result.summary["background"]
    assert onoff["load_bps"] == 20e6
    assert onoff["offered_bps"] == pytest.approx(20e6, rel=0.05)
    assert onoff["throughput_bps"] == pytest.approx(onoff["offered_bps"], rel=0.001)
    # the number of those that are on at a time is binomial: 25 of 100 with a deviation of 4.33
    counted = result.link("bottleneck")
    rates = 8 * np.diff(counted["bytes_out"]) / np.diff(counted["time_s"])
    assert np.std(rates[100:]) / 0.8e6 == pytest.approx(4.33, rel=0.25)


def test_on_off_sources_in_phase_switch_together() -> None:
    algorithm = {"name": "onoff", "rate": "1 Mbit/s", "on": "1 s", "off": "1 s"}
    tables = alone(kind="onoff", sources=5, algorithm=algorithm, start="0 s", duration="20 s", rtt="10 ms")
    sent = longfat.run(tables).link("bottleneck")["bytes_out"]
    on, off = np.diff(sent[100:111]), np.diff(sent[111:121])  # a sample every 100 ms
    assert on[1:].min() > 4 * 1500
    assert off[1:].max() == 0.0


def test_completion_times_stand_in_the_decade_of_their_size() -> None:
    # a hundred transfers of 1000 B that take 1 ... 100 s, one of 999 B and one of 1 MB
    times = [*range(1, 101), 7.0, 9.0]
    sizes = [1000.0] * 100 + [999.0, 1e6]
    small, middle, large = metrics.completion_times(times, sizes)
    assert (small["from_bytes"], small["below_bytes"], small["transfers"]) == (100, 1000, 1)
    assert (middle["from_bytes"], middle["transfers"], middle["mean_s"]) == (1000, 100, 50.5)
    assert (middle["p50_s"], middle["p95_s"], middle["p99_s"]) == pytest.approx((50.5, 95.05, 99.01))
    assert (large["from_bytes"], large["below_bytes"], large["p99_s"]) == (1e6, 1e7, 9.0)
    assert metrics.completion_times([], []) == []


def test_small_transfers_on_an_idle_path_take_two_round_trips() -> None:
    measured = {"empirical": ["1 kB"]}
    tables = alone(kind="short", gap="50 ms", sizes=measured, rtt="100 ms", duration="30 s")
    (row,) = longfat.run(tables).summary["completion_times"]
    assert (row["background"], row["from_bytes"]) == ("short-1", 1000)
    assert row["transfers"] == pytest.approx(400, abs=80)
    # one to open the connection and one for the data
    assert row["p50_s"] == pytest.approx(0.2, rel=0.01)


def test_larger_transfers_take_longer(loaded: longfat.Result) -> None:
    rows = loaded.summary["completion_times"]
    assert [row["from_bytes"] for row in rows[-3:]] == [1e4, 1e5, 1e6]
    means = [row["mean_s"] for row in rows[-3:]]
    assert means == sorted(means)
    # those that began within the window, and have ended
    began = loaded.to_pandas("transfers")["start_s"]
    assert sum(row["transfers"] for row in rows) == (began >= 10.0).sum()


def test_measured_round_trip_times_are_drawn_by_their_weights(tmp_path: Path) -> None:
    (tmp_path / "rtts.csv").write_text("# where, when\n20 ms, 3\n\n  0.1 s  # far\n5 ms, 0\n")
    (tmp_path / "a.toml").write_text(
        'duration = "2 s"\n[bottleneck]\nrate = "10 Mbit/s"\nbuffer = "50 packets"\n'
        '[[flow]]\ncount = 200\nrtt = { empirical = "rtts.csv" }\n'
    )
    given = Scenario.load(tmp_path / "a.toml")
    flows = longfat.run(given).summary["flows"]
    assert {flow["rtt_s"] for flow in flows} == {0.02, 0.1}
    assert sum(flow["rtt_s"] == 0.02 for flow in flows) == pytest.approx(150, abs=20)
    assert given.filled().bottleneck.buffer_rtt == 0.02
    # what is written out needs no other file
    (tmp_path / "rtts.csv").unlink()
    assert Scenario.from_toml(given.to_toml()) == given
    assert given.filled() == Scenario.from_toml(given.filled().to_toml())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("20 ms\n30\n", 'rtts.csv, line 2: a time needs a unit; accepted: "30 ms"'),
        ("20 ms\n\n# x\n1 h\n", "rtts.csv, line 4: the time is too large; accepted: from 1 us to 1000 s"),
        ("20 ms, 1, 2\n", "rtts.csv, line 1: it has 3 columns; accepted: value[, weight] such as "),
        ("rtt, weight\n20 ms, 1\n", "rtts.csv, line 1: this is not a time; accepted: "),
        ("20 ms, -1\n", 'rtts.csv, line 1: "-1" is not a weight; accepted: a number from 0 to 1e+15'),
        ("20 ms, nan\n", 'rtts.csv, line 1: "nan" is not a weight'),
        ("20 ms, 1_0\n", 'rtts.csv, line 1: "1_0" is not a weight'),
        ("20 ms, ٣\n", 'rtts.csv, line 1: "٣" is not a weight'),
        ("20 ms, 0\n30 ms, 0\n", "rtts.csv: all weights are 0; accepted: at least one above 0"),
        ("# nothing\n", "rtts.csv: it holds no value; accepted: up to 100000 lines of value[, weight]"),
        (None, "rtts.csv: No such file or directory; accepted: a file with lines of value[, weight]"),
    ],
)
def test_a_file_that_is_no_distribution_is_refused_with_the_line(
    tmp_path: Path, text: str | None, says: str
) -> None:
    if text is not None:
        (tmp_path / "rtts.csv").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(table(flow=[{"rtt": {"empirical": "rtts.csv"}}]), source="a.toml", base=tmp_path)
    told = str(caught.value)
    assert told.startswith(f'a.toml: flow.0.rtt = {{ empirical = "rtts.csv" }}: {tmp_path}/{says}')
    assert "\n" not in told


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "rtts.csv").write_bytes(b"\xff\xfe20 ms")
    with pytest.raises(ScenarioError, match=r"rtts\.csv: not a text in UTF-8 or UTF-16; accepted: "):
        Scenario.from_dict(table(flow=[{"rtt": {"empirical": "rtts.csv"}}]), base=tmp_path)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        (
            {"kind": "short"},
            'background.0: it takes either a gap or a load; accepted: either gap, a time such as "10 ms", or '
            "load, "
            'such as "20 %"',
        ),
        (
            {"kind": "short", "gap": "1 s", "load": "1 %"},
            "background.0: it takes either a gap or a load; accepted: either gap, a time such as",
        ),
        ({"kind": "short", "gap": 1}, "background.0.gap = 1: a time needs a unit"),
        (
            {"kind": "short", "load": 20},
            'background.0.load = 20: a rate needs a unit; accepted: "20 Mbit/s", or',
        ),
        (
            {"kind": "short", "load": "0 %"},
            'background.0.load = "0 %": there is no such load; accepted: above 0 %, up to 1000 %',
        ),
        ({"kind": "short", "load": "2 %%"}, 'background.0.load = "2 %%": "%%" is not a unit of rate'),
        (
            {"kind": "short", "gap": "1 s", "tail_share": 7},
            "background.0.tail_share = 7: the number is too large; accepted: a share",
        ),
        (
            {"kind": "short", "gap": "1 s", "largest": "1 kB"},
            'background.0.largest = "1 kB": it is below tail_least; accepted: ',
        ),
        (
            {"kind": "short", "gap": "1 s", "body_mu": 20},
            "background.0.body_mu = 20: the middle of the body, exp(body_mu) bytes, is above tail_least; "
            "accepted: ",
        ),
        (
            {"kind": "short", "gap": "1 s", "sizes": {"empirical": ["1 kB"]}, "largest": "1 GB"},
            "background.0.sizes: it replaces largest; accepted: one of them",
        ),
        (
            {"kind": "short", "gap": "1 s", "sizes": {"empirical": ["1 kB", "2"]}},
            'background.0.sizes = { empirical = ["1 kB", "2"] }: value 2: a size needs a unit; accepted: ',
        ),
        (
            {"kind": "short", "gap": "1 s", "sizes": "1 kB"},
            'background.0.sizes = "1 kB": these are no measured sizes; accepted: { empirical',
        ),
        (
            {"kind": "onoff", "sources": 1, "algorithm": "cbr"},
            'background.0.algorithm = "cbr": on-off sources do not take this algorithm; accepted: "onoff"',
        ),
        (
            {
                "kind": "onoff",
                "sources": 1,
                "load": "1 %",
                "algorithm": {"name": "onoff", "rate": "1 Mbit/s"},
            },
            'background.0.load = "1 %": it replaces algorithm.rate; accepted: one of them',
        ),
        (
            {"kind": "onoff", "sources": 1000, "load": "1 kbit/s"},
            'background.0.load = "1 kbit/s": this gives each source a rate of 2e-06 Mbit/s; accepted: a load '
            "that gives "
            "from 0.001 to 10000000 Mbit/s",
        ),
        (
            {"kind": "onoff", "sources": 1, "load": "600 Mbit/s"},
            'background.0.load = "600 Mbit/s": a source with 1.2 Gbit/s is above the host\'s own link; ',
        ),
        (
            {"kind": "onoff", "sources": 1, "ecn": True},
            'background.0.ecn = true: it does not go with "onoff"',
        ),
        (
            {"kind": "bulk", "flows": 2, "start": "5 s", "stop": "5 s"},
            'background.0.stop = "5 s": it is not after the start',
        ),
        (
            {"kind": "short", "gap": "1 s", "rtt": {"exponential": "10 ms", "least": "20 ms"}},
            'background.0.rtt = { exponential = "10 ms", least = "20 ms" }: least is above the mean; ',
        ),
        ({"kind": "bulk"}, "background.0.flows: this key is missing; accepted: a whole number"),
        ({"kind": "bulk", "flows": 2, "load": "20 %"}, "background.0.load: there is no such key; accepted: "),
        (
            {"kind": "bulk", "flows": 0},
            "background.0.flows = 0: the number is too small; accepted: a whole number from 1 to 100000",
        ),
    ],
)
def test_bad_values_are_told_with_key_value_and_what_would_be_accepted(
    keys: dict[str, Any], says: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_dict(table(background=[keys]), source="a.toml")
    assert str(caught.value).startswith(f"a.toml: {says}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "keys",
    [
        {"kind": "onoff", "sources": 4, "load": "20 %", "direction": "both"},
        {"kind": "onoff", "sources": 4, "algorithm": {"name": "onoff", "rate": "5 Mbit/s"}},
        {"kind": "short", "load": "20 %", "direction": "both"},
        {"kind": "short", "load": "0.07 %"},
        {"kind": "short", "gap": "1 s", "sizes": {"empirical": ["1 kB", ["2 kB", 3.5]]}},
        {"kind": "bulk", "flows": 3, "start": {"empirical": ["1 s", "2 s"]}, "stop": "3 s"},
        {"kind": "bulk", "flows": 3, "rtt": {"exponential": "90 ms", "least": "8 ms"}},
    ],
)
def test_what_is_written_out_is_read_back_and_planned_alike(keys: dict[str, Any]) -> None:
    given = scenario(background=[keys])
    assert Scenario.from_toml(given.to_toml()) == given
    full = given.filled()
    assert Scenario.from_toml(full.to_toml()) == full
    assert full.plan == given.plan
