"""The names that scripts import stay importable, and importing one loads only what it needs."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            "longfat",
            "run run_many Result Results Capture Qlog Simulation Scenario Sweep "
            "InputError ScenarioError AlgorithmError LongfatError",
        ),
        ("longfat.scenario", "Scenario Bottleneck Flow Link Node Sample"),
        ("longfat.sweep", "load from_dict run report open_sweep Sweep Swept"),
        ("longfat.suites", "get names run_suite run_assumptions"),
        ("longfat.env", "Env VectorEnv Setting Action Quantity QUANTITIES AURORA AURORA_PATHS ORCA"),
        ("longfat.plots", "plot draw save plot_cwnd cwnd_figure rate_figure queue_figure Figure Panel Curve"),
    ],
)
def test_public_names_can_be_imported(module, names):
    imported = import_module(module)
    assert [name for name in names.split() if not hasattr(imported, name)] == []


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("longfat", "longfat.runs.simulate"),
        ("longfat.scenario.registry", "longfat.scenario.model"),
        ("longfat.api", "longfat.live.run"),
        ("longfat.suites", "longfat.scenario.model"),
        ("longfat.cli.app", "longfat.scenario.model"),
        ("longfat.env", "gymnasium"),
    ],
)
def test_importing_a_module_leaves_out_what_it_does_not_need(module, unneeded):
    asked = f"import sys, {module}; print({unneeded!r} in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_run_that_writes_its_tables_does_not_import_pandas(tmp_path):
    scenario = Path(__file__).parents[2] / "scenarios" / "standard-and-htcp-with-web.toml"
    asked = (
        "import sys; from longfat.__main__ import main\n"
        f"sys.argv = ['longfat', 'run', {str(scenario)!r}, '--set', 'duration=3 s', '--out', 'out']\n"
        "try: main()\n"
        "finally: print('pandas' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stderr.endswith("False\n"), ran.stderr
    assert (tmp_path / "out" / "transfers.parquet").exists()
