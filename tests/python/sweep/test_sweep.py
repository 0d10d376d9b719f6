"""Sweeps: which runs they are, that each is there once whatever happened, and what can be asked of them."""

import hashlib
import importlib
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from rich.console import Console

from longfat import errors, sweep
from longfat.cli import report
from longfat.figure import matplotlib
from longfat.runs import progress
from longfat.scenario.model import Scenario
from longfat.store.identity import run_key, run_keys
from longfat.sweep import estimate, figures, page, unfinished, words
from longfat.sweep import tables as sweep_tables
from samples import flips

sweep_run: Any = importlib.import_module("longfat.sweep.run")

BASE = {
    "title": "tiny",
    "duration": "1 s",
    "bottleneck": {"rate": "5 Mbit/s", "buffer": "50 % BDP", "loss": 0.01},
    "flow": [{"algorithm": "reno", "rtt": "20 ms"}],
}


def grid(**keys: Any) -> sweep.Sweep:
    return sweep.from_dict({"base": BASE, **keys})


def test_points_are_all_combinations_with_the_last_axis_and_the_repeat_fastest() -> None:
    asked = grid(
        axes={"bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"], "flow.0.rtt": ["10 ms", "20 ms"]}, repeats=2
    )
    points = list(asked.points())
    assert [point.number for point in points] == list(range(8))
    assert [(p.values["bottleneck.rate"], p.values["flow.0.rtt"], p.repeat) for p in points[:5]] == [
        ("1 Mbit/s", "10 ms", 0),
        ("1 Mbit/s", "10 ms", 1),
        ("1 Mbit/s", "20 ms", 0),
        ("1 Mbit/s", "20 ms", 1),
        ("2 Mbit/s", "10 ms", 0),
    ]
    assert asked.scenario(points[1]).seed == asked.scenario(points[0]).seed + 1


def test_axes_that_are_zipped_move_together_and_dotted_keys_may_be_nested() -> None:
    asked = grid(
        axes={"bottleneck": {"rate": ["1 Mbit/s", "2 Mbit/s"]}},
        zip=[{"flow.0.rtt": ["10 ms", "20 ms", "40 ms"], "flow.0.algorithm": ["reno", "hstcp", "cubic"]}],
    )
    assert asked.keys == ["bottleneck.rate", "flow.0.rtt", "flow.0.algorithm"]
    assert asked.count() == 6
    assert {(p.values["flow.0.rtt"], p.values["flow.0.algorithm"]) for p in asked.points()} == {
        ("10 ms", "reno"),
        ("20 ms", "hstcp"),
        ("40 ms", "cubic"),
    }


@pytest.mark.parametrize(
    ("spacing", "values"),
    [("linear", ["10 ms", "85 ms", "160 ms"]), ("log", ["10 ms", "40 ms", "160 ms"])],
)
def test_ranges_have_equal_steps_or_equal_ratios_and_end_where_they_are_said_to(
    spacing: str, values: list[str]
) -> None:
    asked = grid(axes={"flow.0.rtt": {"from": "10 ms", "to": "160 ms", "points": 3, "spacing": spacing}})
    assert [asked.scenario(point).flow[0].rtt for point in asked.points()] == [
        float(v.split()[0]) / 1000 for v in values
    ]


def test_whole_numbers_stay_whole_and_as_many_as_were_asked_for() -> None:
    asked = grid(axes={"seed": {"from": 1, "to": 1500, "points": 1500}})
    assert [point.values["seed"] for point in asked.points()] == list(range(1, 1501))


def test_a_filter_leaves_points_out_by_quantities_in_si_units() -> None:
    asked = grid(
        axes={"bottleneck.rate": ["1 Mbit/s", "10 Mbit/s"], "flow.0.rtt": ["10 ms", "100 ms"]},
        where="bottleneck_rate * flow_0_rtt < 5e5 and not flow_0_rtt == 0.01",
    )
    assert [tuple(point.values.values()) for point in asked.points()] == [("1 Mbit/s", "100 ms")]


