"""Decides whether a script is about what the model has: a sender's data segments, their times, its window."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

from language import Call, Code, Command, Event, Packet, Script
from sender import Profile
from statements import CodeError, fields

FIELDS = frozenset(
    f"tcpi_{name}"
    for name in (
        "backoff",
        "ca_state",
        "lost",
        "min_rtt",
        "retrans",
        "rtt",
        "rttvar",
        "sacked",
        "snd_cwnd",
        "snd_mss",
        "snd_ssthresh",
        "total_retrans",
        "unacked",
    )
)
"""The fields of `tcp_info` that the model has."""
DEFAULT_MSS_BYTES = 536
"""RFC 9293, section 3.7.1: without the option, over IPv4."""
STAMP_BYTES = 12
"""A header's timestamps, padded."""
ALGORITHMS = ("cubic", "reno")

_QUIET_CALLS = {"accept", "bind", "close", "connect", "fcntl", "getsockopt", "listen", "read", "recv"}
_QUIET_CALLS |= {"shutdown", "socket"}
_QUIET_OPTIONS = re.compile(
    r"SO_REUSEADDR|SO_SNDBUF|SO_RCVBUF|TCP_NODELAY|IP_TOS|IP_MTU_DISCOVER|TCP_MAXSEG|TCP_CONGESTION"
)
_QUIET_COMMANDS = re.compile(
    r"\S*defaults\.sh$|/tmp/sysctl_restore_|ethtool |ip tcp_metrics |echo 3 > \S*hystart_detect$"
)
_SYSCTL = re.compile(r"(?:net[./]ipv4[./])(?P<name>\w+)\s*=\s*(?P<value>\"[^\"]*\"|\S+)")
_FIXED = {
    "tcp_recovery": "1",
    "tcp_reordering": "3",
    "tcp_sack": "1",
    "tcp_frto": "2",
    "tcp_slow_start_after_idle": "0",
}
"""Sysctls that change a sender, with the values that the model stands for: those of the scripts' defaults."""
_QUIET_SYSCTLS = {
    "tcp_base_mss",
    "tcp_congestion_control",
    "tcp_early_retrans",  # scripts turn probes off against flakes
    "tcp_ecn",
    "tcp_min_tso_segs",
    "tcp_notsent_lowat",
    "tcp_pacing_ca_ratio",
    "tcp_pacing_ss_ratio",
    "tcp_rmem",
    "tcp_timestamps",
    "tcp_tso_win_divisor",
    "tcp_wmem",
}


class NotApplicableError(Exception):
    """What the script tests that the model has not."""


@dataclass(frozen=True)
class Handshake:
    """The first packets of a connection, by their positions among the events."""

    opens: int
    """The packet that leaves: the request, or the answer to one."""
    opened: int
    """The packet that answers it."""
    shift: int
    """By how many bits the peer's windows are shifted."""
    profile: Profile


def handshake(script: Script) -> Handshake:
    """Returns how the script opens its connection. NotApplicableError names what else it is about."""
    _look_at_packets(script)
    algorithm = "cubic"
    for event in script.events:
        match event.what:
            case Call() as call:
                algorithm = _look_at_call(call) or algorithm
            case Command() as command:
                algorithm = _look_at_command(command, script) or algorithm
            case Packet() | Code():
                pass
    if not _states_something(script):
        raise NotApplicableError("states nothing of a sender's data segments or its window")
    return _opening(script, algorithm)


def is_data(event: Event) -> bool:
    """Whether an event is a data segment that leaves."""
    packet = event.what
    return isinstance(packet, Packet) and not packet.inbound and packet.length > 0


def _states_something(script: Script) -> bool:
    stated: set[str] = set()
    for event in script.events:
        if isinstance(event.what, Code):
            try:
                stated |= fields(event.what.text)
            except CodeError as error:
                raise NotApplicableError(f"Python that is not understood: {error}") from error
    return bool(stated & FIELDS) or any(map(is_data, script.events))


