"""What is special about lopez2008: its claims and figures, its capacities, and what it keeps of a run."""

from itertools import pairwise

import pytest

import longfat
import longfat_papers as suites
import worlds
from longfat.figure import matplotlib as plots
from longfat_papers.kit.claims import judge
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.lopez2008 import changes
from longfat_papers.lopez2008.common import (
    ACKS_LEFT_MBPS,
    HARD_S,
    HARDER_S,
    OVERSHOOTS_S,
    STAIRS_MBPS,
    THREE_LEFT_MBPS,
    available_mbps,
    datagrams,
    stairs,
)
from longfat_papers.lopez2008.reduction import Row, reduce_run

SUITE = suites.get("lopez2008")
IDS = [
    *(f"LOP-2{letter}" for letter in "cde"),
    *(f"LOP-3{letter}" for letter in "abcd"),
    *(f"LOP-4{letter}" for letter in "abcdef"),
    *(f"LOP-5{letter}" for letter in "abcdef"),
    *(f"LOP-6{letter}" for letter in "abcde"),
]


def test_the_claims_are_the_24_that_the_suite_theory_leaves():
    assert [claim.id for claim in SUITE.claims] == IDS
    assert len(IDS) == 24


def test_where_the_text_names_no_rtt_both_are_told_and_one_is_judged():
    row = judge(SUITE.claims[IDS.index("LOP-6a")], worlds.published("lopez2008"), "full")
    assert row["values"]["mbps_at_15"] == pytest.approx(30.0)
    assert row["values"]["at_20_ms"][0] == pytest.approx(7.0)
    assert "At 20 ms: 7.0 Mbit/s" in row["note"]


def test_drops_of_the_datagrams_beside_xcp_are_none_of_xcp():
    claim = SUITE.claims[IDS.index("LOP-3c")]
    world = worlds.published("lopez2008")
    beside = Data({"steps-100": Runs("steps-100", [{**row, "dropped": [7.0]} for row in world["steps-100"]])})
    assert judge(claim, beside, "full")["values"]["xcp_dropped"] == 0.0
    own = worlds.opposite("lopez2008")
    assert judge(claim, own, "full")["values"]["xcp_dropped"] == 7.0


def test_every_figure_of_chapters_3_to_6_is_mirrored():
    mirrored = " ".join(experiment.mirrors for experiment in SUITE.experiments)
    numbers = {"3": [3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18], "4": [2, 8, 10, 12, 14, 18]}
    numbers |= {"5": [3, 4, 6, 7], "6": [2, 3, 4, 5, 6]}
    for chapter, figures in numbers.items():
        for figure in figures:
            assert f"{chapter}.{figure}" in mirrored.replace(",", " ").split(), (chapter, figure)
    assert "Figs. 4.15 to 4.17" in mirrored
    assert "Figs. 5.8 to 5.10" in mirrored
    assert "Table 5.1" in mirrored


def test_the_radar_has_a_spoke_for_each_flow_and_a_closed_curve_for_each_case(tmp_path):
    figure = SUITE.experiment("radar").figure(worlds.published("lopez2008")["radar"], "quick")
    (panel,) = figure.panels
    assert len(panel.categories) == 10
    assert [len(curve.y) for curve in panel.curves] == [10, 10, 10]
    assert max(panel.curves[1].y) == pytest.approx(98.0)
    for line in plots.draw(figure).axes[0].lines:
        angles, radii = line.get_data()
        assert (len(radii), radii[0], angles[0]) == (11, radii[-1], angles[-1])
    (written,) = plots.save(figure, tmp_path, ["svg"])
    assert "flow 10" in written.read_text(encoding="utf-8")


def test_the_sine_is_that_of_the_thesis():
    assert available_mbps("sine", (-0.001, 0.001)) == pytest.approx(1000.0, abs=0.01)
    assert available_mbps("sine", (15.999, 16.001)) == pytest.approx(300.0, abs=0.01)
    assert available_mbps("sine", (16.0, 48.0)) == pytest.approx(650.0)


@pytest.mark.parametrize(
    ("left", "capacity", "end"),
    [
        (stairs(STAIRS_MBPS), 1000, 200.0),
        (ACKS_LEFT_MBPS, 1000, 100.0),
        (THREE_LEFT_MBPS, 200, 60.0),
    ],
)
def test_datagram_flows_of_50_mbps_leave_what_the_staircase_says(left, capacity, end):
    flows = datagrams(left, capacity, end, 100)
    for number, (at, mbps) in enumerate(left):
        until = left[number + 1][0] if number + 1 < len(left) else end
        middle = 0.5 * (at + until)
        running = 0
        for flow in flows:
            stop = float(flow.get("stop", f"{end} s").split()[0])
            running += float(flow["start"].split()[0]) <= middle < stop
        assert capacity - 50 * running == mbps
    assert available_mbps("acks", (0.0, 10.0)) == pytest.approx(875.0)


def test_the_staircase_falls_where_the_thesis_sees_xcp_overshoot_and_rises_fast_where_hstcp_fails():
    falls = {10.0 * n: a - b for n, (a, b) in enumerate(pairwise(STAIRS_MBPS), 1)}
    assert sorted(at for at, fall in falls.items() if fall > 150) == [50.0, 70.0, 100.0, 170.0, 180.0]
    assert (max(STAIRS_MBPS), min(STAIRS_MBPS)) == (1000, 300)
    assert all(falls[at] < 0 for at in (120.0, 130.0, 140.0, 150.0, 160.0))


