"""Drafts: files beside the one that they become, which a killed program leaves behind."""

from __future__ import annotations

import glob
import os
import time
from contextlib import suppress
from pathlib import Path

from longfat import system

ABANDONED_S = 3600.0
"""How long nothing was written to a draft that counts as abandoned; chosen here."""


def draft_of(path: Path) -> Path:
    """Returns the name of this process's draft of a file; it begins with a dot."""
    return path.with_name(f".{path.name}.{system.host()}.{os.getpid()}")


def clear_abandoned(folder: Path) -> None:
    """Removes the drafts that ended processes of this machine left in a folder and below.

    A container may have the name of its machine and numbers of processes of its own, so young drafts stay.
    """
    latest = time.time() - ABANDONED_S
    for path in folder.rglob(f".*.{glob.escape(system.host())}.*"):
        process = path.suffix.removeprefix(".")
        if process.isdecimal() and path.is_file() and not system.is_running(int(process)):
            with suppress(OSError):
                if path.stat().st_mtime < latest:
                    path.unlink()


def clear_all(folder: Path) -> None:
    """Removes all drafts in a folder and below; no other process may write there."""
    for path in folder.rglob(".*"):
        if path.suffix.removeprefix(".").isdecimal() and path.is_file():
            with suppress(OSError):
                path.unlink()
