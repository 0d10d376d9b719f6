"""How the two ends of a connection behave, as a scenario says it; flows and background traffic share it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from longfat.scenario import registry, stacks
from longfat.scenario.fields import (
    AckTimeout,
    Ecn,
    InitialRto,
    Mss,
    QuickAcks,
    QuickStartRate,
    RtoFloor,
    Segments,
    SegmentsOrInfinite,
    Switch,
    Tick,
)
from longfat.scenario.form import At
from longfat.scenario.named import Algorithm, AlgorithmSpec, write_algorithm
from longfat.scenario.part import Part
from longfat.scenario.receivers import Receiver, ReceiverForm

HEADER_BYTES = 52
"""IPv4 (20), TCP (20) and its timestamps option (12) before each segment's payload."""
TIMESTAMP_BYTES = 12
"""The timestamps option of RFC 7323, padded."""


RecoveryName = Literal["rate-halving", "rate-halving-to-half", "prr", "prr-9937", "immediate"]


class Transport(Part):
    """How the two ends of a connection behave; flows and background traffic share it."""

    also_accepts: ClassVar[tuple[str, ...]] = ("variant", "stack")

    algorithm: Algorithm = AlgorithmSpec("sack")
    """The congestion control."""
    mss: Mss = 1448.0
    """Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP."""
    initial_ssthresh: SegmentsOrInfinite = math.inf
    """The slow-start threshold at the beginning."""
    ssthresh_cache: Switch = False
    """Begin with the slow-start threshold that earlier connections between the same two hosts left."""
    initial_window: Segments = 3.0  # RFC 3390 for this segment size
    """The window at the beginning."""
    max_window: SegmentsOrInfinite = math.inf
    """The receiver's window."""
    max_burst: SegmentsOrInfinite = math.inf
    """The most segments that one ACK releases; the rest waits for the next ACK."""
    slow_start: Literal["standard", "limited", "hystart++", "search"] = "standard"
    """Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end early."""
    max_ssthresh: Segments = 100.0  # RFC 3742; used by limited slow-start
    """The window from which limited slow-start grows more slowly."""
    delayed_ack: Switch = True
    """The receiver acknowledges every second segment."""
    delayed_ack_timeout: AckTimeout = 0.04  # Linux's least
    """The receiver acknowledges a single segment after this long."""
    quick_acks: QuickAcks = 16  # Linux TCP_MAX_QUICKACKS
    """The first this many ACKs of a connection are not delayed."""
    sack_compression: Tick = 0.0
    """ACKs of segments above a gap wait up to this long for each other, as in Linux. With 0 they do not."""
    byte_counting: Switch = True
    """The window grows by acknowledged segments (RFC 3465), not by ACKs."""
    slow_start_limit: SegmentsOrInfinite = 2.0  # RFC 3465, section 2.2, L
    """With byte counting, the most segments that one ACK counts in slow-start."""
    sack: Switch | None = None
    """An older spelling of `loss_detection`: true is "sack", false is "newreno"."""
    loss_detection: Literal["rack", "sack", "newreno", "reno", "tahoe"] | None = None
    """How the sender finds losses; by default as the algorithm has it in the registry."""
    recovery: RecoveryName | None = None
    """How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable algorithms."""
    cwnd_moderation: Switch = False
    """At dubious ACKs the window is at most three segments above those in flight, as in Linux 2.6."""
    timeout_reductions: Literal["once", "each"] = "once"
    """Which timeouts reduce ssthresh: only one that begins a loss episode, or each one, as in ns-2."""
    first_reduction: Literal["own", "half"] = "own"
    """The first reduction, and those in slow-start and by timeouts: the algorithm's own, or to half."""
    rtt_samples: Literal["echoed", "last", "numbered"] = "echoed"
    """Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or of QUIC."""
    timestamps: Switch = True
    """Packets carry timestamps (RFC 7323). Without them the sender times one segment per round trip."""
    host_tick: Tick = 0.0
    """Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at once."""
    interrupt_moderation: Tick = 0.0
    """Both hosts take packets at interrupts at least this far apart. With 0 they take each one at once."""
    send_jitter: Tick = 0.0
    """What the sender's host may send waits for a random time up to this, in order. With 0 it does not."""
    rto_min: RtoFloor = 0.2  # Linux; RFC 6298 has 1 s
    """Least margin of the retransmission timeout above the smoothed RTT, or least timeout: `rto_min_of`."""
    rto_min_of: Literal["margin", "timeout"] = "margin"
    """What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout (RFC 6298)."""
    rto_tick: Tick = 0.0
    """The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is exact."""
    backoff_until: Literal["sample", "new-segment"] = "sample"
    """With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's ACK (ns-2)."""
    initial_rto: InitialRto = 1.0  # RFC 6298, section 2.1
    """The retransmission timeout before the first RTT sample."""
    ecn: Ecn = False
    """Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too."""
    abe: Switch = False
    """A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85."""
    quick_start: QuickStartRate | None = None
    """The rate that the connection request asks the routers for (RFC 4782); none by default."""
    receiver: ReceiverForm = Receiver()
    """What the receiver does against the rules; by default nothing."""

    @classmethod
    def spelled_out(cls, data: Mapping[str, Any], at: At) -> Mapping[str, Any]:
        """The table with the keys of its stack, and with the variant in its algorithm."""
        algorithm = data.get("algorithm", cls.model_fields["algorithm"].default)
        if "stack" in data:
            data = _with_stack(data, data["stack"], algorithm)
        elif at.stack is not None and _carrier(algorithm) == "tcp":
            data = _with_stack(data, at.stack, algorithm)
        if "variant" in data:
            rest = {key: value for key, value in data.items() if key != "variant"}
            data = rest | {"algorithm": {"variant": data["variant"]} | _table(algorithm)}
        return _without_own_hystart(data) if "slow_start" in data else data

    def check(self) -> None:
        """Raises ValueError if the options do not go with each other, or with the algorithm."""
        self._options_fit_the_transport()
        self._backoff_fits_the_algorithm()
        self._one_rule_ends_slow_start()
        self._sack_agrees_with_the_loss_detection()

    def _options_fit_the_transport(self) -> None:
        wrong = sorted(self.algorithm.ignores & self.model_fields_set)
        if wrong:
            others = [key for key in TRANSPORT_OPTIONS if key not in self.algorithm.ignores]
            raise ValueError(
                f'{wrong[0]} does not go with "{self.algorithm.name}", which is not TCP; '
                f"accepted beside it: {', '.join(others)}"
            )
        if self.quick_start is not None and self.algorithm.explicit:
            raise ValueError(
                f'quick_start does not go with "{self.algorithm.name}", which its routers guide from the '
                "start; accepted: one of them"
            )

    def _backoff_fits_the_algorithm(self) -> None:
        if self.abe and not self.algorithm.has("abe"):
            able = ", ".join(f'"{row["name"]}"' for row in registry.rows("algorithms") if row.get("abe"))
            raise ValueError(
                f'abe does not go with "{self.algorithm.name}", for which RFC 8511 has no factor; '
                f"accepted beside it: {able}"
            )

    def _one_rule_ends_slow_start(self) -> None:
        if self.slow_start not in ENDING_EARLY:
            return
        name = self.algorithm.name
        if self.algorithm.explicit:
            raise ValueError(
                f'slow_start = "{self.slow_start}" does not go with "{name}", which its routers guide; '
                'accepted: "standard" or "limited"'
            )
        if self.algorithm.has("model_based"):
            raise ValueError(
                f'slow_start = "{self.slow_start}" does not go with "{name}", which controls the window '
                'itself; accepted: "standard"'
            )
        own = self.algorithm.filled().parameters if name == "cubic" else {}
        hybrid = own.get("hystart")
        if hybrid == "on" or (hybrid == "auto" and own.get("variant") == "linux"):
            raise ValueError(
                f'slow_start = "{self.slow_start}" beside cubic\'s own HyStart; accepted: '
                '{ name = "cubic", hystart = "off" } with it, or slow_start = "standard"'
            )

    def _sack_agrees_with_the_loss_detection(self) -> None:
        chosen = self.loss_detection
        if self.sack is None or chosen is None or self.sack == (chosen in WITH_SACK):
            return
        others = [f'"{name}"' for name in LOSS_DETECTIONS if (name in WITH_SACK) == self.sack]
        raise ValueError(
            f'sack = {str(self.sack).lower()} contradicts loss_detection = "{chosen}"; accepted: one of the '
            f"two keys, or beside this sack {', '.join(others)}"
        )

    def written(self, mode: str = "python") -> dict[str, Any]:
        """As in every table, without the keys that do not apply to the algorithm.

        Nor is slow_start written where it would end the HyStart that the algorithm's variant brings along.
        """
        left_out = self.algorithm.ignores
        if _brings_hystart(self.algorithm.name, self.algorithm.parameters):
            left_out = left_out | {"slow_start"}
        return {key: value for key, value in super().written(mode).items() if key not in left_out}

    def differs(self, key: str) -> bool:
        """Whether a key has another value than its default."""
        return bool(getattr(self, key) != type(self).model_fields[key].default)

    @property
    def recovery_used(self) -> RecoveryName:
        """How the window shrinks in SACK recovery, also where no key says so.

        Rate halving takes a segment for every two that arrive, down to what is in flight and one: too coarse
        for reductions by the extent of marks (RFC 8257), which are frequent and small. Linux has PRR.
        """
        if self.recovery is not None:
            return self.recovery
        scalable = self.algorithm.needs_marks or self.algorithm.has("scalable")
        return "prr" if scalable else "rate-halving"

    @property
    def header_bytes(self) -> int:
        """The bytes of headers before each segment's payload."""
        return HEADER_BYTES + self.algorithm.explicit_bytes - (0 if self.timestamps else TIMESTAMP_BYTES)

    @property
    def packet_bytes(self) -> float:
        """The bytes of a full packet of IP."""
        return self.mss + self.header_bytes


