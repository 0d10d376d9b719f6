"""Runs a script against a sender, and finds what the sender does otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from applies import Handshake, NotApplicableError, handshake
from language import NS_PER_S, Call, Code, Event, Packet, Script, ScriptError, When
from segments import PartError, Segments
from sender import Driven, Profile, Sent
from statements import CodeError, Failed, Statements

NS_PER_US = 1000
TOLERANCE_US, TOLERANCE_PERCENT = 4000, 12.5
"""packetdrill's own defaults (config.c, set_default_config)."""
PATIENCE_NS = 10 * NS_PER_S
"""How long after its time a segment is waited for, to say when it came (chosen here)."""
NO_MIN_RTT = 0xFFFFFFFF
"""Linux, net/ipv4/tcp.c, tcp_init_sock: before the first sample, us."""
INFINITE_SSTHRESH = 0x7FFFFFFF
"""Linux, include/net/tcp.h, TCP_INFINITE_SSTHRESH."""


@dataclass(frozen=True)
class Difference:
    """What a script states and the sender does otherwise."""

    line: int
    at_s: float
    expected: str
    found: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.at_s:.3f} s: expected {self.expected}, found {self.found}"


@dataclass
class Verdict:
    """The result of one script."""

    reason: str = ""
    """What it tests that the model has not, if it does."""
    differences: list[Difference] = field(default_factory=list)
    packets: int = 0
    """Data segments that were compared, as the script writes them."""
    statements: int = 0
    """Assertions that hold."""
    unknown: list[str] = field(default_factory=list)
    """Names for whose sake assertions were left out."""

    @property
    def word(self) -> str:
        """The verdict in a word or three."""
        if self.reason:
            return "not applicable"
        return "fail" if self.differences else "pass"


def compare(script: Script, start: Callable[[Profile], Driven]) -> Verdict:
    """Runs a script against the sender that `start` makes."""
    try:
        opening = handshake(script)
        return _Run(script, opening, start(opening.profile)).run()
    except NotApplicableError as error:
        return Verdict(reason=str(error))
    except PartError as error:
        return Verdict(reason=str(error))
    except (CodeError, ScriptError) as error:
        return Verdict(reason=f"not understood: {error}")


class _DifferentError(Exception):
    """From here on nothing can be compared."""


