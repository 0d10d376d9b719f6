"""The suites that are installed, found through the entry points `longfat.suites`, and suites in files."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from longfat.errors import InputError
from longfat.store.kept import reduction_key
from longfat.words import suggestion
from longfat_papers.kit.suite import Suite

GROUP = "longfat.suites"
"""The group of entry points; each names an object `Suite`."""
FIRST = ("li2007", "yeah2007", "ha2006", "lopez2008")
"""The papers that lists begin with; the other suites follow by name."""


def names() -> tuple[str, ...]:
    """Returns the names of the installed suites, in the order of lists."""
    found = _installed()
    return tuple(sorted(found, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name)))


def get(name: str) -> Suite:
    """Returns the installed suite of that name, or the suite that a Python file defines.

    Args:
        name: one of `names`, or the path of a file that ends with ".py".

    Raises:
        InputError: there is no such suite, or the file cannot be imported or defines none.
    """
    if name.endswith(".py"):
        return _suite_of(Path(name))
    found = _installed()
    if name not in found:
        known = names()
        raise InputError(
            f"suite {name}: there is no such suite{suggestion(name, known)}; "
            f"accepted: {', '.join(known)}, or a "
            "file.py that defines SUITE"
        )
    suite: Suite = found[name].load()
    return suite


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


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
        raise InputError(f"suite {path}: there is no such file; accepted: {', '.join(names())}, or a file.py")
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
