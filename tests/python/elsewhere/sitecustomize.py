"""Makes Python look as if it ran on another system; Python imports this at its start from PYTHONPATH.

LONGFAT_TEST_SYSTEM = "unix" takes away what Linux alone has, and limits memory as macOS does. "windows" also
takes away what only Unix has: modules are hidden, functions and flags are deleted, folders cannot be opened,
and what Longfat asks Windows for answers.
"""

import builtins
import ctypes
import multiprocessing.util  # noqa: F401 - it and the next ones need what is deleted below
import os
import platform
import resource
import signal
import stat
import subprocess  # noqa: F401
import sys
import sysconfig
import tempfile  # noqa: F401
import types
from pathlib import Path

HIDDEN = {"fcntl", "grp", "pwd", "resource", "termios", "tty"}
POSIX_ONLY = {
    os: (
        "O_CLOEXEC",
        "O_DIRECTORY",
        "O_NOFOLLOW",
        "O_NONBLOCK",
        "geteuid",
        "getpgrp",
        "sysconf",
        "tcgetpgrp",
    ),
    signal: ("ITIMER_REAL", "SIGALRM", "SIGQUIT", "SIGTTOU", "setitimer"),
}
MEMORY_BYTES = 1 << 33

windows = os.environ["LONGFAT_TEST_SYSTEM"] == "windows"
sysconfig.get_config_vars()  # reads a file that has the name of the platform
sys.platform = "elsewhere"
platform.system = lambda: "Elsewhere"
del os.sched_getaffinity, os.waitid, os.O_PATH


def _imported(name, *arguments, imports=builtins.__import__, **keywords):
    if name in HIDDEN:
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("longfat"):
            raise ImportError(f"No module named {name!r}")
    return imports(name, *arguments, **keywords)


def _opened(path, flags, *arguments, opens=os.open, **keywords):
    if stat.S_ISDIR(os.stat(path).st_mode) if os.path.exists(path) else False:
        raise PermissionError(13, "Permission denied", os.fspath(path))
    return opens(path, flags, *arguments, **keywords)


def _synchronized(descriptor, fsyncs=os.fsync):
    import fcntl

    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(9, "Bad file descriptor")
    fsyncs(descriptor)


def _locked(descriptor, mode, size):
    import fcntl

    assert (mode, size) == (2, 1)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise PermissionError(13, "Permission denied") from None


def _limited(which, limits, sets=resource.setrlimit):
    if which == resource.RLIMIT_DATA:  # macOS refuses one below what the process has mapped
        raise ValueError("current limit exceeds maximum limit")
    sets(which, limits)


def _read(path, *arguments, reads=Path.read_text, **keywords):
    if path.is_relative_to("/proc"):
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    return reads(path, *arguments, **keywords)


def _filled(status):
    size = int.from_bytes(status[:4], "little")
    assert size == 64
    status[8:24] = MEMORY_BYTES.to_bytes(8, "little") + (MEMORY_BYTES // 2).to_bytes(8, "little")
    return 1


Path.read_text = _read
resource.setrlimit = _limited
if windows:
    builtins.__import__ = _imported
    # shutil removes folders by their descriptors where it can
    sys.modules["shutil"]._use_fd_functions = False
    os.open, os.fsync = _opened, _synchronized
    sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=_locked)
    ctypes.windll = types.SimpleNamespace(kernel32=types.SimpleNamespace(GlobalMemoryStatusEx=_filled))
    for module, names in POSIX_ONLY.items():
        for name in names:
            delattr(module, name)