def _look_at_packets(script: Script) -> None:
    for event in script.events:
        packet = event.what
        if not isinstance(packet, Packet):
            continue
        for option in packet.options.others:
            what = {"FO": "TCP Fast Open", "FOEXP": "TCP Fast Open", "md5": "MD5 signatures"}.get(option)
            if what or option != "...":
                raise NotApplicableError(what or f"the TCP option {option}")
        if "S" in packet.flags and packet.length:
            raise NotApplicableError("data in a SYN")
        if "R" in packet.flags:
            raise NotApplicableError("resets")
        if packet.inbound and packet.window == 0 and "S" not in packet.flags:
            raise NotApplicableError("probes of a zero window")


def _look_at_call(call: Call) -> str | None:
    """Returns the congestion control that the call asks for."""
    if call.name in ("write", "send", "sendto"):
        if call.name != "write" and not re.search(r",\s*0(?:,|$)", call.arguments):
            raise NotApplicableError(f"flags of {call.name}: {call.arguments.rpartition(',')[2].strip()}")
        if not call.result.split()[0].isdigit():
            raise NotApplicableError("writes that fail")
    elif call.name == "setsockopt":
        if "TCP_FASTOPEN" in call.arguments:
            raise NotApplicableError("TCP Fast Open")
        if not _QUIET_OPTIONS.search(call.arguments):
            raise NotApplicableError(f"the socket option {call.arguments.split(',')[2].strip()}")
        if found := re.search(r'TCP_CONGESTION,\s*"(\w+)"', call.arguments):
            return _algorithm(found[1])
    elif call.name not in _QUIET_CALLS:
        raise NotApplicableError(f"the system call {call.name}")
    return None


def _look_at_command(command: Command, script: Script) -> str | None:
    """Returns the congestion control that the command asks for."""
    algorithm = None
    for line in command.lines:
        if _QUIET_COMMANDS.match(line):
            continue
        if re.match(r"tc qdisc \w+ dev tun0 root fq$", line):
            if any(map(is_data, script.events)):
                raise NotApplicableError("pacing by the queueing discipline fq")
            continue
        if re.match(r"tc qdisc .*limit 0", line):
            raise NotApplicableError("a host that drops its own packets")
        settings = [(found["name"], found["value"]) for found in _SYSCTL.finditer(line)]
        if not settings:
            raise NotApplicableError(f"the command {PurePosixPath(line.split()[0]).name}")
        for name, value in settings:
            if name == "tcp_congestion_control":
                algorithm = _algorithm(value)
            elif value != _FIXED.get(name, value) or (name not in _FIXED and name not in _QUIET_SYSCTLS):
                raise NotApplicableError(f"the sysctl {name} = {value}")
    return algorithm


def _algorithm(name: str) -> str:
    if name not in ALGORITHMS:
        raise NotApplicableError(f"the congestion control {name}")
    return name


def _opening(script: Script, algorithm: str) -> Handshake:
    syns = [
        i
        for i, event in enumerate(script.events)
        if isinstance(event.what, Packet) and "S" in event.what.flags
    ]
    leaving = [i for i in syns if not _at(script, i).inbound]
    arriving = [i for i in syns if _at(script, i).inbound]
    if len(leaving) != 1 or len(arriving) != 1:
        raise NotApplicableError("connection requests that are repeated or that fail")
    opens, other = leaving[0], arriving[0]
    request, answer = _at(script, opens), _at(script, other)
    opened = other if other > opens else _acknowledged(script, opens)
    own, peer = request.options, answer.options
    # "<...>" is any options: what the peer offered is then accepted
    free = "..." in own.others
    timestamps = peer.stamp is not None and (own.stamp is not None or free)
    sack = peer.sack_ok and (own.sack_ok or free)
    scaled = peer.wscale is not None and (own.wscale is not None or free)
    mss = min(peer.mss or DEFAULT_MSS_BYTES, own.mss or 1460) - STAMP_BYTES * timestamps
    ecn = "E" in request.flags and "E" in answer.flags
    profile = Profile(algorithm, mss, timestamps, sack, ecn)
    return Handshake(opens, opened, (peer.wscale or 0) if scaled else 0, profile)


def _acknowledged(script: Script, after: int) -> int:
    for i, event in enumerate(script.events[after:], after):
        packet = event.what
        if isinstance(packet, Packet) and packet.inbound and packet.ack == 1:
            return i
    raise NotApplicableError("connections that do not open")


def _at(script: Script, i: int) -> Packet:
    packet = script.events[i].what
    if not isinstance(packet, Packet):
        raise TypeError(packet)
    return packet