def figure(keys: dict[str, Any], told: str) -> tuple[dict[str, Any], str]:
    """A sweep whose figure is right but for these keys, and what is wrong with it."""
    axes = {"flow.0.rtt": ["1 ms", "2 ms"], "flow.0.algorithm": ["reno", "cubic"]}
    right = {"kind": "lines", "x": "flow.0.rtt", "y": "jain"}
    return {"axes": axes, "figure": [right | keys]}, told


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, "there are no axes"),
        ({"axes": {"flow.0.rtt": []}}, "axes.flow.0.rtt: there is no value"),
        (
            {"axes": {"flow.0.rrt": ["1 ms", "2 ms"]}},
            'an axis does not name a key of the scenario: .*mean "rtt"',
        ),
        ({"axes": {"seed": [1]}, "where": "sed > 1"}, 'sed: there is no such axis, did you mean "seed"'),
        (
            {"axes": {"seed": [1]}, "figure": {}},
            "figure: this is not a list of tables; accepted: a list of tables",
        ),
        figure({"kind": "line"}, r'figure.0.kind = line: there is no such kind; accepted: "lines" or "heat"'),
        figure({"kind": []}, r'figure.0.kind = \[\]: there is no such kind; accepted: "lines" or "heat"'),
        figure({"colour": "jain"}, "colour: there is no such key"),
        figure({"x": "flow.0.rt"}, 'figure.0.x.flow.0.rt: there is no such axis, did you mean "flow.0.rtt"'),
        figure({"y": "jian"}, 'figure.0.y: there is no column "jian", did you mean "jain"'),
        figure({"y": "jain / bottleneck_losses"}, 'there is no column "bottleneck_losses"'),
        figure({"lines": "flow.0.rtt"}, "it is already used as x; accepted: another axis"),
        figure(
            {"where": {"flow.0.rtt": "3 ms"}},
            "where.flow.0.rtt = 3 ms: this is not a value .*accepted: 1 ms, 2 ms",
        ),
        figure({"y_scale": "logarithmic"}, 'accepted: "linear" or "log"'),
        ({"axes": {"flow.3.rtt": ["1 ms", "2 ms"]}}, "an axis does not name a key of the scenario: .*flow.3"),
        ({"axes": {"flow.0.rtt": ["1 ms", "1 ms"]}}, "appears twice"),
        ({"axes": {"seed": [float("inf"), 2]}}, "accepted: finite numbers"),
        ({"axes": {"flow.0.rtt": ["1 ms"]}, "zip": [{"flow.0.rtt": ["2 ms"]}]}, "is an axis twice"),
        ({"zip": [{"seed": [1, 2], "flow.0.rtt": ["1 ms"]}]}, "seed has 2, flow.0.rtt has 1"),
        ({"axes": {"seed": [1]}, "where": "import os"}, "where = "),
        ({"axes": {"seed": [1]}, "where": "__import__('os')"}, "where = .*accepted: names of axes"),
        ({"axes": {"seed": [1]}, "where": "rtt > 1"}, "rtt: there is no such axis; accepted: seed"),
        ({"axes": {"seed": [1]}, "where": "seed > 1"}, "where excludes every run"),
        ({"axes": {"seed": [1]}, "where": f"seed * {'9' * 400} * 1.0 > 1"}, "too large to convert to float"),
        ({"axes": {"seed": [1]}, "where": "seed \0 > 1"}, r'where = "seed .u0000 > 1": .*null bytes'),
        ({"axes": {"seed": [1]}, "where": "seed\n > 1"}, r'where = "seed.n > 1": '),
        ({"axes": {"seed": [1]}, "where": "(" * 4000 + "seed"}, "parenthes"),
        ({"axes": {"seed": [1]}, "where": "-" * 9000 + "seed > 1"}, "nested too deeply"),
        ({"axes": {"seed": [1]}, "where": "seed" + " + 1" * 2400 + " > 1"}, "nested too deeply"),
        ({"axes": {"seed": [1]}, "where": "seed" + " + 1" * 9000 + " > 1"}, "accepted: up to 10000"),
        ({"axes": {"seed": [1]}, "where": "'x' * 10000000000 == seed"}, "texts can only be compared"),
        ({"axes": {"seed": [1]}, "repeats": 0}, "repeats = 0"),
        ({"axes": {"seed": [1, 2]}, "repeats": 2}, "repeats and an axis of seeds"),
        (
            {"axes": {"bottleneck": [BASE["bottleneck"]], "bottleneck.rate": ["1 Mbit/s"]}},
            "lies within the axis",
        ),
        (
            {"axes": {"bottleneck.rate": ["1 Mbit/s"], "seed": [1], "bottleneck": [BASE["bottleneck"]]}},
            "bottleneck.rate lies within the axis bottleneck; accepted: axes that do not overlap",
        ),
        ({"axes": {"flow.0.rtt": {"from": "1 ms", "to": "1 Mbit/s", "points": 3}}}, "differ in kind"),
        ({"duration": "1 s"}, "is a scenario; accepted: a sweep"),
        ({"axes": {"seed": [1]}, "keep": "all"}, 'accepted: "summary" or "series"'),
        ({"axes": {"seed": {"from": 1, "to": 3}}}, "axes.seed.points is missing"),
        ({"axes": {"seed": [1]}, "where": "seed * 2"}, "gives 2, which is neither true nor false"),
        (
            {
                "axes": {"flow.0.rtt": {"from": "1 ms", "to": "1 s", "points": 100_000}},
                "repeats": 10_000,
            },
            "there are 1000000000 runs; accepted: up to 10000000",
        ),
        ({"axes": {"seed": [1]}, "axis": 1}, "axis: there is no such key"),
        (
            {"axes": {"flow.0.rtt": {"from": "0 ms", "to": "1 ms", "points": 3, "spacing": "log"}}},
            "values above 0",
        ),
        ({"axes": {"flow.0.rtt": {"from": "1 ms", "to": "2 ms", "points": 1}}}, "points = 1"),
    ],
)
def test_a_sweep_that_means_nothing_is_refused_in_one_line(keys: dict[str, Any], told: str) -> None:
    with pytest.raises(errors.InputError, match=told) as refused:
        grid(**keys)
    assert "\n" not in str(refused.value)


