import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
import tomli_w

from longfat.scenario.model import Scenario
from samples import in_lines, scenario

UNSOUND = {"kind": "xcp-i", "error_least": 0.3, "error_most": 0.2}
LINKS = [
    {"from": "A", "to": "B", "rate": "10 Mbit/s", "delay": "5 ms"},
    {"from": "B", "to": "C", "rate": "10 Mbit/s", "delay": "5 ms", "router": UNSOUND},
]
SHORT = scenario({"bottleneck.loss": 0.001}, title="Short").to_toml()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def test_run_prints_flows_links_metrics_and_the_defaults_used(longfat: Any, file: Path) -> None:
    code, out, err = longfat("run", file)
    assert (code, err) == (0, "")
    for expected in (
        "Short",
        "Flows",
        "Links",
        "Jain's index",
        "results from 0 s to 10 s",
        "mss 1448 B",
        "seed 1",
    ):
        assert expected in out


def test_the_registry_is_shown_in_the_words_of_a_scenario_file(longfat: Any) -> None:
    lines = {line.split()[0]: line for line in longfat("list", "algorithms")[1].splitlines() if line.split()}
    assert " true " in lines["fast_convergence"]
    assert "(true, false)" in lines["fast_convergence"]
    assert '"auto"' in lines["s_min"]
    assert " 0 " not in longfat("list", "queues")[1].split("weight", 1)[1].splitlines()[0]


def test_json_is_one_object_and_nothing_else(longfat: Any, file: Path) -> None:
    code, out, _ = longfat("run", file, "--json")
    summary = json.loads(out)
    assert code == 0
    assert (summary["backend"], summary["seed"], summary["duration_s"]) == ("sim", 1, 10.0)
    assert [flow["name"] for flow in summary["flows"]] == ["1", "2"]


def test_standard_input_is_a_scenario_too(longfat: Any, file: Path) -> None:
    from_file, from_input = (
        json.loads(longfat("run", *arguments, "--json", stdin=SHORT)[1])["flows"]
        for arguments in ((file,), ("-",))
    )
    assert from_file == from_input


def test_set_seed_and_window_change_the_run(longfat: Any, file: Path) -> None:
    _, out, _ = longfat(
        *("run", file, "--json", "--seed", 7, "--window", "2 s,8 s"),
        *(
            "--set",
            "flow.0.rtt=82 ms",
            "--set",
            "bottleneck.rate=20 Mbit/s",
            "--set",
            "flow.1.algorithm=hstcp",
        ),
    )
    summary = json.loads(out)
    assert (summary["seed"], summary["window_s"]) == (7, [2.0, 8.0])
    assert summary["links"][0]["rate_bps"] == 2e7
    assert [(flow["rtt_s"], flow["algorithm"]) for flow in summary["flows"]] == [
        (0.082, "reno"),
        (0.04, "hstcp"),
    ]


LATE = """
duration = "4 s"
[bottleneck]
rate = "100 Mbit/s"
buffer = "30 % BDP"
[[flow]]
algorithm = "reno"
rtt = "200 ms"
"""


def test_a_window_with_more_goodput_than_throughput_says_why(longfat: Any) -> None:
    told = "flow 1: more goodput than throughput"
    assert told in longfat("run", "-", "--window", "2.5 s,2.8 s", stdin=LATE)[1]
    assert told not in longfat("run", "-", stdin=LATE)[1]


def test_links_without_any_delay_are_run(longfat: Any) -> None:
    link = '[[link]]\nfrom = "a"\nto = "b"\nrate = "10 Mbit/s"\nbuffer = "10 packets"\n'
    flow = '[[flow]]\nalgorithm = "reno"\nfrom = "a"\nto = "b"\n'
    code, out, err = longfat("run", "-", "--json", stdin=f'duration = "1 s"\n{link}{flow}')
    assert (code, err) == (0, "")
    assert json.loads(out)["metrics"]["jain"] == 1.0


