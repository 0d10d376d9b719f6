"""Longfat: a laboratory for congestion control on long fat networks.

import longfat

result = longfat.run("scenarios/two-hstcp.toml")
result.summary["metrics"]["jain"]
result.to_pandas("flows")
"""

from __future__ import annotations

from longfat.errors import AlgorithmError, InputError, LongfatError, ScenarioError
from longfat.result import Result
from longfat.scenario import Scenario
from longfat.simulate import run, run_many

__all__ = [
    "AlgorithmError",
    "InputError",
    "LongfatError",
    "Result",
    "Scenario",
    "ScenarioError",
    "run",
    "run_many",
]
