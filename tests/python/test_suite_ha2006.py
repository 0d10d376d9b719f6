"""The rules of ha2006 are checked against worlds made up here, without any simulation.

One world is as the slides describe it; in the other nothing that they say is so.
"""

import math

import numpy as np
import pytest

from longfat import suites
from longfat.runs import plan
from longfat.scenario.model import Scenario
from longfat.suites.ha2006.reduction import reduce_run
from longfat.suites.kit.claims import judge
from longfat.suites.kit.suite import Data, Runs

SUITE = suites.get("ha2006")
MODES = ("quick", "full")
PROTOCOLS = ["sack", "bic", "cubic", "fast", "hstcp", "htcp", "stcp"]
"""Those of which the slides show results."""


def as_the_slides_say(at):
    name, background = at["algorithm"], at["background"] == "with"
    jain = 0.98
    if name in ("hstcp", "sack", "stcp"):
        jain = 0.9 if background else 0.7
    if name == "fast":
        jain = 0.8 if background else 0.99
    if at["experiment"] == "friendly":
        jain = {"stcp": 0.55}.get(name, 0.8 if background else 0.6)
    ratio = (0.3 if background else 0.95) if name == "fast" else 0.5
    settled = {"hstcp": 150.0 if background else None, "fast": 300.0 if background else 20.0}
    return {
        "utilization": 0.97 if background else 0.92,
        "cov": {"fast": 0.1 if background else 0.02}.get(name, 0.2 if background else 0.4),
        "loss_ratio": 4e-4 if name == "stcp" else 1e-4,
        "link_loss_ratio": (5e-4 if name == "stcp" else 2e-4) + (1e-4 if background else 0.0),
        "jain": jain,
        "ratio": ratio,
        "background_share": 0.3 if background else 0.0,
        "convergence_80_s": settled.get(name, 60.0),
        "series": [history(), history()],
    }


def as_nothing_on_the_slides(at):
    name, background = at["algorithm"], at["background"] == "with"
    jain = 0.9 if background else 0.95
    if at["experiment"] == "friendly" and name == "stcp":
        jain = 0.95 if background else 0.5
    return {
        "utilization": 0.5 if background else 0.6,
        "cov": {"fast": 0.1 if background else 0.2}.get(name, 0.15 if background else 0.1),
        "loss_ratio": 1e-5 if name == "stcp" else 1e-4,
        "link_loss_ratio": (1e-5 if name == "stcp" else 1e-4) + (1e-2 if background else 0.0),
        "jain": jain,
        "ratio": 0.8 if name == "fast" else 0.5,
        "background_share": 0.3 if background else 0.0,
        "convergence_80_s": {"hstcp": 90.0 if background else 30.0, "fast": 40.0}.get(name, 60.0),
        "series": [history(), history()],
    }


def history():
    """A flow at 100 Mbit/s."""
    time = np.arange(0.0, 300.5, 0.5)
    return {"name": "1", "time_s": time, "cwnd": np.full(time.size, 800.0), "received_bytes": time * 12.5e6}


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


SLIDES, OPPOSITE = world(as_the_slides_say), world(as_nothing_on_the_slides)


def test_every_claim_of_the_slides_is_in_the_suite():
    assert [claim.id for claim in SUITE.claims] == [f"HA-{number}" for number in range(1, 8)]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_as_the_slides_describe_it_reproduces_the_claim(claim):
    row = judge(claim, SLIDES, "full")
    failed = [check for check in row["checks"] if check["passed"] is not True]
    assert (row["verdict"], failed) == ("reproduced", [])
    assert row["measured"]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_where_nothing_of_it_is_so_does_not_reproduce_the_claim(claim):
    row = judge(claim, OPPOSITE, "full")
    assert row["verdict"] == "not reproduced", [check for check in row["checks"] if check["passed"]]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_claim_names_experiments_and_sources_and_is_not_measured_without_its_runs(claim):
    assert set(claim.experiments) <= {experiment.name for experiment in SUITE.experiments}
    assert all(setting.value and setting.source for setting in claim.settings)
    assert judge(claim, Data({}), "full")["verdict"] == "not measured"


