"""What is special about ha2006: pairs without and with background, and what it keeps of a run."""

import pytest

import longfat_papers as suites
import worlds
from longfat.scenario.model import Scenario
from longfat_papers.ha2006.common import reduce_run
from worlds.ha2006 import history

SUITE = suites.get("ha2006")
MODES = ("quick", "full")
PROTOCOLS = ["reno", "bic", "cubic", "fast", "hstcp", "htcp", "stcp"]
"""Those of which the slides show results."""


def test_every_claim_of_the_slides_is_in_the_suite():
    assert [claim.id for claim in SUITE.claims] == [f"HA-{number}" for number in range(1, 8)]


def test_the_ledger_says_that_no_slide_gives_the_rate():
    for claim in SUITE.claims:
        (setting,) = [setting for setting in claim.settings if setting.name == "rate and buffer"]
        assert setting.source.startswith("chosen here")
    for experiment in SUITE.experiments:
        assert (
            "give no rate"
            in experiment.figure(worlds.published("ha2006", "full")[experiment.name], "full").caption
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_place_is_measured_without_and_with_background(experiment, mode):
    sides = {"without": set(), "with": set()}
    for run in experiment.runs(mode):
        assert bool(run.document.get("background")) == (run.coordinates["background"] == "with")
        place = {key: value for key, value in run.coordinates.items() if key != "background"}
        sides[run.coordinates["background"]].add(tuple(sorted(place.items())))
    assert sides["without"] == sides["with"]
    assert {dict(place)["algorithm"] for place in sides["with"]} >= set(PROTOCOLS) - {"reno"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_has_panels_without_and_with_background_on_one_scale(experiment, mode):
    figure = experiment.figure(worlds.published("ha2006", mode)[experiment.name], mode)
    for left, right in zip(figure.panels[0::2], figure.panels[1::2], strict=True):
        assert "without" in left.title.casefold()
        assert "with background" in right.title.casefold()
        assert (left.y_range, left.categories) == (right.y_range, right.categories)
        assert left.y_range is not None


def test_the_backup_slides_show_rates_of_both_flows_of_six_protocols():
    figure = SUITE.experiment("histories").figure(worlds.published("ha2006", "full")["histories"], "full")
    assert len(figure.panels) == 12
    for panel in figure.panels:
        assert len(panel.curves) == 2
        for curve in panel.curves:
            assert curve.y == pytest.approx([100.0] * len(curve.y))


def test_flows_start_and_end_as_on_the_slides():
    for experiment in SUITE.experiments:
        built = Scenario.from_dict(experiment.runs("full")[0].document).plan
        assert built["duration_s"] == 1200.0
        assert [flow["start_s"] for flow in built["flows"]] == [
            {"uniform": [30.0, 31.0]},
            {"uniform": [130.0, 131.0]},
        ]


def test_background_flows_are_short_and_long_and_go_both_ways_at_exponential_delays():
    runs = SUITE.experiment("intra").runs("full")
    document = next(run.document for run in runs if run.coordinates["background"] == "with")
    built = Scenario.from_dict(document).plan["background"]
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
    caption = SUITE.experiment("intra").figure(worlds.published("ha2006", "full")["intra"], "full").caption
    assert "Runs for each point: 3 for protocols with results on the slides, 1 for others." in caption


def test_the_histories_and_the_metrics_of_pairs_are_the_same_runs():
    pairs = {repr(run.document) for run in SUITE.experiment("intra").runs("full")}
    assert {repr(run.document) for run in SUITE.experiment("histories").runs("full")} <= pairs
    for name in ("utilization", "stability", "loss", "convergence"):
        assert {repr(run.document) for run in SUITE.experiment(name).runs("full")} == pairs


def test_the_quick_mode_is_less_than_a_billion_packets():
    assert worlds.estimated_packets(SUITE, "quick") < 0.9e9
    assert worlds.estimated_packets(SUITE, "quick") < 0.05 * worlds.estimated_packets(SUITE, "full")


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
