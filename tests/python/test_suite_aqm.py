"""What is special about the suite aqm: its queues and settings, its ellipses, and what it keeps of a run."""

import math

import numpy as np
import pytest

import worlds
from longfat import suites
from longfat.runs import plan
from longfat.scenario.model import Scenario
from longfat.suites.aqm.figures import ellipse
from longfat.suites.aqm.reduction import effective_flows, reduce_run
from longfat.suites.kit.claims import judge

SUITE = suites.get("aqm")
MODES = ("quick", "full")


def test_a_comparison_without_a_printed_value_stays_undecidable():
    (claim,) = [claim for claim in SUITE.claims if claim.reports]
    row = judge(claim, worlds.published("aqm", "full"), "full")
    assert row["verdict"] == "undecidable"
    assert "drop-tail 0.950 at 10.0 ms" in row["measured"]


def test_all_queues_are_compared_with_drops_and_all_but_drop_tail_with_marks():
    places = {
        (run.coordinates["queue"], run.coordinates["signal"])
        for run in SUITE.experiment("tradeoff").runs("full")
    }
    queues = {"red", "adaptive-red", "choke", "blue", "sred", "codel", "fq_codel", "pie"}
    assert {queue for queue, signal in places if signal == "drops"} == queues | {"droptail"}
    assert {queue for queue, signal in places if signal == "marks"} == queues


def test_marks_need_the_queue_and_all_flows():
    for run in SUITE.experiment("fairness").runs("quick"):
        marks = run.coordinates["signal"] == "marks"
        built = plan.build(Scenario.from_dict(run.document))
        assert {flow["ecn"] for flow in built["flows"]} == {marks}
        assert run.document["bottleneck"]["queue"].get("ecn", False) is marks


def test_the_load_report_says_that_the_capacity_does_not_change():
    figure = SUITE.experiment("load").figure(worlds.published("aqm", "full")["load"], "full")
    assert "capacity does not change" in figure.caption.replace("\n", " ")


def test_an_ellipse_without_correlation_reaches_one_deviation_along_each_axis():
    x, y = ellipse((10.0, 0.9), (4.0, 0.0001), 0.0)
    assert (min(x), max(x)) == pytest.approx((8.0, 12.0), abs=1e-9)
    assert (min(y), max(y)) == pytest.approx((0.89, 0.91), abs=1e-9)


def test_an_ellipse_has_mahalanobis_distance_one_everywhere():
    spread = np.array([[4.0, 0.3], [0.3, 0.09]])
    x, y = ellipse((1.0, 2.0), (4.0, 0.09), 0.3)
    offsets = np.vstack((np.array(x) - 1.0, np.array(y) - 2.0))
    squares = np.einsum("ik,ij,jk->k", offsets, np.linalg.inv(spread), offsets)
    assert squares == pytest.approx(np.ones(squares.size))


class Ran:
    """Two flows before 8 Mbit/s for 30 s: a queue of 1000 and 3000 bytes by turns, half from 20 s on."""

    def __init__(self, rate="8 Mbit/s"):
        self.scenario = Scenario.from_dict(
            {
                "duration": "30 s",
                "bottleneck": {
                    "rate": rate,
                    "queue": {"kind": "red", "min": "1.6 packets", "max": "9 packets"},
                },
                "flow": [{"algorithm": "sack", "rtt": "20 ms"}],
            }
        )
        self.summary = {
            "window_s": [10.0, 30.0],
            "flows": [
                {"name": "1", "goodput_bps": 6e6, "throughput_bps": 6.2e6},
                {"name": "2", "goodput_bps": 2e6, "throughput_bps": 2.1e6},
            ],
            "links": [
                {
                    "name": "bottleneck", "rate_bps": 8e6, "packets_in": 1000, "packets_dropped": 20,
                    "packets_marked": 5, "utilization": 0.75,
                }
            ],
        }  # fmt: skip

    def flow(self, name):
        time = np.arange(0.0, 30.1, 0.1)
        delivered = time * (6e6 if name == "1" else 2e6) / 8
        return {"time_s": time, "delivered_bytes": delivered, "received_bytes": delivered}

    def link(self, name):
        time = np.arange(0.0, 30.005, 0.01)
        late = time > 20.0
        queue = np.where(np.arange(time.size) % 2 == 0, 1000.0, 3000.0) * np.where(late, 0.5, 1.0)
        return {
            "time_s": time,
            "queue_bytes": queue,
            "queue_packets": queue / 1000.0,
            "packets_in": time * 100.0,
            "packets_dropped": np.maximum(0.0, time - 20.0) * 10.0,
            "flows_estimated": np.where(time < 12.0, math.nan, 2.5),
        }


