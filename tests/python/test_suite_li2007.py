"""The rules of li2007 are checked against worlds made up here, without any simulation.

One world is as the paper describes it; in the other nothing that it found is so.
"""

import math

import numpy as np
import pytest

from longfat import suites
from longfat.errors import InputError
from longfat.runs import plan
from longfat.scenario.model import Scenario
from longfat.suites.kit.claims import judge
from longfat.suites.kit.suite import Data, Runs

SUITE = suites.get("li2007")
IDS = [
    *("LLS-F1", "LLS-F3a", "LLS-F3b", "LLS-F4", "LLS-F5a", "LLS-F5b", "LLS-F6", "LLS-F7", "LLS-F8", "LLS-F9"),
    *("LLS-F10", "LLS-F11", "LLS-F12a", "LLS-F12b", "LLS-E2", "LLS-C2", "LLS-F13"),
    *("LLS-F14a", "LLS-F14b", "LLS-F15"),
]
REPORTS = {"LLS-E2", "LLS-C2"}


def as_the_paper_says(at):
    """Figures of one run, as the paper's words have it; `at` is the run's place."""
    name, rtt, rate = at["algorithm"], at.get("rtt_ms", 162), at.get("rate_mbps", 250)
    fair = {"sack": 0.98, "htcp": 0.97, "stcp": 0.3, "fast": 0.35, "hstcp": 0.8, "bic": 0.85}[name]
    share = min(rtt, 162) / 162
    starved = {
        "sack": share**2 * 2,
        "htcp": share * 2,
        "stcp": 0.0005,
        "fast": 0.003,
        "hstcp": 0.003,
        "bic": 0.004,
    }
    long_short = min(1.0, starved[name])
    times = {
        "sack": 40.0 if rate == 10 else 50.0 * rtt / 42,
        "htcp": 35.0 if rate == 10 else 30.0,
        "hstcp": 60.0 * rtt / 42,
        "bic": 50.0 * rtt / 42,
        "stcp": 400.0 if rtt < 162 else None,
        "fast": 5.0,
    }
    converges = times[name] if not (name == "sack" and rate == 250 and rtt > 162) else None
    percent = at.get("queue_percent", 20)
    collapsed = percent <= (8 if name == "fast" else 3)
    busy = {"sack": 88.0, "hstcp": 95.0, "stcp": 97.0, "bic": 96.0, "fast": 98.0, "htcp": 94.0}[name]
    rapid = name == "fast" and rtt == 42
    p = at.get("loss", 1e-3)
    window = {"sack": 1.2247 * p**-0.5, "stcp": 0.08 / p, "hstcp": 0.12 * p**-0.835}.get(name, 100.0)
    if name != "sack" and p >= 1e-2:
        window = 1.2247 * p**-0.5
    return {
        "ratio": fair,
        "late_ratio": {"nearest": 0.85, "interpolated": 0.96}.get(at.get("table"), fair),
        "final_ratio": 0.5 if name in ("stcp", "bic") else 0.98,
        "first_to_second": long_short,
        "srtt_1_s": 0.162,
        "srtt_2_s": rtt / 1000,
        "convergence_80_s": converges,
        "convergence_own_s": converges,
        "aggregate_bps": (40e6 if collapsed else busy * 1e6),
        "utilization": busy / 100,
        "loss_ratio": 1e-3 if percent == 1 else 1e-5,
        "queue_limit_packets": 175,
        "epoch_1_s": 1.0 if rapid else 100.0,
        "epoch_2_s": 1.5 if rapid else None,
        "late_cwnd_cov_1": 0.3 if rapid else 0.02,
        "late_cwnd_cov_2": 0.3 if rapid else 0.02,
        "largest_step_1": 0.5,
        "largest_step_2": 0.1,
        "least_100s_ratio": 0.2,
        "cwnd_max_2": 40.0,
        "settled_throughput_1_bps": window * 12000 / 0.162,
        "background_share": 0.015 if at.get("sessions") else None,
        "background_peak_share": 0.1 if at.get("sessions") else None,
        "series": [refill_history(8000.0, 218e6)],
    }