def test_more_runs_than_anyone_means_need_a_yes() -> None:
    seeds = {"from": 1, "to": 60_000, "points": 60_000}
    asked = grid(axes={"seed": seeds, "bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]})
    with pytest.raises(errors.InputError, match="120000 runs; accepted: up to 100000"):
        estimate.refuse_large(asked, accepted=False)
    estimate.refuse_large(asked, accepted=True)


def test_summaries_alone_are_kept_of_large_sweeps() -> None:
    axis = {"from": 1, "to": 1001, "points": 1001}
    assert grid(axes={"seed": axis}).keep == "summary"
    assert grid(axes={"seed": [1, 2]}).keep == "series"


def tables(folder: Path) -> dict[str, bytes]:
    root = folder / "tables"
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def test_running_again_does_only_what_is_missing_and_a_new_value_only_itself(tmp_path: Path) -> None:
    rates = ["1 Mbit/s", "2 Mbit/s"]
    first = sweep.run(grid(axes={"bottleneck.rate": rates}, repeats=3), tmp_path, jobs=2)
    assert first["performance"]["ran"] == 6
    before = tables(tmp_path)
    again = sweep.run(grid(axes={"bottleneck.rate": rates}, repeats=3), tmp_path, jobs=2)
    assert (again["performance"]["ran"], again["performance"]["found"]) == (0, 6)
    assert tables(tmp_path) == before
    more = sweep.run(grid(axes={"bottleneck.rate": [*rates, "3 Mbit/s"]}, repeats=3), tmp_path, jobs=2)
    assert (more["performance"]["ran"], more["performance"]["found"]) == (3, 6)


def test_a_run_that_is_refused_is_told_and_stops_no_other(tmp_path: Path) -> None:
    asked = grid(axes={"bottleneck.loss": [0.01, 2.0]})
    document = sweep.run(asked, tmp_path)
    assert (document["runs"], document["failed"]) == (2, 1)
    swept = sweep.open_sweep(tmp_path)
    assert swept.runs["run"].to_pylist() == [0]
    failed = swept.failures.to_pylist()
    assert [row["run"] for row in failed] == [1]
    assert "bottleneck.loss = 2.0" in failed[0]["error"]


def test_an_algorithm_that_fails_is_one_failure_among_the_runs(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "class Good:\n    def on_ack(self, ack, window): pass\n"
        "    def on_congestion(self, event, window): pass\n"
        "class Bad(Good):\n    def on_ack(self, ack, window): raise ValueError('no')\n"
    )
    asked = grid(axes={"flow.0.algorithm": [f"{own}:Good", f"{own}:Bad", "reno"]})
    document = sweep.run(asked, tmp_path / "out", jobs=2)
    assert (document["runs"], document["failed"], document["performance"]["ran"]) == (3, 1, 2)
    assert "no" in sweep.open_sweep(tmp_path / "out").failures["error"][0].as_py()


def test_a_sweep_of_a_newer_version_is_not_written_over(tmp_path: Path) -> None:
    asked = grid(axes={"seed": [1]})
    sweep.run(asked, tmp_path)
    file = tmp_path / "sweep.json"
    document = json.loads(file.read_text())
    file.write_text(json.dumps(document | {"format": 99}))
    with pytest.raises(errors.InputError, match="which is newer"):
        sweep.run(asked, tmp_path)
    file.write_text("{")
    assert sweep.run(asked, tmp_path)["performance"]["found"] == 1


def test_what_is_probably_not_meant_is_told_before_anything_runs() -> None:
    same = {**BASE, "bottleneck": {"rate": "5 Mbit/s"}}
    axes: dict[str, Any] = {"flow.0.rtt": ["10 ms", "20 ms"]}
    repeated = sweep.from_dict({"base": same, "axes": axes, "repeats": 2})
    assert repeated.warnings() == ["nothing in this scenario is random: repeats are identical"]
    lossy = sweep.from_dict({"base": same, "axes": axes | {"bottleneck.loss": [0, 0.1]}, "repeats": 2})
    assert lossy.warnings() == []
    (told,) = grid(axes={"flow.0.algorithm": ["reno", "cubix"]}).warnings()
    assert told.startswith('a point will fail: sweep: flow.0.algorithm = "cubix"')


def test_rows_that_differ_make_one_table_with_columns_in_the_order_in_which_they_come() -> None:
    rows = sweep_tables._Rows()
    for row in ({"a": 1, "b": 1, "c": True}, {"b": 0.5, "d": "x", "c": None}, {"a": 2, "d": 1, "e": None}):
        rows.add(row)
    table = rows.table()
    assert table.to_pydict() == {
        "a": [1, None, 2],
        "b": [1.0, 0.5, None],
        "c": [True, None, None],
        "d": [None, "x", "1"],
        "e": [None, None, None],
    }
    assert list(map(str, table.schema.types)) == ["int64", "double", "bool", "string", "double"]


def test_workers_do_not_import_what_only_reading_tables_takes() -> None:
    code = "import sys, longfat.sweep.run; print(sys.modules.keys() & {'pandas', 'pyarrow.dataset'})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


def test_tables_without_rows_have_their_columns(tmp_path: Path) -> None:
    sweep.run(grid(axes={"flow.0.rtt": ["10 ms"]}), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    assert swept.sql('SELECT run, "flow.0.rtt", error FROM failures').num_rows == 0
    assert swept.sql("SELECT id, verdict FROM claims").num_rows == 0


def test_figures_say_what_is_in_the_tables(tmp_path: Path) -> None:
    axes = {"bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"], "flow.0.rtt": ["10 ms", "40 ms"]}
    sweep.run(grid(axes=axes, repeats=2), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    drawn = figures.heat_map(swept, "bottleneck_utilization", "bottleneck.rate", "flow.0.rtt")
    wanted = swept.sql(
        'SELECT avg(bottleneck_utilization) AS u FROM runs WHERE "bottleneck.rate" = 4e6 '
        'AND "flow.0.rtt" = 0.01'
    )["u"][0].as_py()
    assert drawn.panels[0].cells[0][1] == pytest.approx(wanted)
    along = figures.lines(swept, "bottleneck_utilization", "flow.0.rtt", by="bottleneck.rate")
    assert along.panels[0].curves[1].y[0] == pytest.approx(wanted)
    page = sweep.report(tmp_path)
    assert page is not None
    assert "bottleneck.rate" in page.read_text()
    assert (along.panels[0].x_label, along.panels[0].curves[1].x) == ("RTT of flow 1, ms", (10.0, 40.0))
    with pytest.raises(errors.InputError, match="the sweep has no such column"):
        figures.heat_map(swept, "nothing", "bottleneck.rate", "flow.0.rtt")


def test_a_figure_is_a_grid_of_panels_on_one_scale_that_the_file_asks_for(tmp_path: Path) -> None:
    axes = {
        "flow.0.rtt": ["10 ms", "40 ms"],
        "flow.0.algorithm": ["reno", "cubic"],
        "bottleneck.rate": ["1 Mbit/s", "4 Mbit/s"],
        "bottleneck.buffer": ["50 % BDP", "100 % BDP"],
    }
    asked = {
        "kind": "lines",
        "x": "flow.0.rtt",
        "y": "flow_1_throughput_bps / flow_1_goodput_bps",
        "lines": "flow.0.algorithm",
        "columns": "bottleneck.rate",
        "rows": "bottleneck.buffer",
        "where": {"flow.0.algorithm": ["cubic"]},
    }
    sweep.run(grid(axes=axes, figure=[asked]), tmp_path)
    (drawn,) = figures.page(sweep.open_sweep(tmp_path))
    assert drawn.columns == 2
    assert [panel.title for panel in drawn.panels] == [
        "1 Mbit/s, 50 % BDP",
        "4 Mbit/s, 50 % BDP",
        "1 Mbit/s, 100 % BDP",
        "4 Mbit/s, 100 % BDP",
    ]
    assert [curve.label for panel in drawn.panels for curve in panel.curves] == ["cubic"] * 4
    assert len({panel.y_range for panel in drawn.panels}) == 1
    # what is sent again counts as throughput and not as goodput
    assert all(y >= 1.0 for panel in drawn.panels for curve in panel.curves for y in curve.y)
    assert [bool(panel.y_label) for panel in drawn.panels] == [True, False, True, False]
    assert [bool(panel.x_label) for panel in drawn.panels] == [False, False, True, True]


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["bottleneck.rate"], "bottleneck rate"),
        (["flow.1.rtt"], "RTT of flow 2"),
        (["flow.0.rtt", "flow.1.rtt", "background.0.rtt"], "RTT"),
        (["background.0.sessions"], "background sessions"),
    ],
)
def test_axes_are_called_by_what_moves_along_them(keys: list[str], said: str) -> None:
    assert words.axis(keys) == said


