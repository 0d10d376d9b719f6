"""What is running: Longfat's version, its commit, and whether it runs from a checkout or is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from longfat import _core

__version__ = _core.version()

PACKAGE = Path(__file__).resolve().parent
"""The package's folder."""


def checkout() -> Path | None:
    """Returns the root of the checkout that the package runs from, None if it is installed elsewhere.

    A repository that merely contains the environment in which Longfat is installed does not count.
    """
    root = PACKAGE.parent.parent
    return root if (root / "crates" / "python" / "Cargo.toml").is_file() else None


def commit() -> str | None:
    """Returns the commit of Longfat that is running, None if it is unknown.

    In a checkout git knows it; elsewhere it is the commit that the core was built from. "-dirty" after it
    says that tracked files differed from that commit.
    """
    root = checkout()
    return (_checked_out(root) if root is not None else None) or _core.commit()


def _checked_out(root: Path) -> str | None:
    if not (root / ".git").exists():
        return None  # an unpacked source distribution, perhaps within another repository
    describe = ["describe", "--always", "--exclude=*", "--abbrev=40", "--dirty"]
    try:
        answer = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(root), *describe],
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