def test_warmup_is_a_window_to_the_end(longfat: Any, file: Path) -> None:
    assert json.loads(longfat("run", file, "--json", "--warmup", "4 s")[1])["window_s"] == [4.0, 10.0]


def test_repeats_have_seeds_that_count_up_and_a_mean(longfat: Any, file: Path) -> None:
    code, out, _ = longfat("run", file, "--repeats", 3, "--seed", 5, "--json")
    told = json.loads(out)
    assert code == 0
    assert set(told) == {"runs", "mean", "stderr"}
    assert [run["seed"] for run in told["runs"]] == [5, 6, 7]
    assert told["stderr"]["links"][0]["utilization"] > 0
    alone = json.loads(longfat("run", file, "--seed", 6, "--json")[1])
    assert told["runs"][1]["flows"] == alone["flows"]


def test_out_has_all_files_and_the_scenario_runs_again_to_the_same_figures(
    longfat: Any, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "made" / "here"
    code, printed, _ = longfat("run", file, "--seed", 3, "--out", out, "--json")
    assert code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "SHA256SUMS",
        "flows.parquet",
        "links.parquet",
        "provenance.json",
        "scenario.toml",
        "summary.json",
    ]
    summary = json.loads((out / "summary.json").read_text())
    assert summary == json.loads(printed)
    as_run = Scenario.load(out / "scenario.toml")
    assert as_run.seed == 3
    assert "access_rate" in tomllib.loads((out / "scenario.toml").read_text())["bottleneck"]
    again = json.loads(longfat("run", out / "scenario.toml", "--json")[1])
    assert again["flows"] == summary["flows"]
    table = pyarrow.parquet.read_table(out / "flows.parquet")
    assert table.column_names[:3] == ["time_s", "name", "cwnd"]
    provenance = json.loads((out / "provenance.json").read_text())
    assert {"version", "commit", "host", "kernel", "command"} <= set(provenance)
    assert provenance["command"][1] == "run"


def test_repeats_in_out_have_their_seed_in_the_tables(longfat: Any, file: Path, tmp_path: Path) -> None:
    longfat("run", file, "--repeats", 2, "--out", tmp_path / "out", "--json")
    table = pyarrow.parquet.read_table(tmp_path / "out" / "links.parquet")
    assert set(table["seed"].to_pylist()) == {1, 2}
    assert "runs" in json.loads((tmp_path / "out" / "summary.json").read_text())


def refused(answer: tuple[int, str, str]) -> str:
    """The one line of an answer with exit code 2."""
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err.removeprefix("error: ").rstrip()


OUTSIDE = "it is not within the run; accepted: a time before the run's end, 10 s"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--set", "flow.0.rtt=42"], 'short.toml: flow.0.rtt = 42: a time needs a unit; accepted: "42 ms"'),
        (
            ["--set", "flow.0.rtt"],
            '--set flow.0.rtt has no "="; accepted: key=value such as "flow.0.rtt=82 ms"',
        ),
        (
            ["--set", "flow.9.rtt=1 ms"],
            "flow.9.rtt: there is no flow.9; accepted: after flow a position from 0 to 1",
        ),
        (["--set", "duration=5 s", "--set", "flow.0.rtt=3"], "flow.0.rtt = 3"),
        (["--backend", "ns3"], '--backend "ns3": there is no such choice; accepted: "sim" or "live"'),
        (["--warmup", "4"], '--warmup "4": a time needs a unit; accepted: "4 s"'),
        (["--warmup", "11 s"], f'--warmup "11 s": {OUTSIDE}'),
        (["--warmup", "-1 s"], f'--warmup "-1 s": {OUTSIDE}'),
        (["--out", ""], '--out "" is an empty name; accepted: a folder'),
        (["--set", "flow.0.algorithm=quickstart"], '"quickstart" is not an algorithm'),
        (["--set", "flow.0.algorithm=mine"], '"tsunami", or a file: "file.py:Class", "file.bpf.o"'),
        (
            ["--set", 'flow.0.rtt="82'],
            '--set flow.0.rtt="82 does not close what it opens; accepted: a value as a scenario file writes '
            "it, or",
        ),
        (
            ["--set", "flow.0.rtt=[1"],
            "--set flow.0.rtt=[1 does not close what it opens; accepted: ",
        ),
        (["--set", "flow.0.algorithm=renoo"], 'did you mean "reno"?'),
        (["--set", 'background=[{kind="cbr"}]'], 'kind = "cbr": there is no such kind; accepted: "web"'),
        (
            ["--warmup", "1 s", "--window", "1 s,2 s"],
            "--warmup cannot be used with --window; accepted: one of them",
        ),
        (["--window", "2 s"], '--window "2 s": these are not two times; accepted: two times such as'),
        (["--repeats", "0"], '--repeats "0": it is out of range; accepted: a whole number from 1 to 10000'),
        (["--seed", "-3"], "seed = -3"),
        (
            ["--no-such-option"],
            "--no-such-option: there is no such option; accepted: what `longfat run --help`",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    longfat: Any, file: Path, arguments: list[str], expected: str
) -> None:
    assert expected in refused(longfat("run", file, *arguments))


