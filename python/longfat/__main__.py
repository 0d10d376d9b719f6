"""The start of the `longfat` command. It handles Ctrl-C even while the rest is still being imported."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """Runs the command and exits with its code."""
    try:
        from longfat.cli.app import end_code

        code = end_code()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
