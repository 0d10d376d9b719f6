"""Imports a user's own algorithm from its file, once, and refuses what cannot be an algorithm.

The file is Python's, or an object with a kernel's eBPF congestion control.

Every problem is a ValueError of one line that names the file, and the line where its code failed.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from longfat import _core
from longfat.scenario import foreign

OBJECT = ".bpf.o"
"""How the name of an object file with eBPF programs ends."""
PACING = "pacing_ca_ratio"
"""The parameter of an object: percent of cwnd / srtt at which the kernel paces outside of slow-start."""
PACING_RANGE = range(1, 1001)
"""What the kernel accepts for net.ipv4.tcp_pacing_ca_ratio, less 0, which would not send."""
METHODS = ("on_ack", "on_congestion")
"""The methods that an algorithm must have, unless it is model-based."""
ACCEPTED = (
    "on_ack(self, ack, window) and on_congestion(self, event, window), or with "
    "on_delivery(self, sample, window)"
)
"""What messages list as accepted methods."""
CALLS = {
    "on_ack": ("ack", "window"),
    "on_congestion": ("event", "window"),
    "on_delivery": ("sample", "window"),
}
"""What these methods are called with."""


def load(path: Path, qualified: str) -> Callable[..., Any]:
    """Returns the class of that name in a file, or what makes instances there, or an object's algorithm."""
    if path.name.endswith(OBJECT):
        return ebpf(path, qualified)
    module = _module(path)
    here: Any = module
    for part in qualified.split("."):
        here = getattr(here, part, None)
    if not callable(here):
        known = ", ".join(key for key, value in vars(module).items() if isinstance(value, type)) or "none"
        raise ValueError(f'{path.name} has no class "{qualified}"; it has: {known}')
    loaded: Callable[..., Any] = here
    return loaded


def ebpf(path: Path, name: str | None = None) -> _core.EbpfAlgorithm:
    """Returns an object's congestion control of this name, or its only one; ValueError if it cannot run."""
    try:
        return _ebpf(path, name, path.stat().st_mtime_ns)
    except OSError as error:
        raise ValueError(f"{path.name}: {error.strerror}; accepted: file{OBJECT}") from None


@functools.lru_cache(64)
def _ebpf(path: Path, name: str | None, _stamp: int) -> _core.EbpfAlgorithm:
    return _core.EbpfAlgorithm(path, name)


def check(factory: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    """Checks that a class has the methods, and that it takes the parameters; ValueError if not."""
    name = getattr(factory, "__name__", type(factory).__name__)
    if isinstance(factory, _core.EbpfAlgorithm):
        _check_ebpf(factory.name, parameters)
        return
    if isinstance(factory, type) and (lacking := _lacking(factory)):
        raise ValueError(f"{name} has no {lacking}; accepted: a class with {ACCEPTED}")
    import inspect

    if isinstance(factory, type):
        _check_plain(factory, name)
    try:
        signature = inspect.signature(factory)
    except (TypeError, ValueError):  # code in C may have no signature
        return
    try:
        signature.bind(**parameters)
    except TypeError as error:
        takes = ", ".join(signature.parameters) or "nothing"
        raise ValueError(f"{name}: {error}; it takes: {takes}") from None


def check_made(made: Any, name: str) -> None:
    """Checks that what a function of this name has returned is an algorithm; ValueError if not."""
    if not isinstance(made, _core.EbpfAlgorithm) and (lacking := _lacking(made)):
        import reprlib

        said = f"{name} returned {reprlib.repr(made)}, which has no {lacking}"
        raise ValueError(f"{said}; accepted: an object with {ACCEPTED}")


def _lacking(algorithm: Any) -> str:
    """The methods that a class or an object lacks, or nothing."""
    if callable(getattr(algorithm, "on_delivery", None)):
        return ""
    return " and no ".join(method for method in METHODS if not callable(getattr(algorithm, method, None)))


def _check_plain(algorithm: type, name: str) -> None:
    """Refuses methods whose call returns before any of their lines has run."""
    import inspect

    for method in dir(algorithm):
        found = getattr(algorithm, method, None) if method.startswith("on_") else None
        kind = (
            "a generator (it has a yield)"
            if inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found)
            else "a coroutine (async def)"
            if inspect.iscoroutinefunction(found)
            else ""
        )
        if kind:
            raise ValueError(f"{name}.{method} is {kind}; accepted: a method of plain statements")
    for method, given in CALLS.items():
        found = getattr(algorithm, method, None)
        if not inspect.isfunction(found):
            continue
        signature = inspect.signature(found)
        try:
            signature.bind("self", *given)
        except TypeError:
            takes = ", ".join(("self", *given))
            raise ValueError(
                f"{name}.{method}{signature} cannot be called as it has to be; accepted: {method}({takes})"
            ) from None


