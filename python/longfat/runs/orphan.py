"""Lets a worker end silently if the command that was starting it has been killed.

Only the server that forks workers imports this, before it forks.
"""

from __future__ import annotations

import sys
from types import TracebackType


def _hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
    # what tasks raise never comes here: this is about a worker that has not yet read what it is to do
    if not issubclass(kind, EOFError):
        sys.__excepthook__(kind, value, trace)


sys.excepthook = _hook
