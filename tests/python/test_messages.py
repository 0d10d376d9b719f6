"""Messages of the commands for wrong inputs: which one, what is wrong, and what would be accepted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli_w

from samples import table


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a scenario and some things that are not results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(tomli_w.dumps(table(duration="1 s")))
    (tmp_path / "empty").mkdir()
    for kind in ("suite", "sweep"):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / f"{kind}.json").write_text("{}")
    return tmp_path


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("report nope", "nope: No such file or directory; accepted: a folder of results"),
        ("report a.toml", "a.toml: Not a directory; accepted: a folder of results"),
        ("results nope", "nope: No such file or directory; accepted: a folder of results"),
        ("claims nope", "nope: No such file or directory; accepted: a folder of results"),
        ("report", "DIR is missing; usage: longfat report [OPTIONS] DIR"),
        ("run a.toml b.toml", "Got unexpected extra argument (b.toml); usage: longfat run [OPTIONS] [FILE]"),
        ("queues x", "Got unexpected extra argument (x); usage: longfat queues [OPTIONS]"),
        (
            "run --reapeats 2 a.toml",
            '--reapeats: there is no such option, did you mean "--repeats"?; '
            "accepted: what `longfat run --help` lists",
        ),
        (
            "bpf chek",
            'chek: there is no such command, did you mean "check"?; accepted: what `longfat bpf --help` '
            "lists",
        ),
        (
            "swep",
            'swep: there is no such command, did you mean "sweep"?; accepted: what `longfat --help` lists',
        ),
        ("run a.toml --seed x", '--seed "x": accepted: a whole number'),
        ("assess cubic --jobs 0", '--jobs "0": accepted: a whole number from 1 on'),
        (
            "run a.toml --traffic ipref3",
            '--traffic "ipref3": did you mean "iperf3"? accepted: "longfat" or "iperf3"',
        ),
        ("run a.toml --memory x", '--memory "x": not a size; accepted: a number and a unit such as "1500 B"'),
        ("run a.toml --out", "--out: its value is missing; accepted: --out and a value"),
        ("run a.toml --json=1", "--json: it takes no value; accepted: --json alone"),
        ("report suite", "suite/suite.json: damaged: it has no suite; accepted: what a command wrote there"),
        ("report sweep", "sweep/sweep.json: not a stored sweep; accepted: what `longfat sweep` wrote"),
        ("run a.toml --window 1", '--window "1": accepted: two times such as "100 s,600 s"'),
        ("run a.toml --warmup 3", '--warmup "3": a time needs a unit; accepted: "3 s"'),
        (
            "screen cubic --path nope",
            "--path nope: No such file or directory; accepted: a file, "
            "or a scenario file whose name ends in .toml",
        ),
    ],
)
def test_a_wrong_input_is_one_line_that_says_what_is_accepted(longfat: Any, asked: str, said: str) -> None:
    assert longfat(*asked.split()) == (2, "", f"error: {said}\n")
