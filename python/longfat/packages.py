"""What other packages add by entry points: commands, pages and suites."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from longfat.errors import LongfatError

WITHOUT_PAPERS = (
    "comes with the package longfat-papers, which is not installed; install it with `pip install "
    "longfat-papers`"
)


def added(group: str) -> Mapping[str, EntryPoint]:
    """Returns the entry points of a group by name."""
    return {point.name: point for point in entry_points(group=group)}


def loaded(point: EntryPoint) -> Any:
    """Returns the object of an entry point.

    Raises:
        LongfatError: its package cannot be imported; the message names it.
    """
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist else point.module.partition(".")[0]
        raise LongfatError(
            f"{point.name}: the package {package} cannot be imported: {type(error).__name__}: {error}"
        ) from error
