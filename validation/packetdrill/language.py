"""Reads packetdrill's script language, as far as scripts about a TCP sender need it.

A script is a list of events. Each has a time: absolute, relative to the event before ("+.1"), a range
("+.3~+.31"), or any ("*"); a blocking call has an end as well ("+0...0.1"). An event is a packet that comes
in ("<") or goes out (">"), a system call, a command of the shell (between backticks), or a piece of Python
about `tcp_info` (between %{ and }%).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

NS_PER_S = 1_000_000_000
_NUMBER = r"\d*\.?\d+"
_TIME = re.compile(
    rf"(?P<any>\*)|(?P<plus>\+)?\s*(?P<from>{_NUMBER})"
    rf"(?:\s*(?P<kind>~|\.\.\.)\s*\+?\s*(?P<to>{_NUMBER}))?(?=[\s<>%`]|$)"
)
_CALL = re.compile(r"(?P<name>[a-z_0-9]+)\s*\(")
_PACKET = re.compile(
    r"(?:\[(?P<ip>[^\]]*)\]\s*)?(?P<flags>[-FSRPEWACU.0-9]+)\s+(?P<begin>\d+):(?P<end>\d+)\((?P<length>\d+)\)"
    r"(?:\s+ack\s+(?P<ack>\d+))?(?:\s+win\s+(?P<window>\d+))?(?:\s+urg\s+\d+)?(?:\s+<(?P<options>.*)>)?\s*$"
)


class ScriptError(Exception):
    """A script, or a part of it, is not understood: which line, and what is there."""


class ForeignError(Exception):
    """A script is about a protocol that is not read here: which."""


@dataclass(frozen=True)
class When:
    """The time of an event, ns."""

    start_ns: int = 0
    end_ns: int | None = None
    """The end of a range."""
    relative: bool = False
    anyhow: bool = False
    """At any time."""


@dataclass(frozen=True)
class Options:
    """The options of a TCP header; those that a packet lacks are None or empty."""

    mss: int | None = None
    wscale: int | None = None
    sack_ok: bool = False
    sack: tuple[tuple[int, int], ...] = ()
    stamp: tuple[int, int] | None = None
    """The timestamp and the one that it echoes."""
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Packet:
    """A TCP packet."""

    inbound: bool
    flags: str
    begin: int
    end: int
    ack: int | None
    window: int | None
    options: Options
    ip: str = ""
    """What brackets say of its IP header, such as ect0."""

    @property
    def length(self) -> int:
        """Payload, bytes."""
        return self.end - self.begin


@dataclass(frozen=True)
class Call:
    """A system call."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True)
class Command:
    """Lines for the shell."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python."""

    text: str


@dataclass(frozen=True)
class Event:
    """Something that happens, and where the script has it."""

    line: int
    when: When
    what: Packet | Call | Command | Code


@dataclass(frozen=True)
class Script:
    """A script."""

    path: Path
    settings: dict[str, str] = field(default_factory=dict)
    """Options of the command line, without dashes."""
    events: tuple[Event, ...] = ()

    def packets(self, *, inbound: bool) -> Iterator[Packet]:
        """Returns its packets in one direction."""
        for event in self.events:
            if isinstance(event.what, Packet) and event.what.inbound == inbound:
                yield event.what


def nanoseconds(text: str) -> int:
    """Returns decimal seconds in ns, exactly."""
    whole, _, part = text.partition(".")
    return int(whole or "0") * NS_PER_S + int(part[:9].ljust(9, "0"))


def read(path: Path) -> Script:
    """Reads a script."""
    return parse(path.read_text(), path)


