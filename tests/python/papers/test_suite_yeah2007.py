"""What is special about yeah2007: its claims, its testbed, and what it keeps of a run."""

import math

import numpy as np
import pyarrow as pa
import pytest

import longfat_papers as suites
import worlds
from longfat.scenario.model import Scenario
from longfat_papers.yeah2007.reduction import reduce_run
from worlds.yeah2007 import PRINTED_LOSS

SUITE = suites.get("yeah2007")
IDS = ["F1", "F3", "T1", "F4", "F5", "F6", "F7", "FR", "F8a", "F8b"]
MODES = ("quick", "full")


def test_every_claim_of_the_paper_is_in_the_suite():
    assert [claim.id for claim in SUITE.claims] == [f"YEAH-{number}" for number in IDS]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_shows_all_protocols_that_were_measured(experiment, mode):
    figure = experiment.figure(worlds.published("yeah2007", mode)[experiment.name], mode)
    curves = [curve for panel in figure.panels for curve in panel.curves]
    if experiment.name != "F1":
        assert {curve.algorithm for curve in curves} == set(PRINTED_LOSS)


def planned(name, mode="full", **place):
    runs = SUITE.experiment(name).runs(mode)
    run = next(run for run in runs if place.items() <= run.coordinates.items())
    return Scenario.from_dict(run.document).plan


@pytest.mark.parametrize(
    ("name", "place", "packets"),
    [
        ("F8a", {}, 20_000),
        ("F5", {}, 8333),
        ("F6", {"queue_percent": 100}, 3333),
        ("F7", {"rtt_ratio": 8}, 1041),
    ],
)
def test_buffers_are_the_packets_that_the_paper_prints(name, place, packets):
    # 25 ms, the lesser RTT of Fig. 7, is not printed in packets: 500 Mbit/s x 25 ms / 12 000 bit
    assert planned(name, algorithm="reno", **place)["links"][0]["queue"]["limit_packets"] == packets


def test_flows_run_on_the_testbed_of_section_iv():
    built = planned("F3", algorithm="reno", rtt_ms=60)
    assert [link["rate_bps"] for link in built["links"]] == [500e6, 500e6]
    assert built["sample"]["links_s"] == 0.01
    assert built["duration_s"] == 600.0
    assert len(built["flows"]) == 2
    for flow in built["flows"]:
        assert flow["access_rate_bps"] == 1e9
        ends = flow["transport"]
        assert ends["mss"] + flow["header_bytes"] == 1500
        assert (ends["slow_start"], ends["max_ssthresh"], ends["initial_ssthresh"]) == (
            "limited",
            100.0,
            None,
        )
    ends = [flow["transport"] for flow in planned("F8b", algorithm="reno")["flows"]]
    assert {each["initial_ssthresh"] for each in ends} == {2.0}


def test_the_web_comes_from_the_receiver_and_offers_four_megabit():
    (web,) = planned("F3", algorithm="reno", rtt_ms=60)["background"]
    assert (web["flow"]["forward"], web["flow"]["reverse"]) == ([1], [0])
    # an object of 75 kB, 78 kB with headers, in about 3.4 s is 180 kbit/s a user
    assert web["users"] == pytest.approx(22, abs=2)


def test_the_full_mode_has_three_repeats_at_every_place_and_table_i_those_of_fig_3():
    for experiment in SUITE.experiments:
        counts = {}
        for run in experiment.runs("full"):
            place = tuple(sorted((k, v) for k, v in run.coordinates.items() if k != "repeat"))
            counts[place] = counts.get(place, 0) + 1
        assert set(counts.values()) == {3}, experiment.name
    fig_3 = {repr(run.document) for run in SUITE.experiment("F3").runs("full")}
    assert {repr(run.document) for run in SUITE.experiment("T1").runs("full")} <= fig_3


def test_the_quick_mode_is_at_most_a_twentieth_of_the_full_one():
    assert worlds.estimated_packets(SUITE, "quick") < 0.05 * worlds.estimated_packets(SUITE, "full")
    assert worlds.estimated_packets(SUITE, "quick") < 1.2e9


class Ran:
    """A result of two flows at 2 and 4 Mbit/s for 300 s, with a queue that is 0, 10, 20, 30, 0, 10, ..."""

    def __init__(self):
        flow = {
            "start_s": 0.0, "rtt_s": 0.1, "loss_ratio": 0.0, "srtt_mean_s": 0.1, "timeouts": 0,
            "congestion_events": 0, "packets_sent": 100, "packets_lost": 0,
        }  # fmt: skip
        self.summary = {
            "flows": [flow | {"name": "1", "goodput_bps": 2e6}, flow | {"name": "2", "goodput_bps": 4e6}],
            "links": [
                {
                    "rate_bps": 1e7, "loss_ratio": 0.02, "queue_mean_packets": 9.0, "queue_limit_packets": 60,
                    "packets_in": 1000, "packets_dropped": 4,
                }
            ],
            "background": [{"name": "web-reverse", "throughput_bps": 3e5}],
        }  # fmt: skip

    def flow(self, name):
        time = np.arange(0.0, 300.1, 0.1)
        rate = 2e6 if name == "1" else 4e6
        return {"time_s": time, "cwnd": np.full(time.size, 10.0), "received_bytes": time * rate / 8}

    @property
    def events(self):
        """Losses of both flows, each with cwnd before and after."""
        rows = [(10.0, "1", 100, 50), (200.0, "1", 80, 40), (250.0, "1", 60, 36), (260.0, "2", 100, 90)]
        return pa.Table.from_pylist(
            [
                {"time_s": time, "name": name, "event": event, "cwnd": float(cwnd)}
                for time, name, before, after in rows
                for event, cwnd in (("loss", before), ("recovered", after))
            ]
        )

    def link(self, name):
        assert name == "bottleneck"
        return {"queue_packets": np.tile([0.0, 10.0, 20.0, 30.0], 100)}


def test_a_run_is_reduced_to_the_figures_of_the_paper():
    row = reduce_run(Ran())
    assert row["queue_share"] == pytest.approx(15 / 60)
    assert row["queue_cov"] == pytest.approx(math.sqrt(125) / 15)  # variance of 0, 10, 20, 30
    assert row["overflow_ratio"] == pytest.approx(0.004)
    assert row["others_goodput_bps"] == 2e6
    assert row["web_bps"] == 3e5
    assert row["late_loss_factor_1"] == pytest.approx(0.55)  # 40 of 80 and 36 of 60, later than 150 s
    assert row["efficiency_100"] == pytest.approx(0.6)
    assert "efficiency_300" in row
    assert "efficiency_450" not in row