def test_each_problem_of_a_scenario_is_a_line(longfat: Any, file: Path) -> None:
    code, out, err = longfat("run", file, "--set", "duration=5", "--set", "bottleneck.loss=2")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f'error: {file}: duration = 5: a time needs a unit; accepted: "5 s"',
        f"error: {file}: bottleneck.loss = 2: the number is too large; accepted: a probability per packet, "
        'from 0 to below 1, such as 1e-5 or "0.1 %"',
    ]


@pytest.mark.parametrize(
    ("network", "ends", "key"),
    [
        ({"bottleneck": {"rate": "10 Mbit/s", "router": UNSOUND}}, {"rtt": "20 ms"}, "bottleneck.router"),
        ({"link": LINKS}, {"from": "A", "to": "C"}, "link.1.router"),
    ],
)
def test_what_only_the_core_refuses_is_told_by_the_scenario_s_own_key(
    longfat: Any, tmp_path: Path, network: dict[str, Any], ends: dict[str, str], key: str
) -> None:
    table = {"title": "T", "duration": "1 s", **network, "flow": [{"algorithm": "xcp", **ends}]}
    (tmp_path / "a.toml").write_text(tomli_w.dumps(table))
    told = refused(longfat("run", tmp_path / "a.toml"))
    assert told.startswith(
        f"{tmp_path / 'a.toml'}: {key}: xcp-i.error_least = 0.3 is not accepted; give a number up to"
    )


@pytest.mark.parametrize("command", ["run", "sweep", "crosscheck", "import", "plot", "report", "shell"])
def test_an_empty_name_of_a_file_is_refused_in_words(longfat: Any, command: str) -> None:
    assert '"" is an empty name; accepted: ' in refused(longfat(command, ""))


def test_a_title_of_two_lines_breaks_no_message(longfat: Any, file: Path) -> None:
    given = ["--set", 'title="My\\nnet"', "--set", "bottleneck.rate=100 Gbit/s"]
    told = refused(longfat("run", file, "--memory", "64 MB", *given))
    assert told.startswith(f"{file}: ")
    assert "the run may take about" in told