def as_nothing_in_the_paper(at):
    """The opposite of each finding."""
    figures = as_the_paper_says(at)
    name = at["algorithm"]
    fair = 0.5 if name in ("sack", "htcp") else 0.99
    return figures | {
        "ratio": fair,
        "late_ratio": {"nearest": 0.97, "interpolated": 0.90}.get(at.get("table"), fair),
        "final_ratio": 0.99,
        "first_to_second": 1.2 if at.get("sessions") else 0.6,
        "srtt_2_s": at.get("rtt_ms", 162) / 1000,
        "convergence_80_s": {"sack": 1.0, "fast": 300.0, "htcp": 90.0}.get(name, 20.0)
        if name != "hstcp"
        else None,
        "aggregate_bps": 99e6 if name == "sack" else 80e6,
        "loss_ratio": 1e-5,
        "epoch_1_s": 100.0 if at.get("rtt_ms") == 42 else 1.0,
        "epoch_2_s": 100.0 if at.get("rtt_ms") == 42 else 1.0,
        "late_cwnd_cov_1": 0.0,
        "late_cwnd_cov_2": 0.0,
        "largest_step_1": 0.0,
        "least_100s_ratio": 0.9,
        "cwnd_max_2": 10.0,
        "settled_throughput_1_bps": 1e6,
        "background_share": 0.1 if at.get("sessions") else None,
        "background_peak_share": 0.6 if at.get("sessions") else None,
        "series": [refill_history(1000.0, 900e6)],
    }


def refill_history(rtts, mean_bps):
    """A window full for 50 s, halved, and full again after so many RTTs of 100 ms, at a mean rate."""
    seconds = rtts * 0.1
    time = np.arange(0.0, 50.0 + seconds + 20.0, 0.5)
    cwnd = np.interp(time, [0.0, 50.0, 50.5, 50.5 + seconds, 1e6], [8333, 8333, 4166, 8333, 8333])
    backoff = {"time_s": [50.5], "before": [8333.0], "after": [4166.0]}
    return {
        "name": "1",
        "time_s": time,
        "cwnd": cwnd,
        "received_bytes": time * mean_bps / 8,
        "backoffs": backoff,
    }


def world(figures, mode="quick"):
    return Data(
        {
            experiment.name: Runs(
                experiment.name,
                [{**run.coordinates, **figures(dict(run.coordinates))} for run in experiment.runs(mode)],
            )
            for experiment in SUITE.experiments
        }
    )


PAPER, OPPOSITE = world(as_the_paper_says), world(as_nothing_in_the_paper)


def test_every_claim_of_the_paper_is_in_the_suite():
    assert sorted(claim.id for claim in SUITE.claims) == sorted(IDS)


def test_every_claim_names_experiments_that_exist():
    names = {experiment.name for experiment in SUITE.experiments}
    assert all(set(claim.experiments) <= names for claim in SUITE.claims)


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_as_the_paper_describes_it_reproduces_the_claim(claim):
    row = judge(claim, PAPER, "full")
    failed = [check for check in row["checks"] if check["passed"] is not True]
    assert (row["verdict"], failed) == ("undecidable" if claim.id in REPORTS else "reproduced", [])
    assert row["measured"]


@pytest.mark.parametrize(
    "claim", [claim for claim in SUITE.claims if claim.id not in REPORTS], ids=lambda claim: claim.id
)
def test_a_world_where_nothing_of_it_is_so_does_not_reproduce_the_claim(claim):
    row = judge(claim, OPPOSITE, "full")
    assert row["verdict"] == "not reproduced", [check for check in row["checks"] if check["passed"]]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_claim_without_its_runs_is_not_measured(claim):
    assert judge(claim, Data({}), "full")["verdict"] == "not measured"


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_every_setting_of_a_claim_names_its_source(claim):
    assert claim.settings
    assert all(setting.value and setting.source for setting in claim.settings)