def test_a_run_is_reduced_to_goodput_delay_phases_and_shares():
    row = reduce_run(Ran())
    assert row["goodput_share"] == pytest.approx(1.0)
    assert row["goodput_var"] == pytest.approx(0.0, abs=1e-12)
    # 1000 and 3000 bytes before 8 Mbit/s are 1 and 3 ms, from 20 s on half of that
    assert row["delay_ms"] == pytest.approx(1.5, rel=0.01)
    assert row["delay_var"] == pytest.approx(0.25, rel=0.05)
    assert row["delay_ms_2"] == pytest.approx(2.0, rel=0.01)
    assert row["delay_ms_3"] == pytest.approx(1.0, rel=0.01)
    assert (row["drop_ratio_2"], row["drop_ratio_3"]) == (0.0, pytest.approx(0.1))
    assert (row["drop_ratio"], row["mark_ratio"]) == (0.02, 0.005)
    assert row["jain"] == pytest.approx(64 / 80)
    assert row["last_share"] == pytest.approx(2.1 / 8)
    assert row["flows_estimated"] == pytest.approx(2.5)
    assert len(row["history_s"]) == len(row["history_ms"]) == 40
    # two flows with 3/4 and 1/4 of the bytes count for 1 / (9/16 + 1/16); half of the samples are one
    # packet, half three, and half of that from 20 s on
    assert row["flows_effective"] == pytest.approx(1.6)
    assert row["below_min"] == pytest.approx(0.75, abs=0.01)
    # 1500 bytes on average wait before 6 Mbit/s that are carried
    assert row["wait_ms"] == pytest.approx(2.0, rel=0.01)
    assert "delay_ms_high" not in row


def test_a_capacity_that_varies_is_reduced_to_the_delay_and_the_drops_at_either_level():
    # 8 Mbit/s for 20 s, then 2 Mbit/s: a backlog of 2000 bytes is 2 ms, one of 1000 bytes 4 ms; one packet in
    # ten is dropped from 20 s on
    row = reduce_run(Ran({"steps": [["0 s", "8 Mbit/s"], ["20 s", "2 Mbit/s"]]}))
    assert row["delay_ms_high"] == pytest.approx(2.0, rel=0.01)
    assert row["delay_ms_low"] == pytest.approx(4.0, rel=0.01)
    assert (row["drop_ratio_high"], row["drop_ratio_low"]) == (0.0, pytest.approx(0.1, rel=0.01))


def test_flows_that_take_turns_count_for_one_in_a_short_memory_and_for_all_in_a_long_one():
    time = np.arange(0.0, 100.1, 0.1)
    turns = np.floor(time[:-1] + 1e-9).astype(int) % 4
    received = np.array([np.where(turns == flow, 1e5, 0.0) for flow in range(4)])
    # of the second that a flow has, the memory of 10 ms knows the flow before only in its first tenth
    assert effective_flows(time, received, 10.0, 0.01) == pytest.approx(1 / 0.9, rel=0.01)
    assert effective_flows(time, received, 40.0, 1e4) == pytest.approx(4.0, rel=0.05)


@pytest.mark.parametrize("mode", MODES)
def test_the_capacity_alternates_tenfold_from_the_beginning_to_the_end_at_two_paces(mode):
    for run in SUITE.experiment("capacity").runs(mode):
        steps = run.document["bottleneck"]["rate"]["steps"]
        assert [rate for _, rate in steps[:3]] == ["100 Mbit/s", "10 Mbit/s", "100 Mbit/s"]
        assert steps[1][0] == {"slow": "20 s", "fast": "0.1 s"}[run.coordinates["change"]]
        assert float(steps[-1][0].split()[0]) < float(run.document["duration"].split()[0])


def test_the_bound_of_choke_is_looked_for_beside_as_many_flows_with_both_thresholds():
    runs = SUITE.experiment("bound").runs("quick")
    queues = {tuple(sorted(run.document["bottleneck"]["queue"].items())) for run in runs}
    assert queues == {
        (("kind", "choke"), ("max", "94 packets"), ("min", "31 packets")),
        (("kind", "choke"), ("max", "300 packets"), ("min", "100 packets")),
    }
    assert {run.document["flow"][0]["count"] for run in runs} == {64}
