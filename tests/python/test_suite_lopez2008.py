"""The rules of lopez2008 are checked against worlds made up here, without any simulation but one small run.

One world is as the thesis describes it; in the other nothing that it says is so.
"""

from itertools import pairwise

import numpy as np
import pytest

import longfat
from longfat import suites
from longfat.figure import matplotlib as plots
from longfat.figure import plotly
from longfat.scenario.model import Scenario
from longfat.suites.kit.claims import judge
from longfat.suites.kit.suite import Data, Runs
from longfat.suites.lopez2008.reduction import Row, reduce_run
from longfat.suites.lopez2008.settings import (
    ACKS_LEFT_MBPS,
    STAIRS_MBPS,
    THREE_LEFT_MBPS,
    available_mbps,
    datagrams,
    stairs,
)

SUITE = suites.get("lopez2008")
MODES = ("quick", "full")
IDS = [
    *(f"LOP-2{letter}" for letter in "cde"),
    *(f"LOP-3{letter}" for letter in "abcd"),
    *(f"LOP-4{letter}" for letter in "abcdef"),
    *(f"LOP-5{letter}" for letter in "abcdef"),
    *(f"LOP-6{letter}" for letter in "abcde"),
]
STAGES_S = {name: (15.0 * number, 15.0 * number + 75.0) for number, name in enumerate("1234")}


def made_up(run, rates, lost=None, cwnd=1.0, queue=0.0, **figures):
    """A reduced run whose flows have these rates: a function of a flow's name and the times, Mbit/s."""
    bin_s = float(run.document["sample"]["cwnd"].split()[0])
    end = float(run.document["duration"].split()[0])
    names = [flow["name"] for flow in run.document["flow"]]
    names = [name for name in names if not name.startswith(("udp", "scout", "cross"))]
    times = bin_s * np.arange(1, round(end / bin_s) + 1)
    flat = np.ones(times.size)
    series = [flat * rates(name, times) for name in names]
    losses = [np.zeros(times.size) for _ in names]
    for at, number in (lost or {}).items():
        losses[0][np.searchsorted(times, at + 0.5)] = number
    return {
        **run.coordinates,
        "bin_s": bin_s,
        "names": names,
        "starts_s": [0.0] * len(names),
        "means_mbps": [float(values.mean()) for values in series],
        "megabytes": [float(values.sum()) * bin_s / 8.0 for values in series],
        "sent": [1000] * len(names),
        "lost_ratio": 0.0,
        "timeouts": [0] * len(names),
        "jain": 1.0,
        "rates_mbps": [values.tolist() for values in series],
        "cwnd": [(flat * cwnd).tolist()] * len(names),
        "lost": [values.tolist() for values in losses],
        "queue": (flat * queue).tolist(),
        "links": ["bottleneck"],
        "dropped": [0.0],
        "utilizations": [1.0],
        "queue_limit": 100,
        "packets": 1000,
        **figures,
    }


def follows(variation, wasted):
    """A rate that leaves a constant share of what there is."""

    def rate(name, times):
        step = times[0]
        return (1.0 - wasted) * np.array([available_mbps(variation, (at - step, at)) for at in times])

    return rate


def constant(**by_name):
    return lambda name, times: by_name.get(name, by_name.get("_" + name.split("-")[0], 0.0))


def shares(name, times):
    """An even share of 100 Mbit/s among those of the four flows that run."""
    begin, end = STAGES_S[name[-1]]
    running = sum((times > first) & (times <= last) for first, last in STAGES_S.values())
    return np.where((times > begin) & (times <= end), 100.0 / running, 0.0)


def guests(few, rtt, values):
    """Rates of the three and of the ten by time: (until, of the three, of the ten)."""

    def rate(name, times):
        mine, number = (1, 3.0) if name.startswith(few) else (2, 10.0)
        found = np.zeros(times.size)
        for entry in reversed(values[rtt]):
            found[times <= entry[0]] = entry[mine] / number
        return found

    return rate


