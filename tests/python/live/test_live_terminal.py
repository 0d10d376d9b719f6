"""`longfat shell` on a terminal: job control, Ctrl-C and Ctrl-Z."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from live_runs import able, needs, path, processes, shell

__all__ = ["able", "path"]


class _Terminal:
    """A program on a terminal of its own."""

    def __init__(self, what: list[str], **environment: str) -> None:
        self.process, self.master = pty.fork()
        if self.process == 0:
            os.execvpe(what[0], what, {**os.environ, "TERM": "dumb", **environment})
        self.seen = ""

    def until(self, text: str, seconds: float = 15.0) -> str:
        """Waits for a text, and returns what came up to it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            ready = select.select([self.master], [], [], max(left, 0.0))[0]
            assert ready, f"{text!r} did not come: {self.seen!r}"
            try:
                self.seen += os.read(self.master, 4096).decode(errors="replace")
            except OSError:
                pytest.fail(f"{text!r} did not come before the end: {self.seen!r}")
        before, _, self.seen = self.seen.partition(text)
        return before

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def ended(self) -> int:
        with contextlib.suppress(OSError):
            while os.read(self.master, 4096):
                pass
        return os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])


@pytest.fixture
def bash(path: Path) -> Iterator[_Terminal]:
    needs("bash")
    # a shell within which longfat is a job, as on a user's terminal
    terminal = _Terminal(["bash", "--norc", "-i"], PS1="outer> ", SHELL=shutil.which("bash") or "")
    terminal.until("outer> ")
    yield terminal
    os.close(terminal.master)
    with contextlib.suppress(ProcessLookupError, ChildProcessError):
        os.kill(terminal.process, signal.SIGKILL)
        os.waitpid(terminal.process, 0)


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_an_interactive_shell_has_the_terminal_with_job_control_and_gives_it_back(
    bash: _Terminal, path: Path
) -> None:
    bash.type(" ".join(shell(path)) + "\n")
    bash.until("[20 Mbit/s x 40 ms] ")
    bash.type("sleep 77 &\n")
    bash.until("[1]")
    bash.type("fg\n")
    bash.until("sleep 77")
    time.sleep(0.3)
    bash.type("\x1a")  # Ctrl-Z stops the job, and not longfat
    bash.until("Stopped")
    bash.type("bg; sleep 88\n")
    time.sleep(0.5)
    bash.type("\x03")  # Ctrl-C is for the job in front
    bash.type("jobs; echo side=$LONGFAT_SIDE peer=$LONGFAT_PEER\n")
    bash.until("Running")
    bash.until("side=a peer=198.18.1.2")
    bash.type("exit 5\n")
    bash.until("longfat: a to b:")
    bash.until("outer> ")
    bash.type("echo code=$?; stty -a | head -c 1; exit 9\n")
    bash.until("code=5")
    assert bash.ended() == 9
    assert not processes("sleep\x0077")


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_ctrl_c_ends_the_command_and_longfat_still_tells_what_happened(bash: _Terminal, path: Path) -> None:
    bash.type(" ".join(shell(path, "--", "sh", "-c", "'echo begun; sleep 99'")) + "\n")
    bash.until("begun\r")
    time.sleep(0.2)
    bash.type("\x03")
    bash.until("longfat: a to b:")
    bash.until("outer> ")
    bash.type("echo code=$?\n")
    bash.until("code=130")
    assert not processes("sleep\x0099")


@pytest.mark.live
@pytest.mark.usefixtures("able")
def test_ctrl_z_stops_longfat_with_its_command_until_both_go_on(bash: _Terminal, path: Path) -> None:
    bash.type(" ".join(shell(path, "--", "sh", "-c", "'echo begun; sleep 2; echo over'")) + "\n")
    bash.until("begun\r")
    time.sleep(0.2)
    bash.type("\x1a")
    bash.until("Stopped")
    bash.until("outer> ")
    bash.type("fg\n")
    bash.until("over\r")
    bash.until("longfat: a to b:")
    bash.until("outer> ")
