import functools
import html
import io
import json
import math
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from longfat.cli import report
from longfat.cli.app import end_code
from longfat.compare import command, estimate, figure, table
from longfat.compare.columns import COLUMNS, EXTENTS, TRIALS, Extent
from longfat.compare.estimate import Value
from longfat.compare.grid import coordinates, grid, runs
from longfat.errors import InputError
from longfat.figure import matplotlib as plots
from longfat.scenario import registry
from longfat.scenario.stacks import hosts
from longfat.study.grid import repeated
from longfat.study.stats import Estimate

ROOT = Path(__file__).parents[3]
MINE = f"{ROOT / 'examples' / 'my_reno.py'}:MyReno"
BY_KEY = {column.key: column for column in COLUMNS}


QUICK = EXTENTS["quick"]
TINY = Extent(("2 Mbit/s",), ("20 ms",), ("100 % BDP",), 2, 12.0, (1e-3, 1e-1), (50, 100))
"""Runs that take milliseconds."""


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    out = tmp_path_factory.mktemp("compare") / "out"
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(EXTENTS, "quick", TINY)
        asked = grid(["reno", MINE])
        yield asked, command.run(asked, out, jobs=1), out


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"algorithms": ["hstpc"]}, 'did you mean "hstcp"?'),
        ({"algorithms": ["reno", "tcp"]}, "compare: tcp: it is given twice"),
        ({"algorithms": []}, "compare: there is no algorithm"),
        ({"algorithms": ["nowhere.py:Mine"]}, "there is no file nowhere.py"),
        ({"algorithms": [f"{MINE}x"]}, 'no class "MyRenox"'),
        ({"algorithms": ['{ name = "hstcp", low_windo = 31 }']}, 'did you mean "low_window"?'),
        ({"algorithms": ["{ name = "]}, "not an inline table"),
        ({"rates": "10"}, 'a rate needs a unit; accepted: "10 Mbit/s"'),
        ({"rates": "0 Mbit/s"}, "--rates"),
        ({"rates": ""}, "no value"),
        ({"rates": "10 Mbit/s, 10000 kbit/s"}, "the same value is given twice"),
        ({"rtts": "20 ms,,80 ms"}, "an empty value"),
        ({"rtts": "20"}, "needs a unit"),
        ({"buffers": "20"}, '"20 % BDP", "175 packets"'),
        ({"repeats": 0}, "--repeats 0: it is out of range; accepted: from 1"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line_with_what_would_be_accepted(asked, said):
    with pytest.raises(InputError) as refused:
        grid(**{"algorithms": ["reno"], **asked})
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "accepted" in str(refused.value) or "it has" in str(refused.value)


def test_an_unknown_algorithm_ends_the_command_with_2_and_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["longfat", "compare", "hstpc", "--out", str(tmp_path / "out")])
    assert end_code() == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_results_is_refused_before_anything_runs(tmp_path):
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(InputError, match="holds the results of a run"):
        command.run(grid(["reno"]), tmp_path, jobs=1)


def tasks(asked):
    """The coordinates of each run with its scenario."""
    names = coordinates(asked)
    return [
        (dict(zip(names, place, strict=True)), scenario)
        for place, scenario, _ in repeated(runs(asked), asked.repeats)
    ]


def test_every_trial_is_run_at_every_point_in_every_repeat():
    asked = grid(["reno", "hstcp"], "5 Mbit/s, 10 Mbit/s", "20 ms", "10 packets, 100 % BDP", 2)
    planned = tasks(asked)
    by_trial = {
        trial.name: [scenario for place, scenario in planned if place["trial"] == trial.name]
        for trial in asked.trials
    }
    losses, shares = len(EXTENTS["quick"].losses), len(EXTENTS["quick"].shares)
    assert len(by_trial["pair"]) == 2 * 2 * 2 * 2
    assert len(by_trial["lossy"]) == 2 * 2 * losses * 2
    assert len(by_trial["small"]) == 2 * 2 * shares * 2
    assert {scenario.flow[1].rtt for scenario in by_trial["unlike"]} == {0.08}


def test_repeats_are_other_draws_of_the_same_path():
    planned = tasks(grid(["stcp"], repeats=3))
    assert all(scenario.varies() for _, scenario in planned)
    assert all(scenario.seed == place["repeat"] + 1 for place, scenario in planned)
    assert {scenario.seed for _, scenario in planned} == {1, 2, 3}
    assert all(scenario.flow[0].start != 0.0 for _, scenario in planned)


