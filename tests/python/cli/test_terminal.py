"""What commands print in a terminal: tables that fit, intervals, a plot of letters, presets, progress."""

import io
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console

import longfat
from longfat.cli import sketch
from longfat.cli.app import app
from longfat.errors import InputError
from longfat.intervals import half_intervals, student_t_95
from longfat.report import columns
from longfat.report.terminal import fitted
from longfat.runs import cost, progress, simulate
from longfat.runs.repeats import aggregate

BIG = """title = "Many packets"
duration = "4 s"
bottleneck = { rate = "10 Gbit/s", buffer = "100 % BDP", loss = 1e-5, access_rate = "40 Gbit/s" }
flow = [
  { algorithm = { name = "hstcp", low_window = 31 }, rtt = "10 ms", start = { uniform = ["0 s", "1 s"] } },
  { algorithm = "cubic", rtt = "10 ms", name = "a-rather-long-name-of-a-flow" },
]
[[background]]
kind = "web"
sessions = 5
rtt = "10 ms"
"""


def printed(monkeypatch, *given, columns=80, **env):
    monkeypatch.setenv("COLUMNS", str(columns))
    result = CliRunner().invoke(app, ["run", *map(str, given)], catch_exceptions=False, env=env)
    assert result.exit_code == 0
    return result.stdout


