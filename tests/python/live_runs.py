"""What tests of live runs share: what this machine can do, processes, and what they leave behind."""

import contextlib
import ctypes
import os
import shlex
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from longfat.live import doctor, kernel
from longfat.scenario.model import Scenario
from samples import scenario

ROOT = Path(__file__).resolve().parents[2]
LIVE: dict[str, Any] = {
    "bottleneck.rate": "10 Mbit/s",
    "bottleneck.buffer": "100 % BDP",
    "flow": [{"algorithm": "cubic", "rtt": "40 ms"}],
}
PATH = """
[bottleneck]
rate = "20 Mbit/s"
buffer = "100 % BDP"
rtt = "40 ms"
"""
"""A path without flows of its own, for programs."""
SOMEONE = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def live(seconds: float, **more: Any) -> Scenario:
    return scenario(LIVE | more, duration=f"{seconds} s")


def skip(reason: str) -> NoReturn:
    """Skips a test, or fails it if LONGFAT_LIVE = require says that live tests have to run."""
    if os.environ.get("LONGFAT_LIVE") == "require":
        pytest.fail(f"LONGFAT_LIVE=require, but: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def able() -> None:
    """This machine can run the kernel's own algorithms live."""
    for item in doctor.examine():
        if item["needed"] and not item["ok"]:
            skip(f"{item['name']}: {item['found']}")


@pytest.fixture(scope="session")
def able_to_load(able: None) -> None:
    """It can also load Longfat's own algorithms into the kernel."""
    for item in doctor.examine():
        if item["name"] in ("algorithm ltcp", "algorithm htcp") and not item["ok"]:
            skip(f"{item['name']}: {item['found']}; {item['remedy']}")


@pytest.fixture
def as_root(able: None) -> None:
    """The test may become another user and mount things in its own namespace."""
    if os.geteuid() != 0 or not shutil.which("setpriv") or not shutil.which("unshare"):
        skip("needs root, and util-linux")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    return file


def shell(file: Path, *more: object) -> list[str]:
    return [sys.executable, "-m", "longfat", "shell", str(file), *map(str, more)]


def needs(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            skip(f"{program} is missing")


def command(file: Path, *more: object) -> list[str]:
    return [sys.executable, "-m", "longfat", "run", str(file), "--backend", "live", *map(str, more)]


def elsewhere(
    mounts: list[str], what: list[str], *flags: str, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Runs a command after shell commands, mostly mounts, in a mount namespace of its own."""
    script = " && ".join([*mounts, f"exec {shlex.join(what)}"])
    return subprocess.run(
        ["unshare", "--mount", *flags, "sh", "-c", script],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        **options,
    )


def emptied(folder: str | Path) -> str:
    """Returns the shell command that hides what a folder holds."""
    return f"mount -t tmpfs -o mode=755 none {shlex.quote(str(folder))}"


def opened_to_others(stage: Path) -> list[str]:
    """Returns shell commands that let every user read Python and this repository, wherever they lie."""
    needed = {Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent, ROOT}
    hidden: dict[Path, list[Path]] = {}
    for path in sorted(needed):
        for parent in reversed(path.parents):
            if not parent.stat().st_mode & 0o001:
                hidden.setdefault(parent, []).append(path)
                break
    commands = []
    for i, (folder, paths) in enumerate(hidden.items()):
        kept = stage / str(i)
        kept.mkdir(parents=True)
        commands += [f"mount --rbind {folder} {kept}", emptied(folder)]
        for path in paths:
            commands += [f"mkdir -p {path}", f"mount --bind {kept / path.relative_to(folder)} {path}"]
    return commands


@contextlib.contextmanager
def reached_by_others(folder: Path) -> Iterator[None]:
    """Every user may enter a folder of a test, which pytest keeps from others together with its parents."""
    modes = {each: each.stat().st_mode for each in (folder, *folder.parents)}
    closed = {each: mode for each, mode in modes.items() if not mode & 0o001}
    for each, mode in closed.items():
        each.chmod(mode | 0o055)
    try:
        yield
    finally:
        for each, mode in closed.items():
            each.chmod(mode)


def processes(of: str) -> list[Path]:
    """Returns the processes in /proc with this text in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # the process has ended
            if of.encode() in (entry / "cmdline").read_bytes():
                found.append(entry)
    return found


def namespaces(process: Path) -> dict[str, Path]:
    """Returns the network namespaces that a process is in or holds open, with a link to each."""
    links = [process / "ns" / "net"]
    with contextlib.suppress(OSError):
        links += list((process / "fd").iterdir())
    found = {}
    for link in links:
        with contextlib.suppress(OSError):
            found[os.readlink(link)] = link
    return {target: link for target, link in found.items() if target.startswith("net:")}


def begun(own: int) -> Path:
    """Returns the worker that process `own` started, once it has both namespaces and is running."""
    for _ in range(200):
        found = [each for each in processes("longfat.live.worker") if _is_of(each, own)]
        if found and len(namespaces(found[0])) >= 2:
            time.sleep(0.7)
            return found[0]
        time.sleep(0.05)
    return pytest.fail("no worker was seen with two namespaces")


def _is_of(worker: Path, own: int) -> bool:
    with contextlib.suppress(OSError):
        return f"\0{own}\0" in (worker / "cmdline").read_text()
    return False


class Left:
    """What a run holds, recorded while it runs, to see later what is left of it."""

    def __init__(self, worker: Path) -> None:
        own = namespaces(Path("/proc/self"))
        spaces = {name: link for name, link in namespaces(worker).items() if name not in own}
        self.worker = worker
        self.names = set(spaces)
        self.handles = [_Handle.of(link) for link in spaces.values()]

    def __call__(self) -> list[str]:
        """Returns what is left now."""
        spaces = {space for entry in Path("/proc").glob("[0-9]*") for space in namespaces(entry)}
        mounted = Path("/proc/self/mountinfo").read_text()
        left = [f"process {self.worker.name}"] if self.worker.exists() else []
        left += [f"a process in {name}" for name in self.names & spaces]
        left += [f"a mount of {name}" for name in self.names if name in mounted]
        return left + [
            "a namespace that something in the kernel holds" for each in self.handles if each.is_there()
        ]

    def in_a_while(self, seconds: float = 10.0) -> list[str]:
        """Returns what is left after the kernel has cleaned up, which takes about 2 s for algorithms."""
        end = time.monotonic() + seconds
        while (left := self()) and time.monotonic() < end:
            time.sleep(0.05)
        return left


class _Handle(ctypes.Structure):
    """A handle of name_to_handle_at(2), which finds a namespace as long as anything, even a socket, holds it.

    Linux supports these handles for namespaces since 6.18; before that, none is found.
    """

    _fields_ = (("size", ctypes.c_uint), ("kind", ctypes.c_int), ("data", ctypes.c_ubyte * 128))

    @classmethod
    def of(cls, link: Path) -> "_Handle":
        handle = cls(size=128)
        descriptor = os.open(link, os.O_RDONLY)
        at_empty_path, mount = 0x1000, ctypes.c_int()
        kernel = ctypes.CDLL(None)
        if kernel.name_to_handle_at(
            descriptor, b"", ctypes.byref(handle), ctypes.byref(mount), at_empty_path
        ):
            handle.size = 0
        os.close(descriptor)
        return handle

    def is_there(self) -> bool:
        if not self.size:
            return False
        descriptor = os.open("/proc/self/ns/net", os.O_RDONLY)
        found = ctypes.CDLL(None).open_by_handle_at(descriptor, ctypes.byref(self), os.O_RDONLY)
        os.close(descriptor)
        if found >= 0:
            os.close(found)
        return bool(found >= 0)


@contextlib.contextmanager
def started(what: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive the test."""
    with subprocess.Popen(what, text=True, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def own_algorithms(name: str) -> set[str]:
    """Names under which Longfat's own algorithm is in the kernel now."""
    return {each for each in kernel.available() if each.startswith(name[:12])}


def tun_for_all(folder: Path) -> list[str]:
    """Returns the commands that give /dev/net/tun the permissions that most systems give it."""
    return _tun(folder, 0o666)


def tun_for_root(folder: Path) -> list[str]:
    """Returns the commands that give /dev/net/tun to root alone."""
    return _tun(folder, 0o600)


def _tun(folder: Path, mode: int) -> list[str]:
    node = folder / "tun"
    os.mknod(node, 0o600 | stat.S_IFCHR, os.makedev(10, 200))
    node.chmod(mode)
    return [f"mount --bind {node} /dev/net/tun"]
