"""Programs on the path of a live run: what runs at which side, as whom, and with which terminal."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longfat.errors import InputError
from longfat.live import refuse_elsewhere
from longfat.live.outside import HOST, Forwarder
from longfat.scenario.model import Part, Scenario

SIDES = ("a", "b")
ADDRESSES = ("198.18.1.1", "198.18.1.2")
"""The addresses of programs at both sides, as in `crates/live/src/namespace.rs`."""
ADDRESSES_6 = ("2001:2:0:1::1", "2001:2:0:1::2")
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""What shells return for a command that is not there, and for a file that cannot be executed."""
ROOT = "root"
COMMAND, PEER = "command", "peer"
"""The names in results of what `longfat shell` runs at side A and at side B."""


@dataclass(frozen=True)
class Front:
    """The program in front: it has the terminal, and the run lasts as long as it does.

    Attributes:
        name: the program of the scenario that it is.
        streams: the standard input, output and error that it gets.
        group: the process group in the terminal's foreground.
        environment: further variables for it.
    """

    name: str
    streams: tuple[int, int, int]
    group: int
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class User:
    """Whom programs run as, where this is not the user of this process."""

    name: str
    number: int
    group: int
    groups: tuple[int, ...]
    home: str
    shell: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables that name the user."""
        return {"USER": self.name, "LOGNAME": self.name, "HOME": self.home, "SHELL": self.shell}


def user(asked: str | None = None) -> User | None:
    """Returns whom programs run as: `asked`, else who called sudo; None for the user of this process.

    Raises:
        InputError: there is no such user, this process may not become another one, or nothing runs live here.
    """
    refuse_elsewhere()
    import pwd

    if asked is not None and os.geteuid() != 0:
        raise InputError(f"--user {asked}: it needs root; accepted without root: leave it out")
    if asked == ROOT or os.geteuid() != 0:
        return None
    caller = os.environ.get("SUDO_UID", "")
    try:
        if asked is not None:
            found = pwd.getpwnam(asked)
        elif caller.isdecimal() and int(caller) != 0:
            found = pwd.getpwuid(int(caller))
        else:
            return None
    except KeyError:
        told = f"--user {asked}" if asked is not None else f"SUDO_UID = {caller}"
        raise InputError(f'{told}: there is no such user; accepted: a user\'s name, or "{ROOT}"') from None
    groups = tuple(os.getgrouplist(found.pw_name, found.pw_gid))
    return User(found.pw_name, found.pw_uid, found.pw_gid, groups, found.pw_dir, found.pw_shell or "/bin/sh")


def request(
    scenario: Scenario, as_user: User | None, front: Front | None, outside: Forwarder | None
) -> dict[str, Any] | None:
    """Returns what the core has to know of a scenario's programs; None if it has none."""
    if not scenario.program:
        return None
    network = scenario.network()
    named = zip(scenario.program, scenario.program_names(), strict=True)
    return {
        "rtt_s": network.program_rtt_s,
        "access_bps": network.access_bps,
        "user": as_user and (as_user.number, as_user.group, as_user.groups),
        "streams": front and front.streams,
        "group": front and front.group,
        "outside": outside and outside.request,
        "programs": [_program(program, name, as_user, front, outside is not None) for program, name in named],
    }


def _program(
    program: Part, name: str, as_user: User | None, front: Front | None, outside: bool
) -> dict[str, Any]:
    side = SIDES.index(program.side)
    in_front = front is not None and front.name == name
    environment = {
        **os.environ,
        **(as_user.environment if as_user else {}),
        "LONGFAT_SIDE": program.side,
        "LONGFAT_PEER": ADDRESSES[1 - side],
        "LONGFAT_PEER6": ADDRESSES_6[1 - side],
        **({"LONGFAT_HOST": HOST} if outside else {}),
        **dict(program.environment),
        **(front.environment if front and in_front else {}),
    }
    return {
        "name": name,
        "told_as": "the peer command" if front and name == PEER else f"program {name}",
        "command": command(program),
        "environment": environment,
        "side": side,
        "in_front": in_front,
        "start_s": program.start,
        "stop_s": program.stop,
        "ends_run": in_front,
        "awaits_peer": in_front,
    }


def command(program: Part) -> list[str]:
    """Returns the words of a program's command, with the peer's addresses filled in."""
    other = 1 - SIDES.index(program.side)

    def filled(text: str) -> str:
        return text.replace("{peer}", ADDRESSES[other]).replace("{peer6}", ADDRESSES_6[other])

    if isinstance(program.command, str):
        return ["/bin/sh", "-c", filled(program.command)]
    return [filled(word) for word in program.command]


def unusable(words: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str] | None:
    """Returns the exit code and the line of a command that cannot be executed; None if it can."""
    name = words[0]
    if shutil.which(name, path=environment.get("PATH")) is not None:
        return None
    if "/" in name and os.path.exists(name):
        why = "is a folder" if os.path.isdir(name) else "permission denied"
        return NOT_EXECUTABLE, f"{name}: {why}"
    return NOT_FOUND, f"{name}: command not found"


def failures(summary: Mapping[str, Any]) -> list[str]:
    """Returns a line for each program that has ended with an error: its exit code and its last words."""
    lines = []
    for program in summary.get("programs", ()):
        if program["exit_code"]:
            words = program["output"].strip().splitlines()[-1:]
            lines.append(
                f"program {program['name']} ended with exit code {program['exit_code']}"
                + (f": {words[0]}" if words else "")
            )
    return lines
