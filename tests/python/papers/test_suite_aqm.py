"""What is special about the suite aqm: its queues and settings, its ellipses, and what it keeps of a run."""

import math

import numpy as np
import pytest

import longfat
import longfat_papers as suites
import worlds
from longfat.scenario.model import Scenario
from longfat_papers.aqm.common import projected_drops
from longfat_papers.aqm.drawing import ellipse
from longfat_papers.aqm.reduction import class_of, effective_flows, reduce_run
from longfat_papers.kit.claims import judge

SUITE = suites.get("aqm")
MODES = ("quick", "full")


def test_a_comparison_without_a_printed_value_stays_undecidable():
    claim, *_ = [claim for claim in SUITE.claims if claim.reports]
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
        built = Scenario.from_dict(run.document).plan
        assert {flow["transport"]["ecn"] for flow in built["flows"]} == {"on" if marks else "off"}
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
                "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
            }
        )
        self.summary = {
            "window_s": [10.0, 30.0],
            "flows": [
                {
                    "name": "1", "goodput_bps": 6e6, "throughput_bps": 6.2e6,
                    "packets_sent": 600, "packets_lost": 6,
                },
                {
                    "name": "2", "goodput_bps": 2e6, "throughput_bps": 2.1e6,
                    "packets_sent": 200, "packets_lost": 4,
                },
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
    assert (row["first_goodput_share"], row["last_goodput_share"]) == (0.75, 0.25)
    assert (row["first_loss_ratio"], row["last_loss_ratio"]) == (0.01, 0.02)
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


def test_the_levels_of_congestion_have_the_flows_and_the_projection_of_the_guidelines():
    # 208 packets of BDP and 416 of buffer: 0.036, 0.081 and 0.114 times 624, and 0.76 N^2 / S^2
    counts = {run.coordinates["level"]: run.document["flow"][0]["count"] for run in quick("levels")}
    assert counts == {"mild": 22, "medium": 51, "heavy": 71}
    projected = [projected_drops(level) for level in ("mild", "medium", "heavy")]
    assert projected == pytest.approx([0.001, 0.005, 0.01], rel=0.06)


def test_datagrams_offer_more_than_the_capacity_alone_and_between_half_and_all_of_it_beside_tcp():
    for run in SUITE.experiment("senders").runs("quick"):
        rates = [
            float(flow["algorithm"]["rate"].removesuffix(" Mbit/s"))
            for flow in run.document["flow"]
            if isinstance(flow["algorithm"], dict) and flow["algorithm"]["name"] == "cbr"
        ]
        if run.coordinates["sender"] == "flood":
            assert rates[0] > 50.0
        elif run.coordinates["sender"] == "beside-datagrams":
            assert 25.0 < rates[0] < 50.0
        else:
            assert not rates


def quick(experiment, **at):
    found = SUITE.experiment(experiment).runs("quick")
    return [run for run in found if all(run.coordinates[key] == value for key, value in at.items())]


@pytest.mark.parametrize(
    ("case", "classes"),
    [
        ("I", {"page", "datagrams"}),
        ("II", {"page", "datagrams", "bulk"}),
        ("III", {"page", "datagrams", "frames"}),
        ("IV", {"page", "datagrams", "frames", "bulk"}),
    ],
)
def test_the_four_cases_of_bursts_have_the_traffic_of_figure_2(case, classes):
    (run, *_) = quick("bursts", case=case, queue="pie")
    assert {class_of(flow["name"]) for flow in run.document["flow"]} == classes
    page, *_ = [flow for flow in run.document["flow"] if class_of(flow["name"]) == "page"]
    # 50 objects of 12 kB over six connections
    assert (page["count"], page["bytes"], page["initial_window"]) == (6, "100 kB", 10)


def test_a_frame_of_25_kilobytes_arrives_25_times_a_second():
    (run, *_) = quick("bursts", case="III", queue="droptail")
    (video,) = [flow for flow in run.document["flow"] if flow["name"] == "frames"]
    on_ms, off_ms = (float(video["algorithm"][key].removesuffix(" ms")) for key in ("on", "off"))
    assert on_ms + off_ms == pytest.approx(40.0)
    # 100 Mbit/s for 2 ms
    assert on_ms * 1e-3 * 100e6 / 8 == pytest.approx(25_000)


def test_the_mix_has_a_call_six_pages_datagrams_a_video_and_five_long_flows():
    (run, *_) = quick("mix", queue="codel")
    count = {}
    for flow in run.document["flow"]:
        name = class_of(flow["name"])
        count[name] = count.get(name, 0) + flow.get("count", 1)
    assert {**count, "segment": 0} == {
        "bulk": 5, "datagrams": 1, "voice": 1, "back": 1, "page": 36, "segment": 0
    }  # fmt: skip
    assert count["segment"] > 10


def test_both_directions_have_mild_congestion_and_the_same_queue():
    for run in quick("bidirectional", signal="marks"):
        there, back = run.document["flow"]
        assert (there["count"], back["count"]) == (22, 22)
        assert (there.get("direction", "forward"), back["direction"]) == ("forward", "reverse")
        bottleneck = run.document["bottleneck"]
        assert bottleneck["queue"] == bottleneck["reverse_queue"]
        assert bottleneck["buffer"] == bottleneck["reverse_buffer"]


def test_of_two_queues_in_a_row_the_one_under_test_stands_where_its_position_says():
    def kinds(position):
        (run, *_) = quick("two-queues", position=position, queue="codel")
        return {link["name"]: link["queue"]["kind"] for link in run.document["link"] if "queue" in link}

    assert kinds("both") == {"upstream": "codel", "shared": "codel"}
    assert kinds("upstream only") == {"upstream": "codel", "shared": "droptail"}
    assert kinds("shared only") == {"upstream": "droptail", "shared": "codel"}


def test_senders_before_one_router_and_before_two_have_the_same_round_trip_time():
    (run, *_) = quick("two-queues", position="both", queue="pie")
    scenario = Scenario.from_dict(run.document)
    flows = [*scenario.plan["flows"], *(part["flow"] for part in scenario.plan["background"])]
    assert [flow["rtt_s"] for flow in flows] == pytest.approx([0.05] * len(flows))
    assert {len(flow["forward"]) for flow in flows} == {2, 3}


def test_drop_tail_at_both_routers_is_one_run_whatever_the_position():
    documents = [repr(run.document) for run in quick("two-queues", queue="droptail", repeat=0)]
    assert len(documents) == 3
    assert len(set(documents)) == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("page-3-1", "page"), ("back-voice", "back"), ("frames", "frames"), ("12", ""), ("12-3", "")],
)
def test_a_flow_belongs_to_the_class_that_its_name_begins_with(name, expected):
    assert class_of(name) == expected


