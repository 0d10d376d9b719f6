"""Mistakes in the functions that a paper's files define, in one line each."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import longfat
from longfat.errors import InputError, LongfatError
from longfat_papers.kit.claims import Missing

OUTSIDE = ("<", *(str(Path(place).parent) for place in (__file__, longfat.__file__, traceback.__file__)))
"""How the files of code begin that a paper's files call: imports, the kit, the library, Python's own."""


def where(error: BaseException) -> str:
    """Returns an error and the last line of a paper's file before it: "KeyError: 15 (fig1.py, line 7)"."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(OUTSIDE) and "site-packages" not in frame.filename
    ]
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError) or not frames:
        return text
    return f"{text} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


class StudyError(LongfatError):
    """A function of a paper's files failed, not the run or the disk."""


class MistakeError(StudyError, InputError):
    """A function of a paper's files asks for what there is not."""


@contextmanager
def named(what: str) -> Iterator[None]:
    """Raises `StudyError` with ``what`` for any error in the block; one of Longfat's own keeps its words.

    `Missing` passes, as do the errors of interrupted programs.
    """
    try:
        yield
    except Missing:
        raise
    except LongfatError as error:
        kind = MistakeError if isinstance(error, InputError) else StudyError
        raise kind(f"{what}: {'; '.join(error.lines())}") from error
    except Exception as error:
        raise StudyError(f"{what}: {where(error)}") from error
