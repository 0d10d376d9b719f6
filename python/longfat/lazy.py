"""Names that are imported when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def getter(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns a package's `__getattr__`, so that importing the package loads nothing slow.

    Args:
        package: the package's name.
        modules: the module of the package that defines each name.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return get


class Module:
    """A module that is imported when something of it is first used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


def above(name: str) -> Any:
    """Returns something that a room above defines, for a method that an object of a room below offers.

    It is imported when the method is called, so that the rooms below load and know nothing of those above.

    Args:
        name: "module.name", below the package.
    """
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(f"{__package__}.{module}"), attribute)
