"""The soak itself: it goes on where it was, and keeps what it finds."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import random_scenarios
from longfat.scenario.model import Scenario
from relations import RELATIONS

SOAK = Path(__file__).parents[2] / "soak" / "soak.py"
SECONDS = 6.0


def soak(folder: Path, next_number: int, *options: str) -> tuple[int, str, dict[str, Any]]:
    """Soaks for a few seconds from this number on; returns the exit code, the output and the state."""
    state = folder / "state.json"
    totals = json.loads(state.read_text())["totals"] if state.exists() else {}
    state.write_text(json.dumps({"next": next_number, "totals": totals}))
    ended = subprocess.run(
        [sys.executable, str(SOAK), "--minutes", str(SECONDS / 60.0), "--folder", str(folder), *options],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout, json.loads(state.read_text())


def test_a_soak_goes_on_where_it_was_and_adds_to_its_totals(tmp_path: Path) -> None:
    code, said, first = soak(tmp_path, 0)
    assert code == 0, said
    assert first["next"] == first["totals"]["scenarios"] + first["totals"].get("sweeps", 0) > 0
    assert first["totals"]["runs"] == 3 * (first["totals"]["scenarios"] - first["totals"].get("refused", 0))
    assert said.splitlines()[-1].startswith(f"{first['totals']['scenarios']} scenarios, ")
    code, said, second = soak(tmp_path, first["next"])
    assert code == 0, said
    totals = second["totals"]
    assert second["next"] == totals["scenarios"] + totals.get("sweeps", 0) > first["next"]


def test_a_soak_of_relations_makes_every_change_to_each_scenario(tmp_path: Path) -> None:
    code, said, state = soak(tmp_path, 3, "--relations")
    assert code == 0, said
    totals = state["totals"]
    assert totals["relations"] == len(RELATIONS) * (totals["scenarios"] - totals.get("refused", 0)) > 0
    assert totals.get("runs", 0) == totals.get("sweeps", 0) == 0


@pytest.mark.long
def test_a_scenario_whose_run_takes_too_much_memory_is_refused_and_no_finding(tmp_path: Path) -> None:
    # Hybla at round trips of .8 s opens its window to the core's bound of 4 M segments at once
    code, said, state = soak(tmp_path, 22010)
    assert code == 0, said
    assert state["totals"]["refused"] >= 1


WRONG = """
class Steady:
    def __init__(self, increase=1.0, decrease=0.5): pass
    def on_ack(self, ack, window): window.cwnd = 0.0
    def on_congestion(self, event, window): pass

Jumping = Steady
"""


def test_a_finding_is_kept_as_a_scenario_and_ends_the_soak_with_1(tmp_path: Path) -> None:
    own = random_scenarios.own_algorithms(tmp_path)
    drawn = ((number, json.dumps(random_scenarios.draw(number, own)["flow"][:1])) for number in range(1000))
    number = next(number for number, first in drawn if own.name in first)
    own.write_text(WRONG)
    code, said, state = soak(tmp_path, number)
    assert code == 1
    assert state["totals"]["findings"] >= 1
    assert f"{number}: AlgorithmError: " in said
    assert "left cwnd = 0" in said
    kept = tmp_path / "findings" / f"{number}.toml"
    assert kept.read_text().startswith("# AlgorithmError: ")
    Scenario.load(kept)
