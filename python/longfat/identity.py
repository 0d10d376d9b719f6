"""What makes two runs the same run, and two reductions the same reduction: names for stored results."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from longfat import _core, metrics, plan, result  # noqa: F401 - the makers of figures have to be there
from longfat.scenario import Scenario

PACKAGE = __name__.partition(".")[0]
MAKERS = ("longfat.metrics", "longfat.result")
"""Modules that make figures of what the core gives."""


def run_key(scenario: Scenario) -> str:
    """Of what a run gives: its plan (seed included), the version of such results, and users' own algorithms.

    Two scenarios with the same key give the same bytes. A title is not part of it, nor is a version of
    Longfat that left results of such a plan as they were (`_core.results_version`).
    """
    return next(run_keys(scenario, [scenario.seed]))


def run_keys(scenario: Scenario, seeds: Iterable[int]) -> Iterator[str]:
    """As `run_key`, of the scenario with each of these seeds."""
    parts = plan.flow_parts(scenario)
    own = {name: _own(part.algorithm) for name, part in parts.items() if part.algorithm.custom}
    planned = plan.build(scenario)
    version = _core.results_version(json.dumps(planned))
    for seed in seeds:
        yield digest([version, planned | {"seed": seed}, own])


def reduction_key(function: Callable[..., Any]) -> str:
    """Of what is kept of a run: the function's name, and the code that makes figures of a result.

    That is the code of its module and of those in `MAKERS` or named like it, without comments and
    documentation.
    """
    own = function.__module__
    names = sorted({own, *MAKERS, *(name for name in _sources(own) if name.endswith("reduction"))})
    code = [_code(sys.modules[name]) for name in names]
    return f"{own}.{function.__qualname__}-{digest(code)[:16]}"


def digest(value: Any) -> str:
    """SHA-256 of a value as JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _own(algorithm: Any) -> list[Any]:
    """A user's algorithm: the source of its file, which class of it, with what."""
    file, _, name = algorithm.name.rpartition(":")
    return [_file_digest(file), name, algorithm.parameters]


@functools.lru_cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _sources(name: str) -> set[str]:
    """Modules of the package that the names of a module come from."""
    values = vars(sys.modules[name]).values()
    owners = {
        value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        for value in values
    }
    return {owner for owner in owners if isinstance(owner, str) and owner.startswith(f"{PACKAGE}.")}


def _code(module: ModuleType) -> str:
    """A module's code, whatever its layout."""
    tree = ast.parse(inspect.getsource(module))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
