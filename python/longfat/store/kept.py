"""The keys of reductions: under which name and version a store keeps what a reduction returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from longfat.errors import InputError

KEY = "_longfat_kept_as"
"""The attribute of a reduction that holds its key."""

Reduction = TypeVar("Reduction", bound=Callable[..., Any])


def kept_as(name: str, version: str) -> Callable[[Reduction], Reduction]:
    """Declares the key under which a store keeps what a reduction returns.

    The key does not depend on the function's module, so stored rows survive a move. Whoever changes what a
    reduction returns must change its version; `tests/python/runs/test_reductions.py` fails if that is
    forgotten.

    Args:
        name: distinguishes this reduction from all others.
        version: distinguishes what it returns from what it returned earlier; any text.
    """

    def declare(function: Reduction) -> Reduction:
        setattr(function, KEY, f"{name}-{version}")
        return function

    return declare


def reduction_key(function: Callable[..., Any]) -> str:
    """Returns the key under which a store keeps what this reduction returns; see `kept_as`.

    Raises:
        InputError: the function declares no key.
    """
    key: str | None = getattr(function, KEY, None)
    if key is None:
        raise InputError(
            f"reduction {function.__qualname__}: has no key for its stored rows; accepted: a function with "
            "@kept_as(name, version), see docs/recipes/add-a-suite.md"
        )
    return key
