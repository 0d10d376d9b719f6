"""Longfat: a laboratory for congestion control on long fat networks.

import longfat

result = longfat.run("scenarios/two-hstcp.toml")
result.summary["metrics"]["jain"]
result.to_pandas("flows")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from longfat.api import run, run_many
    from longfat.errors import AlgorithmError, InputError, LongfatError, ScenarioError
    from longfat.installation import __version__
    from longfat.runs.result import Result
    from longfat.scenario.model import Scenario

__all__ = [
    "AlgorithmError",
    "InputError",
    "LongfatError",
    "Result",
    "Scenario",
    "ScenarioError",
    "__version__",
    "run",
    "run_many",
]

_MODULES = {
    "__version__": "installation",
    **dict.fromkeys(("AlgorithmError", "InputError", "LongfatError", "ScenarioError"), "errors"),
    "Result": "runs.result",
    "Scenario": "scenario.model",
    **dict.fromkeys(("run", "run_many"), "api"),
}


def __getattr__(name: str) -> Any:
    """Imports a name when it is first used, so that the command starts before anything slow is imported."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