def test_both_flows_are_there_before_the_figures_begin():
    for _, scenario in tasks(grid(["reno"])):
        begins = scenario.plan["window_s"][0]
        assert all(flow["start_s"]["uniform"][1] < begins for flow in scenario.plan["flows"])


def test_the_hosts_are_todays_unless_another_stack_is_asked_for(tmp_path):
    (tmp_path / "own.toml").write_text(
        'duration = "4 s"\n[bottleneck]\nrate = "2 Mbit/s"\n'
        '[[flow]]\nrtt = "20 ms"\n[[flow]]\nrtt = "20 ms"\nstack = "ns-2"\n'
    )

    def found(**more):
        planned = tasks(grid(["sack", "cubic"], repeats=1, files=[str(tmp_path / "own.toml")], **more))
        return {
            kind: {
                tuple(hosts(scenario).values())
                for place, scenario in planned
                if (place["trial"] == "path") == (kind == "path")
            }
            for kind in ("grid", "path")
        }

    assert found() == {"grid": {("linux",), ("linux", "linux")}, "path": {("linux", "ns-2")}}
    assert found(stack="rfc") == {"grid": {("rfc",), ("rfc", "rfc")}, "path": {("rfc", "ns-2")}}


def test_an_opponent_that_the_registry_lacks_is_skipped_and_told(monkeypatch):
    rows = registry.rows
    monkeypatch.setattr(registry, "rows", lambda kind: [row for row in rows(kind) if row["name"] != "cubic"])
    asked = grid(["reno"], repeats=1)
    assert asked.skipped == {"cubic": "this version has no algorithm cubic"}
    assert not any(place["trial"] == "cubic" for place, _ in tasks(asked))
    told = table.notes({"columns": [vars(BY_KEY["share_cubic"])], "skipped": command.skipped(asked)})
    assert told == ["share / CUBIC: not measured, this version has no algorithm cubic"]


def test_two_algorithms_of_one_name_in_different_folders_keep_their_folders(tmp_path):
    other = tmp_path / "my_reno.py"
    other.write_text((ROOT / "examples" / "my_reno.py").read_text())
    labels = [contender.label for contender in grid([MINE, f"{other}:MyReno"]).contenders]
    assert len(set(labels)) == 2
    assert grid([MINE]).contenders[0].label == "my_reno.py:MyReno"


def test_a_loss_tolerance_lies_between_the_losses_around_it_on_the_logarithm():
    losses, use = (1e-4, 1e-3, 1e-2), (0.9, 0.7, 0.3)
    assert estimate.falls_below(losses, use, 0.5).value == pytest.approx(10**-2.5)
    assert estimate.falls_below(losses, (0.4, 0.3, 0.2), 0.5) == Value(1e-4, "<")
    assert estimate.falls_below(losses, (0.9, 0.8, 0.7), 0.5) == Value(1e-2, ">")
    assert math.isnan(estimate.falls_below(losses, (0.9, math.nan, 0.1), 0.5).value)


def test_a_needed_buffer_is_that_from_which_on_the_link_is_used():
    shares = (1.0, 10.0, 100.0)
    assert estimate.rises_above(shares, (0.2, 0.6, 1.0), 0.8).value == pytest.approx(10**1.5)
    # one that is enough only by chance below a larger one that is not does not count
    assert estimate.rises_above(shares, (0.9, 0.6, 1.0), 0.8).value == pytest.approx(10**1.5)
    assert estimate.rises_above(shares, (0.9, 0.9, 1.0), 0.8) == Value(1.0, "<")
    assert estimate.rises_above(shares, (0.2, 0.5, 0.7), 0.8) == Value(100.0, ">")


def rows(figure, by_repeat, trial="pair", **others):
    """Runs of one algorithm: `by_repeat` has a list of values over points for each repeat."""
    return [
        {
            "algorithm": "a",
            "trial": trial,
            "rate_bps": 1e6 * (place + 1),
            "rtt_s": 0.1,
            "buffer": "10 packets",
            "level": None,
            "repeat": repeat,
            figure: value,
            **others,
        }
        for repeat, values in enumerate(by_repeat)
        for place, value in enumerate(values)
    ]


def cell_of(key, found):
    return estimate.overall(BY_KEY[key], estimate.values(BY_KEY[key], found), "a")


def test_a_cell_is_the_mean_over_points_with_the_interval_over_repeats():
    found = rows("utilization", [[0.7, 0.9], [0.5, 0.7]])
    cell = cell_of("utilization", found)
    # repeats: .8 and .6; their standard error .1, and Student's t of one degree of freedom
    assert (cell.mean, cell.half_width, cell.bound) == (pytest.approx(0.7), pytest.approx(1.27062), "")