@pytest.fixture(scope="module")
def both_directions():
    """Pages and a long flow there, a long flow back; the queues of both ways hold ten packets."""
    flows = [
        {"name": "page-1", "count": 2, "bytes": "30 kB", "start": "4 s"},
        {"name": "page-2", "count": 2, "bytes": "30 kB", "start": "11.9 s"},
        {"name": "bulk"},
        {"name": "back", "direction": "reverse"},
    ]
    result = longfat.run(
        {
            "duration": "12 s",
            "window": ["2 s", "12 s"],
            "bottleneck": {"rate": "5 Mbit/s", "buffer": "10 packets", "reverse_buffer": "10 packets"},
            "flow": [{"algorithm": "reno", "rtt": "40 ms", **flow} for flow in flows],
            "sample": {"queue": "10 ms"},
        }
    )
    return result, reduce_run(result)


def test_flows_of_the_other_direction_count_only_in_their_own_class(both_directions):
    result, row = both_directions
    back = [flow for flow in result.summary["flows"] if flow["name"] == "back"]
    assert row["share_back"] == pytest.approx(back[0]["goodput_bps"] / 5e6, rel=0.02)
    assert row["goodput_share"] == pytest.approx(row["share_bulk"] + row["share_page"], rel=0.02)
    assert row["goodput_share"] <= 1448 / 1500