def _check_ebpf(name: str, parameters: Mapping[str, Any]) -> None:
    least, most = PACING_RANGE[0], PACING_RANGE[-1]
    accepted = f"accepted: {PACING}, percent of cwnd / srtt, {least} to {most}"
    if unknown := [key for key in parameters if key != PACING]:
        raise ValueError(f"{name}: {', '.join(unknown)}: an eBPF object takes no such parameter; {accepted}")
    ratio = parameters.get(PACING, least)
    if isinstance(ratio, bool) or not isinstance(ratio, int) or ratio not in PACING_RANGE:
        raise ValueError(f"{name}: {PACING} = {ratio!r} is out of range; {accepted}, without a unit")


def needs_marks(factory: Callable[..., Any]) -> bool:
    """Returns whether an algorithm needs every mark reported (RFC 8257)."""
    return isinstance(factory, _core.EbpfAlgorithm) and factory.needs_ecn


def is_model_based(factory: Callable[..., Any]) -> bool:
    """Returns whether it is an algorithm that controls the window in every phase."""
    if isinstance(factory, _core.EbpfAlgorithm):
        return factory.model_based
    return isinstance(factory, type) and callable(getattr(factory, "on_delivery", None))


def _module(path: Path) -> ModuleType:
    """Returns the module in this file, which a process imports once unless the file changes."""
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise ValueError(f"{path.name}: {error.strerror}; accepted: file.py:Class") from None
    key = f"longfat_user_{path.stem}_{abs(hash(str(path)))}_{stamp}"
    if key in sys.modules:
        return sys.modules[key]
    from importlib import util

    spec = util.spec_from_file_location(key, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{path.name} is not a Python file; accepted: file.py:Class")
    module = util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except SystemExit as ended:
        del sys.modules[key]
        raise ValueError(
            f"{path.name} ends the program while it is imported (SystemExit: {ended}){_where(ended, path)}; "
            'accepted: a file with definitions, and everything else below if __name__ == "__main__"'
        ) from None
    except Exception as error:
        del sys.modules[key]
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"{path.name} cannot be imported: {said}{_where(error, path)}") from None
    except BaseException:
        del sys.modules[key]
        raise
    return module


def _where(error: BaseException, path: Path) -> str:
    """The lines of the user's own files that led there, in order; a syntax error names its own line."""
    import traceback

    frames = [
        f"{Path(frame.filename).name}, line {frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(path.parent)
    ]
    return f" ({' → '.join(frames)})" if frames else ""


def own(what: Any, parameters: Mapping[str, Any]) -> tuple[bool, bool, str]:
    """Checks a user's own algorithm for the core, and returns its facts; ValueError if it cannot run.

    Args:
        what: a class or function, "file.py:Class", or the path of an object with the name there or None.
        parameters: what its constructor is given.

    Returns:
        Whether it needs every mark reported, whether it controls the window in every phase, and its name.
    """
    name = ""
    if isinstance(what, tuple):
        loaded = ebpf(*what)
        factory: Callable[..., Any] = loaded
        name = loaded.name
    elif isinstance(what, str):
        file, _, qualified = what.rpartition(":")
        factory = load(Path(file), qualified)
    else:
        factory = what
    check(factory, parameters)
    return needs_marks(factory), is_model_based(factory), name


kernel_has = foreign.has
"""Whether the running kernel has a congestion control of this name."""


def name_of(value: Any) -> str:
    """Returns the "file.py:Class" of a class or function, as far as Python knows its file."""
    code = getattr(value, "__code__", None)
    module = sys.modules.get(getattr(value, "__module__", ""), None)
    file = code.co_filename if code else getattr(module, "__file__", None)
    return f"{file or 'unknown.py'}:{getattr(value, '__qualname__', type(value).__qualname__)}"