PRINTED_6C = {
    20: [(20, 300, 700), (30, 200, 800), (60, 240, 760), (70, 260, 740), (120, 200, 800)],
    100: [(20, 500, 500), (30, 400, 600), (50, 370, 630), (60, 350, 650), (120, 300, 700)],
}
PRINTED_6D = {
    20: [(30, 200, 800), (50, 300, 700), (60, 280, 720), (70, 250, 750), (120, 150, 850)],
    100: [(60, 150, 850), (70, 100, 900), (120, 100, 900)],
}


def mean_rates(least, most):
    return [least + (most - least) * number / 9.0 for number in range(10)]


def chaotic(name, times):
    """Ten flows after the fall at 55 s: one takes over, one is silent, until 68 s."""
    even = np.full(times.size, 85.0)
    upset = (times > 55.0) & (times <= 68.0)
    special = {"xcp-1": 550.0, "xcp-2": 0.0}
    even[upset] = special.get(name, 20.0)
    return even


def as_the_thesis_says(experiment, run):
    at = run.coordinates
    match experiment:
        case "vcp":
            second = lambda times: np.clip(22.5 * (times - 50.0) / 100.0, 0.0, 22.5)  # noqa: E731
            return made_up(run, lambda n, t: second(t) if n == "vcp-2" else 45.0 - second(t))
        case "xcp" | "jetmax":
            return made_up(run, shares)
        case "sine-100":
            return made_up(run, follows("sine", {"newreno": 0.4, "hstcp": 0.03, "xcp": 0.01}[at["protocol"]]))
        case "sine-200":
            if at["protocol"] == "newreno":
                return made_up(run, constant(newreno=300.0))
            return made_up(run, follows("sine", {"hstcp": 0.3, "xcp": 0.01}[at["protocol"]]))
        case "steps-100" | "steps-200":
            far = experiment == "steps-200"
            wasted = {"hstcp": 0.35 if far else 0.02, "xcp": 0.1 if far else 0.02}[at["protocol"]]
            return made_up(run, follows("steps", wasted), queue=2000.0)
        case "bottleneck":
            megabytes, loss = {"a": (215.0, 0.001), "b": (223.8, 0.0), "c": (52.4, 0.2)}[at["case"]]
            return made_up(run, constant(), megabytes=[megabytes], lost_ratio=loss)
        case "peering":
            return made_up(run, constant(xcp=29.5))
        case "merge":
            return made_up(run, constant(i=280.0, j=100.0))
        case "merge-above":
            return made_up(run, constant(i=145.0, j0=50.0, j1=50.0, k=155.0))
        case "fork":
            return made_up(run, constant(i=250.0, j=250.0))
        case "errors":
            sent = {"newreno": [329.0, 172.0], "xcp": [675.4, 240.7]}[at["protocol"]]
            return made_up(
                run, lambda n, t: np.where(t < 7.0, 80.0, 98.0) if n == "j" else 280.0, megabytes=sent
            )
        case "acks" | "radar":
            lost, rate, means = {
                ("xcp", 0.0): ({5.0: 107, 55.0: 167}, constant(_xcp=85.0), (83.5, 87.5)),
                ("xcp", 0.1): ({5.0: 204, 55.0: 414}, chaotic, (81.0, 98.0)),
                ("xcp-r", 0.1): ({5.0: 192, 55.0: 302}, constant(_xcp=85.0), (82.0, 89.5)),
            }[at["protocol"], at["ack_loss"]]
            return made_up(run, rate, lost, means_mbps=mean_rates(*means))
        case "three":
            timeouts = [1, 2, 0] if (at["protocol"], at["ack_loss"]) == ("xcp", 0.3) else [0, 0, 0]
            return made_up(run, constant(_xcp=40.0), timeouts=timeouts)
        case "one":
            return made_up(run, lambda n, t: 1000.0 * filling(t, at["ack_loss"]))
        case "formula":
            near = {"xcp-r-first": 80.0}.get(at["protocol"], 49.0)
            return made_up(run, lambda n, t: near if n.endswith("-40") else 98.0 - near)
        case "starved":
            rate = 30.0 if at["rtt_ms"] == 100 else 7.0
            return made_up(run, lambda n, t: np.where(t <= 10.0, 950.0, rate) if n == "xcp-1" else 480.0)
        case "one-two":
            xcp, tcp = (341.0, 600.0) if at["rtt_ms"] == 20 else (700.0, 250.0)
            return made_up(run, lambda n, t: xcp if n == "xcp-1" else tcp / 2.0)
        case "ten-tcp":
            return made_up(run, guests("xcp", at["rtt_ms"], PRINTED_6C))
        case "ten-xcp" | "half":
            return made_up(run, guests("newreno", at["rtt_ms"], PRINTED_6D))
    return made_up(run, lambda n, t: 10.0)


