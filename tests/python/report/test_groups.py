"""Many flows by group: in the terminal, on the page, and in a notebook."""

import io
import re

import pytest
from click.testing import CliRunner
from rich.console import Console

import longfat
from longfat.cli import report, tables
from longfat.cli.app import app
from longfat.report.groups import grouped
from longfat.runs.repeats import aggregate

MANY = {
    "duration": "3 s",
    "bottleneck": {"rate": "20 Mbit/s", "buffer": "50 packets", "loss": 1e-3},
    "flow": [
        {"algorithm": "cubic", "rtt": "20 ms", "count": 12},
        {"algorithm": "cubic", "rtt": "60 ms", "count": 10, "name": "far"},
        {"algorithm": "reno", "rtt": "20 ms"},
        {"algorithm": "htcp", "rtt": "20 ms"},
        {"algorithm": "reno", "rtt": "20 ms"},
    ],
}
NAMES = ["1 to 12", "far-1 to far-10", "23, 25", "24"]


@pytest.fixture(scope="module")
def result():
    return longfat.run(MANY)


def printed(summary, scenario, **more):
    stream = io.StringIO()
    tables.print_summary(Console(file=stream, width=200), scenario, summary, **more)
    return stream.getvalue()


def test_flows_of_one_entry_are_a_group_and_so_are_single_flows_of_equal_algorithm_and_path(result):
    rows = grouped(result.summary, result.scenario)["flows"]
    assert [(row["name"], row["algorithm"], row["flows"]) for row in rows] == [
        (NAMES[0], "cubic", 12),
        (NAMES[1], "cubic", 10),
        (NAMES[2], "reno", 2),
        (NAMES[3], "htcp", 1),
    ]
    assert len(result.summary["flows"]) == 25


def test_single_flows_of_other_round_trip_times_or_parameters_are_groups_of_their_own():
    usual = [{"algorithm": "cubic", "rtt": f"{10 * (i // 2 + 1)} ms"} for i in range(20)]
    own = {"name": "cubic", "beta": 0.9}
    flows = [*usual, {"algorithm": own, "rtt": "10 ms"}, {"algorithm": own, "rtt": "10 ms"}]
    ran = longfat.run({"duration": "1 s", "bottleneck": {"rate": "20 Mbit/s"}, "flow": flows})
    rows = grouped(ran.summary, ran.scenario)["flows"]
    assert [row["name"] for row in rows] == [f"{i} to {i + 1}" for i in range(1, 22, 2)]


def flow(number, **values):
    known = {"packets_sent": 10, "packets_lost": 0, "timeouts": 0, "rtt_s": 0.1, "srtt_mean_s": 0.2}
    return {"name": str(number), "algorithm": "cubic", "throughput_bps": 1e6, **known, **values}


def test_a_group_has_the_mean_and_the_extremes_of_its_flows_and_the_ratio_of_all_their_packets():
    flows = [flow(number) for number in range(20)]
    flows += [flow(20, throughput_bps=4e6, packets_sent=100, packets_lost=30, timeouts=2, srtt_mean_s=None)]
    (row,) = grouped({"flows": flows}, None)["flows"]
    assert row == {
        "name": "0 to 20",
        "algorithm": "cubic",
        "flows": 21,
        "rtt_s": pytest.approx(0.1),
        "throughput_mean_bps": pytest.approx(24e6 / 21),
        "throughput_least_bps": 1e6,
        "throughput_greatest_bps": 4e6,
        "jain": pytest.approx(24**2 / (21 * 36)),  # (sum x)^2 / (n sum x^2)
        "loss_ratio": pytest.approx(0.1),
        "timeouts": 2,
        "srtt_mean_s": pytest.approx(0.2),
        "completion_time_s": None,
    }


def test_what_no_flow_of_a_group_has_is_unknown_and_not_zero():
    flows = [flow(number, packets_lost=None, throughput_bps=None) for number in range(21)]
    (row,) = grouped({"flows": flows}, None)["flows"]
    assert [row[key] for key in ("loss_ratio", "throughput_least_bps", "jain")] == [None] * 3


def test_few_flows_and_flows_without_anything_in_common_have_a_row_each():
    assert grouped({"flows": [flow(number) for number in range(20)]}, None) is None
    assert grouped({"flows": [flow(number, algorithm=f"{number}") for number in range(30)]}, None) is None


def test_groups_of_repeats_have_means_with_intervals(result):
    runs = [longfat.run({**MANY, "seed": seed}).summary for seed in (1, 2, 3)]
    whole = aggregate(runs)
    row = grouped(whole, result.scenario)["mean"]["flows"][0]
    each = [grouped(run, result.scenario)["flows"][0]["jain"] for run in runs]
    assert row["jain"] == pytest.approx(sum(each) / 3)
    assert (row["name"], row["flows"]) == (NAMES[0], 12)
    (line,) = [line for line in printed(whole, result.scenario).splitlines() if line.startswith("1 to 12")]
    assert re.search(r"cubic +12 +20 +[\d.]+ ± [\d.]+ ", line)


def test_a_terminal_shows_groups_unless_it_is_asked_for_every_flow(result):
    text = printed(result.summary, result.scenario)
    assert "25 flows by group" in text
    assert all(name in text for name in NAMES)
    assert "far-7" not in text
    assert "--all-flows prints a row for each flow." in text
    every = printed(result.summary, result.scenario, every_flow=True)
    assert "far-7" in every
    assert "by group" not in every
    assert "--all-flows" not in every


def test_the_command_line_prints_every_flow_on_request():
    run = ["run", "--preset", "dumbbell", "--duration", "1 s", "--set", "flow.0.count=21", "--flow", "reno"]
    grouped_rows = CliRunner().invoke(app, run)
    assert "1 to 21" in grouped_rows.stdout
    every = CliRunner().invoke(app, [*run, "--all-flows"])
    assert every.exit_code == 0, every.output
    assert re.search(r"^21 +reno", every.stdout, re.MULTILINE)


def test_a_page_shows_groups_and_folds_every_flow(result, tmp_path):
    page = result.report(tmp_path / "run").read_text()
    by_group, _, rest = page[page.index("25 flows by group") :].partition("<details")
    assert re.findall(r'<tr><td class="text">([^<]*)</td>', by_group) == NAMES
    folded = rest[: rest.index("</details>")]
    assert "<summary>Every flow</summary>" in folded
    assert folded.count("<tr><td") == 25


def test_a_page_without_a_readable_scenario_groups_by_algorithm(result, tmp_path):
    result.save(tmp_path / "run")
    (tmp_path / "run" / "SHA256SUMS").unlink()
    (tmp_path / "run" / "scenario.toml").write_text("[[flow]]\n")
    page = report.build(tmp_path / "run").read_text()
    names = re.findall(r'<tr><td class="text">([^<]*)</td>', page[: page.index("Every flow")])
    assert names == ["1 to far-10", "23, 25", "24"]


def test_a_notebook_shows_groups(result):
    text = result._repr_html_()
    assert all(f">{name}</td>" in text for name in NAMES)