class _Run:
    def __init__(self, script: Script, opening: Handshake, sender: Driven) -> None:
        self.script = script
        self.opening = opening
        self.sender = sender
        self.segments = Segments(opening.profile.mss_bytes)
        self.statements = Statements()
        self.verdict = Verdict()
        self.sent: list[Sent] = []
        self.stamps: dict[int, int] = {}
        """When the packets with these timestamps left, ns."""
        self.now = self.last = 0
        self.finished = False
        self.tolerance_us = float(script.settings.get("tolerance_usecs", TOLERANCE_US))
        self.tolerance_percent = float(script.settings.get("tolerance_percent", TOLERANCE_PERCENT))

    def run(self) -> Verdict:
        for position, event in enumerate(self.script.events):
            at = event.when.start_ns + (self.now if event.when.relative else 0)
            try:
                self.handle(position, event, at)
            except _DifferentError:
                break
        self.verdict.statements = self.statements.held
        self.verdict.unknown = self.statements.unknown
        return self.verdict

    def handle(self, position: int, event: Event, at: int) -> None:
        match event.what:
            case Packet(inbound=False) as packet if packet.length > 0:
                return self.leaves(event, packet, at)
            case Packet(inbound=True) as packet:
                self.arrives(position, packet, at)
            case Packet() as packet:
                if position == self.opening.opens:
                    self.tell(at, open=True)
                self.note_stamp(packet, at)  # the model sends no acknowledgement, and no FIN
            case Call() as call:
                self.calls(call, at)
            case Code() as code:
                self.tell(at)
                for failed in self.statements.check(code.text, self.info()):
                    self.differs(event, at, failed)
        self.last, self.now = at, max(self.now, at)
        return None

    def tell(self, at: int, **order: Any) -> None:
        self.sent += self.sender.tell(at, **order)

    def arrives(self, position: int, packet: Packet, at: int) -> None:
        """A packet arrives at the sender."""
        shift = 0 if "S" in packet.flags else self.opening.shift
        window = None if packet.window is None else (packet.window << shift) // self.segments.mss_bytes
        if position == self.opening.opened:
            return self.tell(at, answer=True, window=window)
        if position < self.opening.opened or packet.ack is None:
            return None
        blocks = (self.segments.block(*block) for block in packet.options.sack)
        ack = {
            "seq": self.segments.acknowledged(packet.ack, self.finished),
            "sack": [block for block in blocks if block],
            "stamp": self.echoed(packet),
            "echo": "E" in packet.flags and self.opening.profile.ecn,
        }
        return self.tell(at, ack=ack, window=window)

    def echoed(self, packet: Packet) -> int | None:
        stamp = packet.options.stamp
        if not self.opening.profile.timestamps or stamp is None:
            return None
        if stamp[1] not in self.stamps:
            raise NotApplicableError(f"the echo of a timestamp that no packet had, {stamp[1]}")
        return self.stamps[stamp[1]]

    def note_stamp(self, packet: Packet, at: int) -> None:
        if packet.options.stamp is not None:
            self.stamps[packet.options.stamp[0]] = at

    def calls(self, call: Call, at: int) -> None:
        if call.name in ("write", "send", "sendto"):
            self.tell(at)
            segments = self.segments.write(int(call.result.split()[0]), self.sender.state["next"])
            self.tell(at, write=segments)
        elif call.name in ("close", "shutdown"):
            self.finished = True

    def leaves(self, event: Event, packet: Packet, at: int) -> None:
        """The script has a data segment, or several in one, leave at this time."""
        wanted = self.segments.within(packet.begin, packet.end)
        if wanted is None:
            raise PartError(f"{packet.begin}:{packet.end}, which are no whole segments")
        name = f"{packet.begin}:{packet.end}"
        last = at  # when the last of them leaves
        for segment in wanted:
            sent = self.next_sent(at, event.when)
            if sent is None:
                self.differ(event, at, name, f"nothing within {PATIENCE_NS // NS_PER_S} s")
                raise _DifferentError
            found = self.segments.bytes_of(sent.seq) + (" again" if sent.again else "")
            if sent.seq != segment:
                self.differ(event, at, name, f"{found} at {sent.at / NS_PER_S:.3f} s")
                raise _DifferentError
            if not self.is_in_time(at, event.when, sent.at):
                self.differ(event, at, f"{name} at {_shown(at, event.when)}", f"{sent.at / NS_PER_S:.3f} s")
                raise _DifferentError
            self.check_marks(event, at, packet, sent, first=segment == wanted[0])
            last = sent.at
        self.note_stamp(packet, last)
        self.verdict.packets += 1
        self.last, self.now = at, max(self.now, last)

    def next_sent(self, at: int, when: When) -> Sent | None:
        """Returns the next segment that leaves, if one does before patience ends."""
        until = at + (when.end_ns or 0) + PATIENCE_NS
        while not self.sent:
            wake = self.sender.state["wake"]
            if wake is None or wake > until:
                return None
            self.tell(wake)
        return self.sent.pop(0)

    def is_in_time(self, at: int, when: When, found: int) -> bool:
        if when.anyhow:
            return True
        tolerance = max(self.tolerance_us * NS_PER_US, self.tolerance_percent / 100.0 * (at - self.last))
        end = at if when.end_ns is None else at - when.start_ns + when.end_ns
        return at - tolerance <= found <= end + tolerance

    def check_marks(self, event: Event, at: int, packet: Packet, sent: Sent, *, first: bool) -> None:
        """Compares what ECN says in the headers: the first of several segments announces a reduction."""
        name = f"{packet.begin}:{packet.end}"
        codepoints = {"ect0": 0, "ect1": 1, "noecn": None}
        if packet.ip in codepoints and sent.ect != codepoints[packet.ip]:
            found = {0: "ect0", 1: "ect1", None: "noecn"}[sent.ect]
            self.differ(event, at, f"{name} with {packet.ip}", found)
        if self.opening.profile.ecn and ("W" in packet.flags and first) != sent.reduced:
            with_it, without = f"{name} with CWR", f"{name} without CWR"
            expected, found = (without, with_it) if sent.reduced else (with_it, without)
            self.differ(event, at, expected, found)

    def info(self) -> dict[str, Any]:
        """The fields of `tcp_info` that the model has."""
        state = self.sender.state
        ssthresh, least = state["ssthresh"], state["base_rtt_ns"]
        return {
            "tcpi_backoff": state["backoffs"],
            "tcpi_ca_state": self.ca_state(),
            "tcpi_lost": state["lost"],
            "tcpi_min_rtt": NO_MIN_RTT if least is None else least // NS_PER_US,
            "tcpi_retrans": state["again"],
            "tcpi_rtt": (state["srtt_ns"] or 0) // NS_PER_US,
            "tcpi_rttvar": state["rtt_variation_ns"] // NS_PER_US,
            "tcpi_sacked": state["sacked"],
            "tcpi_snd_cwnd": int(state["cwnd"]),
            "tcpi_snd_mss": self.segments.mss_bytes,
            "tcpi_snd_ssthresh": INFINITE_SSTHRESH if ssthresh is None else int(ssthresh),
            "tcpi_total_retrans": state["retransmits"],
            "tcpi_unacked": state["next"] - state["base"],
        }

    def ca_state(self) -> int:
        state = self.sender.state
        disorder = 1 if state["sacked"] or state["lost"] else 0
        return {"Reducing": 2, "Recovery": 3, "Loss": 4}.get(state["stage"], disorder)

    def differs(self, event: Event, at: int, failed: Failed) -> None:
        self.differ(event, at, failed.stated, failed.found)

    def differ(self, event: Event, at: int, expected: str, found: str) -> None:
        self.verdict.differences.append(Difference(event.line, at / NS_PER_S, expected, found))


def _shown(at: int, when: When) -> str:
    if when.end_ns is None:
        return f"{at / NS_PER_S:.3f} s"
    return f"{at / NS_PER_S:.3f} to {(at - when.start_ns + when.end_ns) / NS_PER_S:.3f} s"