def test_a_geometric_mean_has_the_interval_of_its_logarithm():
    values = [[(1e-3, 0.9), (1e-2, 0.1)], [(1e-3, 0.8), (1e-2, 0.2)], [(1e-3, 0.7), (1e-2, 0.2)]]
    found = [
        row | {"level": level, "repeat": repeat}
        for repeat, pairs in enumerate(values)
        for level, value in pairs
        for row in rows("utilization", [[value]], trial="lossy")
    ]
    cell = cell_of("loss_tolerance", found)
    crossings = [math.log(1e-3) + math.log(10.0) * (0.5 - a) / (b - a) for (_, a), (_, b) in values]
    mean = sum(crossings) / 3.0
    deviation = math.sqrt(sum((one - mean) ** 2 for one in crossings) / 2.0)
    assert cell.mean == pytest.approx(math.exp(mean))
    assert cell.half_width == pytest.approx(math.exp(mean) * 4.302653 * deviation / math.sqrt(3.0))


def test_one_repeat_has_no_interval():
    cell = cell_of("utilization", rows("utilization", [[0.7, 0.9]]))
    assert math.isnan(cell.half_width)
    assert cell.to_json()["half_width_95"] is None


def test_flows_that_never_converge_count_as_the_slowest():
    found = rows("convergence_80_s", [[10.0, None, 30.0], [20.0, 40.0, None]], watched_s=100.0)
    cell = cell_of("convergence_s", found)
    # medians 30 and 40
    assert (cell.mean, cell.half_width) == (pytest.approx(35.0), pytest.approx(5.0 * 12.7062))
    never = rows("convergence_80_s", [[None, None, 30.0], [None, 40.0, None]], watched_s=100.0)
    cell = cell_of("convergence_s", never)
    assert (cell.mean, cell.bound) == (100.0, ">")


def test_a_cell_is_written_with_its_interval_or_its_bound():
    assert table.cell({"mean": 0.91342, "half_width_95": 0.00213, "bound": ""}) == "0.913 ± 0.0021"
    assert table.cell({"mean": 98.0, "half_width_95": None, "bound": ">"}) == "> 98"
    assert table.cell(None) == "-"


def test_a_users_own_reno_is_compared_as_the_native_one(compared):
    _, document, out = compared
    native, mine = document["algorithms"]
    assert mine["name"] == "my_reno.py:MyReno"
    assert {**native, "name": ""} == {**mine, "name": ""}
    assert native["utilization"]["mean"] > 0.5
    assert document["stack"] == "linux"
    assert table.used(document).startswith("stack linux; ")
    assert 0.3 < native["share_reno"]["mean"] < 0.7
    kept = {"store.json", "segments"}
    assert {file.name for file in out.iterdir()} == {
        "compare.json",
        "SHA256SUMS",
        "runs.parquet",
        "index.html",
        "figures",
    } | kept
    assert pq.read_table(out / "runs.parquet").num_rows == document["performance"]["runs"]


def test_the_page_of_a_comparison_has_its_table_and_its_figure_in_each_format(compared):
    _, document, out = compared
    page = (out / "index.html").read_text()
    assert "`" not in page
    assert "<td>as <code>pair</code>, with small buffers</td>" in page
    for text in (
        "my_reno.py:MyReno",
        html.escape(BY_KEY["loss_tolerance"].estimator),
        table.cell(document["algorithms"][0]["jain"]),
    ):
        assert text in page
    assert {file.suffix for file in (out / "figures").iterdir()} == {".pdf", ".svg", ".png"}


def test_a_comparison_of_an_older_version_is_refused_in_one_line(compared, tmp_path):
    (tmp_path / "compare.json").write_text(json.dumps(compared[1] | {"format": 1}))
    with pytest.raises(
        InputError, match="an older version of Longfat wrote this comparison; accepted: one of"
    ):
        report.build(tmp_path)


def test_a_narrow_terminal_gets_a_column_an_algorithm(compared):
    _, document, _ = compared
    told = {}
    for width in (80, 160):
        console = Console(width=width, file=io.StringIO())
        table.show(document, console)
        told[width] = [line.split()[:1] for line in console.file.getvalue().splitlines()]
    assert ["utilisation"] in told[80]
    assert ["reno"] in told[160]


