"""Packages that an extra brings, as `pip install "longfat[pandas]"`: imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def load(package: str, extra: str, asked: str) -> Any:
    """Imports a package and returns it.

    Args:
        package: its name.
        extra: the extra of Longfat that brings it.
        asked: what needs it, for the message.

    Raises:
        InputError: it is not installed; the line names the extra.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:  # it is there, and lacks something itself
            raise
        raise InputError(f'{asked}: needs {package}; accepted: pip install "longfat[{extra}]"') from None


def to_pandas(table: pyarrow.Table) -> pandas.DataFrame:
    """Returns a table as a pandas frame. Raises InputError if pandas is not installed."""
    load("pandas", "pandas", "to_pandas")
    frame: pandas.DataFrame = table.to_pandas()
    return frame


def to_polars(table: pyarrow.Table) -> polars.DataFrame:
    """Returns a table as a polars frame. Raises InputError if polars is not installed."""
    frame: polars.DataFrame = load("polars", "polars", "to_polars").from_arrow(table)
    return frame
