import json
import math
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import longfat
from longfat.errors import InputError
from longfat.runs.repeats import aggregate
from longfat.runs.result import Result
from longfat.scenario import registry
from longfat.scenario.model import Scenario
from samples import scenario, table

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def result() -> Result:
    return longfat.run(scenario(background=[{"kind": "web", "sessions": 5}]))


READY = sorted([*ROOT.glob("scenarios/*.toml"), *ROOT.glob("examples/*.toml")])


@pytest.mark.parametrize("file", READY, ids=lambda file: file.name)
def test_every_ready_scenario_runs_and_moves_packets(file: Path) -> None:
    ran = longfat.run(file)
    assert ran.scenario.warnings() == []
    assert 0.1 < ran.summary["links"][0]["utilization"] <= 1.0
    assert all(flow["goodput_bps"] > 0 for flow in ran.summary["flows"])


def test_the_summary_has_the_keys_that_scripts_depend_on(result: Result) -> None:
    summary = json.loads(json.dumps(result.summary, allow_nan=False))
    assert {"backend", "version", "seed", "duration_s", "flows", "links", "metrics", "performance"} <= set(
        summary
    )
    assert {
        *(
            "name",
            "algorithm",
            "rtt_s",
            "start_s",
            "throughput_bps",
            "goodput_bps",
            "packets_sent",
            "packets_lost",
        ),
        *("retransmits", "timeouts", "loss_ratio", "cwnd_mean", "srtt_mean_s"),
    } <= set(summary["flows"][0])
    assert {
        *("name", "rate_bps", "utilization", "packets_in", "packets_dropped", "packets_marked", "loss_ratio"),
        *("queue_mean_packets", "queue_std_packets", "queue_max_packets", "queue_limit_packets"),
    } <= set(summary["links"][0])
    assert set(summary["metrics"]) == {
        *("jain", "throughput_ratio", "convergence_time_s", "convergence_80_s", "cov", "inefficiency")
    }
    assert set(summary["performance"]) == {"wall_s", "packets_per_s", "driver", "servers"}
    assert summary["performance"]["driver"] == "batches"
    assert set(summary["performance"]["servers"].values()) == {"computed"}
    assert summary["links"][0]["queue_limit_packets"] == 50
    assert [(link["queue"], link["router"]) for link in summary["links"]] == [("droptail", None)] * 2


def test_throughput_counts_ip_bytes_and_goodput_payload(result: Result) -> None:
    for flow in result.summary["flows"]:
        assert flow["goodput_bps"] / flow["throughput_bps"] == pytest.approx(1448 / 1500, rel=0.01)


def test_no_more_leaves_the_bottleneck_than_it_can_send(result: Result) -> None:
    link = result.link("bottleneck")
    assert np.all(np.diff(link["bytes_out"]) * 8 <= 1e7 * np.diff(link["time_s"]) + 1500 * 8)


def test_at_every_sample_packets_in_are_out_dropped_or_waiting(result: Result) -> None:
    link = result.link("bottleneck")
    inside = link["packets_in"] - link["packets_out"] - link["packets_dropped"] - link["queue_packets"]
    assert np.all((inside == 0) | (inside == 1))  # one may be in transmission


def test_counters_of_a_flow_never_fall_and_what_is_acknowledged_was_delivered(result: Result) -> None:
    flow = result.flow("1")
    for key in (
        "acked_bytes",
        "delivered_bytes",
        "received_bytes",
        "packets_sent",
        "packets_lost",
        "retransmits",
    ):
        assert np.all(np.diff(flow[key]) >= 0), key
    assert np.all(flow["acked_bytes"] <= flow["delivered_bytes"])
    assert np.all(flow["cwnd"] >= 1)


def test_tables_are_long_and_agree_with_the_arrays(result: Result) -> None:
    frame = result.to_pandas("flows")
    assert list(frame.columns[:2]) == ["time_s", "name"]
    assert np.array_equal(frame[frame["name"] == "2"]["cwnd"], result.flow("2")["cwnd"])
    assert result.to_polars("links").height == 2 * len(result.link("reverse")["time_s"])
    for read in (result.to_pandas, result.to_polars):
        with pytest.raises(InputError, match='table "flow": there is no such table, did you mean "flows"'):
            read("flow")
    transfers = result.to_pandas("transfers")
    assert set(transfers["name"]) == {"web-1"}
    assert len(transfers) == result.summary["background"][0]["transfers_completed"] > 10


