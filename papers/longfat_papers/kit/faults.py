"""Mistakes in the functions that a paper's files define, in one line each."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import longfat
from longfat.errors import InputError, LongfatError
from longfat_papers.kit.claims import Missing

OUTSIDE = ("<", *(str(Path(place).parent) for place in (__file__, longfat.__file__, traceback.__file__)))
"""How the files of code begin that a paper's files call: imports, the kit, the library, Python's own."""


def where(error: BaseException, function: Any = None) -> str:
    """Returns an error and the last line of a paper's file before it: "KeyError: 15 (fig1.py, line 7)".

    That line is the first one of ``function`` if the error was found after it had returned.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(OUTSIDE) and "site-packages" not in frame.filename
    ]
    if isinstance(error, LongfatError):
        text = "; ".join(error.lines())
    else:
        text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError | StudyError):  # they have a line already
        return text
    return text + (_line(frames[-1].filename, frames[-1].lineno) if frames else place(function))


def place(function: Any) -> str:
    """Returns where a function of a paper's files begins, such as " (fig1.py, line 7)"; "" if unknown."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return _line(code.co_filename, code.co_firstlineno) if code else ""


def _line(file: str, number: int | None) -> str:
    return f" ({Path(file).name}, line {number})"


class StudyError(LongfatError):
    """A function of a paper's files failed, not the run or the disk."""


class MistakeError(StudyError, InputError):
    """A function of a paper's files asks for what there is not."""


@contextmanager
def named(what: str, function: Any = None) -> Iterator[None]:
    """Raises `StudyError` with ``what`` for any error in the block, which calls ``function``.

    An error of Longfat's own keeps its words. `Missing` passes, as do the errors of interrupted programs.
    """
    try:
        yield
    except Missing:
        raise
    except Exception as error:
        kind = MistakeError if isinstance(error, InputError) else StudyError
        raise kind(f"{what}: {where(error, function)}") from error