def test_an_axis_may_have_values_that_are_empty_texts_or_begin_with_an_underscore(tmp_path: Path) -> None:
    axes = {"title": ["", "_a", "b"], "flow.0.rtt": ["10 ms", "20 ms"]}
    lines = {"kind": "lines", "x": "flow.0.rtt", "y": "jain"}
    asked = [lines | {"lines": "title"}, lines | {"columns": "title"}]
    sweep.run(grid(axes=axes, figure=asked), tmp_path, jobs=1)
    first, second = figures.page(sweep.open_sweep(tmp_path))
    assert [curve.label for curve in first.panels[0].curves] == ['""', "_a", "b"]
    assert [panel.title for panel in second.panels] == ['""', "_a", "b"]
    legend = matplotlib.draw(first).legends[0]
    assert [text.get_text().strip() for text in legend.get_texts()] == ['""', "_a", "b"]


def test_keys_of_runs_come_back_whole_and_refused_runs_have_none() -> None:
    keys = sweep_tables.Keys()
    known = [hashlib.sha256(bytes([i])).hexdigest() for i in range(3)]
    for key in (known[0], None, *known[1:]):
        keys.append(key)
    assert list(keys) == [known[0], None, known[1], known[2]]


FILE = """
base = {base}
repeats = {repeats}
keep = "summary"
[axes]
"bottleneck.rate" = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s", "4 Mbit/s"]
"flow.0.rtt" = {{ from = "10 ms", to = "50 ms", points = 5 }}
"""