@pytest.mark.parametrize("kind", [row["name"] for row in registry.rows("queues")])
def test_every_queue_runs_as_a_file_has_it_and_says_how_long_packets_waited(kind: str) -> None:
    ran = longfat.run(scenario({"bottleneck.queue": kind}))
    again = longfat.run(Scenario.from_toml(ran.scenario.filled().to_toml()))
    assert again.summary["links"] == ran.summary["links"]
    link = ran.summary["links"][0]
    assert 0.0 <= link["sojourn_p50_s"] <= link["sojourn_p95_s"] <= link["sojourn_p99_s"] < 1.0
    reasons = [link[f"dropped_{reason}"] for reason in ("full", "early", "forced", "match", "delay")]
    assert sum(reasons) == link["packets_dropped"] > 0


def test_series_are_sampled_as_asked() -> None:
    ran = longfat.run(scenario({"sample.cwnd": "500 ms", "sample.queue": "20 ms"}))
    assert np.allclose(np.diff(ran.flow("1")["time_s"]), 0.5)
    assert np.allclose(np.diff(ran.link("bottleneck")["time_s"]), 0.02)


def test_a_window_restricts_the_figures() -> None:
    whole, late = longfat.run(scenario()), longfat.run(scenario(), window=("5 s", "10 s"))
    assert late.summary["window_s"] == [5.0, 10.0]
    assert late.summary["flows"][0]["packets_sent"] < whole.summary["flows"][0]["packets_sent"]
    series = whole.flow("1")
    at = [np.flatnonzero(np.isclose(series["time_s"], time))[0] for time in (5.0, 10.0)]
    delivered = np.diff(series["received_bytes"][at])[0] * 8 / 5.0
    assert late.summary["flows"][0]["throughput_bps"] == pytest.approx(delivered, rel=1e-6)


def test_the_mean_window_under_random_loss_follows_the_response_function() -> None:
    # Mathis et al. 1997, every segment counted: W = sqrt(3 / (2 p)), 17.3 segments at p = 0.005.
    ran = longfat.run(
        scenario(
            {"bottleneck.rate": "100 Mbit/s", "bottleneck.buffer": "100 % BDP", "bottleneck.loss": 0.005},
            duration="1000 s",
            flow=[{"algorithm": "reno", "rtt": "100 ms"}],
        )
    )
    assert ran.summary["flows"][0]["cwnd_mean"] == pytest.approx(math.sqrt(1.5 / 0.005), rel=0.15)


def test_a_flow_with_bytes_completes_and_delivers_just_them() -> None:
    ran = longfat.run(scenario(flow=[{"rtt": "40 ms", "bytes": "1 MB"}]))
    assert 0.8 < ran.summary["flows"][0]["completed_s"] < 3.0  # 1 MB at 10 Mbit/s takes 0.83 s
    assert ran.flow("1")["delivered_bytes"][-1] == 1_000_000


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not() -> None:
    lossy = scenario({"bottleneck.loss": 0.01})
    first, again, other = (longfat.run(lossy, seed=seed).flow("1")["cwnd"].tobytes() for seed in (1, 1, 2))
    assert first == again != other


def test_adding_a_flow_leaves_what_others_draw_alone() -> None:
    flow = {"rtt": {"uniform": ["20 ms", "80 ms"]}, "start": {"uniform": ["0 s", "1 s"]}}
    drawn = [
        [
            (entry["rtt_s"], entry["start_s"])
            for entry in longfat.run(scenario(flow=[flow] * n)).summary["flows"]
        ]
        for n in (2, 3)
    ]
    assert drawn[0] == drawn[1][:2]
    assert drawn[1][1] != drawn[1][2]


def cwnd_bytes(ran: Result) -> bytes:
    return ran.flow("1")["cwnd"].tobytes()


def test_results_do_not_depend_on_the_number_of_jobs() -> None:
    runs = [scenario({"seed": seed, "bottleneck.loss": 0.001}) for seed in range(6)]
    alone = list(longfat.run_many(runs, jobs=1, reduce=cwnd_bytes))
    together = list(longfat.run_many(iter(runs), jobs=3, reduce=cwnd_bytes))
    finished = list(longfat.run_many(runs, jobs=3, reduce=cwnd_bytes, ordered=False))
    assert alone == together == [found for _, found in sorted(finished)]
    assert [position for position, _ in sorted(finished)] == list(range(6))
    assert len(set(together)) == 6


