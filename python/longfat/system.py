"""What the operating system offers; nothing else in the package asks which one it is.

Linux has everything, macOS and Windows have no live runs, and Windows lacks some of the rest.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

try:
    import fcntl
    import resource

    POSIX = True
except ImportError:
    POSIX = False

LINUX = sys.platform == "linux"
NAMES = {"Darwin": "macOS"}
"""Names of systems that users know by another name."""
MOST_WORKERS = sys.maxsize if POSIX else 61
"""The most workers that a process can wait for: Windows waits for 64 objects (MAXIMUM_WAIT_OBJECTS),
and Python's `concurrent.futures.process` leaves three of them for other things."""
MEMORY = Path("/proc/meminfo")
BINARY = getattr(os, "O_BINARY", 0)
NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Flags of `os.open`; 0 where a system has none."""


def name() -> str:
    """Returns what users call this system, such as "macOS"."""
    return NAMES.get(platform.system(), platform.system())


def host() -> str:
    """Returns this machine's name in its network."""
    return platform.node()


def no_live() -> str:
    """Returns why nothing can run live here, "" if this system and this build of Longfat have live runs."""
    from longfat import _core

    if not LINUX:
        return f"live runs need Linux, and this is {name()}"
    return "" if _core.LIVE else "this build of Longfat has no live runs"


def cores() -> int:
    """Returns the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return min(os.cpu_count() or 1, MOST_WORKERS)


def memory_bytes() -> tuple[float, float]:
    """Returns the machine's memory and how much is free, bytes; both are the same where unknown (macOS)."""
    if not POSIX:
        return _memory_of_windows()
    whole = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # there is no such file on macOS
        for line in MEMORY.read_text(encoding="ascii").splitlines():
            key, _, amount = line.partition(":")
            if key == "MemAvailable":
                return whole, 1024.0 * int(amount.removesuffix("kB"))
    return whole, whole


def _memory_of_windows() -> tuple[float, float]:
    import struct

    form = "=IIQQ40x"  # MEMORYSTATUSEX of sysinfoapi.h: its size, the load, all memory, free memory, and more
    ctypes: Any = import_module("ctypes")
    status = ctypes.create_string_buffer(struct.pack(form, struct.calcsize(form), 0, 0, 0))
    ctypes.windll.kernel32.GlobalMemoryStatusEx(status)
    _, _, whole, free = struct.unpack_from(form, status)
    return float(whole), float(free)


def limit_memory(most_bytes: int) -> None:
    """Limits what this process can allocate, or keeps the limit of its shell or service if that is less.

    Only on Linux: macOS refuses a limit below what a process has mapped, and Windows has none.
    """
    if LINUX:
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        least = most_bytes if most == resource.RLIM_INFINITY else min(most_bytes, most)
        resource.setrlimit(resource.RLIMIT_DATA, (least, least))


def allow_open_files() -> int:
    """Raises the limit of open files as far as this process may, and returns it."""
    if not POSIX:
        return sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        if soft != hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS has a further limit, below an unlimited one
        return soft
    return hard if hard != resource.RLIM_INFINITY else sys.maxsize


def open_to_lock(path: Path, *, is_file: bool = False) -> int:
    """Opens a folder, or a file for writing, for `lock`. Raises OSError if it cannot be opened or is a link.

    Windows opens no folders: a file in its folder for temporary files stands for this one.
    """
    if POSIX:
        flags = os.O_RDWR if is_file else os.O_RDONLY | os.O_DIRECTORY
        return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    import hashlib
    import tempfile

    path.stat()  # one that is missing is an error
    folder = Path(tempfile.gettempdir()) / "longfat-locks"
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256(os.path.normcase(path.resolve()).encode()).hexdigest()
    return os.open(folder / digest, os.O_RDWR | os.O_CREAT | BINARY)


def lock(descriptor: int) -> None:
    """Keeps others from locking what `open_to_lock` opened until it is closed; closes it where that fails.

    Raises:
        BlockingIOError: another process holds it.
        OSError: it lies where there are no locks.
    """
    try:
        if POSIX:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            msvcrt: Any = import_module("msvcrt")
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, PermissionError):  # the answer of Windows and of some network file systems
            raise BlockingIOError(error.errno, error.strerror) from None
        raise


def synchronize(path: Path) -> None:
    """Returns when a file's bytes, or the names in a folder, are on the disk. Raises OSError.

    Windows, which opens no folders, writes their names in its own time.
    """
    if not POSIX and path.is_dir():
        return
    opened = os.open(path, os.O_RDONLY if POSIX else os.O_RDWR)  # Windows synchronizes what may be written
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def on_alarm(handler: Callable[..., None]) -> None:
    """Sets what `alarm` calls; there are no alarms on Windows."""
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, handler)


def alarm(every_s: float) -> None:
    """Calls the handler of `on_alarm` again and again; 0 ends that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, every_s, every_s)


def is_running(process: int) -> bool:
    """Whether a process with this number may be running; True where that cannot be asked."""
    if not POSIX:  # a signal of 0 is Ctrl-C there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or no number of a process
        return True
    return True