def sweep_file(folder: Path, repeats: int) -> Path:
    base = folder / "base.toml"
    base.write_text(
        'duration = "1 s"\n[bottleneck]\nrate = "5 Mbit/s"\nbuffer = "50 % BDP"\nloss = 0.01\n'
        '[[flow]]\nalgorithm = "reno"\nrtt = "20 ms"\n'
    )
    file = folder / "sweep.toml"
    file.write_text(FILE.format(base=json.dumps(base.name), repeats=repeats))
    return file


def command(file: Path, out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "longfat", "sweep", str(file), "--out", str(out), *options]


def driver(file: Path, out: Path) -> list[str]:
    """A process that runs a sweep, without drawing its report."""
    text = (
        "from pathlib import Path; from longfat import sweep; "
        f"sweep.run(sweep.load(Path({str(file)!r})), {str(out)!r}, jobs=2)"
    )
    return [sys.executable, "-c", text]


def finish(file: Path, out: Path, jobs: int = 2) -> None:
    sweep.run(sweep.load(file), out, jobs=jobs)


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """A sweep of 1000 runs that nothing disturbed: its file and its tables."""
    folder = tmp_path_factory.mktemp("calm")
    file = sweep_file(folder, repeats=50)
    finish(file, folder / "out")
    return file, tables(folder / "out")