@pytest.mark.parametrize("mode", ["quick", "full"])
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_run_is_a_valid_scenario_at_its_own_place(experiment, mode):
    runs = experiment.runs(mode)
    places = [tuple(sorted(run.coordinates.items(), key=str)) for run in runs]
    assert len(set(places)) == len(runs)
    for run in runs if mode == "quick" else runs[:: max(1, len(runs) // 20)]:
        Scenario.from_dict(run.document, source=experiment.name)


@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_shows_all_that_was_measured(experiment):
    figure = experiment.figure(PAPER[experiment.name], "quick")
    assert figure.name == experiment.name
    assert figure.caption
    shown = [y for panel in figure.panels for curve in panel.curves for y in curve.y if not math.isnan(y)]
    assert shown
    assert type(figure).from_json(figure.to_json()).to_json() == figure.to_json()


def planned(name, **place):
    runs = SUITE.experiment(name).runs("quick")
    run = next(run for run in runs if place.items() <= run.coordinates.items())
    return plan.build(Scenario.from_dict(run.document))


def test_the_queue_of_fig_5_is_the_175_packets_that_the_paper_prints():
    assert planned("F5", rtt_ms=42)["links"][0]["queue"]["limit_packets"] == 175


@pytest.mark.parametrize(("percent", "packets"), [(1, 6), (2, 13), (5, 34), (100, 683)])
def test_queues_of_fig_12_are_the_packets_that_the_paper_prints(percent, packets):
    assert planned("F12", queue_percent=percent)["links"][0]["queue"]["limit_packets"] == packets


def test_flows_run_with_table_ii_and_the_common_stack():
    flow = planned("F3", algorithm="hstcp")["flows"][0]
    assert flow["parameters"]["low_window"] == 31
    assert flow["parameters"]["table"] == "nearest"
    assert flow["host_tick_s"] == 0.001
    assert flow["sack"]
    assert flow["delayed_ack"]
    assert flow["byte_counting"]
    assert flow["access_rate_bps"] == 1e9
    assert flow["mss_bytes"] + flow["header_bytes"] == 1500


def test_fifty_web_sessions_offer_one_and_a_half_percent_of_the_link():
    background = planned("F15", sessions=50)["background"]
    offered = [part["sessions"] * part["page_bytes"] * 8 / part["gap_s"] for part in background]
    assert len(offered) == 2
    assert offered[0] / 250e6 == pytest.approx(0.015, rel=0.01)


def test_histories_are_the_runs_of_fig_3():
    fairness = {repr(run.document) for run in SUITE.experiment("F3").runs("quick")}
    for name in ("F4", "F6", "F9", "F14", "E2"):
        assert {repr(run.document) for run in SUITE.experiment(name).runs("quick")} <= fairness


def test_the_quick_mode_is_the_work_of_130_to_200_runs_of_ten_minutes():
    assert 130 <= SUITE.estimated_packets("quick") / 12.5e6 <= 200


def test_the_full_mode_has_five_repeats_at_every_place():
    for experiment in SUITE.experiments:
        if experiment.name == "F1":
            continue
        counts = {}
        for run in experiment.runs("full"):
            place = tuple(sorted((k, v) for k, v in run.coordinates.items() if k != "repeat"))
            counts[place] = counts.get(place, 0) + 1
        assert set(counts.values()) == {5}, experiment.name


def test_standard_tcp_runs_longer_on_long_paths_and_at_most_an_hour():
    def seconds(rtt, name="sack"):
        runs = SUITE.experiment("F3").runs("full")
        place = {"algorithm": name, "rtt_ms": rtt, "rate_mbps": 250}
        run = next(run for run in runs if place.items() <= run.coordinates.items())
        return Scenario.from_dict(run.document).duration

    assert seconds(42) == 600.0
    assert seconds(324) == 3600.0
    assert seconds(324, "stcp") == 600.0


@pytest.mark.parametrize("text", ["LLS-F3a", "lls-f3a", "F3a"])
def test_a_claim_brings_its_experiments(text):
    experiments, claims = SUITE.select([text])
    assert [experiment.name for experiment in experiments] == ["F3"]
    assert "LLS-F3a" in [claim.id for claim in claims]


def test_an_experiment_brings_the_claims_that_need_nothing_else():
    experiments, claims = SUITE.select(["F10"])
    assert [experiment.name for experiment in experiments] == ["F10", "F10-100"]
    assert [claim.id for claim in claims] == ["LLS-F10"]
    assert [claim.id for claim in SUITE.select(["F12"])[1]] == ["LLS-F12a", "LLS-F12b"]


def test_an_unknown_id_is_refused_with_the_ids_there_are():
    with pytest.raises(InputError, match=r"F99.*LLS-F3a.*F10-100") as caught:
        SUITE.select(["F99"])
    assert "\n" not in str(caught.value)


def test_an_unknown_suite_is_refused_with_the_names_there_are():
    with pytest.raises(InputError, match="li2007"):
        suites.get("nope")
