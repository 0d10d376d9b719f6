"""What makes two runs the same run, and two reductions the same reduction: names for stored results."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from longfat import _core, plan
from longfat.scenario import Scenario

PACKAGE = __name__.partition(".")[0]


def run_key(scenario: Scenario) -> str:
    """Of what a run gives: its plan (seed included), the version of results, and users' own algorithms.

    Two scenarios with the same key give the same bytes. A title is not part of it, nor is a version of Longfat
    that left results as they were (`_core.results_version`).
    """
    own = {
        name: [_file_digest(part.algorithm.name.rpartition(":")[0]), part.algorithm.model_dump(mode="json")]
        for name, part in plan.flow_parts(scenario).items()
        if part.algorithm.custom
    }
    return digest([_core.results_version(), plan.build(scenario), own])


def reduction_key(function: Callable[..., Any]) -> str:
    """Of what is kept of a run: the function's name and the sources of our modules that it uses."""
    sources = [inspect.getsource(module) for module in _used(sys.modules[function.__module__])]
    return f"{function.__module__}.{function.__qualname__}-{digest(sources)[:16]}"


def digest(value: Any) -> str:
    """SHA-256 of a value as JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


@functools.lru_cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _used(module: ModuleType) -> list[ModuleType]:
    """The module and those of the package that its names come from, theirs too, in the order of their names."""
    found: dict[str, ModuleType] = {}
    waiting = [module]
    while waiting:
        module = waiting.pop()
        if module.__name__ in found:
            continue
        found[module.__name__] = module
        owners = {
            value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            for value in vars(module).values()
        }
        waiting += [
            sys.modules[name]
            for name in owners
            if isinstance(name, str)
            and name.startswith(f"{PACKAGE}.")
            and hasattr(sys.modules.get(name), "__file__")
            and sys.modules[name].__file__.endswith(".py")  # type: ignore[union-attr]
        ]
    return [found[name] for name in sorted(found)]