def _table(algorithm: Any) -> dict[str, Any]:
    """An algorithm as a table, however it is given."""
    written = write_algorithm(algorithm) if isinstance(algorithm, AlgorithmSpec) else algorithm
    return dict(written) if isinstance(written, Mapping) else {"name": written}


def _with_stack(data: Mapping[str, Any], name: Any, algorithm: Any) -> dict[str, Any]:
    """A table with the keys of a stack in place of the stack's name; keys that are written out win."""
    stack = stacks.find(name)
    row = registry.algorithm_named(_table(algorithm))
    if row is not None and _carrier(algorithm) != "tcp":
        raise ValueError(
            f'stack = "{stack.name}" does not go with "{row["name"]}", which is not TCP; accepted: no stack'
        )
    written = {key: value for key, value in data.items() if key != "stack"}
    given = {*written, *(stacks.OLDER_SPELLINGS[key] for key in written if key in stacks.OLDER_SPELLINGS)}
    keys = stack.keys_for(None if row is None else row["name"])
    return {key: value for key, value in keys.items() if key not in given} | written


def _without_own_hystart(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table that has slow_start, without the HyStart that its algorithm's variant brings along."""
    table = _table(data.get("algorithm"))
    row = registry.algorithm_named(table)
    if row is None or not _brings_hystart(row["name"], table):
        return data
    return {**data, "algorithm": {**table, "hystart": False}}


def _brings_hystart(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether it is the variant that has a HyStart, not the scenario."""
    return name == "cubic" and parameters.get("variant") == "linux" and "hystart" not in parameters


def _carrier(algorithm: Any) -> str:
    """What carries the algorithm that a table names."""
    row = registry.algorithm_named(_table(algorithm))
    return "tcp" if row is None else row.get("transport", "tcp")


def unlike(part: Transport, stack: stacks.Stack) -> list[str]:
    """The keys of stacks in which a connection over TCP differs from this stack's hosts."""
    hosts = Transport.model_validate({"algorithm": part.algorithm, "stack": stack.name})
    keys = [key for key in stacks.PRESET_KEYS if key in Transport.model_fields]
    return [key for key in keys if getattr(part, key) != getattr(hosts, key)]


ENDING_EARLY = frozenset({"hystart++", "search"})
"""The values of `slow_start` with which the first slow-start may end before a loss."""

LOSS_DETECTIONS = ("rack", "sack", "newreno", "reno", "tahoe")
WITH_SACK = frozenset({"rack", "sack"})
"""The ways of `loss_detection` in which the receiver sends selective acknowledgements."""

TRANSPORT_OPTIONS = tuple(Transport.model_fields)
