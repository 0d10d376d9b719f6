"""The figures of a run, from series made by hand."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from longfat_papers.kit.reduction import reduce_run


def flow(name, start_s, rate_bps, cwnd, time):
    received = np.maximum(time - start_s, 0.0) * rate_bps / 8
    summary = {
        "name": name,
        "start_s": start_s,
        "rtt_s": 0.01,
        "packets_sent": 1000,
        "packets_lost": 10 if name == "1" else 0,
        "loss_ratio": 0.01 if name == "1" else 0.0,
        "srtt_mean_s": 0.012,
        "timeouts": 0,
        "congestion_events": 4 if name == "1" else 0,
    }
    return summary, {"time_s": time, "cwnd": cwnd, "received_bytes": received}


def two_flows(background=(), transfers=None):
    time = np.round(np.arange(0.0, 400.05, 0.1), 6)
    first = flow("1", 0.0, 60e6, np.full(time.size, 100.0), time)
    second = flow("2", 100.0, 30e6, np.where(time < 300.0, 50.0, 25.0), time)
    columns = {"1": first[1], "2": second[1]}
    link = {
        "rate_bps": 100e6,
        "loss_ratio": 0.005,
        "packets_in": 4000,
        "queue_mean_packets": 3.0,
        "queue_limit_packets": 20,
    }
    return SimpleNamespace(
        summary={"flows": [first[0], second[0]], "links": [link], "background": list(background)},
        flow=columns.__getitem__,
        transfers=transfers,
    )


def test_rates_are_taken_while_both_flows_run():
    row = reduce_run(two_flows())
    assert row["throughput_1_bps"] == pytest.approx(60e6)
    assert row["throughput_2_bps"] == pytest.approx(30e6)
    assert row["ratio"] == pytest.approx(0.5)
    assert row["first_to_second"] == pytest.approx(2.0)
    assert row["aggregate_bps"] == pytest.approx(90e6)
    assert row["utilization"] == pytest.approx(0.9)
    assert row["least_100s_ratio"] == pytest.approx(0.5)


def test_losses_of_all_flows_count_together():
    assert reduce_run(two_flows())["loss_ratio"] == pytest.approx(0.005)


def test_time_between_backoffs_is_none_for_a_flow_that_never_backed_off():
    row = reduce_run(two_flows())
    assert row["epoch_1_s"] == pytest.approx(100.0)
    assert row["epoch_2_s"] is None


def test_a_second_flow_at_half_the_rate_converges_to_its_own_mean_only():
    row = reduce_run(two_flows())
    assert row["convergence_80_s"] is None
    assert row["convergence_own_s"] == pytest.approx(1.6)


def test_an_abrupt_change_of_a_window_is_seen():
    row = reduce_run(two_flows())
    assert row["largest_step_1"] == 0.0
    assert row["largest_step_2"] == pytest.approx(0.5, abs=0.02)


def test_histories_are_thinned_to_half_a_second():
    history = reduce_run(two_flows())["series"][1]
    assert np.diff(history["time_s"]) == pytest.approx(0.5)
    assert history["backoffs"]["after"].tolist() == [25.0]


def test_one_flow_has_no_figures_of_a_pair():
    result = two_flows()
    result.summary["flows"] = result.summary["flows"][:1]
    row = reduce_run(result)
    assert "convergence_80_s" not in row
    assert "first_to_second" not in row
    assert row["ratio"] == 1.0


def test_background_load_is_that_of_the_forward_direction_and_its_busiest_second():
    groups = [
        {"name": "web-1-forward", "throughput_bps": 2e6},
        {"name": "web-1-reverse", "throughput_bps": 50e6},
    ]
    # 1.25 MB within second 10, and as much spread evenly over seconds 20..22: 10 and 5 Mbit/s
    transfers = pa.table(
        {
            "name": pa.array(["web-1-forward", "web-1-forward", "web-1-reverse"]).dictionary_encode(),
            "start_s": [10.0, 20.0, 50.0],
            "completion_time_s": [0.5, 2.0, 0.5],
            "bytes": [1.25e6, 1.25e6, 9e9],
        }
    )
    row = reduce_run(two_flows(groups, transfers))
    assert row["background_share"] == pytest.approx(0.02)
    assert row["background_peak_share"] == pytest.approx(0.1)
