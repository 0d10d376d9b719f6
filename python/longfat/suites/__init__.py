"""Suites: the published experiments of a paper, their claims, and how to run them.

A suite's module is imported when it is asked for; this package itself costs a worker process nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.words import suggestion

if TYPE_CHECKING:
    from longfat.suites.kit.suite import Suite

NAMES = ("li2007", "yeah2007", "ha2006", "lopez2008", "aqm", "theory")
"""The suites there are; each is a module of this package with a `SUITE`."""


def names() -> tuple[str, ...]:
    """The names that `get` takes."""
    return NAMES


def get(name: str) -> Suite:
    """The suite of that name. Raises `InputError` listing the names there are."""
    if name not in NAMES:
        raise InputError(
            f"suite {name}: no such suite{suggestion(name, NAMES)}; accepted: {', '.join(NAMES)}"
        )
    suite: Suite = import_module(f"longfat.suites.{name}").SUITE
    return suite


def __getattr__(name: str) -> Any:
    if name in ("run_suite", "SuiteOutcome"):
        return getattr(import_module("longfat.suites.kit.runner"), name)
    raise AttributeError(name)
