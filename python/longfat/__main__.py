"""The start of the `longfat` command. It handles Ctrl-C even while the rest is still being imported.

A signal to end (SIGTERM) does what Ctrl-C does: what has finished is kept, and drafts vanish.
"""

from __future__ import annotations

import atexit
import io
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

from longfat import system

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
AGAIN_S = 0.1
"""How soon Ctrl-C is raised again if it got lost."""


def main() -> None:
    """Runs the command and exits with its code."""
    received = code = 0

    def leave() -> None:
        # `python -m` would die of SIGINT if a signal came while a text was executed, as dataclasses do
        if received:
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):
                    stream.flush()
            os._exit(code)

    atexit.register(leave)  # what registers later leaves earlier

    def interrupt(number: int, _: object) -> NoReturn:
        nonlocal received
        received = number
        system.alarm(AGAIN_S)
        raise KeyboardInterrupt

    def again(*_: object) -> None:
        if not _is_heard(sys.exc_info()[1]):
            raise KeyboardInterrupt  # some modules drop all exceptions while they are imported

    def ignored(dropped: sys.UnraisableHookArgs) -> None:
        # Python drops exceptions of finalizers and callbacks; this one will be raised again
        if not (received and isinstance(dropped.exc_value, KeyboardInterrupt)):
            sys.__unraisablehook__(dropped)

    sys.unraisablehook = ignored
    try:
        system.on_alarm(again)
        # not where it is ignored, as behind a shell's &
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, interrupt)
        signal.signal(signal.SIGTERM, interrupt)
        for stream in (sys.stdout, sys.stderr):
            # an encoding that lacks a character of somebody's name ends no run
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        # numpy would start a thread for each processor, for linear algebra that no command does
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from longfat.cli.app import end_code

        code = end_code()
    except (KeyboardInterrupt, Exception):
        if not received:
            raise
        # libraries make other exceptions of a KeyboardInterrupt
        system.alarm(0.0)
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    system.alarm(0.0)
    for number in (signal.SIGINT, signal.SIGTERM):
        # everything is done and said; while Python takes itself down it would die of a signal instead
        signal.signal(number, signal.SIG_IGN)
    if received == signal.SIGTERM and code == INTERRUPTED:
        code = TERMINATED
    sys.exit(code)


def _is_heard(handled: BaseException | None) -> bool:
    """Whether what is being handled is Ctrl-C, or came of it."""
    while handled is not None and not isinstance(handled, KeyboardInterrupt):
        handled = handled.__context__
    return handled is not None


if __name__ == "__main__":
    main()