def test_whole_results_travel_between_processes(result: Result) -> None:
    travelled = next(longfat.run_many([result.scenario], jobs=2))
    assert cwnd_bytes(travelled) == cwnd_bytes(result)
    assert travelled.summary["flows"] == pickle.loads(pickle.dumps(result)).summary["flows"]


def test_repeats_are_averaged_with_their_standard_error() -> None:
    lossy = scenario({"bottleneck.loss": 0.003})
    runs = [longfat.run(lossy, seed=seed).summary for seed in (1, 2, 3)]
    told = aggregate(runs)
    values = [run["flows"][0]["throughput_bps"] for run in runs]
    assert told["mean"]["flows"][0]["throughput_bps"] == pytest.approx(sum(values) / 3)
    spread = math.sqrt(sum((value - sum(values) / 3) ** 2 for value in values) / 2)
    assert told["stderr"]["flows"][0]["throughput_bps"] == pytest.approx(spread / math.sqrt(3))
    assert told["mean"]["flows"][0]["algorithm"] == "reno"
    assert told["runs"] == runs


def test_asking_for_what_is_not_there_names_what_is(result: Result) -> None:
    with pytest.raises(InputError, match=r'flow "3": there is no such flow; accepted: "1" or "2"'):
        result.flow("3")
    with pytest.raises(InputError, match="jobs = 0: there is no worker; accepted: 1 or more"):
        next(longfat.run_many([scenario()], jobs=0))


def test_a_bad_scenario_among_many_is_refused() -> None:
    with pytest.raises(InputError, match=r"flow\.0\.rtt: this key is missing"):
        list(longfat.run_many([scenario(), table(flow=[{}])], jobs=2))


def test_the_example_script_prints_a_line_for_each_setting() -> None:
    script = ROOT / "examples" / "compare_algorithms.py"
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=True
    )
    assert [line.split()[0] for line in ran.stdout.splitlines()[::2]] == ["reno", "hstcp", "stcp", "htcp"]


def test_the_largest_segment_that_a_scenario_may_have_can_be_run() -> None:
    ran = longfat.run(scenario(flow=[{"algorithm": "reno", "rtt": "42 ms", "mss": "65483 B"}]))
    assert ran.summary["flows"][0]["goodput_bps"] > 0


def test_a_queue_on_the_way_back_holds_its_target_for_the_data_that_go_there() -> None:
    def waits_ms(queue: str) -> float:
        ran = longfat.run(
            scenario(
                {"bottleneck.reverse_queue": queue, "bottleneck.reverse_buffer": "200 packets"},
                duration="40 s",
                window=["10 s", "40 s"],
                flow=[{"rtt": "40 ms", "direction": "reverse"}, {"rtt": "50 ms", "direction": "reverse"}],
            )
        )
        forward, reverse = ran.summary["links"]
        assert forward["utilization"] < 0.1
        assert reverse["utilization"] > 0.9
        return float(reverse["queue_mean_packets"]) * 1.2  # 1.2 ms each at 10 Mbit/s

    assert waits_ms("codel") < 15.0
    assert waits_ms("droptail") > 100.0


def test_a_link_names_its_queue_and_its_router_as_a_flow_names_its_algorithm() -> None:
    links = [
        {"from": "A", "to": "B", "rate": "10 Mbit/s", "delay": "5 ms", "router": "xcp"},
        {"from": "B", "to": "C", "rate": "5 Mbit/s", "delay": "5 ms", "queue": "codel", "duplex": False},
        {"from": "C", "to": "B", "rate": "5 Mbit/s", "delay": "5 ms", "duplex": False},
    ]
    flow = [{"algorithm": "xcp", "from": "A", "to": "C"}]
    summary = longfat.run({"duration": "1 s", "link": links, "flow": flow}).summary
    named = {link["name"]: (link["queue"], link["router"]) for link in summary["links"]}
    assert named == {
        "A-B": ("droptail", "xcp"),
        "B-C": ("codel", None),
        "C-B": ("droptail", None),
        "B-A": ("droptail", None),
    }


def test_a_mean_over_repeats_keeps_the_names_of_queues_and_routers() -> None:
    mean = aggregate([longfat.run(scenario(), seed=seed).summary for seed in (1, 2)])["mean"]
    assert [(link["queue"], link["router"]) for link in mean["links"]] == [("droptail", None)] * 2
