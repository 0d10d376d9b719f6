"""The sweeps that come with Longfat, and the script for Slurm as far as it goes here."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from longfat import sweep
from longfat.runs import simulate
from longfat.scenario.model import Scenario
from longfat.sweep import tables
from longfat.sweep.reduction import reduce_run

ROOT = Path(__file__).resolve().parents[3]
FILES = [path for path in sorted((ROOT / "sweeps").glob("*.toml")) if not path.stem.endswith("-base")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_first_and_the_last_point_of_each_sweep_file_are_scenarios(path: Path) -> None:
    asked = sweep.load(path)
    points = list(asked.points())
    assert len(points) == asked.count()
    for point in (points[0], points[-1]):
        assert asked.scenario(point).duration > 0.0


def test_a_figure_of_usual_columns_is_checked_without_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate, "run", lambda *_: pytest.fail("there was a run"))
    assert sum(len(sweep.load(path).figures) for path in FILES) > 0


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda path: path.stem)
def test_every_run_fills_the_usual_columns(path: Path) -> None:
    scenario = Scenario.load(path)
    kept = reduce_run(simulate.run(scenario.lasting(min(0.001, scenario.duration))))
    assert tables.usual_columns(scenario) <= set(tables.columns(kept))


def test_the_grid_of_li_leith_and_shorten_has_all_its_runs() -> None:
    assert sweep.load(ROOT / "sweeps" / "lls-like-rtt.toml").count() == 5 * 4 * 6 * 2 * 6 * 5


@pytest.mark.skipif(find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue")
def test_the_script_for_slurm_says_what_it_would_submit() -> None:
    script = ROOT / "examples" / "slurm_sweep.py"
    file = ROOT / "sweeps" / "lls-like-rtt.toml"
    command = [sys.executable, str(script), str(file), "out", "--show"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in (
        "#SBATCH -J longfat",
        "#SBATCH --cpus-per-task=8",
        "#SBATCH -t 04:00:00",
        "distributed.cli.dask_worker",
    ):
        assert line in shown
