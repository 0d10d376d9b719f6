"""Suites: the published experiments of a paper, its claims, and how to run them.

A suite is a package or a module of this package, or any Python file, that defines `SUITE`. It is imported
when it is asked for, so this package itself costs a worker process nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.store.kept import reduction_key
from longfat.words import suggestion

if TYPE_CHECKING:
    from longfat.suites.kit.suite import Suite

NAMES = ("li2007", "yeah2007", "ha2006", "lopez2008", "aqm", "theory", "relatives", "tcpeval")
"""The suites that come with Longfat, in the order of lists. A new suite adds its name here."""


def names() -> tuple[str, ...]:
    """Returns the names that `get` accepts."""
    return NAMES


def get(name: str) -> Suite:
    """Returns the suite of that name, or the suite that a Python file defines.

    Args:
        name: one of `names`, or the path of a file that ends with ".py".

    Raises:
        InputError: there is no such suite, or the file cannot be imported or defines none.
    """
    if name.endswith(".py"):
        return _suite_of(Path(name))
    if name not in NAMES:
        raise InputError(
            f"suite {name}: there is no such suite{suggestion(name, NAMES)}; "
            f"accepted: {', '.join(NAMES)}, or a "
            "file.py that defines SUITE"
        )
    suite: Suite = import_module(f"longfat.suites.{name}").SUITE
    return suite


def _suite_of(path: Path) -> Suite:
    suite: Suite | None = getattr(_imported(path.resolve()), "SUITE", None)
    if suite is None:
        raise InputError(f"suite {path}: defines no SUITE; docs/recipes/add-a-suite.md has an example")
    try:
        reduction_key(suite.reduce)
    except InputError as error:
        raise InputError(f"suite {path}: {error}") from None
    return suite


def _imported(path: Path) -> ModuleType:
    """Imports a file by its name from its folder, so that worker processes can import it too."""
    if not path.is_file():
        raise InputError(f"suite {path}: there is no such file; accepted: {', '.join(NAMES)}, or a file.py")
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        module = import_module(path.stem)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"suite {path}: cannot be imported: {said}") from error
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != path:
        raise InputError(f"suite {path}: {path.stem} is the name of another module; rename the file")
    return module


def __getattr__(name: str) -> Any:
    if name in ("run_suite", "SuiteOutcome"):
        return getattr(import_module("longfat.suites.kit.runner"), name)
    if name in ("run_assumptions", "AssumptionsOutcome"):
        return getattr(import_module("longfat.suites.kit.readings"), name)
    if name in ("run_live", "LiveOutcome"):
        return getattr(import_module("longfat.suites.kit.live"), name)
    raise AttributeError(name)
