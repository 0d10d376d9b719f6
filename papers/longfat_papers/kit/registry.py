"""The suites that are installed, found through the entry points `longfat.suites`, and suites in files."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from longfat.errors import InputError
from longfat.packages import added, loaded
from longfat.store.kept import reduction_key
from longfat.words import choice, natural_order
from longfat_papers.kit.faults import where
from longfat_papers.kit.paper import Paper
from longfat_papers.kit.suite import Suite

GROUP = "longfat.suites"
"""The group of entry points; each names an object `Suite`."""
FIRST = ("li2007", "yeah2007", "ha2006", "lopez2008")
"""The papers that lists begin with; the other suites follow by name."""


def names() -> tuple[str, ...]:
    """Returns the names of the installed suites, in the order of lists."""
    found = added(GROUP)
    return tuple(sorted(found, key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name)))


def get(name: str) -> Suite:
    """Returns the installed suite of that name, or the suite that a Python file or a folder defines.

    A file or a package may define `SUITE`; otherwise the suite is that of the `Paper` in the file, or in the
    folder's files.

    Args:
        name: one of `names`, or the path of a file that ends with ".py" or of a folder.

    Raises:
        InputError: there is no such suite, or the file cannot be imported or defines none.
        LongfatError: the package of the suite cannot be imported.
    """
    found = added(GROUP)
    if name in found:
        suite: Suite = loaded(found[name])
        return suite
    path = Path(name)
    if name.endswith(".py") or path.is_dir():
        return _suite_of(path)
    known = names()
    accepted = f"{', '.join(known)}, or a file.py or a folder that defines one"
    raise InputError(f"suite {name}: {choice(name, known, accepted, 'suite')}")


def _suite_of(path: Path) -> Suite:
    modules = _modules(path, path.resolve())
    suite: Suite | None = getattr(modules[0], "SUITE", None)
    if suite is None:
        defined = {key: value for module in modules for key, value in vars(module).items()}
        every = [value for module in modules for value in vars(module).values()]
        papers = {id(value): value for value in every if isinstance(value, Paper)}
        if len(papers) != 1:
            raise InputError(
                f"suite {path}: it defines {len(papers)} papers and no SUITE; accepted: one `Paper`, which "
                "all files of a folder use"
            )
        suite = papers.popitem()[1].suite(modules[0].__name__, (), defined)
    try:
        reduction_key(suite.reduce)
    except InputError as error:
        raise InputError(f"suite {path}: {error}") from None
    return suite


def _modules(path: Path, whole: Path) -> list[ModuleType]:
    """Imports a file, or a folder and its files, by name, so that worker processes can import them too.

    Args:
        path: as the user writes it, for messages.
        whole: the same, from the root.
    """
    if not whole.exists():
        raise InputError(f"suite {path}: there is no such file or folder")
    if not whole.name.removesuffix(".py").isidentifier():
        raise InputError(f"suite {path}: {whole.name}: Python cannot import it; accepted: letters and digits")
    if str(whole.parent) not in sys.path:
        sys.path.append(str(whole.parent))
    modules = [_imported(path, whole.stem, whole)]
    if whole.is_dir() and not hasattr(modules[0], "SUITE"):
        files = sorted(whole.glob("[!_]*.py"), key=lambda file: natural_order(file.stem))
        modules += [_imported(path, f"{whole.name}.{file.stem}", file) for file in files]
    return modules


def _imported(path: Path, name: str, place: Path) -> ModuleType:
    try:
        module = import_module(name)
    except Exception as error:
        raise InputError(f"suite {path}: it cannot be imported: {where(error)}") from error
    found = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]
    if place not in (Path(each).resolve() for each in found if each):
        raise InputError(f"suite {path}: {name} is the name of another module; rename the file")
    return module