def test_a_page_lasts_until_its_last_connection_ends_and_one_without_end_is_left_out(both_directions):
    result, row = both_directions
    ends = [flow["completed_s"] for flow in result.summary["flows"] if flow["name"].startswith("page-1")]
    assert len(set(ends)) == 2
    assert row["completion_s_page"] == pytest.approx(max(ends) - 4.0)
    assert row["finished_page"] == 0.5


def acks_before(reverse_rate):
    """A long flow before a slow way back, and a packet that makes it a run with both directions."""
    flows = [{"name": "bulk"}, {"name": "back", "direction": "reverse", "bytes": "1448 B"}]
    bottleneck = {"rate": "5 Mbit/s", "buffer": "900 packets", "reverse_buffer": "5 packets"}
    return longfat.run(
        {
            "duration": "12 s",
            "window": ["2 s", "12 s"],
            "bottleneck": bottleneck | {"reverse_rate": reverse_rate},
            "flow": [{"algorithm": "reno", "rtt": "40 ms", "max_window": 30, **flow} for flow in flows],
            "sample": {"queue": "10 ms"},
        }
    )


def test_where_the_way_back_drops_only_acks_their_drop_ratio_is_that_of_its_link():
    # 208 ACKs of 52 bytes a second are 87 kbit/s
    result = acks_before("50 kbit/s")
    there, back = result.summary["links"][:2]
    assert there["packets_dropped"] == 0
    assert back["packets_dropped"] > 300
    expected = back["packets_dropped"] / back["packets_in"]
    row = reduce_run(result)
    assert row["ack_drop_ratio"] == pytest.approx(expected, rel=0.05)
    assert row["second_drop_ratio"] == pytest.approx(expected)


def test_where_nothing_is_dropped_no_ack_is():
    assert reduce_run(acks_before("5 Mbit/s"))["ack_drop_ratio"] == 0.0


def test_drops_of_data_alone_are_no_drops_of_acks():
    flows = [{"name": "bulk"}, {"name": "back", "direction": "reverse", "bytes": "1448 B"}]
    document = {
        "duration": "12 s",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "10 packets", "reverse_buffer": "900 packets"},
        "flow": [{"algorithm": "reno", "rtt": "40 ms", **flow} for flow in flows],
        "sample": {"queue": "10 ms"},
        "window": ["2 s", "12 s"],
    }
    result = longfat.run(document)
    assert result.summary["links"][0]["packets_dropped"] > 10
    # one or two drops that the sender does not know yet, of about 2500 ACKs
    assert abs(reduce_run(result)["ack_drop_ratio"]) < 0.002


def test_a_short_flow_of_50_packets_begins_beside_a_long_one_with_a_window_of_3_or_10():
    for window in (3, 10):
        (run, *_) = quick("senders", sender=f"before-iw{window}", queue="codel")
        long, short = run.document["flow"]
        assert "bytes" not in long
        assert (short["bytes"], short["initial_window"]) == ("72400 B", window)
        row = reduce_run(longfat.run(run.document))
        # 50 packets in a few round trips of 50 ms and more
        assert 0.1 < row["completion_s_short"] < 3.0
        assert row["finished_short"] == 1.0


def test_two_queues_in_a_row_are_reduced_to_both_delays_and_the_goodput_of_both_groups():
    (run,) = quick("two-queues", position="both", queue="droptail", repeat=0)
    row = reduce_run(longfat.run({**run.document, "duration": "14 s", "window": ["10 s", "14 s"]}))
    # a full buffer of either router lasts 100 ms
    assert 20.0 < row["delay_ms"] < 101.0
    assert 20.0 < row["second_wait_ms"] < 101.0
    assert row["share_A"] <= 0.4
    assert row["goodput_share"] == pytest.approx(row["share_A"] + row["share_B"], rel=0.02)
