"""User-mode Linux as a laboratory instrument: what it needs, how to start it, how to end it for sure."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODULES = Path("/usr/lib/uml/modules")
"""Where Debian's package user-mode-linux keeps the modules."""
START = "begin-virtual-time"
"""The name that clock.c waits for."""
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
"""From linux/prctl.h."""
MEMORY = "256M"
TOOLS = {
    "linux.uml": "user-mode-linux",
    "ip": "iproute2",
    "tc": "iproute2",
    "cc": "gcc",
}
"""Programs that are needed, each with its Debian package."""


class MachineError(Exception):
    """The reference cannot be measured; the message is one line."""


@dataclass(frozen=True)
class Parts:
    """The parts of a machine."""

    kernel: str
    release: str
    clock: Path
    program: str
    modules: Path

    def module_files(self, name: str) -> list[str]:
        """Returns the files to load for a module, dependencies first; none if it is built in."""
        dependencies = {}
        for line in (self.modules / "modules.dep").read_text().splitlines():
            file, _, needed = line.partition(":")
            dependencies[Path(file).stem] = [*reversed(needed.split()), file]
        built_in = {Path(line).stem for line in (self.modules / "modules.builtin").read_text().splitlines()}
        if name in built_in:
            return []
        if name not in dependencies:
            raise MachineError(f"the kernel {self.release} of user-mode Linux has no module {name}")
        return [str(self.modules / file) for file in dependencies[name]]


def parts(folder: Path) -> Parts:
    """Looks for everything that is needed, and builds the clock in `folder`.

    Raises:
        MachineError: something is missing; the message says how to get it on Debian. Nothing is installed.
    """
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    found = {tool: shutil.which(tool, path=path) for tool in TOOLS}
    missing = [tool for tool, place in found.items() if place is None]
    if missing:
        packages = " ".join(dict.fromkeys(TOOLS[tool] for tool in missing))
        raise MachineError(f"missing: {', '.join(missing)}; on Debian: apt install {packages}")
    kernel = str(found["linux.uml"])
    release = subprocess.run([kernel, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if not (MODULES / release).is_dir():
        raise MachineError(f"missing: {MODULES / release}; on Debian: apt install user-mode-linux")
    clock = folder / "clock.so"
    command = [str(found["cc"]), "-O2", "-Wall", "-shared", "-fPIC", "-o", str(clock), str(HERE / "clock.c")]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        raise MachineError(f"{HERE.name}/clock.c does not build: {built.stderr.strip().splitlines()[-1]}")
    return Parts(kernel, release, clock, os.path.realpath(sys.executable), MODULES / release)


class Machine:
    """One guest that works on one plan in its own folder."""

    def __init__(
        self, parts: Parts, folder: Path, sockets: str, plan: dict[str, Any], limit_s: float
    ) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / START).touch()
        (folder / "plan.json").write_text(json.dumps(plan, indent=1) + "\n")
        self.folder = folder
        self.begun = time.monotonic()
        self.limit_s = limit_s
        command = [
            parts.kernel,
            *(f"mem={MEMORY}", "rootfstype=hostfs", "rootflags=/", "ro", f"init={parts.program}"),
            *("con=null", "con0=null,fd:1", f"uml_dir={sockets}/", f"umid={folder.name}"),
            *("--", "-I", "-S", str(HERE / "guest.py"), str(folder)),
        ]
        with (folder / "console.txt").open("wb") as console:
            # its own session: only the guest's processes belong to it
            self.process = subprocess.Popen(
                command,
                env={**os.environ, "LD_PRELOAD": str(parts.clock)},
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def is_done(self) -> bool:
        """Whether the guest has ended; raises MachineError if it takes too long."""
        if time.monotonic() - self.begun > self.limit_s:
            raise MachineError(f"{self.folder.name}: still at work after {self.limit_s:g} s")
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def end(self) -> None:
        """Kills its processes; the session stays its own until its leader has been waited for."""
        os.kill(self.process.pid, signal.SIGKILL)
        while others := _session(self.process.pid):
            for pid in others:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):  # not an orphan yet
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)
        self.process.wait()

    def check(self) -> None:
        """Raises what the guest printed unless it did its work."""
        if not (self.folder / "done").exists():
            lines = (self.folder / "console.txt").read_text(errors="replace").splitlines()
            said = [line for line in lines if line.startswith("guest:")] or lines or ["it said nothing"]
            raise MachineError(f"{self.folder.name}: the guest failed: {said[0].strip()}")


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _die_with_parent() -> None:
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _session(leader: int) -> list[int]:
    """Returns the other processes of its session, zombies included."""
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != leader:
            with contextlib.suppress(OSError):
                # after the name, which may contain anything and ends at the last parenthesis
                _, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader:
                    members.append(int(entry.name))
    return members


def run_all(
    parts: Parts, plans: dict[str, dict[str, Any]], folder: Path, jobs: int, limit_s: float
) -> dict[str, Path]:
    """Runs each plan, `jobs` at a time, and returns the folders of their files. No guest outlives this call.

    Raises:
        MachineError: a guest failed or took longer than `limit_s` of real time.
    """
    _prctl(PR_SET_CHILD_SUBREAPER, 1)  # orphans of a machine can be waited for
    waiting = list(plans)
    running: dict[str, Machine] = {}
    with tempfile.TemporaryDirectory(prefix="longfat-") as sockets:  # sockets need short paths
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    name = waiting.pop(0)
                    running[name] = Machine(parts, folder / name, sockets, plans[name], limit_s)
                time.sleep(0.05)
                for name, machine in list(running.items()):
                    if machine.is_done():
                        machine.end()
                        del running[name]
                        machine.check()
        finally:
            for machine in running.values():
                machine.end()
            _prctl(PR_SET_CHILD_SUBREAPER, 0)
    return {name: folder / name for name in plans}
