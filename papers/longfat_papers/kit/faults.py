"""Mistakes in the functions that a paper's files define, in one line each."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from longfat.errors import LongfatError
from longfat_papers.kit.claims import Missing

OUTSIDE = (Path(__file__).parent, "site-packages")
"""Places of code that a paper's files call: the kit itself, and libraries."""


def where(error: BaseException) -> str:
    """Returns an error and the last line of a paper's file before it: "KeyError: 15 (fig1.py, line 7)"."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not any(str(place) in frame.filename for place in OUTSIDE)
    ]
    at = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {' '.join(str(error).split())}{at}"


@contextmanager
def named(what: str) -> Iterator[None]:
    """Raises `LongfatError` with ``what`` for any error in the block; one of Longfat's own keeps its words.

    `Missing` passes, as do the errors of interrupted programs.
    """
    try:
        yield
    except Missing:
        raise
    except LongfatError as error:
        raise LongfatError(f"{what}: {'; '.join(error.lines())}") from error
    except Exception as error:
        raise LongfatError(f"{what}: {where(error)}") from error
