"""On systems other than Linux everything works but live runs, which are refused in one line."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat import system

SCENARIO = """
duration = "5 s"
[bottleneck]
rate = "10 Mbit/s"
buffer = "100 % BDP"
[[flow]]
algorithm = "htcp"
rtt = "40 ms"
"""
SWEEP = """
base = "mine.toml"
repeats = 2
[axes]
"flow.0.rtt" = ["20 ms", "40 ms"]
"""
REFUSED = (
    "live runs need Linux, and this is Elsewhere; accepted: the simulator, or Linux in a virtual machine"
)
HOLDS = """
import sys
from pathlib import Path
from longfat.store.place import place
place(Path("held")).prepare()
place(Path("held")).lock("store.json", b"{}")
"""

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(params=["unix", "windows"])
def form(request: pytest.FixtureRequest) -> str:
    """The form of system, as sitecustomize.py describes it."""
    return str(request.param)


@pytest.fixture
def command(form: str, tmp_path: Path) -> Command:
    """Runs Python as if on another system, in a folder with a scenario and a sweep."""
    (tmp_path / "mine.toml").write_text(SCENARIO)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    (tmp_path / "temporary").mkdir()
    environment = {
        **os.environ,
        "LONGFAT_TEST_SYSTEM": form,
        "PYTHONPATH": str(Path(__file__).parent),
        "TMPDIR": str(tmp_path / "temporary"),
    }

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def done(command: Command) -> Callable[..., str]:
    """Runs `longfat`, which has to succeed, and returns what it prints."""

    def run(*arguments: object) -> str:
        ended = command("-m", "longfat", *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def flows(printed: str) -> Any:
    return json.loads(printed)["flows"]


def test_a_run_is_the_same_there_and_its_folder_is_reported(
    done: Callable[..., str], tmp_path: Path, longfat: Any
) -> None:
    there = flows(done("run", "mine.toml", "--out", "out", "--json"))
    code, here, _ = longfat("run", tmp_path / "mine.toml", "--json")
    assert (code, flows(here)) == (0, there)
    done("report", "out")
    assert (tmp_path / "out" / "index.html").stat().st_size > 10_000
    done("run", "mine.toml", "--out", "out", "--json")  # replaces the folder
    assert list((tmp_path / "out").glob(".*")) == []


def test_workers_run_a_sweep_which_goes_on_from_its_folder(done: Callable[..., str]) -> None:
    asked = ["sweep", "sweep.toml", "--jobs", 2, "--out", "out"]
    assert "4 new" in done(*asked)
    assert "0 new" in done(*asked)
    assert json.loads(done("results", "out", "--sql", "SELECT count(*) AS n FROM runs", "--json")) == [
        {"n": 4}
    ]


def test_a_comparison_has_its_page(done: Callable[..., str], tmp_path: Path) -> None:
    grid = ["--rates", "5 Mbit/s", "--rtts", "20 ms", "--buffers", "100 % BDP", "--repeats", 1]
    done("compare", "htcp", *grid, "--jobs", 1, "--out", "out")
    assert (tmp_path / "out" / "index.html").exists()


@pytest.mark.parametrize(
    "asked", ["run mine.toml --backend live", "shell mine.toml -- true", "crosscheck mine.toml"]
)
def test_what_is_live_is_refused_with_the_reason(asked: str, command: Command) -> None:
    ended = command("-m", "longfat", *asked.split())
    assert (ended.returncode, ended.stderr) == (2, f"error: {REFUSED}\n")


def test_the_doctor_lists_what_works_and_why_nothing_runs_live(command: Command, form: str) -> None:
    ended = command("-m", "longfat", "doctor", "--json")
    items = {item["name"]: item for item in json.loads(ended.stdout)}
    assert ended.returncode == 1
    assert [name for name, item in items.items() if item["ok"]] == [
        "simulator",
        "figures",
        "captures",
        "eBPF",
    ]
    # the system of the form "unix" does not report how much is free
    is_free = items["simulator"]["found"].endswith("of memory free")
    assert is_free == (form == "windows"), items["simulator"]["found"]
    assert items["kernel"]["remedy"] == "live runs need Linux, and this is Elsewhere"


def test_a_second_writer_of_a_store_is_refused(command: Command) -> None:
    ended = command("-c", f"{HOLDS}place(Path('held')).lock('store.json', b'{{}}')")
    assert "held: another process is writing to it; accepted: one writer at a time" in ended.stderr


def test_a_build_without_live_runs_says_so(
    monkeypatch: pytest.MonkeyPatch, longfat: Any, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(SCENARIO)
    monkeypatch.setattr("longfat._core.LIVE", False, raising=False)
    code, _, said = longfat("run", tmp_path / "mine.toml", "--backend", "live")
    assert (code, "this build of Longfat has no live runs" in said) == (2, True)


def test_linux_has_live_runs() -> None:
    if system.LINUX:
        assert system.no_live() == ""