def rewritten(assumption, argument):
    """An argument of the rewriting of each reading but the base."""
    (item,) = [item for item in SUITE.assumptions if item.id == assumption]
    return [reading.change.rewrite.keywords[argument] for reading in item.readings[1:]]


@pytest.mark.parametrize("levels", rewritten("staircase", "levels_mbps"))
def test_another_staircase_fits_the_same_sentences_and_leaves_as_much_where_the_rules_count(levels):
    falls = {10.0 * n: a - b for n, (a, b) in enumerate(pairwise(levels), 1)}
    assert sorted(at for at, fall in falls.items() if fall > 150) == list(OVERSHOOTS_S)
    assert (max(levels), min(levels)) == (1000, 300)
    assert tuple(levels) != STAIRS_MBPS
    for begin, end in (HARD_S, HARDER_S):
        span = slice(int(begin / 10), int(end / 10))
        assert sum(levels[span]) == sum(STAIRS_MBPS[span])


@pytest.mark.parametrize("other", rewritten("acks-staircase", "left"))
def test_other_staircases_of_chapter_5_fall_most_where_the_text_says(other):
    for mbps, at in ((1000, [5, 55]), (200, [5, 30])):
        falls = {later: a - b for (_, a), (later, b) in pairwise(other[str(mbps)])}
        assert [when for when, fall in falls.items() if fall == max(falls.values())] == at
        assert max(falls.values()) == {1000: 250, 200: 150}[mbps]


def test_every_reading_changes_a_run_of_each_claim_that_it_bears_on():
    for claim in SUITE.claims:
        runs = [run for name in claim.experiments for run in SUITE.experiment(name).runs("quick")]
        for assumption in SUITE.bearing(claim.id):
            for reading in assumption.readings[1:]:
                changed = [run for run in runs if reading.change.apply(run.document) != run.document]
                assert changed, (claim.id, assumption.id, reading.name)


def test_the_table_of_assumptions_is_complete():
    SUITE.check_assumptions()


def test_every_path_of_chapter_4_is_50_ms_long():
    for name in ("bottleneck", "peering", "merge", "merge-above", "fork", "errors", "shared", "layer2"):
        for run in SUITE.experiment(name).runs("quick"):
            for flow in run.document["flow"]:
                assert changes.path(run.document, flow)[1] == pytest.approx(100.0, rel=1e-3), (name, flow)


def test_the_readings_of_a_path_find_its_narrowest_link():
    (run,) = [
        run for run in SUITE.experiment("errors").runs("quick") if run.coordinates["protocol"] == "newreno"
    ]
    found = changes.path_as_ssthresh(run.document)["flow"]
    # (3.1): 300 and 100 Mbit/s at 100 ms in segments of 1024 bytes
    assert [flow["initial_ssthresh"] for flow in found] == [3662, 1221]


def test_classes_give_xcp_routers_the_queues_of_ns_2_and_leave_others():
    (run,) = [
        run for run in SUITE.experiment("steps-100").runs("quick") if run.coordinates["protocol"] == "xcp"
    ]
    bottleneck = changes.classes(run.document, "link")["bottleneck"]
    assert bottleneck["router"] == {"kind": "dqw", "turn": "packets", "controls": "link"}
    assert bottleneck["queue"]["kind"] == "red"


def test_the_quick_form_has_the_settings_of_the_thesis_and_takes_minutes():
    assert worlds.estimated_packets(SUITE, "quick") < 0.6e9
    assert 3.0 * worlds.estimated_packets(SUITE, "quick") < worlds.estimated_packets(SUITE, "full") < 3e9
    for experiment in SUITE.experiments[:-6]:
        quick = {run.document["duration"] for run in experiment.runs("quick")}
        assert quick == {run.document["duration"] for run in experiment.runs("full")}


def test_a_small_run_is_reduced_to_the_rates_windows_and_losses_of_its_measured_flows():
    (run,) = [
        run for run in SUITE.experiment("sine-100").runs("quick") if run.coordinates["protocol"] == "xcp"
    ]
    small = {
        **run.document,
        "duration": "4 s",
        "bottleneck": {**run.document["bottleneck"], "rate": "50 Mbit/s"},
    }
    small["flow"] = [*small["flow"], *datagrams([(0.0, 50), (2.0, 0)], 50, 4.0, 100)]
    reduced = reduce_run(longfat.run(small))
    row = Row(reduced)
    assert row.names == ["xcp"]
    assert row.rate_mbps((1.5, 2.0)) == pytest.approx(50.0, rel=0.05)
    assert row.rate_mbps((3.5, 4.0)) < 5.0
    assert row.rate_mbps((0.0, 4.0)) * 4.0 / 8.0 == pytest.approx(reduced["megabytes"][0], rel=1e-5)
    assert row.queue((2.0, 3.0)) > 100.0
    assert row.dropped() == row.lost((0.0, 4.0)) == 0.0
    assert row.silence_s((0.0, 2.0)) < 0.4