def as_nothing_in_the_thesis(experiment, run):
    at = run.coordinates
    match experiment:
        case "vcp":
            return made_up(run, lambda n, t: np.where((n == "vcp-1") | (t > 50.0), 20.0, 0.0))
        case "xcp" | "jetmax":
            return made_up(run, lambda n, t: 50.0 if n.endswith("1") else 0.0, dropped=[5.0])
        case "sine-100" | "sine-200":
            wasted = {"newreno": 0.0, "hstcp": 0.1, "xcp": 0.3}[at["protocol"]]
            return made_up(run, follows("sine", wasted), dropped=[7.0])
        case "steps-100":
            return made_up(run, follows("steps", 0.2), dropped=[7.0])
        case "steps-200":
            return made_up(run, follows("steps", {"hstcp": 0.1, "xcp": 0.5}[at["protocol"]]))
        case "bottleneck":
            return made_up(run, constant(), megabytes=[120.0])
        case "peering":
            rate = 10.0 if at["case"] == "clouds" else 29.5
            return made_up(run, constant(xcp=rate), dropped=[9.0], timeouts=[2])
        case "merge" | "fork":
            return made_up(run, constant(i=350.0, j=50.0))
        case "merge-above":
            return made_up(run, constant(i=150.0, j0=80.0, j1=20.0, k=100.0))
        case "errors":
            return made_up(
                run,
                lambda n, t: np.where(t < 7.0, 99.0, 50.0) if n == "j" else 300.0,
                megabytes=[90.0, 900.0],
            )
        case "acks" | "radar":
            if at["protocol"] == "xcp-r":
                silent = lambda n, t: np.where(t < 60.0, 85.0, 0.0)  # noqa: E731
                return made_up(run, silent, {5.0: 9000, 55.0: 9000}, means_mbps=mean_rates(20.0, 180.0))
            means = (20.0, 180.0) if at["ack_loss"] == 0.0 else (60.0, 70.0)
            return made_up(run, constant(_xcp=85.0), {5.0: 5000, 55.0: 5000}, means_mbps=mean_rates(*means))
        case "three":
            return made_up(
                run, constant(_xcp=40.0), timeouts=[1, 1, 1] if at["protocol"] == "xcp-r" else [0] * 3
            )
        case "one":
            return made_up(run, lambda n, t: 100.0 * (t > 0.2))
        case "formula":
            near = {"xcp-r": 90.0}.get(at["protocol"], 49.0)
            return made_up(run, lambda n, t: near if n.endswith("-40") else 98.0 - near)
        case "starved":
            return made_up(run, constant(_xcp=500.0, _newreno=200.0), cwnd=5000.0)
        case "one-two":
            return made_up(run, constant(_xcp=30.0, _newreno=480.0))
        case "ten-tcp" | "ten-xcp":
            few = "xcp" if experiment == "ten-tcp" else "newreno"
            return made_up(run, lambda n, t: 200.0 if n.startswith(few) and at["rtt_ms"] == 100 else 30.0)
        case "half":
            return made_up(run, constant(_newreno=50.0 if at["inspect"] == 1.0 else 200.0, _xcp=40.0))
    return made_up(run, lambda n, t: 10.0)


def filling(times, ack_loss):
    """5.1.1's own sum: with losses of ACKs that share of what is missing stays missing after each RTT."""
    since = np.floor((times - 0.205) / 0.1)
    return np.where(since < 0, np.where(times > 0.195, 0.001, 0.0), 1.0 - ack_loss ** np.maximum(since, 0.0))