def test_a_figure_has_a_panel_for_each_column_that_was_measured(compared):
    asked, document, _ = compared
    titles = [panel["title"] for panel in document["figure"]["panels"]]
    run = {trial.name for trial in asked.trials}
    assert titles[:-2] == [column.heading for column in COLUMNS if column.trial.name in run]


def test_where_a_bound_was_not_crossed_the_curve_has_a_gap():
    assert all(map(math.isnan, figure._shown(Estimate(1e-2, math.nan, ">"), 1.0)))


def test_the_documentation_has_every_column_and_every_trial():
    text = (ROOT / "docs" / "compare.md").read_text()
    for column in COLUMNS:
        assert f"| {column.heading} | `{column.key}` |" in text, column.key
    for trial in TRIALS:
        assert f"| `{trial.name}` |" in text, trial.name
    quick = QUICK
    for value in (*quick.rates, *quick.rtts, *quick.buffers):
        assert value in text


def test_a_comparison_can_be_drawn_again_and_replaced_by_another_as_a_whole(compared, monkeypatch):
    # the last test: it changes what the others look at
    _, _, out = compared
    monkeypatch.setattr(plots, "save", functools.partial(plots.save, formats=["svg"]))
    (out / "index.html").unlink()
    assert report.build(out) == out / "index.html"
    command.run(grid(["hstcp"], repeats=1), out, jobs=1)
    stored = json.loads((out / "compare.json").read_text())
    assert [entry["name"] for entry in stored["algorithms"]] == ["hstcp"]
    assert [file.name for file in (out / "figures").iterdir()] == ["compare.svg"]


def test_paths_from_files_have_a_table_of_their_own_and_leave_the_grid_s_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setitem(EXTENTS, "quick", TINY)
    monkeypatch.setattr(plots, "save", functools.partial(plots.save, formats=["svg"]))
    (tmp_path / "slow.trace").write_text("5\n10\n")
    (tmp_path / "three.toml").write_text(
        'duration = "4 s"\n[bottleneck]\nrate = "2 Mbit/s"\n'
        '[[flow]]\nalgorithm = "hstcp"\nvariant = "linux"\nrtt = "20 ms"\ncount = 3\n'
    )
    files = [str(tmp_path / name) for name in ("slow.trace", "three.toml")]
    asked = grid(["reno", "cubic"], files=files)
    mine = [scenario for place, scenario in tasks(asked) if place["trial"] == "path"]
    assert len(mine) == 2 * 2 * 2
    assert {flow.algorithm.name for scenario in mine for flow in scenario.flow} == {"reno", "cubic"}
    document = command.run(asked, tmp_path / "out", jobs=1)
    cells = {(entry["path"], entry["algorithm"]): entry for entry in document["paths"]}
    labels = ["slow.trace, 20 ms", "three.toml"]
    assert list(cells) == [(label, name) for label in labels for name in ("reno", "cubic")]
    assert all(0.5 < entry["utilization"]["mean"] <= 1.0 for entry in cells.values())
    assert all(0.0 < entry["jain"]["mean"] <= 1.0 for entry in cells.values())
    text = io.StringIO()
    table.show(document, Console(file=text, width=200))
    assert "three.toml" in text.getvalue()
    assert table.path_cells(document).headings[-1] == "Jain"
    assert "On paths from files" in (tmp_path / "out" / "index.html").read_text()
    rows = pq.read_table(tmp_path / "out" / command.RUNS_FILE)
    assert list(dict.fromkeys(rows["algorithm"].to_pylist())) == ["reno", "cubic"]  # as they were asked for
    assert set(rows["path"].to_pylist()) == {None, *labels}
    alone = command.run(grid(["reno", "cubic"]), tmp_path / "alone", jobs=1)
    assert alone["algorithms"] == document["algorithms"]
    assert "paths" not in alone


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.trace", "1\nten\n", "line 2: 'ten'"),
        ("x.toml", 'duration = "1 s"\n', "bottleneck"),
        (
            "x.toml",
            'duration = "1 s"\n[bottleneck]\nrate = "1 Mbit/s"\n[[background]]\nkind = "web"\nrtt = "9 ms"\n',
            "no [[flow]]",
        ),
    ],
)
def test_a_path_that_is_neither_a_scenario_nor_a_trace_is_refused_in_one_line(tmp_path, name, text, said):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        grid(["reno"], files=[str(path)])
    assert said in str(refused.value)
    with pytest.raises(InputError, match="the same file is given twice"):
        grid(["reno"], files=[str(path), str(path)])
    with pytest.raises(InputError, match=r"nowhere.toml"):
        grid(["reno"], files=[str(tmp_path / "nowhere.toml")])