def workers(parent: int) -> list[int]:
    """Processes below this one, at any depth, that run worker code."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found, waiting = [], [parent]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


@pytest.mark.parametrize("victim", ["driver", "worker"])
def test_whatever_is_killed_every_run_is_there_once_afterwards_as_if_nothing_had_been(
    victim: str, calm: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    file, undisturbed = calm
    hit = tmp_path / "hit"
    draws = random.Random(5)
    for _ in range(3):
        running = subprocess.Popen(driver(file, hit), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(draws.uniform(1.2, 2.4))
        if victim == "driver":
            running.kill()
        else:
            below = workers(running.pid)
            if below:
                os.kill(draws.choice(below), signal.SIGKILL)
        running.wait(timeout=60)
    finish(file, hit)
    swept = sweep.open_sweep(hit)
    assert swept.runs["run"].to_pylist() == list(range(1000))
    assert swept.failures.num_rows == 0
    assert tables(hit) == undisturbed


def test_a_segment_that_was_cut_short_costs_its_runs_and_nothing_else(tmp_path: Path) -> None:
    file, hit = sweep_file(tmp_path, repeats=2), tmp_path / "hit"
    finish(file, hit)
    before = tables(hit)
    for segment in (hit / "segments").rglob("*.parquet"):
        segment.write_bytes(segment.read_bytes()[: segment.stat().st_size // 2])
    finish(file, hit)
    assert tables(hit) == before
    assert list((hit / "damaged").iterdir())


def test_the_same_tables_come_of_one_worker_and_of_three(tmp_path: Path) -> None:
    file = sweep_file(tmp_path, repeats=2)
    finish(file, tmp_path / "one", 1)
    finish(file, tmp_path / "three", 3)
    assert tables(tmp_path / "one") == tables(tmp_path / "three")


def test_the_command_says_what_it_would_do_does_it_and_answers(tmp_path: Path) -> None:
    file, out = sweep_file(tmp_path, repeats=1), tmp_path / "out"
    dry = subprocess.run(
        command(file, out, "--dry-run", "--json"), check=True, capture_output=True, text=True
    )
    assert json.loads(dry.stdout)["runs"] == 20
    assert not out.exists()
    finish(file, out)
    asked = [
        sys.executable,
        "-m",
        "longfat",
        "results",
        str(out),
        "--json",
        "--sql",
        "SELECT count(*) AS n FROM runs",
    ]
    assert json.loads(subprocess.run(asked, check=True, capture_output=True, text=True).stdout) == [{"n": 20}]


def test_without_a_terminal_progress_is_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for waits in ("LEAST_S", "EVERY_S", "LINE_EVERY_S"):
        monkeypatch.setattr(progress, waits, 0.0)
    heard = io.StringIO()
    sweep.run(grid(axes={"seed": [1, 2, 3]}), tmp_path, jobs=1, console=Console(file=heard))
    lines = [line for line in heard.getvalue().splitlines() if "runs" in line]
    assert [re.search(r"\d of 3 runs", line)[0] for line in lines] == [f"{i} of 3 runs" for i in (1, 2, 3)]
    assert all(re.search(r", about \d+ s left$", line) for line in lines)


def stopped_after(runs: int, asked: sweep.Sweep, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Does some runs of a sweep and interrupts it."""
    whole = sweep_run.distribution

    def some(*arguments: Any) -> Any:
        def outcomes(function: Any, tasks: Any) -> Iterator[tuple[int, Any]]:
            for done, pair in enumerate(whole(*arguments)(function, tasks)):
                if done == runs:
                    raise KeyboardInterrupt
                yield pair

        return outcomes

    with monkeypatch.context() as patch:
        patch.setattr(sweep_run, "distribution", some)
        with pytest.raises(KeyboardInterrupt):
            sweep.run(asked, out, jobs=1)


