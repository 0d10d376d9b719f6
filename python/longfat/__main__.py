"""The start of the `longfat` command. It handles Ctrl-C even while the rest is still being imported."""

from __future__ import annotations

import io
import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command and exits with its code."""
    for stream in (sys.stdout, sys.stderr):
        # an encoding that lacks a character of somebody's name ends no run
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        from longfat.cli.app import end_code

        code = end_code()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
