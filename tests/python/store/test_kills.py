"""Commands that are killed at random instants and run again; `make kills` is the long form."""

import random
import signal
from pathlib import Path

import pytest

import kills


@pytest.mark.parametrize("name", ["run", "sweep, summary", "sweep, series", "suite"])
def test_a_command_that_is_killed_again_and_again_writes_in_the_end_what_an_undisturbed_one_writes(
    name: str, tmp_path: Path
) -> None:
    (case,) = (case for case in kills.cases(tmp_path, (signal.SIGKILL,)) if case.name == name)
    found, counts = kills.attack(case, tmp_path / "work", random.Random(f"{name} 4"), 2)
    assert found == []
    assert counts.total() == 2