def test_an_output_folder_that_cannot_be_is_refused_before_anything_runs(
    longfat: Any, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longfat.runs.simulate.run", lambda *_: pytest.fail("it ran"))
    assert "is a file" in refused(longfat("run", file, "--out", file))
    assert "Not a directory" in refused(longfat("run", file, "--out", file / "below"))


def test_a_run_that_fails_leaves_nothing_behind(longfat: Any, file: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def on_ack(self, ack, window):\n        1 / 0\n\n"
        "    def on_congestion(self, event, window): ...\n"
    )
    code, out, err = longfat(
        "run",
        file,
        "--set",
        "flow.1.algorithm=mine.py:Mine",
        "--set",
        "flow.1.name=ours",
        "--out",
        tmp_path / "a" / "b",
    )
    assert (code, out) == (1, "")
    assert "'ours'" in err
    assert "ZeroDivisionError" in err
    assert not (tmp_path / "a").exists()


def test_a_run_replaces_an_earlier_one_as_a_whole(longfat: Any, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert longfat("run", file, "--set", "sample.events=true", "--out", out)[0] == 0
    assert longfat("report", out)[0] == 0
    assert {"events.parquet", "index.html", "figures"} <= {path.name for path in out.iterdir()}
    assert longfat("run", file, "--seed", 2, "--out", out)[0] == 0
    assert json.loads((out / "summary.json").read_text())["seed"] == 2
    names = {"flows.parquet", "links.parquet", "provenance.json", "scenario.toml", "summary.json"}
    assert {path.name for path in out.iterdir()} == names | {"SHA256SUMS"}


def test_a_run_that_fails_leaves_an_earlier_one_as_it_was(longfat: Any, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert longfat("run", file, "--out", out)[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def on_ack(self, ack, window): 1 / 0\n"
        "    def on_congestion(self, event, window): 0\n"
    )
    assert longfat("run", file, "--set", "flow.1.algorithm=mine.py:Mine", "--out", out)[0] == 1
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("name", ["notes.txt", "scenario.toml", "suite.json"])
@pytest.mark.parametrize("earlier", [False, True])
def test_a_folder_with_anything_but_a_run_is_refused_and_left_alone(
    longfat: Any, file: Path, tmp_path: Path, name: str, earlier: bool
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    if earlier:
        assert longfat("run", file, "--out", out)[0] == 0
        if name == "scenario.toml":
            (out / "provenance.json").unlink()
    (out / name).write_text("mine")
    before = sorted(path.name for path in out.iterdir())
    assert "accepted: a new or empty folder" in refused(longfat("run", file, "--out", out))
    assert sorted(path.name for path in out.iterdir()) == before
    assert (out / name).read_text() == "mine"


def test_a_suite_does_not_go_into_the_folder_of_a_run(longfat: Any, file: Path, tmp_path: Path) -> None:
    assert longfat("run", file, "--out", tmp_path / "out")[0] == 0
    answer = longfat("suite", "li2007", "--only", "F5a", "--out", tmp_path / "out")
    assert "holds the results of a run" in refused(answer)


@pytest.mark.parametrize(
    ("change", "warned"),
    [
        ("bottleneck.loss=0", True),
        ("bottleneck.loss={every=1000}", True),
        ("bottleneck.loss=0.001", False),
        ('flow.1.start={uniform=["1 s", "2 s"]}', False),
        ('flow.1.start={uniform=["1 s", "1 s"]}', True),
        ("flow.0.host_tick=1 ms", False),
    ],
)
def test_repeats_of_what_is_not_random_are_warned_of(
    longfat: Any, file: Path, change: str, warned: bool
) -> None:
    changes = ("--set", "bottleneck.loss=0", "--set", change)
    code, out, err = longfat("run", file, *changes, "--repeats", 2, "--json")
    assert (code, "repeats are identical" in err) == (0, warned)
    first, second = json.loads(out)["runs"]
    assert (first["flows"] == second["flows"] and first["links"] == second["links"]) == warned


def test_set_gives_a_parameter_to_an_algorithm_that_is_a_name_alone(longfat: Any, file: Path) -> None:
    changes = ("--set", "flow.0.algorithm=hstcp", "--set", "flow.0.algorithm.low_window=31")
    assert longfat("run", file, *changes)[0] == 0
    assert "from" in refused(longfat("run", file, *changes[:3], "flow.0.algorithm.low_window=-1"))


def test_warnings_go_to_standard_error(longfat: Any, file: Path) -> None:
    code, out, err = longfat("run", file, "--set", "bottleneck.buffer=1 us", "--json")
    assert (code, err.count("\n")) == (0, 1)
    assert "1 packet is used" in err
    assert json.loads(out)["links"][0]["queue_limit_packets"] == 1


@pytest.mark.parametrize("kind", ["algorithms", "queues", "routers"])
def test_registries_are_lists_with_the_documented_keys(longfat: Any, kind: str) -> None:
    code, out, _ = longfat("list", kind, "--json")
    rows = json.loads(out)
    assert code == 0
    for row in rows:
        assert {"name", "aliases", "citation", "parameters", "linux_module", "live"} <= set(row)
        for parameter in row["parameters"]:
            assert {"name", "default", "unit", "meaning"} <= set(parameter)
    names = {row["name"] for row in rows}
    assert (
        names
        >= {
            "algorithms": {"reno", "reno-classic", "hstcp"},
            "queues": {"droptail", "red", "codel"},
            "routers": {"xcp", "friendly", "dqw"},
        }[kind]
    )


def test_the_lists_are_named_where_none_is_asked_for(longfat: Any) -> None:
    code, out, err = longfat("list")
    assert (code, out) == (2, "")
    assert re.findall(r"^  (\w+)  ", err, re.MULTILINE) == ["algorithms", "queues", "routers", "stacks"]


def test_queues_that_can_mark_say_so(longfat: Any) -> None:
    code, out, _ = longfat("list", "queues", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert rows["red"]["ecn"]
    assert not rows["droptail"]["ecn"]
    assert {p["name"] for p in rows["red"]["parameters"]} >= {"min", "max", "max_p", "weight", "gentle"}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (
            '{ kind = "red", min = "75 packets", max = "25 packets" }',
            "red.max = 25 packets is not accepted; accepted: more than red.min",
        ),
        ('{ kind = "red", max_p = 1.5 }', "accepted: from 0 to 1"),
        ('{ kind = "droptail", ecn = true }', "droptail cannot mark"),
    ],
)
def test_an_unsound_queue_is_one_clear_line(longfat: Any, file: Path, value: str, reason: str) -> None:
    code, out, err = longfat("run", str(file), "--set", f"bottleneck.queue={value}")
    told = in_lines(err)
    assert (code, out, told.count("\n")) == (2, "", 1)
    assert reason in told


def test_algorithms_for_people_name_parameters_and_sources(longfat: Any) -> None:
    _, out, _ = longfat("list", "algorithms")
    assert "RFC 3649" in out
    assert "low_window" in out


def test_help_and_version_end_well(longfat: Any) -> None:
    assert longfat("--help")[0] == 0
    assert longfat("run", "--help")[0] == 0
    code, out, _ = longfat("--version")
    assert (code, out.split()[0]) == (0, "longfat,")


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_long_run_without_a_traceback_or_a_draft(
    sent: signal.Signals, code: int, file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    running = subprocess.Popen(
        [
            *(sys.executable, "-c", "from longfat.__main__ import main; main()", "run", str(file)),
            *("--set", "duration=100000 s", "--set", "sample.cwnd=10 s", "--set", "sample.queue=10 s"),
            *("--set", "bottleneck.rate=1 Gbit/s", "--out", str(out)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not out.exists():  # the folder is made right before the run
        assert running.poll() is None
    os.killpg(running.pid, sent)
    printed, err = running.communicate(timeout=20)
    assert (running.returncode, printed, err.strip()) == (code, "", "interrupted; nothing was written")
    assert not out.exists()


def ended_with_click_as(module: str, folder: Path) -> tuple[int, str, str]:
    """How `longfat --help` ends when this module stands in the place of click: code, stdout, stderr."""
    (folder / "click.py").write_text(module)
    ended = subprocess.run(
        [sys.executable, "-m", "longfat", "--help"],
        env=os.environ | {"PYTHONPATH": str(folder) + os.pathsep + os.environ.get("PYTHONPATH", "")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_ctrl_c_during_the_start_is_one_line_and_130(tmp_path: Path) -> None:
    # as if it came while the command line's own modules were imported
    module = "import signal\nsignal.raise_signal(signal.SIGINT)\n"
    assert ended_with_click_as(module, tmp_path) == (130, "", "interrupted\n")


def test_ctrl_c_that_a_module_drops_is_heard_all_the_same(tmp_path: Path) -> None:
    module = (
        "import signal, time\n"
        "try:\n    signal.raise_signal(signal.SIGINT)\nexcept BaseException:\n    pass\n"
        "time.sleep(60)\n"
    )
    assert ended_with_click_as(module, tmp_path) == (130, "", "interrupted\n")


def test_what_is_put_away_after_ctrl_c_is_not_interrupted_again(tmp_path: Path) -> None:
    module = (
        "import signal, time\n"
        "try:\n    signal.raise_signal(signal.SIGINT)\n"
        "finally:\n    time.sleep(0.5)\n    print('put away')\n"
    )
    assert ended_with_click_as(module, tmp_path) == (130, "put away\n", "interrupted\n")


def test_the_event_log_is_written_beside_the_series(longfat: Any, tmp_path: Path) -> None:
    text = Scenario.from_dict(scenario(duration="5 s")).to_toml()
    code, _, err = longfat("run", "-", "--set", "sample.events=true", "--out", tmp_path / "out", stdin=text)
    assert code == 0, err
    names = pyarrow.parquet.read_table(tmp_path / "out" / "events.parquet").column_names
    assert names == ["time_s", "name", "event", "cwnd"]


def test_a_sweep_that_is_run_as_a_scenario_is_told_to_be_one(longfat: Any) -> None:
    code, _, err = longfat("run", str(Path(__file__).parents[3] / "sweeps" / "two-flows.toml"))
    assert code == 2
    assert err.count("\n") == 1
    assert "this is a sweep; accepted: a scenario" in err


def test_a_table_that_has_to_be_a_list_gets_a_hint(longfat: Any, tmp_path: Path) -> None:
    file = tmp_path / "twice.toml"
    file.write_text('duration = "1 s"\n[flow]\nrtt = "1 ms"\n[flow]\nrtt = "2 ms"\n')
    code, _, err = longfat("run", str(file))
    assert code == 2
    assert "[flow] comes twice" in err
    assert "accepted: [[flow]]" in err


@pytest.mark.parametrize("seed", ["9" * 400, "9" * 5000, "[" * 3000 + "]" * 3000])
def test_numbers_and_nesting_without_end_are_refused_in_one_line(
    seed: str, longfat: Any, tmp_path: Path
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(f"seed = {seed}\n{SHORT}")
    code, _, err = longfat("run", file)
    assert code == 2
    assert in_lines(err).count("\n") == 1
    assert len(err) < 600
    assert longfat("run", "-", "--set", f"seed={seed}", stdin=SHORT)[0] == 2


def test_an_output_that_lacks_a_character_of_a_name_ends_no_run(file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "longfat", "run", str(file), "--set", 'title="ü→"'],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\xfc\\u2192" in done.stdout


def test_a_key_or_a_path_that_goes_on_for_pages_is_told_in_a_short_line(longfat: Any) -> None:
    code, _, err = longfat("run", "-", stdin=f"{'k' * 10**6} = 1\n{SHORT}")
    assert (code, in_lines(err).count("\n")) == (2, 1)
    assert len(err) < 2500
    code, _, err = longfat("run", "-", "--set", f"flow.0.algorithm={'p' * 5000}.py:Own", stdin=SHORT)
    assert (code, err.count("\n")) == (2, 1)
    assert "there is no file" in err


def test_json_of_a_query_has_null_for_numbers_that_are_not_finite(longfat: Any, tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(SHORT)
    (tmp_path / "sweep.toml").write_text('base = "base.toml"\n[axes]\nseed = [1]\n')
    assert longfat("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "out", "--jobs", 1)[0] == 0
    query = "SELECT 'nan'::DOUBLE AS a, 'inf'::DOUBLE AS b"
    assert json.loads(longfat("results", tmp_path / "out", "--sql", query, "--json")[1]) == [
        {"a": None, "b": None}
    ]
