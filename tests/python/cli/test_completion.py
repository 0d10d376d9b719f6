"""What shells complete, asked for as click's scripts do it: by variables of the environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longfat.cli.presets import PRESETS
from longfat.scenario import registry
from longfat.scenario.stacks import NAMES
from longfat_papers import names as suite_names

FILES = (
    "mine.toml",
    "notes.txt",
    "own.py",
    "setup.py",
    ".hidden.toml",
    "folder/deep.toml",
    "lf_reno.bpf.o",
    "main.o",
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the shell, with files and a folder."""
    (tmp_path / "folder").mkdir()
    for name in FILES:
        (tmp_path / name).write_text("")
    (tmp_path / "own.py").write_text("class Mine:\n    def on_ack(self): ...\nclass _Part: ...\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(shell: str, *words: str) -> list[str]:
    """The lines that a shell gets for these words, and for the last of them as it is so far."""
    line = "\n".join(("longfat", *words)) if shell == "bash" else " ".join(("longfat", *words))
    count = words[-1] if shell == "fish" else str(len(words))
    variables = {"_LONGFAT_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": count}
    command = [sys.executable, "-m", "longfat"]
    ended = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def plain(*words: str) -> list[str]:
    """The values that bash offers."""
    return [line.removeprefix("plain,") for line in asked("bash", *words) if line.startswith("plain,")]


@pytest.mark.parametrize("command", ["run", "sweep", "shell", "crosscheck"])
@pytest.mark.usefixtures("place")
def test_scenarios_and_folders_complete_where_a_command_reads_one(command: str) -> None:
    assert asked("bash", command, "") == ["dir,", "plain,mine.toml"]
    assert asked("bash", command, "folder/") == ["dir,folder/", "plain,folder/deep.toml"]
    assert plain(command, ".h") == [".hidden.toml"]
    assert plain(command, "nowhere/") == []


@pytest.mark.usefixtures("place")
def test_the_home_directory_stays_as_it_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plain("run", "~/mi") == ["~/mine.toml"]


@pytest.mark.parametrize(
    "words",
    [("compare", "reno"), ("assess",), ("assess", "--baseline"), ("run", "--preset", "dumbbell", "--flow")],
)
@pytest.mark.usefixtures("place")
def test_algorithms_complete_with_aliases_and_own_classes(words: tuple[str, ...]) -> None:
    rows = registry.rows("algorithms")
    known = {name for row in rows for name in (row["name"], *row["aliases"])}
    assert set(plain(*words, "")) == known | {"own.py:Mine", "lf_reno.bpf.o"}
    assert plain(*words, "cub") == ["cubic"]
    assert plain(*words, "ow") == ["own.py:Mine"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("run", "--preset"), PRESETS),
        (("run", "--stack"), NAMES),
        (("compare", "--stack"), NAMES),
        (("list",), ("algorithms", "queues", "routers", "stacks")),
        (("suite",), (*suite_names(), "own.py", "setup.py")),
        (("bpf", "check"), ("lf_reno.bpf.o",)),
    ],
)
@pytest.mark.usefixtures("place")
def test_names_complete(words: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert sorted(plain(*words, "")) == sorted(names)
    assert plain(*words, "nothing-like-it") == []


@pytest.mark.usefixtures("place")
def test_other_files_and_folders_are_left_to_the_shell() -> None:
    assert asked("bash", "import", "cap") == ["file,cap"]
    assert asked("bash", "run", "mine.toml", "--pcap", "x") == ["file,x"]
    assert asked("bash", "run", "mine.toml", "--out", "fo") == ["dir,fo"]
    assert asked("bash", "report", "fo") == ["dir,fo"]


@pytest.mark.usefixtures("place")
def test_zsh_and_fish_get_the_same_with_descriptions() -> None:
    title = next(row["title"] for row in registry.rows("algorithms") if row["name"] == "vivace")
    assert asked("zsh", "compare", "viv") == ["dir", "viv", "_", "plain", "vivace", title]
    assert asked("fish", "compare", "viv") == ["dir,viv", f"plain,vivace\t{title}"]
    assert asked("fish", "run", "mi") == ["dir,mi", "plain,mine.toml"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_is_printed(shell: str) -> None:
    variables = os.environ | {"_LONGFAT_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-m", "longfat"]
    ended = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0
    assert f"{shell}_complete" in ended.stdout


@pytest.mark.usefixtures("place")
def test_bash_completes_a_word_by_that_script(tmp_path: Path) -> None:
    program = tmp_path / "bin" / "longfat"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m longfat "$@"\n')
    program.chmod(0o755)
    script = (
        'eval "$(_LONGFAT_COMPLETE=bash_source longfat)"; compopt() { :; }; COMP_WORDS=(longfat run mi); '
        'COMP_CWORD=2; _longfat_completion longfat run mi; echo "${COMPREPLY[*]}"'
    )
    path = f"{program.parent}:{os.environ['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout.strip() == "mine.toml", ended.stderr