def parse(text: str, path: Path) -> Script:
    """Returns the script with this text. ScriptError names the first line that is not understood."""
    settings: dict[str, str] = {}
    events: list[Event] = []
    reader = _Reader(text)
    while not reader.is_at_end():
        if reader.has("--") and not events:
            name, _, value = reader.rest_of_line()[2:].partition("=")
            settings[name.strip()] = value.strip()
            continue
        line = reader.line()
        if reader.has("`"):
            events.append(Event(line, When(relative=True), reader.command()))
            continue
        when = reader.when()
        events.append(Event(line, when, reader.what()))
    return Script(path, settings, tuple(events))


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def line(self) -> int:
        return self.text.count("\n", 0, self.at) + 1

    def fail(self, what: str) -> ScriptError:
        return ScriptError(f"line {self.line()}: {what}")

    def has(self, start: str) -> bool:
        return self.text.startswith(start, self.at)

    def is_at_end(self) -> bool:
        """Skips white space and comments."""
        while self.at < len(self.text):
            if self.text[self.at].isspace():
                self.at += 1
            elif self.has("//") or self.has("#"):
                self.until("\n", optional=True)
            elif self.has("/*"):
                self.until("*/")
            else:
                return False
        return True

    def until(self, end: str, *, optional: bool = False) -> str:
        """Returns what stands before `end`, and goes behind it."""
        found = self.text.find(end, self.at)
        if found < 0:
            if not optional:
                raise self.fail(f"{end} is missing")
            found = len(self.text)
        part = self.text[self.at : found]
        self.at = found + len(end)
        return part

    def rest_of_line(self) -> str:
        """Returns the rest of the line, without a comment."""
        return self.until("\n", optional=True).partition("//")[0].strip()

    def when(self) -> When:
        found = _TIME.match(self.text, self.at)
        if not found:
            raise self.fail(f"a time is expected, not {self.rest_of_line()!r}")
        self.at = found.end()
        if found["any"]:
            return When(relative=True, anyhow=True)
        end = nanoseconds(found["to"]) if found["kind"] == "~" else None
        return When(nanoseconds(found["from"]), end, relative=bool(found["plus"]))

    def what(self) -> Packet | Call | Command | Code:
        if self.is_at_end():
            raise self.fail("an event is expected")
        if self.has("`"):
            return self.command()
        if self.has("%{"):
            self.at += 2
            return Code(self.until("}%"))
        if self.has("<") or self.has(">"):
            inbound = self.has("<")
            self.at += 1
            line = self.line()
            return _packet(inbound, self.rest_of_line(), line)
        found = _CALL.match(self.text, self.at)
        if not found:
            raise self.fail(f"an event is expected, not {self.rest_of_line()!r}")
        self.at = found.end()
        arguments = self.arguments()
        result = self.rest_of_line()
        if not result.startswith("="):
            raise self.fail(f"the result of {found['name']} is missing")
        return Call(found["name"], arguments, result[1:].strip())

    def command(self) -> Command:
        self.at += 1
        text = self.until("`").replace("\\\n", " ")
        lines = (line.partition(" #")[0].strip() for line in text.replace(";", "\n").split("\n"))
        return Command(tuple(line for line in lines if line and not line.startswith("#")))

    def arguments(self) -> str:
        """Returns what stands up to the parenthesis that closes a call."""
        depth, start = 1, self.at
        while self.at < len(self.text):
            depth += {"(": 1, ")": -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return " ".join(self.text[start : self.at - 1].split())
        raise self.fail(") is missing")


def _packet(inbound: bool, text: str, line: int) -> Packet:
    found = _PACKET.match(text)
    if not found:
        if text.startswith("icmp"):
            raise ForeignError("ICMP")
        raise ScriptError(f"line {line}: {text!r} is no packet of plain TCP")
    return Packet(
        inbound,
        found["flags"],
        int(found["begin"]),
        int(found["end"]),
        None if found["ack"] is None else int(found["ack"]),
        None if found["window"] is None else int(found["window"]),
        _options(found["options"] or ""),
        found["ip"] or "",
    )


def _options(text: str) -> Options:
    mss = wscale = None
    sack: list[tuple[int, int]] = []
    stamp = None
    sack_ok = False
    others: list[str] = []
    for option in filter(None, (part.strip() for part in text.split(","))):
        name, *values = option.replace(":", " ").split()
        if name == "mss":
            mss = int(values[0])
        elif name == "wscale":
            wscale = int(values[0])
        elif name == "sackOK":
            sack_ok = True
        elif name == "sack":
            numbers = [int(value) for value in values]
            sack += zip(numbers[::2], numbers[1::2], strict=True)
        elif name == "TS":
            stamp = (int(values[1]), int(values[3]))
        elif name not in ("nop", "eol"):
            others.append(name)
    return Options(mss, wscale, sack_ok, tuple(sack), stamp, tuple(others))
