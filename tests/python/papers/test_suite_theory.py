"""The laws against printed tables; what is special about the theory suite's runs and rules."""

import math

import pytest

import longfat_papers as suites
import worlds
from longfat.figure import matplotlib as plots
from longfat.figure.data import Figure, Panel, Table, points
from longfat.report.page import entry, render
from longfat.runs import theory
from longfat.runs.simulate import run
from longfat.scenario import registry
from longfat.study.table import Table as Cells
from longfat_papers.kit.claims import judge
from longfat_papers.kit.suite import Data, Runs
from longfat_papers.theory import common, requirements
from worlds.theory import as_nobody_says, as_published

SUITE = suites.get("theory")
CLAIMS = {claim.id: claim for claim in SUITE.claims}


@pytest.mark.parametrize(
    ("rtt_s", "loss", "window"),
    [
        (0.1, 1e-4, 187),
        (0.1, 1e-5, 1054),
        (0.1, 1e-6, 5926),
        (0.1, 1e-7, 33325),
        (0.1, 1e-8, 187400),
        (0.01, 1e-7, 5926),
        (0.01, 1e-8, 33325),
    ],
)
def test_cubic_has_the_windows_of_rfc_9438_tables_1_and_2(rtt_s, loss, window):
    assert theory.cubic_window(loss, rtt_s) == pytest.approx(window, rel=3e-3)


@pytest.mark.parametrize(("loss", "window"), [(1e-4, 120), (1e-5, 379), (1e-6, 1200)])
def test_cubic_over_10_ms_is_standard_tcp_as_rfc_9438_table_2_has_it(loss, window):
    # the RFC's standard TCP has the constant 1.2, ours sqrt(1.5)
    assert theory.cubic_window(loss, 0.01) == pytest.approx(window, rel=0.025)


@pytest.mark.parametrize(
    ("window", "standard", "cubic"),
    [(833.3, 2.0e-6, 1.4e-5), (8333.3, 2.0e-8, 6.3e-7), (83333.3, 2.0e-10, 2.9e-8)],
)
def test_the_losses_that_rfc_9438_table_3_asks_for_give_its_windows(window, standard, cubic):
    assert theory.standard_loss(window) == pytest.approx(standard, rel=0.1)
    assert theory.cubic_window(cubic, 0.1) == pytest.approx(window, rel=0.05)


def test_aimd_with_one_and_a_half_is_standard_tcp():
    assert theory.aimd_window(1e-4, 1.0, 0.5) == pytest.approx(theory.standard_window(1e-4))


def test_sixteen_flows_as_one_have_about_the_window_of_sixteen():
    # each sees a sixteenth of the losses; Crowcroft, Oechslin 1998 promise n times the rate
    assert theory.LAWS["ptcp"].window(1e-5, 0.1) / theory.standard_window(1e-5) == pytest.approx(
        16.0, rel=0.2
    )


def test_hybla_has_at_every_rtt_the_rate_of_standard_tcp_at_25_ms():
    for rtt_s in (0.025, 0.1, 0.5):
        rate = theory.hybla_window(1e-4, rtt_s) / rtt_s
        assert rate == pytest.approx(theory.standard_window(1e-4) / 0.025)
    assert theory.hybla_window(1e-4, 0.005) == pytest.approx(theory.standard_window(1e-4))


@pytest.mark.parametrize("name", ["hybla", "hstcp", "stcp", "ltcp", "ctcp", "cubic", "ptcp", "reno"])
def test_a_laws_exponent_is_the_slope_of_its_window(name):
    law = theory.LAWS[name]
    slope = math.log10(law.window(1e-9, 0.1) / law.window(1e-7, 0.1)) / 2.0
    assert slope == pytest.approx(law.d, abs=0.02)


def test_every_law_lies_at_or_above_that_of_standard_tcp():
    for law in theory.LAWS.values():
        for exponent in range(2, 9):
            assert law.window(10.0**-exponent, 0.1) >= 0.95 * theory.standard_window(10.0**-exponent)


def test_rtt_unfairness_is_the_thesis_formula_and_one_for_cubic():
    # RFC 9438, 5.6: the throughput ratio is the inverse of the RTT ratio
    assert theory.LAWS["cubic"].unfairness == pytest.approx(1.0)
    assert theory.LAWS["reno"].unfairness == pytest.approx(2.0)
    assert theory.LAWS["hybla"].unfairness == 0.0
    assert theory.Law(theory.LAWS["hstcp"].window, 0.82, "LOP").unfairness == pytest.approx(5.55, abs=0.01)
    assert theory.LAWS["stcp"].unfairness == math.inf
    # Compound's delay part yields as soon as there is a queue: its law is of one flow without
    assert math.isnan(theory.LAWS["ctcp"].unfairness)


def test_algorithms_come_from_the_registry_but_for_those_without_a_control_of_their_own(monkeypatch):
    carried = {"reno": "tcp", "udt": "udp", "cbr": "datagrams", "rbudp": "udp", "cadpc": "udp", "xcp": "tcp"}
    rows = [
        {"name": name, "linux_module": None, "explicit": name == "xcp", "transport": transport}
        for name, transport in {**carried, "new-one": "tcp"}.items()
    ]
    monkeypatch.setattr(registry, "rows", lambda kind: rows)
    assert common.controlled() == ("reno", "udt", "new-one")
    assert common.windowed() == ("reno", "new-one")


def test_a_quick_run_of_the_suite_is_quick():
    per_algorithm = worlds.estimated_packets(SUITE, "quick") / len(common.controlled())
    assert per_algorithm < 0.2e9


