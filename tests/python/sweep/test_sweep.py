"""The runs of sweeps: each is there once, also after kills and damage; and what the command prints."""

import hashlib
import io
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from longfat import errors, sweep
from longfat.runs import progress
from longfat.study import rows as study_rows
from longfat.sweep import tables as sweep_tables
from longfat.sweep.run import distribution
from tiny_sweeps import driver, grid


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


def test_rows_that_differ_make_one_table_with_columns_in_the_order_in_which_they_come() -> None:
    rows = ({"a": 1, "b": 1, "c": True}, {"b": 0.5, "d": "x", "c": None}, {"a": 2, "d": 1, "e": None})
    table = study_rows.table(rows)
    assert table.to_pydict() == {
        "a": [1, None, 2],
        "b": [1.0, 0.5, None],
        "c": [True, None, None],
        "d": [None, "x", "1"],
        "e": [None, None, None],
    }
    assert list(map(str, table.schema.types)) == ["int64", "double", "bool", "string", "double"]


def test_numbers_of_numpy_are_numbers_of_a_table() -> None:
    row = {"a": np.float64(0.5), "b": np.int64(2), "c": np.bool_(True), "d": np.int64(3)}
    found = study_rows.table([row, {"a": 1, "b": 3, "c": False, "d": 0.5}])
    assert found.to_pydict() == {"a": [0.5, 1.0], "b": [2, 3], "c": [True, False], "d": [3.0, 0.5]}
    assert list(map(str, found.schema.types)) == ["double", "int64", "bool", "double"]


def test_workers_do_not_import_what_only_reading_tables_takes() -> None:
    code = "import sys, longfat.sweep.run; print(sys.modules.keys() & {'pandas', 'pyarrow.dataset'})"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "set()\n"


def test_tables_without_rows_have_their_columns(tmp_path: Path) -> None:
    sweep.run(grid(axes={"flow.0.rtt": ["10 ms"]}), tmp_path)
    swept = sweep.open_sweep(tmp_path)
    assert swept.sql('SELECT run, "flow.0.rtt", error FROM failures').num_rows == 0
    assert swept.sql("SELECT id, verdict FROM claims").num_rows == 0


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


def test_a_seed_that_is_none_fails_its_point_alone(tmp_path: Path) -> None:
    asked = grid(axes={"bottleneck.rate": ["1 Mbit/s"], "seed": [1, 2**63 - 1, "x"]})
    document = sweep.run(asked, tmp_path, jobs=1)
    assert (document["runs"], document["failed"]) == (3, 1)
    assert document["errors"] == [
        'sweep: seed = "x": this is not a whole number; accepted: a whole number from 0 to '
        "9223372036854775807"
    ]


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


@pytest.mark.parametrize(("left", "each"), [(math.inf, 16), (10, 4), (0.5, 1)])
def test_workers_share_the_memory_that_the_machine_and_its_groups_have(
    monkeypatch: pytest.MonkeyPatch, left: float, each: int
) -> None:
    """Four fifths of it, in GiB, and at least one for each worker."""
    given: list[int] = []
    monkeypatch.setattr("longfat.system.memory_bytes", lambda: (40.0 * 2**30, 1.0))
    monkeypatch.setattr("longfat.runs.cgroups.free_bytes", lambda: left * 2**30)
    monkeypatch.setattr("longfat.runs.memory.is_given", lambda: False)
    monkeypatch.setattr("longfat.runs.pool.outcomes", lambda *_, **named: given.append(named["memory_bytes"]))
    distribution(2, None, "longfat.sweep.run")(str, iter([]))
    assert given == [each << 30]
