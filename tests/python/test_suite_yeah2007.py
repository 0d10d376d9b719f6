"""The rules of yeah2007 are checked against worlds made up here, without any simulation.

One world is as the paper describes it; in the other nothing that it found is so.
"""

import math

import numpy as np
import pyarrow as pa
import pytest

from longfat import suites
from longfat.runs import plan
from longfat.scenario.model import Scenario
from longfat.suites.kit.claims import judge
from longfat.suites.kit.suite import Data, Runs
from longfat.suites.yeah2007.reduction import EFFICIENCY_S, reduce_run

SUITE = suites.get("yeah2007")
IDS = ["F1", "F3", "T1", "F4", "F5", "F6", "F7", "FR", "F8a", "F8b"]
MODES = ("quick", "full")
PRINTED_LOSS = {
    "sack": (5.77e-6, 5.07e-6, 9.40e-7),
    "yeah": (0.0, 0.0, 0.0),
    "ctcp": (4.01e-6, 1.08e-6, 7.53e-7),
    "htcp": (3.75e-5, 1.42e-4, 3.35e-4),
    "africa": (2.67e-6, 1.84e-6, 1.17e-6),
    "cubic": (2.61e-5, 1.85e-5, 2.97e-5),
    "hstcp": (6.06e-5, 2.93e-5, 4.12e-6),
}
"""Table I as the list of published claims has it, at 15, 60 and 240 ms."""

QUEUE = {"sack": 0.4, "yeah": 0.02, "ctcp": 0.42, "htcp": 0.3, "africa": 0.38, "cubic": 0.6, "hstcp": 0.65}
LOSSY = {"sack": 0.4, "yeah": 0.98, "ctcp": 0.6, "htcp": 0.8, "africa": 0.65, "cubic": 0.85, "hstcp": 0.75}
LOSS_BASED = ("sack", "hstcp", "cubic", "htcp")


def as_the_paper_says(at):
    """Figures of one run, as the paper's words have it; `at` is the run's place."""
    name, rtt, loss = at["algorithm"], at.get("rtt_ms", 80), at.get("loss")
    percent, ratio, number = at.get("queue_percent", 100), at.get("rtt_ratio", 1), at.get("reno_flows", 1)
    used = 0.99 if rtt <= 240 else 0.8
    if at.get("experiment") == "F4" and rtt > 120:
        used *= LOSSY[name]
    if loss is not None:
        used = {"sack": 0.2, "yeah": 0.9}.get(name, 0.5) * (1.0 if loss <= 1e-5 else 0.3)
    if percent < 100:
        used = 0.85 if name in LOSS_BASED and percent <= 5 else 0.97
    fair = 0.98 if name != "cubic" else 0.96
    unfair = 0.97 if name in ("yeah", "htcp") else 0.7
    beside = 6.0 ** (1.0 / number) if name in ("hstcp", "cubic", "htcp") else 1.05
    lost = PRINTED_LOSS[name][(15, 60, 240).index(rtt)] if rtt in (15, 60, 240) else 0.0
    slow = at.get("experiment") == "F8a"
    separate = {"sack": 0.2, "hstcp": 0.5, "cubic": 0.7}.get(name, 0.6)
    return {
        "queue_share": 0.02 * 100 / percent if name == "yeah" else QUEUE[name] * (percent / 100) ** 0.2,
        "queue_cov": 1.5,
        "utilization": used,
        "overflow_ratio": lost,
        "jain": fair if ratio == 1 else unfair,
        "others_goodput_bps": 480e6 * number / (number + 1) / (beside if name != "sack" else 1.0),
        "convergence_80_s": 20.0,
        "late_ratio": 0.95,
        "duration_s": 300.0,
        "late_loss_factor_1": 0.5,
        "series": [history(left=0.5), history(left=1.0)],
        **{f"efficiency_{s}": 0.2 + 0.68 * (s - 100) / 1700 if slow else separate for s in EFFICIENCY_S},
    }


def as_nothing_in_the_paper(at):
    """The opposite of each finding."""
    name, experiment = at["algorithm"], at["experiment"]
    rank = list(QUEUE).index(name)
    percent, ratio = at.get("queue_percent", 100), at.get("rtt_ratio", 1)
    queue = {"sack": 0.1, "yeah": 0.9, "africa": 0.5, "ctcp": 0.5}.get(name, 0.05)
    queue *= percent / 100 if name == "yeah" else 100 / percent
    if name == "htcp" and at.get("rtt_ms", 15) > 15:
        queue *= 10.0
    used = 0.9
    if experiment in ("F4", "F5") or percent < 100:
        used = {"sack": 0.99, "africa": 0.9, "ctcp": 0.9, "yeah": 0.3}.get(name, 0.6)
    if experiment == "F6" and name in ("hstcp", "cubic", "htcp"):
        used = 0.9
    jain = {"htcp": 0.5, "yeah": 0.5}.get(name, 0.95)
    if ratio == 1:
        jain = 0.95 if name == "cubic" else 0.6
    length = dict.fromkeys(EFFICIENCY_S, 0.5 + 0.01 * rank)
    if experiment == "F8a":
        length = dict.fromkeys(EFFICIENCY_S, 0.5 + 0.1 * rank)
    elif name == "sack":
        length[1800] = 0.6
    return {
        "queue_share": queue,
        "queue_cov": 0.2,
        "utilization": used,
        "overflow_ratio": 1e-2,
        "jain": jain,
        "others_goodput_bps": 30e6 if name in ("africa", "ctcp", "yeah") else 100e6,
        "convergence_80_s": None,
        "late_ratio": 0.1,
        "duration_s": 300.0,
        "late_loss_factor_1": 0.875,
        "series": [history(left=1.0), history(left=1.0)],
        **{f"efficiency_{s}": value for s, value in length.items()},
    }