def test_every_windowed_algorithm_meets_losses_down_to_1e_7_in_full_and_1e_5_quickly():
    for mode, least in (("quick", 1e-5), ("full", 1e-7)):
        met = {
            (run.coordinates["algorithm"], run.coordinates["loss"])
            for run in SUITE.experiment("response").runs(mode)
        }
        assert {name for name, loss in met if loss == least} == set(common.windowed())


@pytest.mark.parametrize(("name", "window"), [("reno", 38.0), ("hstcp", 38.0)])
def test_a_measured_response_agrees_with_rfc_3649s_table_at_1e_3(name, window):
    asked = common.response(name, 1e-3, "periodic", 0)
    measured = common.reduce(run(asked.document))
    assert measured["window"] == pytest.approx(window, rel=0.1)
    assert measured["losses"] == pytest.approx(common.LEAST_PACKETS * 1e-3, rel=0.05)


def test_no_queue_builds_where_a_response_function_is_measured():
    asked = common.response("stcp", 1e-3, "random", 0)
    link = run(asked.document).summary["links"][0]
    assert link["packets_dropped"] == 0
    assert link["utilization"] < 0.25


def row(identifier, reduced):
    return judge(CLAIMS[identifier], worlds.make(SUITE, reduced), "quick")


def test_a_single_window_off_its_law_is_told():
    def off(experiment, run):
        values = as_published(experiment, run)
        if experiment == "response" and run.coordinates["loss"] == 1e-5:
            values["window"] *= 1.5
        return values

    found = row("LAW-reno", off)
    assert found["verdict"] == "partly"
    assert [check["text"] for check in found["checks"] if not check["passed"]] == [
        "p = 1e-05: window within a factor 1.25 of the law's (387)"
    ]


@pytest.mark.parametrize(("kept", "verdict"), [(5e6, "reproduced"), (45e6, "not reproduced")])
def test_udt_degrades_tcp_strongly_if_less_than_half_is_left(kept, verdict):
    rows = [
        {**run.coordinates, "throughput_1_bps": kept if run.coordinates["against"] == "udt" else 50e6}
        for run in SUITE.experiment("udt").runs("quick")
    ]
    found = judge(CLAIMS["LOP-2f"], Data({"udt": Runs("udt", rows)}), "full")
    assert found["verdict"] == verdict


def test_the_seven_requirements_are_counted_and_what_is_lacking_is_named():
    met = row("LOP-2.4.1", as_published)
    assert met["verdict"] == "undecidable"
    assert set(met["values"]["met"].values()) == {7}
    lacking = {check["measured"] for check in row("LOP-2.4.1", as_nobody_says)["checks"]}
    # kept shares of the utilisation are 1 in that world too
    assert lacking == {f"not {', '.join(item.name for item in requirements.REQUIREMENTS[:5])}"}


def test_the_worst_of_the_conditions_counts_for_performance_and_for_other_protocols():
    rows = [
        {
            "algorithm": "a",
            "test": f"large {rtt:g} ms {loss:g}",
            "repeat": 0,
            "utilization": 0.5 if (rtt, loss) == (200.0, 1e-6) else 0.9,
        }
        for rtt in common.LARGE_RTTS_MS
        for loss in common.LARGE_LOSSES
    ]
    rows += [
        {"algorithm": "a", "test": "unlike", "against": other, "repeat": 0, "late_jain": jain}
        for other, jain in (("hstcp", 0.9), ("bic", 0.6))
    ]
    found = requirements.measured(Runs("requirements", rows), "a")
    assert found[1][0] == 0.5
    assert found[5][0] == 0.6
    assert 3 not in found


def test_categories_stand_at_the_axis_and_a_table_below_the_figure(tmp_path):
    panel = Panel("", "", "y", (points("a", [(0.0, (0.5, 0.1))], "reno"),), categories=("reno", "hstcp"))
    figure = Figure("T", "T", "title", "caption", (panel,), table=Table(("one", "two"), (("x", "<b>"),)))
    drawn = plots.draw(figure)
    assert [label.get_text() for label in drawn.axes[0].get_xticklabels()] == ["reno", "hstcp"]
    page = render(
        tmp_path,
        "longfat.compare",
        "page.html.j2",
        title="t",
        cells=Cells((), ()),
        used="",
        notes=[],
        paths=Cells((), ()),
        figures=[entry(tmp_path, figure, {"runs": 1})],
        compared={"columns": [], "performance": {"runs": 1, "packets": 1, "wall_s": 1.0}},
        provenance={},
    ).read_text()
    assert "<th>two</th>" in page
    assert "&lt;b&gt;" in page


LAW_CONSTANTS = {
    "hstcp": {
        "low_window": theory.HSTCP_LOW_WINDOW,
        "high_window": theory.HSTCP_HIGH_WINDOW,
        "high_p": theory.HSTCP_HIGH_P,
    },
    "stcp": {"increase": theory.STCP_INCREASE, "decrease": theory.STCP_DECREASE, "low_window": 16.0},
    "cubic": {"c": theory.CUBIC_C},
    "ltcp": {"window_threshold": theory.LTCP_THRESHOLD, "decrease": theory.LTCP_DECREASE},
    "ctcp": {"alpha": theory.CTCP_ALPHA, "beta": theory.CTCP_BETA, "k": theory.CTCP_K},
    "ptcp": {"flows": theory.MULTCP_FLOWS},
}


def test_laws_are_of_the_parameters_that_the_registry_has_by_default():
    rows = {row["name"]: row for row in registry.rows("algorithms")}
    compared = [name for name in LAW_CONSTANTS if name in rows]
    assert {"hstcp", "stcp"} <= set(compared)
    for name in compared:
        defaults = {parameter["name"]: parameter["default"] for parameter in rows[name]["parameters"]}
        assert LAW_CONSTANTS[name].items() <= defaults.items()
