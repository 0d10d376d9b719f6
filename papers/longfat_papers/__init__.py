"""Suites: the published experiments of a paper, its claims, and how to run them.

A suite is a package or a module that defines `SUITE` and is listed as an entry point `longfat.suites`, or any
Python file that defines `SUITE`. It is imported when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.lazy import getter

if TYPE_CHECKING:
    from longfat_papers.kit.live import LiveOutcome, run_live
    from longfat_papers.kit.readings import AssumptionsOutcome, run_assumptions
    from longfat_papers.kit.registry import get, names
    from longfat_papers.kit.runner import SuiteOutcome, run_suite

__all__ = [
    "AssumptionsOutcome",
    "LiveOutcome",
    "SuiteOutcome",
    "get",
    "names",
    "run_assumptions",
    "run_live",
    "run_suite",
]

_MODULES = {
    **dict.fromkeys(("AssumptionsOutcome", "run_assumptions"), "kit.readings"),
    **dict.fromkeys(("LiveOutcome", "run_live"), "kit.live"),
    **dict.fromkeys(("SuiteOutcome", "run_suite"), "kit.runner"),
    **dict.fromkeys(("get", "names"), "kit.registry"),
}

__getattr__ = getter(__name__, _MODULES)