def history(left):
    """A window of 1000 packets until the other flow joins at 100 s, then down to a part of it."""
    time = np.arange(0.0, 300.5, 0.5)
    cwnd = np.where(time < 100.0, 1000.0, 1000.0 * left + (time - 100.0) * 0.1)
    return {"name": "1", "time_s": time, "cwnd": cwnd, "received_bytes": time * 1e6}


def world(figures, mode="full"):
    return Data(
        {
            experiment.name: Runs(
                experiment.name,
                [
                    {**run.coordinates, **figures({**run.coordinates, "experiment": experiment.name})}
                    for run in experiment.runs(mode)
                ],
            )
            for experiment in SUITE.experiments
        }
    )


PAPER, OPPOSITE = world(as_the_paper_says), world(as_nothing_in_the_paper)


def test_every_claim_of_the_paper_is_in_the_suite():
    assert [claim.id for claim in SUITE.claims] == [f"YEAH-{number}" for number in IDS]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_as_the_paper_describes_it_reproduces_the_claim(claim):
    row = judge(claim, PAPER, "full")
    failed = [check for check in row["checks"] if check["passed"] is not True]
    assert (row["verdict"], failed) == ("reproduced", [])
    assert row["measured"]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_where_nothing_of_it_is_so_does_not_reproduce_the_claim(claim):
    row = judge(claim, OPPOSITE, "full")
    assert row["verdict"] == "not reproduced", [check for check in row["checks"] if check["passed"]]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_claim_names_experiments_and_sources_and_is_not_measured_without_its_runs(claim):
    names = {experiment.name for experiment in SUITE.experiments}
    assert set(claim.experiments) <= names
    assert all(setting.value and setting.source for setting in claim.settings)
    assert judge(claim, Data({}), "full")["verdict"] == "not measured"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_run_is_a_valid_scenario_at_its_own_place(experiment, mode):
    runs = experiment.runs(mode)
    places = [tuple(sorted(run.coordinates.items(), key=str)) for run in runs]
    assert len(set(places)) == len(runs)
    for run in runs if mode == "quick" else runs[:: max(1, len(runs) // 20)]:
        Scenario.from_dict(run.document, source=experiment.name)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_shows_all_protocols_that_were_measured(experiment, mode):
    figure = experiment.figure(world(as_the_paper_says, mode)[experiment.name], mode)
    assert figure.name == experiment.name
    assert figure.caption
    curves = [curve for panel in figure.panels for curve in panel.curves]
    assert all(any(not math.isnan(y) for y in curve.y) for curve in curves if curve.label != "YeAH")
    if experiment.name != "F1":
        assert {curve.algorithm for curve in curves} == set(PRINTED_LOSS)
    assert type(figure).from_json(figure.to_json()).to_json() == figure.to_json()


def planned(name, mode="full", **place):
    runs = SUITE.experiment(name).runs(mode)
    return plan.build(
        Scenario.from_dict(next(run for run in runs if place.items() <= run.coordinates.items()).document)
    )


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
    assert planned(name, algorithm="sack", **place)["links"][0]["queue"]["limit_packets"] == packets


def test_flows_run_on_the_testbed_of_section_iv():
    built = planned("F3", algorithm="sack", rtt_ms=60)
    assert [link["rate_bps"] for link in built["links"]] == [500e6, 500e6]
    assert built["sample"]["links_s"] == 0.01
    assert built["duration_s"] == 600.0
    assert len(built["flows"]) == 2
    for flow in built["flows"]:
        assert flow["access_rate_bps"] == 1e9
        assert flow["mss_bytes"] + flow["header_bytes"] == 1500
        assert (flow["slow_start"], flow["max_ssthresh"], flow["initial_ssthresh"]) == (
            "limited",
            100.0,
            None,
        )
    assert {flow["initial_ssthresh"] for flow in planned("F8b", algorithm="sack")["flows"]} == {2.0}


def test_the_web_comes_from_the_receiver_and_offers_four_megabit():
    (web,) = planned("F3", algorithm="sack", rtt_ms=60)["background"]
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
    assert SUITE.estimated_packets("quick") < 0.05 * SUITE.estimated_packets("full")
    assert SUITE.estimated_packets("quick") < 1e9


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