def world(figures, mode="quick"):
    return Data(
        {
            experiment.name: Runs(
                experiment.name, [figures(experiment.name, run) for run in experiment.runs(mode)]
            )
            for experiment in SUITE.experiments
        }
    )


@pytest.fixture(scope="module")
def thesis():
    return world(as_the_thesis_says)


@pytest.fixture(scope="module")
def opposite():
    return world(as_nothing_in_the_thesis)


def test_the_claims_are_the_24_that_the_suite_theory_leaves():
    assert [claim.id for claim in SUITE.claims] == IDS
    assert len(IDS) == 24


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_as_the_thesis_describes_it_reproduces_the_claim(claim, thesis):
    row = judge(claim, thesis, "full")
    failed = [check for check in row["checks"] if check["passed"] is not True]
    assert (row["verdict"], failed) == ("reproduced", [])
    assert row["measured"]


def test_where_the_text_names_no_rtt_both_are_told_and_one_is_judged(thesis):
    row = judge(SUITE.claims[IDS.index("LOP-6a")], thesis, "full")
    assert row["values"]["mbps_at_15"] == pytest.approx(30.0)
    assert row["values"]["at_20_ms"][0] == pytest.approx(7.0)
    assert "At 20 ms: 7.0 Mbit/s" in row["note"]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_world_where_nothing_of_it_is_so_does_not_reproduce_the_claim(claim, opposite):
    row = judge(claim, opposite, "full")
    assert row["verdict"] == "not reproduced", [check for check in row["checks"] if check["passed"]]


@pytest.mark.parametrize("claim", SUITE.claims, ids=lambda claim: claim.id)
def test_a_claim_names_experiments_and_sources_and_is_not_measured_without_its_runs(claim):
    assert set(claim.experiments) <= {experiment.name for experiment in SUITE.experiments}
    assert all(setting.value and setting.source for setting in claim.settings)
    assert judge(claim, Data({}), "full")["verdict"] == "not measured"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_run_is_a_valid_scenario_at_its_own_place(experiment, mode):
    runs = experiment.runs(mode)
    places = [tuple(sorted(run.coordinates.items(), key=str)) for run in runs]
    assert len(set(places)) == len(runs)
    for run in runs if mode == "quick" else [run for run in runs if run.coordinates["repeat"] == 1]:
        Scenario.from_dict(run.document, source=experiment.name)


@pytest.mark.parametrize("experiment", SUITE.experiments, ids=lambda experiment: experiment.name)
def test_every_figure_has_curves_and_survives_being_stored(experiment, thesis):
    figure = experiment.figure(thesis[experiment.name], "quick")
    assert (figure.name, figure.mirrors) == (experiment.name, experiment.mirrors)
    for panel in figure.panels:
        assert panel.curves
        for curve in panel.curves:
            assert np.isfinite(curve.y).any(), (panel.title, curve.label)
    assert type(figure).from_json(figure.to_json()).to_json() == figure.to_json()


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


def test_the_radar_has_a_spoke_for_each_flow_and_a_closed_curve_for_each_case(thesis, tmp_path):
    figure = SUITE.experiment("radar").figure(thesis["radar"], "quick")
    (panel,) = figure.panels
    assert len(panel.categories) == 10
    assert [len(curve.y) for curve in panel.curves] == [10, 10, 10]
    assert max(panel.curves[1].y) == pytest.approx(98.0)
    for trace in plotly.draw(figure)["data"]:
        assert trace["type"] == "scatterpolar"
        assert (len(trace["r"]), trace["r"][0], trace["theta"][0]) == (11, trace["r"][-1], trace["theta"][-1])
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


def test_the_quick_form_has_the_settings_of_the_thesis_and_takes_minutes():
    assert SUITE.estimated_packets("quick") < 0.6e9
    assert 3.0 * SUITE.estimated_packets("quick") < SUITE.estimated_packets("full") < 3e9
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
    assert row.idle_s((0.0, 2.0), 0) < 0.4
