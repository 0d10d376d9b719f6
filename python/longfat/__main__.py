"""Where the `longfat` command begins: Ctrl-C is heard from here on, also while the rest is still imported."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> None:
    """The one way in and out."""
    try:
        from longfat.cli.app import end_code

        code = end_code()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = INTERRUPTED
    sys.exit(code)


if __name__ == "__main__":
    main()
