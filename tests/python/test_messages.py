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
        ("report", "Missing argument 'DIR'; usage: longfat report [OPTIONS] DIR"),
        ("run a.toml b.toml", "Got unexpected extra argument (b.toml); usage: longfat run [OPTIONS] [FILE]"),
        ("queues x", "Got unexpected extra argument (x); usage: longfat queues [OPTIONS]"),
        ("report suite", "suite/suite.json: damaged: it has no suite; accepted: what a command wrote there"),
        ("report sweep", "sweep/sweep.json: not a stored sweep; accepted: what `longfat sweep` wrote"),
        ("run a.toml --window 1", '--window "1": accepted: two times such as "100 s,600 s"'),
        ("run a.toml --warmup 3", '--warmup 3: a time needs a unit; accepted: "3 s"'),
        (
            "screen cubic --path nope",
            "--path nope: No such file or directory; accepted: a file, "
            "or a scenario file whose name ends in .toml",
        ),
    ],
)
def test_a_wrong_input_is_one_line_that_says_what_is_accepted(longfat: Any, asked: str, said: str) -> None:
    assert longfat(*asked.split()) == (2, "", f"error: {said}\n")
