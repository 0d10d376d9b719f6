"""Longfat: a laboratory for congestion control on long fat networks.

import longfat

result = longfat.run("scenarios/two-hstcp.toml")
result.metrics.jain
result.flow("1").throughput_bps
result.to_pandas("flows")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat.api import run, run_many
    from longfat.errors import AlgorithmError, InputError, LongfatError, ScenarioError
    from longfat.installation import __version__
    from longfat.plots import plot
    from longfat.runs.capture import Capture
    from longfat.runs.imported import Imported, read_capture
    from longfat.runs.qlog import Qlog
    from longfat.runs.repeats import Results
    from longfat.runs.result import Result
    from longfat.runs.step import Simulation
    from longfat.scenario.model import Scenario
    from longfat.scenario.tables import (
        Bottleneck,
        Bulk,
        Flow,
        Link,
        Node,
        Onoff,
        Program,
        Sample,
        Short,
        Surge,
        Web,
    )
    from longfat.sweep.handle import open_sweep
    from longfat.sweeping import Sweep

__all__ = [
    "AlgorithmError",
    "Bottleneck",
    "Bulk",
    "Capture",
    "Flow",
    "Imported",
    "InputError",
    "Link",
    "LongfatError",
    "Node",
    "Onoff",
    "Program",
    "Qlog",
    "Result",
    "Results",
    "Sample",
    "Scenario",
    "ScenarioError",
    "Short",
    "Simulation",
    "Surge",
    "Sweep",
    "Web",
    "__version__",
    "open_sweep",
    "plot",
    "read_capture",
    "run",
    "run_many",
]

_MODULES = {
    "__version__": "installation",
    **dict.fromkeys(("AlgorithmError", "InputError", "LongfatError", "ScenarioError"), "errors"),
    **dict.fromkeys(("Imported", "read_capture"), "runs.imported"),
    "Capture": "runs.capture",
    "plot": "plots",
    "Qlog": "runs.qlog",
    "Result": "runs.result",
    "Results": "runs.repeats",
    "Scenario": "scenario.model",
    **dict.fromkeys(
        ("Bottleneck", "Bulk", "Flow", "Link", "Node", "Onoff", "Program", "Sample", "Short", "Surge", "Web"),
        "scenario.tables",
    ),
    "Simulation": "runs.step",
    "Sweep": "sweeping",
    "open_sweep": "sweep.handle",
    **dict.fromkeys(("run", "run_many"), "api"),
}

__getattr__ = getter(__name__, _MODULES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