def refused(*given):
    result = CliRunner().invoke(app, ["run", *map(str, given)])
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("repeats", [1, 3])
def test_tables_fit_the_terminal_and_cut_no_number(tmp_path, monkeypatch, width, repeats):
    file = tmp_path / "big.toml"
    file.write_text(BIG)
    text = printed(monkeypatch, file, "--repeats", repeats, columns=width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    scenario = longfat.Scenario.load(file)
    runs = [result.summary for result in simulate.repeats(scenario, repeats)]
    whole = runs[0] if repeats == 1 else aggregate(runs)
    shown, halves = whole.get("mean", whole), half_intervals(whole)
    words = " ".join(text.split())
    for _, key, listed in columns.RUN_TABLES:
        numbers = [column for column in listed if column.is_number]
        for cells in columns.rows(numbers, shown.get(key, []), halves.get(key)):
            assert all(cell in words for cell in cells)


def test_parts_of_a_wide_table_begin_with_what_tells_the_rows_apart():
    headings = [("name", False), ("algorithm", False), *((f"column {i}", True) for i in range(12))]
    rows = [["1", "cubic", *(f"{1e6 + i:,.0f}" for i in range(12))]]
    parts = list(fitted(headings, rows, 60))
    assert len(parts) > 1
    for part in parts:
        assert [str(column.header) for column in part.columns][:2] == ["name", "algorithm"]
    assert sum(len(part.columns) - 2 for part in parts) == 12


def test_repeats_print_the_tables_and_columns_of_a_run(tmp_path, monkeypatch):
    file = tmp_path / "big.toml"
    file.write_text(BIG)
    runs = [result.summary for result in simulate.repeats(longfat.Scenario.load(file), 3)]
    one, repeated = (
        [
            (each.title, [column.key for column in each.columns])
            for each in columns.tables(whole, None, every_flow=True)
        ]
        for whole in (runs[0], aggregate(runs))
    )
    titles = ["Flows", "Links", "Background", "Completion times by size"]
    assert [title for title, _ in one] == titles
    assert one == repeated
    text = printed(monkeypatch, file, "--repeats", 3, columns=200)
    assert all(f"\n{title} " in text for title in titles)
    assert "Used: seeds 1 to 3; results from" in " ".join(text.split())


def test_a_column_that_only_some_repeats_fill_is_shown_and_its_dash_is_explained(tmp_path, monkeypatch):
    file = tmp_path / "some.toml"
    file.write_text(
        'duration = "2 s"\nbottleneck = { rate = "5 Mbit/s", loss = 0.02 }\n'
        'flow = [{ algorithm = "reno", rtt = "40 ms", bytes = "400 kB" }]\n'
    )
    runs = [result.summary for result in simulate.repeats(longfat.Scenario.load(file), 6)]
    assert len({run["flows"][0]["completion_time_s"] is None for run in runs}) == 2
    text = " ".join(printed(monkeypatch, file, "--repeats", 6, columns=400).split())
    assert " completion " in text
    assert "a dash where some run has no such number" in text


def test_connections_of_programs_are_those_of_the_first_repeat():
    run = {"flows": [], "links": [], "background": [], "completion_times": [], "metrics": {}}
    runs = [run | {"connections": [{"protocol": "tcp", "a_port": port}]} for port in (1, 2)]
    ((title, shown, cells, _),) = columns.tables(aggregate(runs), None, every_flow=True)
    assert title == "Connections of programs, of the first of 2 runs"
    assert cells[0][[column.key for column in shown].index("a_port")] == "1"


def test_repeats_print_means_with_intervals_of_student(tmp_path, monkeypatch):
    file = tmp_path / "big.toml"
    file.write_text(BIG)
    text = printed(monkeypatch, file, "--repeats", 4)
    scenario = longfat.Scenario.load(file)
    rates = [r.summary["flows"][0]["throughput_bps"] / 1e6 for r in simulate.repeats(scenario, 4)]
    half = student_t_95(3) * np.std(rates, ddof=1) / 2.0
    shown = f"{columns.number(np.mean(rates))} ± {columns.number(float(f'{half:.2g}'))}"
    assert shown in text
    assert "Means over 4 runs with 95 % confidence intervals" in " ".join(text.split())


def test_metrics_that_compare_flows_over_unlike_paths_are_dashes(tmp_path, monkeypatch):
    given = ["--preset", "parking-lot", "--flow", "cubic", "--flow", "cubic", "--duration", "2 s"]
    text = printed(monkeypatch, *given)
    for name in ("Jain's index", "least / greatest throughput", "convergence to 80 % (Ha), s"):
        assert re.search(rf"{re.escape(name)} +-\n", text)
    assert "unlike paths" in " ".join(text.split())
    alike = printed(monkeypatch, *given, "--set", 'flow.0.from="n1"', "--set", 'flow.1.from="n1"',
                    "--set", 'flow.1.to="n2"')  # fmt: skip
    assert not re.search(r"Jain's index +-\n", alike)
    assert "unlike paths" not in alike


def test_the_page_of_a_run_has_dashes_and_intervals_too(tmp_path):
    from longfat.cli import report

    given = ["run", "--preset", "parking-lot", "--flow", "cubic", "--flow", "bbr", "--duration", "2 s"]
    out = tmp_path / "out"
    assert CliRunner().invoke(app, [*given, "--repeats", "2", "--out", str(out)]).exit_code == 0
    page = report.build(out).read_text()
    assert re.search(r"Jain&#39;s index</td><td class=\"number\">-</td>", page)
    assert re.search(r"\d ± \d", page)


def test_a_preset_runs_flows_without_a_file(monkeypatch):
    given = ["--preset", "dumbbell", "--flow", "cubic", "--flow", '{ name = "hstcp", low_window = 31 }']
    text = printed(monkeypatch, *given, "--rate", "5 Mbit/s", "--rtt", "20 ms", "--duration", "3 s")
    assert "cubic, hstcp on a dumbbell" in text
    assert "results from 0 s to 3 s" in text
    stored = CliRunner().invoke(app, ["run", *given, "--duration", "1 s", "--json"])
    assert stored.exit_code == 0


def test_the_hosts_of_a_preset_are_todays_and_the_line_used_names_their_stack(monkeypatch):
    given = ["--preset", "dumbbell", "--flow", "cubic", "--flow", "sack", "--duration", "1 s"]

    def used(*more):
        return " ".join(printed(monkeypatch, *given, *more).split()).partition("Used: ")[2]

    assert "stack linux; mss" in used()
    assert "stack rfc; mss" in used("--stack", "rfc")
    assert "stack linux of flow.0; stack rfc of flow.1; mss" in used("--set", "flow.1.stack=rfc")
    assert "stack linux, except initial_window; mss" in used(
        "--set", "flow.0.initial_window=4", "--set", "flow.1.initial_window=4"
    )


def test_what_presets_cannot_do_is_one_line(tmp_path):
    assert "--stack cannot be used without --preset" in refused("mine.toml", "--stack", "rfc")
    assert 'did you mean "dumbbell"?' in refused("--preset", "dumbel", "--flow", "cubic")
    assert 'did you mean "cubic"?' in refused("--preset", "dumbbell", "--flow", "cubik")
    assert "a preset needs flows" in refused("--preset", "dumbbell")
    assert "accepted: a scenario file, or --preset" in refused()
    assert "--rate cannot be used without --preset" in refused("mine.toml", "--rate", "1 Mbit/s")
    assert "accepted: one of them" in refused("mine.toml", "--preset", "dumbbell", "--flow", "cubic")
    assert "--rtt 3: a time needs a unit" in refused(
        "--preset", "parking-lot", "--flow", "cubic", "--rtt", "3"
    )
    assert refused("--preset", "dumbbell", "--flow", "cubic", "--rate", "5").startswith(
        '--preset dumbbell: bottleneck.rate = "5": a rate needs a unit; accepted: '
    )
    assert "not an inline table" in refused("--preset", "dumbbell", "--flow", "{ name")


def test_a_plot_in_the_terminal_shows_windows_round_trip_times_and_queues(monkeypatch):
    given = ["--preset", "dumbbell", "--flow", "cubic", "--flow", "hstcp", "--rate", "5 Mbit/s", "--plot"]
    text = printed(monkeypatch, *given, "--duration", "10 s", NO_COLOR="1")
    assert max(map(len, text.splitlines())) <= 80
    titles = ("Congestion window, segments", "Smoothed round-trip time, ms", "Queue of bottleneck, room for ")
    assert [text.count(title) for title in titles] == [1, 1, 1]
    assert "Queue of reverse" not in text  # never a packet
    assert "1 (cubic)" in text
    assert "2 (hstcp)" in text
    assert re.search("[\u2801-\u28ff]", text)


def test_a_ramp_climbs_from_the_lowest_to_the_highest_line():
    times = np.linspace(0.0, 10.0, 500)
    drawn = [str(line) for line in sketch.lines([(times, times)], 10.0, 10.0, 60, 10)]
    body = [line.partition("┤")[2] or line.partition("│")[2] for line in drawn[:10]]
    firsts = [next(i for i, letter in enumerate(line) if letter > "\u2800") for line in body]
    assert firsts == sorted(firsts, reverse=True)
    assert firsts[-1] == 0
    assert firsts[0] > 40


def test_flows_have_colours_of_their_own_in_a_terminal():
    result = longfat.run(
        {
            "duration": "5 s",
            "bottleneck": {"rate": "5 Mbit/s"},
            "flow": [{"algorithm": name, "rtt": "20 ms"} for name in ("cubic", "hstcp")],
        }
    )
    stream = io.StringIO()
    sketch.draw(Console(file=stream, force_terminal=True, color_system="standard", width=80), result)
    text = stream.getvalue()
    assert "\x1b[94m" in text
    assert "\x1b[93m" in text


def test_an_estimate_is_that_of_the_speed_so_far():
    assert progress.remaining_s(3, 12, 6.0) == 18.0
    assert progress.remaining_s(0, 12, 6.0) is None
    told = progress.Progress("simulating", 12).told(3, 6.0)
    assert told.endswith("3 of 12 runs, about 18 s left")
    assert progress.about(500.0) == "8 min"
    assert progress.about(9000.0) == "2.5 h"


def test_run_many_says_how_far_it_is_in_a_terminal(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress, "LEAST_S", 0.0)
    small = {
        "duration": "1 s",
        "bottleneck": {"rate": "1 Mbit/s"},
        "flow": [{"algorithm": "reno", "rtt": "9 ms"}],
    }
    assert len(list(longfat.run_many([small] * 3, jobs=1, progress=True))) == 3
    assert "3 of 3 runs" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[2K")


def test_a_run_is_estimated_from_pieces_of_it():
    scenario = longfat.Scenario.from_dict(
        {
            "duration": "600 s",
            "bottleneck": {"rate": "100 Mbit/s"},
            "flow": [{"algorithm": "cubic", "rtt": "20 ms"}],
        }
    )
    assert cost.packets(scenario) == pytest.approx(5e6)
    assert cost.tried(scenario)[1] > 0.0


LARGE = ["longfat.sweep", "longfat.store", "longfat_papers.kit", "longfat.figure", "longfat.live"]
LARGE += ["numpy", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "jinja2", "pydantic"]
LARGE += ["multiprocessing", "subprocess", "asyncio", "hashlib", "statistics", "difflib", "traceback"]


@pytest.mark.parametrize(
    ("command", "unneeded"),
    [
        (["--help"], [*LARGE, "rich", "longfat._core", "longfat.scenario", "longfat.runs", "fractions"]),
        (["run", "tiny.toml"], [*LARGE, "longfat.cli.suite", "longfat.runs.pool", "longfat.runs.cost"]),
        (["run", "tiny.toml", "--json"], [*LARGE, "rich", "longfat.report"]),
        (["list", "algorithms"], [*LARGE, "longfat.scenario.model"]),
    ],
    ids=lambda given: " ".join(given[:3]),
)
def test_a_command_imports_no_module_that_it_does_not_need(
    command: list[str], unneeded: list[str], tmp_path: Path
) -> None:
    (tmp_path / "tiny.toml").write_text(
        'duration = "1 ms"\n[bottleneck]\nrate = "1 Mbit/s"\n[[flow]]\nalgorithm = "reno"\nrtt = "20 ms"\n'
    )
    script = (
        f"import sys; sys.argv[1:] = {command}; from longfat.__main__ import main\n"
        "try: main()\n"
        f"finally: print([name for name in {unneeded} if name in sys.modules], file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (0, "[]")


@pytest.mark.parametrize("columns", ["1", "7", "20"])
def test_a_plot_in_a_narrow_terminal_is_wider_than_that(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    given = ["run", "--preset", "dumbbell", "--flow", "reno", "--duration", "1 s", "--plot"]
    done = CliRunner().invoke(app, given, catch_exceptions=False)
    assert done.exit_code == 0
    assert "└" + 16 * "─" in done.stdout.replace("\n", "")


def test_a_plot_of_repeats_says_that_it_shows_the_first() -> None:
    given = ["run", "--preset", "dumbbell", "--flow", "reno", "--duration", "1 s", "--plot"]
    done = CliRunner().invoke(app, [*given, "--repeats", "3"], catch_exceptions=False)
    assert "Congestion window, segments, of the first of 3 runs" in done.stdout
    refused = CliRunner().invoke(app, [*given, "--json"])
    assert str(refused.exception) == "--plot cannot be used with --json; accepted: one of them"
