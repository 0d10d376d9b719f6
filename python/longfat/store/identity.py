"""The keys of stored runs: what makes two runs the same run."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from longfat.scenario.model import Scenario


def run_key(scenario: Scenario) -> str:
    """Returns the key of a run's results: its plan with the seed, their version, and users' own algorithms.

    Scenarios with the same key give the same bytes. The title is not part of the key. A new version of
    Longfat changes the key only if it changed the results of such a plan (`_core.results_version`).
    """
    return next(run_keys(scenario, [scenario.seed]))


def run_keys(scenario: Scenario, seeds: Iterable[int]) -> Iterator[str]:
    """Yields the key of the scenario with each of these seeds; see `run_key`."""
    own = own_digests(scenario)
    planned = scenario.plan
    version = scenario.core.results_version()
    for seed in seeds:
        yield digest([version, planned | {"seed": seed}, own])


def own_digests(scenario: Scenario) -> dict[str, list[Any]]:
    """Returns what identifies the users' own algorithms of a scenario, by the names of the flows."""
    parts = scenario.flow_parts()
    return {name: _own(part.algorithm) for name, part in parts.items() if part.algorithm.custom}


def digest(value: Any) -> str:
    """Returns the SHA-256 of a value as JSON, in hexadecimal."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _own(algorithm: Any) -> list[Any]:
    """Identifies a user's algorithm: the digest of its file, the class, and its parameters."""
    file, _, name = algorithm.name.rpartition(":")
    return [_file_digest(file), name, algorithm.parameters]


@functools.lru_cache
def _file_digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()