def test_the_ledger_says_that_no_slide_gives_the_rate():
    for claim in SUITE.claims:
        (setting,) = [setting for setting in claim.settings if setting.name == "rate and buffer"]
        assert setting.source.startswith("chosen here")
    for experiment in SUITE.experiments:
        assert "give no rate" in experiment.figure(SLIDES[experiment.name], "full").caption


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
def test_every_place_is_measured_without_and_with_background(experiment, mode):
    sides = {"without": set(), "with": set()}
    for run in experiment.runs(mode):
        assert bool(run.document.get("background")) == (run.coordinates["background"] == "with")
        place = {key: value for key, value in run.coordinates.items() if key != "background"}
        sides[run.coordinates["background"]].add(tuple(sorted(place.items())))
    assert sides["without"] == sides["with"]
    assert {dict(place)["algorithm"] for place in sides["with"]} >= set(PROTOCOLS) - {"sack"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_has_panels_without_and_with_background_on_one_scale(experiment, mode):
    figure = experiment.figure(world(as_the_slides_say, mode)[experiment.name], mode)
    assert figure.name == experiment.name
    for left, right in zip(figure.panels[0::2], figure.panels[1::2], strict=True):
        assert "without" in left.title.casefold()
        assert "with background" in right.title.casefold()
        assert (left.y_range, left.categories) == (right.y_range, right.categories)
        assert left.y_range is not None
    for curve in (curve for panel in figure.panels for curve in panel.curves):
        assert any(not math.isnan(y) for y in curve.y)
    assert type(figure).from_json(figure.to_json()).to_json() == figure.to_json()


def test_the_backup_slides_show_rates_of_both_flows_of_six_protocols():
    figure = SUITE.experiment("histories").figure(SLIDES["histories"], "full")
    assert len(figure.panels) == 12
    for panel in figure.panels:
        assert len(panel.curves) == 2
        for curve in panel.curves:
            assert curve.y == pytest.approx([100.0] * len(curve.y))


def test_flows_start_and_end_as_on_the_slides():
    for experiment in SUITE.experiments:
        built = plan.build(Scenario.from_dict(experiment.runs("full")[0].document))
        assert built["duration_s"] == 1200.0
        assert [flow["start_s"] for flow in built["flows"]] == [
            {"uniform": [30.0, 31.0]},
            {"uniform": [130.0, 131.0]},
        ]


def test_background_flows_are_short_and_long_and_go_both_ways_at_exponential_delays():
    runs = SUITE.experiment("intra").runs("full")
    document = next(run.document for run in runs if run.coordinates["background"] == "with")
    built = plan.build(Scenario.from_dict(document))["background"]
    assert sorted((source["kind"], source["flow"]["forward"][0]) for source in built) == [
        ("bulk", 0),
        ("bulk", 1),
        ("short", 0),
        ("short", 1),
    ]
    assert all(source["flow"]["rtt_s"] == {"exponential": [0.0, 0.1]} for source in built)


def test_protocols_of_the_later_suites_are_there_and_run_once_where_the_slides_show_no_result():
    repeats = {}
    for run in SUITE.experiment("intra").runs("full"):
        repeats.setdefault(run.coordinates["algorithm"], set()).add(run.coordinates["repeat"])
    later = {"westwood", "ltcp", "africa", "yeah", "ctcp", "illinois", "westwood+", "vegas", "hstcp-lp"}
    assert set(repeats) == set(PROTOCOLS) | later
    assert {name for name, seen in repeats.items() if seen == {0, 1, 2}} == set(PROTOCOLS)
    caption = SUITE.experiment("intra").figure(SLIDES["intra"], "full").caption
    assert "Runs a point: 3 at protocols with results on the slides, 1 at others." in caption


def test_the_histories_and_the_metrics_of_pairs_are_the_same_runs():
    pairs = {repr(run.document) for run in SUITE.experiment("intra").runs("full")}
    assert {repr(run.document) for run in SUITE.experiment("histories").runs("full")} <= pairs
    for name in ("utilization", "stability", "loss", "convergence"):
        assert {repr(run.document) for run in SUITE.experiment(name).runs("full")} == pairs


def test_the_quick_mode_is_less_than_a_billion_packets():
    assert SUITE.estimated_packets("quick") < 0.9e9
    assert SUITE.estimated_packets("quick") < 0.05 * SUITE.estimated_packets("full")


class Ran:
    """A result of two flows at 100 and 300 Mbit/s that lost 1 and 5 of 1000 packets each."""

    def __init__(self):
        flow = {"start_s": 0.0, "rtt_s": 0.1, "packets_sent": 1000}
        self.summary = {
            "flows": [
                flow | {"name": "1", "throughput_bps": 1e8, "packets_lost": 1},
                flow | {"name": "2", "throughput_bps": 3e8, "packets_lost": 5},
            ],
            "links": [
                {
                    "rate_bps": 4e8, "utilization": 0.98, "loss_ratio": 0.02, "queue_mean_packets": 9.0,
                    "packets_in": 1000,
                }
            ],
            "background": [
                {"name": "short-1-forward", "throughput_bps": 3e7},
                {"name": "short-1-reverse", "throughput_bps": 9e7},
                {"name": "bulk-2-forward", "throughput_bps": 1e7},
            ],
            "metrics": {"cov": 0.25, "convergence_80_s": 42.0},
        }  # fmt: skip

    def flow(self, name):
        return history()


def test_a_run_is_reduced_to_the_seven_metrics():
    row = reduce_run(Ran())
    assert row["loss_ratio"] == pytest.approx(0.003)
    assert row["link_loss_ratio"] == 0.02
    assert row["jain"] == pytest.approx(16 / 20)  # (1 + 3)^2 / 2 (1 + 9)
    assert row["ratio"] == pytest.approx(1 / 3)
    assert (row["utilization"], row["cov"], row["convergence_80_s"]) == (0.98, 0.25, 42.0)
    assert row["background_share"] == pytest.approx(0.1)
    assert [entry["name"] for entry in row["series"]] == ["1", "2"]