@pytest.mark.parametrize("keep", ["summary", "series"])
def test_the_runs_so_far_of_an_interrupted_sweep_are_those_of_the_finished_one(
    keep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = {"bottleneck.rate": ["1 Mbit/s", "0 Mbit/s", "2 Mbit/s"], "flow.0.algorithm": ["reno", "cubic"]}
    asked = grid(axes=axes, repeats=2, keep=keep, where='flow_0_algorithm == "reno" or bottleneck_rate < 2e6')
    stopped_after(4, asked, tmp_path, monkeypatch)
    some = sweep.open_sweep(tmp_path)
    assert some.note == "4 of 10 runs so far, 4 failed"
    assert repr(some) == f"<Swept of 'tiny': {some.note}, {tmp_path}>"
    assert not (tmp_path / "sweep.json").exists()
    if keep == "series":
        assert some.series(1).num_rows > 0
    assert "4 of 10 runs so far" in report.build(tmp_path).read_text()
    sweep.run(asked, tmp_path, jobs=1)
    whole = sweep.open_sweep(tmp_path)
    assert whole.note == ""
    assert not (tmp_path / "unfinished.json").exists()
    first = pc.less_equal(whole.runs["run"], some.runs["run"][-1])
    assert some.runs == whole.runs.filter(first)
    assert some.flows == whole.flows.filter(pc.is_in(whole.flows["run"], some.runs["run"]))
    assert some.failures == whole.failures


def test_a_sweep_can_be_read_and_drawn_while_it_runs(tmp_path: Path) -> None:
    long = BASE | {"duration": "300 s", "bottleneck": {"rate": "100 Mbit/s"}}
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    (tmp_path / "long.toml").write_text(Scenario.from_dict(long).to_toml())
    file.write_text('base = "long.toml"\n[axes]\nseed = { from = 1, to = 2000, points = 2000 }\n')
    running = subprocess.Popen(driver(file, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until, found = time.monotonic() + 60, 0
        while not found and time.monotonic() < until:
            time.sleep(0.2)
            if (out / "unfinished.json").exists():
                found = sweep.open_sweep(out).runs.num_rows
        assert 0 < found < 2000
        drawn = subprocess.run(
            [sys.executable, "-m", "longfat", "plot", str(out), "--y", "jain", "--json"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert running.poll() is None
    finally:
        running.kill()
        running.wait(timeout=60)
    told = json.loads(drawn.stdout)
    assert Path(told["file"]).exists()
    assert re.search(r"[1-9]\d* of 2000 runs so far\.", told["caption"])


def test_an_unfinished_sweep_counts_before_another_one_and_not_before_its_own_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = (grid(axes={"seed": seeds}) for seeds in ([1, 2], [1, 2, 3, 4]))
    sweep.run(small, tmp_path, jobs=1)
    stopped_after(1, large, tmp_path, monkeypatch)
    assert sweep.open_sweep(tmp_path).note == "3 of 4 runs so far"
    left = (tmp_path / "unfinished.json").read_bytes()
    sweep.run(large, tmp_path, jobs=1)
    (tmp_path / "unfinished.json").write_bytes(left)  # as if killed before the last step
    assert sweep.open_sweep(tmp_path).note == ""
    sweep.run(small, tmp_path, jobs=1)
    assert not (tmp_path / "unfinished.json").exists()
    assert sweep.open_sweep(tmp_path).runs.num_rows == 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text[: len(text) // 2], "is no sweep"),
        (lambda text: text.replace('"keys"', '"key"'), "damaged"),
        (lambda text: text.replace('"repeats": 1', '"repeats": 3'), "damaged"),
        (lambda text: text.replace('"format": 1', '"format": 99'), "which is newer"),
        (lambda text: "[]", "is no sweep"),
    ],
)
def test_what_is_damaged_of_an_unfinished_sweep_is_said(
    change: Callable[[str], str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(1, grid(axes={"seed": [1, 2]}), tmp_path, monkeypatch)
    file = tmp_path / "unfinished.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(errors.LongfatError, match=said):
        sweep.open_sweep(tmp_path)


def test_a_sweep_without_any_run_so_far_is_not_drawn(
    longfat: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(0, grid(axes={"seed": [1, 2, 3]}), tmp_path, monkeypatch)
    assert sweep.open_sweep(tmp_path).runs.num_rows == 0
    code, _, err = longfat("plot", tmp_path)
    assert (code, err.count("\n")) == (2, 1)
    assert "0 of 3 runs so far; accepted: a sweep with at least one finished run" in err


def test_a_very_large_sweep_is_read_when_it_has_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "MOST_RUNS", 2)
    stopped_after(1, grid(axes={"seed": [1, 2, 3]}), tmp_path, monkeypatch)
    assert not (tmp_path / "unfinished.json").exists()
    with pytest.raises(errors.InputError, match="did not finish"):
        sweep.open_sweep(tmp_path)


def test_a_changed_bit_of_an_unfinished_sweep_is_said_or_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped_after(1, grid(axes={"seed": [1, 2]}), tmp_path, monkeypatch)
    before = sweep.open_sweep(tmp_path)
    file = tmp_path / "unfinished.json"
    said = 0
    for changed in flips(file.read_bytes(), 300):
        file.write_bytes(changed)
        try:
            found = sweep.open_sweep(tmp_path)
        except errors.LongfatError:
            said += 1
        else:
            assert (found.document, found.runs) == (before.document, before.runs)
    assert said > 200


def test_a_page_is_drawn_when_it_is_asked_for_or_the_results_have_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Path] = []
    build = page.build
    monkeypatch.setattr(page, "build", lambda root, jobs: drawn.append(root) or build(root, jobs))

    def drawings(**asked: Any) -> int:
        before = len(drawn)
        told = sweep.report(tmp_path, **asked)
        assert (told is None) == (not page.current(tmp_path))
        return len(drawn) - before

    def ran(*seeds: int) -> None:
        sweep.run(grid(axes={"seed": list(seeds)}), tmp_path, jobs=1)

    ran(1, 2)
    assert [drawings(draw=False), drawings(), drawings(), drawings(draw=True)] == [0, 1, 0, 1]
    ran(1, 2)
    assert drawings() == 0
    ran(1, 2, 3)
    assert [drawings(draw=False), drawings(), drawings()] == [0, 1, 0]
    next((tmp_path / "figures").glob("*.pdf")).unlink()
    assert [drawings(), drawings()] == [1, 0]


def test_a_sweep_that_has_not_ended_is_said_to_be_one(tmp_path: Path) -> None:
    sweep.run(grid(axes={"seed": [1]}), tmp_path, jobs=1)
    (tmp_path / "sweep.json").unlink()
    with pytest.raises(errors.InputError, match="did not finish"):
        sweep.open_sweep(tmp_path)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(errors.InputError, match="holds the results of a run"):
        sweep.run(grid(axes={"seed": [1]}), tmp_path)
    with pytest.raises(errors.InputError, match="no sweep"):
        sweep.open_sweep(tmp_path)


def test_repeats_of_a_point_are_the_runs_that_their_scenarios_say() -> None:
    asked = grid(axes={"bottleneck.rate": ["1 Mbit/s", "2 Mbit/s"]}, repeats=3)
    for first in asked.combinations():
        scenarios = [asked.scenario(first.again(repeat)) for repeat in range(3)]
        seeds = [scenario.seed for scenario in scenarios]
        assert seeds == [1, 2, 3]
        assert list(run_keys(scenarios[0], seeds)) == [run_key(scenario) for scenario in scenarios]
        assert [scenario.plan["seed"] for scenario in scenarios] == seeds


def test_a_seed_that_is_none_fails_its_point_alone(tmp_path: Path) -> None:
    asked = grid(axes={"bottleneck.rate": ["1 Mbit/s"], "seed": [1, 2**63 - 1, "x"]})
    document = sweep.run(asked, tmp_path, jobs=1)
    assert (document["runs"], document["failed"]) == (3, 1)
    assert document["errors"] == [
        'sweep: seed = "x": this is not a whole number; accepted: a whole number from 0 to '
        "9223372036854775807"
    ]


def test_repeats_beyond_the_last_seed_are_refused_at_once() -> None:
    file = {"base": {**BASE, "seed": 2**63 - 2}, "axes": {"bottleneck.rate": ["1 Mbit/s"]}}
    assert sweep.from_dict({**file, "repeats": 2}).count() == 2
    with pytest.raises(errors.InputError, match=r"repeats = 3: the base has the seed 9223372036854775806"):
        sweep.from_dict({**file, "repeats": 3})


def test_the_command_of_a_sweep_with_failed_runs_ends_with_1_and_says_each_cause_once(tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(
        'repeats = 2\n[base]\nduration = "1 s"\nbottleneck = { rate = "5 Mbit/s" }\n'
        '[[base.flow]]\nalgorithm = "reno"\n[axes]\n"flow.0.rtt" = ["10 ms", "-2 ms"]\n'
    )
    command = [sys.executable, "-m", "longfat", "sweep", str(file), "--out", str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert "runs: 4 in all, 2 new" in ended.stdout
    assert "2 failed" in ended.stdout
    assert ended.stdout.count("failed: ") == 1
    assert ended.stderr.startswith(f"warning: a point will fail: {file}: flow.0.rtt = ")
    everything = [
        sys.executable,
        "-m",
        "longfat",
        "results",
        str(tmp_path / "out"),
        "--sql",
        "SELECT * FROM runs",
    ]
    shown = subprocess.run(everything, capture_output=True, text=True, check=True).stdout
    assert ["flow.0.rtt", "0.01", "0.01"] in [line.split() for line in shown.splitlines()]
    assert sweep.open_sweep(tmp_path / "out").failures["run"].to_pylist() == [2, 3]
