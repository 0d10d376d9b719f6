"""What makes two runs the same run, and two reductions the same reduction: names for stored results."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from longfat import _core
from longfat.runs import plan
from longfat.scenario.model import Scenario

KEY = "_longfat_kept_as"
"""The attribute of a reduction that holds its key."""

Reduction = TypeVar("Reduction", bound=Callable[..., Any])


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


def kept_as(name: str, version: str) -> Callable[[Reduction], Reduction]:
    """Declares the key under which a store keeps what a reduction gives.

    The key does not follow from where the function stands, so stored rows survive a move. Whoever changes
    what a reduction gives changes its version; `tests/python/test_reductions.py` notices when that is
    forgotten.

    Args:
        name: tells this reduction from all others.
        version: tells what it gives from what it gave earlier; any text.
    """

    def declare(function: Reduction) -> Reduction:
        setattr(function, KEY, f"{name}-{version}")
        return function

    return declare


def reduction_key(function: Callable[..., Any]) -> str:
    """The key under which a store keeps what this reduction gives; see `kept_as`."""
    key: str = getattr(function, KEY)
    return key


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
