"""The names that scripts import stay importable, and importing one loads only what it needs."""

from __future__ import annotations

import ast
import inspect
import operator
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from longfat import _core


@pytest.mark.parametrize(
    ("module", "names"),
    [
        (
            "longfat",
            "run run_many open_sweep plot Result Results Capture Qlog Simulation Scenario Sweep "
            "Bottleneck Flow Link Node Sample Program Web Surge Short Bulk Onoff "
            "InputError ScenarioError AlgorithmError LongfatError",
        ),
        ("longfat.sweep", "load from_dict run report open_sweep Sweep Swept"),
        ("longfat_papers", "get names run_suite run_assumptions"),
        ("longfat.env", "Env VectorEnv Setting Action Quantity QUANTITIES AURORA AURORA_PATHS ORCA"),
        ("longfat.plots", "plot draw save plot_cwnd Figure Panel Curve"),
    ],
)
def test_public_names_can_be_imported(module, names):
    imported = import_module(module)
    assert [name for name in names.split() if not hasattr(imported, name)] == []


def typed() -> dict[str, Any]:
    """The public names of _core.pyi, functions and methods with the names of their arguments."""
    stub = Path(_core.__file__).with_name("_core.pyi")
    found: dict[str, Any] = {}

    def take(body: list[ast.stmt], prefix: str) -> None:
        for part in body:
            if isinstance(part, ast.ClassDef):
                found[prefix + part.name] = None
                take(part.body, f"{prefix}{part.name}.")
            elif isinstance(part, ast.FunctionDef):
                plain = not any("property" in ast.unparse(one) for one in part.decorator_list)
                names = [one.arg for one in (*part.args.args, *part.args.kwonlyargs)]
                found[prefix + part.name] = [name for name in names if name != "self"] if plain else None
            elif isinstance(part, ast.AnnAssign):
                found[prefix + ast.unparse(part.target)] = None

    take(ast.parse(stub.read_text()).body, "")
    return found


def test_the_core_has_what_its_stub_declares_with_the_same_arguments():
    for name, arguments in typed().items():
        if name.endswith("__init__"):  # the constructors of the core are the classes themselves
            name = name.removesuffix(".__init__")
        elif name.endswith("__call__"):  # its slot has no signature
            continue
        found = operator.attrgetter(name)(_core)
        if arguments is not None:
            given = [given for given in inspect.signature(found).parameters if given != "self"]
            assert given == arguments, name


INTERFACES = {"Ack", "Congestion", "Delivery", "LostSegment", "Opening", "Window"}
"""What an algorithm in Python gets: `longfat.algorithm` has their types."""


def test_the_stub_declares_all_that_the_core_has():
    declared = set(typed())
    for name in (name for name in vars(_core) if not name.startswith("_")):
        assert name in declared | INTERFACES, name
        held = getattr(_core, name)
        if isinstance(held, type) and held.__module__ == "longfat._core" and name not in INTERFACES:
            public = {f"{name}.{one}" for one in vars(held) if not one.startswith("_")}
            assert public - declared == set(), name


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("longfat", "longfat.runs.simulate"),
        ("longfat.scenario.registry", "longfat.scenario.model"),
        ("longfat.api", "longfat.live.run"),
        ("longfat_papers", "longfat.scenario.model"),
        ("longfat.cli.app", "longfat.scenario.model"),
        ("longfat.env", "gymnasium"),
    ],
)
def test_importing_a_module_leaves_out_what_it_does_not_need(module, unneeded):
    asked = f"import sys, {module}; print({unneeded!r} in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


def test_a_run_that_writes_its_tables_does_not_import_pandas(tmp_path):
    scenario = Path(__file__).parents[3] / "scenarios" / "standard-and-htcp-with-web.toml"
    asked = (
        "import sys; from longfat.__main__ import main\n"
        f"sys.argv = ['longfat', 'run', {str(scenario)!r}, '--set', 'duration=3 s', '--out', 'out']\n"
        "try: main()\n"
        "finally: print('pandas' in sys.modules, file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, cwd=tmp_path)
    assert ran.stderr.endswith("False\n"), ran.stderr
    assert (tmp_path / "out" / "transfers.parquet").exists()
