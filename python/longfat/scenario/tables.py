"""Typed constructors of tables of a scenario, generated from its keys.

Each is a dict with the keys that are given: what a scenario file would have in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

Variant = Literal[
    "2005",
    "assumed",
    "corrected",
    "draft",
    "first",
    "google",
    "infocom",
    "latency",
    "library",
    "linux",
    "literal",
    "lls",
    "lls-half",
    "loss",
    "mimd",
    "mirror",
    "ns2",
    "paper",
    "rfc",
    "rfc8257",
    "rfc9438",
    "stable",
    "static",
    "thesis",
]
Recovery = Literal["rate-halving", "rate-halving-to-half", "prr", "prr-9937", "immediate"]


class Table(dict[str, Any]):
    """A table of a scenario, with the keys that are given."""

    def __init__(self, keys: Mapping[str, Any]) -> None:
        super().__init__({key: value for key, value in keys.items() if value is not None})

    def __repr__(self) -> str:
        keys = ", ".join(f"{'origin' if key == 'from' else key}={value!r}" for key, value in self.items())
        return f"{type(self).__name__}({keys})"


class Bottleneck(Table):
    """A dumbbell's shared link with its queue, the way back, and the access links around it.

    Args:
        rate: Its rate, constant or varying.
        buffer: Room for waiting packets.
        rtt: Two-way propagation delay of programs' connections; by default the smallest RTT of a flow.
        buffer_rtt: The RTT of "% BDP"; by default the smallest RTT of a flow.
        queue: The queueing discipline.
        router: An explicit-rate router around the queue.
        loss: Loss of data packets that enter the bottleneck.
        ack_loss: Loss of ACKs that enter the reverse path.
        service_tick: The router's clock: at each tick each way hands out what its rate has earned. With 0 it
            has none.
        access_rate: Rate of the hosts' own links; by default 1 Gbit/s, or 10 times a faster bottleneck's.
        reverse_rate: Rate of the way back; by default that of the bottleneck.
        reverse_buffer: Buffer of the way back; by default as many packets as the bottleneck's, at least 1000.
        reverse_queue: The queueing discipline of the way back.
        reorder: A share of the data packets and ACKs takes this much longer, and others overtake it.
        jitter: Each packet takes longer by a time up to this, drawn anew; order is kept without `overtaking`.
        duplicate: The share of data packets and ACKs that arrive twice.
        added_delay: A propagation delay that varies, in both directions; it is added to the constant one.
        remark: A router marks all ECN-capable data packets, or clears their ECN field; by default it does
            neither.
        overtaking: Packets may overtake each other by jitter and by a delay that varies.
        outages: When the link carries nothing, in either direction, and what its queues do meanwhile.
    """

    def __init__(
        self,
        *,
        rate: str | Mapping[str, Any],
        buffer: str | None = None,
        rtt: str | None = None,
        buffer_rtt: str | None = None,
        queue: str | Mapping[str, Any] | None = None,
        router: str | Mapping[str, Any] | None = None,
        loss: float | str | Mapping[str, Any] | None = None,
        ack_loss: float | str | Mapping[str, Any] | None = None,
        service_tick: str | None = None,
        access_rate: str | None = None,
        reverse_rate: str | None = None,
        reverse_buffer: str | None = None,
        reverse_queue: str | Mapping[str, Any] | None = None,
        reorder: Mapping[str, Any] | None = None,
        jitter: str | None = None,
        duplicate: float | str | None = None,
        added_delay: Mapping[str, Any] | None = None,
        remark: Literal["mark", "bleach"] | None = None,
        overtaking: bool | None = None,
        outages: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "rate": rate,
                "buffer": buffer,
                "rtt": rtt,
                "buffer_rtt": buffer_rtt,
                "queue": queue,
                "router": router,
                "loss": loss,
                "ack_loss": ack_loss,
                "service_tick": service_tick,
                "access_rate": access_rate,
                "reverse_rate": reverse_rate,
                "reverse_buffer": reverse_buffer,
                "reverse_queue": reverse_queue,
                "reorder": reorder,
                "jitter": jitter,
                "duplicate": duplicate,
                "added_delay": added_delay,
                "remark": remark,
                "overtaking": overtaking,
                "outages": outages,
            }
        )


class Node(Table):
    """A point where links meet; nodes that links name need no table of their own.

    Args:
        name: What links and flows call it.
    """

    def __init__(
        self,
        name: str,
    ) -> None:
        super().__init__(
            {
                "name": name,
            }
        )


class Link(Table):
    """A link from one node to another, and back.

    Args:
        origin: The node where it begins.
        to: The node where it ends.
        rate: Its rate, constant or varying; the way back always has the greatest rate.
        name: Its name in results, "FROM-TO" by default; the way back is called "TO-FROM", or NAME-back.
        delay: Propagation delay, each way.
        buffer: Room for waiting packets; the RTT of "% BDP" is the smallest of a flow.
        queue: The queueing discipline.
        router: An explicit-rate router around the queue.
        loss: Loss of data packets that enter the link.
        ack_loss: Loss of ACKs that enter the way back; a link with one way loses those that enter itself.
        service_tick: The link's clock: at each tick each way hands out what its rate has earned. With 0 it
            has none.
        layer: 2 puts its queue into a switch, which does not count down IP's time-to-live and has no router.
        duplex: Whether it has a way back.
        reorder: A share of the data packets and ACKs takes this much longer, and others overtake it.
        jitter: Each packet takes longer by a time up to this, drawn anew; order is kept without `overtaking`.
        duplicate: The share of data packets and ACKs that arrive twice.
        added_delay: A propagation delay that varies, in both directions; it is added to the constant one.
        remark: A router marks all ECN-capable data packets, or clears their ECN field; by default it does
            neither.
        overtaking: Packets may overtake each other by jitter and by a delay that varies.
        outages: When the link carries nothing, in either direction, and what its queues do meanwhile.
    """

    def __init__(
        self,
        origin: str,
        to: str,
        *,
        rate: str | Mapping[str, Any],
        name: str | None = None,
        delay: str | None = None,
        buffer: str | None = None,
        queue: str | Mapping[str, Any] | None = None,
        router: str | Mapping[str, Any] | None = None,
        loss: float | str | Mapping[str, Any] | None = None,
        ack_loss: float | str | Mapping[str, Any] | None = None,
        service_tick: str | None = None,
        layer: Literal[2, 3] | None = None,
        duplex: bool | None = None,
        reorder: Mapping[str, Any] | None = None,
        jitter: str | None = None,
        duplicate: float | str | None = None,
        added_delay: Mapping[str, Any] | None = None,
        remark: Literal["mark", "bleach"] | None = None,
        overtaking: bool | None = None,
        outages: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "from": origin,
                "to": to,
                "rate": rate,
                "name": name,
                "delay": delay,
                "buffer": buffer,
                "queue": queue,
                "router": router,
                "loss": loss,
                "ack_loss": ack_loss,
                "service_tick": service_tick,
                "layer": layer,
                "duplex": duplex,
                "reorder": reorder,
                "jitter": jitter,
                "duplicate": duplicate,
                "added_delay": added_delay,
                "remark": remark,
                "overtaking": overtaking,
                "outages": outages,
            }
        )


class Flow(Table):
    """One flow, or `count` of them.

    Args:
        algorithm: The congestion control.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results, by default a running number; `count` flows get one number each after it.
        rtt: Two-way propagation delay of the whole path; with `[bottleneck]`.
        start: When it starts.
        stop: From then on it sends nothing new; by default it never stops.
        bytes: Payload after which it is complete; by default it is endless.
        count: The number of flows like this one.
        stagger: The n-th of `count` flows, from 0, starts n times this later.
        direction: Which way data go.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        *,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        start: str | Mapping[str, Any] | None = None,
        stop: str | None = None,
        bytes: str | None = None,
        count: int | str | None = None,
        stagger: str | None = None,
        direction: Literal["forward", "reverse"] | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "start": start,
                "stop": stop,
                "bytes": bytes,
                "count": count,
                "stagger": stagger,
                "direction": direction,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Web(Table):
    """Sessions that ask for pages, whether or not the last page has arrived.

    Args:
        algorithm: The congestion control.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results; by default its kind and number.
        rtt: Two-way propagation delay, drawn for each connection; by default the first flow's.
        direction: Which way data go.
        stop: From then on no connection opens, and endless ones send nothing new.
        sessions: The number of sessions in each direction.
        gap: Mean of the exponential time between a session's pages.
        page: Mean of the Pareto page size.
        shape: Shape of the Pareto page size.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        *,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        direction: Literal["forward", "reverse", "both"] | None = None,
        stop: str | None = None,
        sessions: int | str | None = None,
        gap: str | None = None,
        page: str | None = None,
        shape: float | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "kind": "web",
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "direction": direction,
                "stop": stop,
                "sessions": sessions,
                "gap": gap,
                "page": page,
                "shape": shape,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Surge(Table):
    """SURGE's user equivalents: each fetches objects file by file, then rests.

    Args:
        algorithm: The congestion control.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results; by default its kind and number.
        rtt: Two-way propagation delay, drawn for each connection; by default the first flow's.
        direction: Which way data go.
        stop: From then on no connection opens, and endless ones send nothing new.
        users: The number of users in each direction; this or `load`.
        load: Mean rate of IP that the users offer to an idle path; sets their number.
        largest: The size at which the tail of the file sizes ends.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        *,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        direction: Literal["forward", "reverse", "both"] | None = None,
        stop: str | None = None,
        users: int | str | None = None,
        load: str | None = None,
        largest: str | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "kind": "surge",
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "direction": direction,
                "stop": stop,
                "users": users,
                "load": load,
                "largest": largest,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Short(Table):
    """Short flows that start at exponential gaps, with a lognormal body and a Pareto tail of sizes.

    Ha, Kim, Le, Rhee, Xu, PFLDnet 2006; the slides print no constants, so those of SURGE are used.

    Args:
        algorithm: The congestion control.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results; by default its kind and number.
        rtt: Two-way propagation delay, drawn for each connection; by default the first flow's.
        direction: Which way data go.
        stop: From then on no connection opens, and endless ones send nothing new.
        gap: Mean of the exponential time between two starts in each direction; this or `load`.
        load: Mean rate of IP that the flows carry; sets the gap.
        sizes: Measured sizes, in place of the body and the tail that follow.
        body_mu: Mean of the logarithm of the bytes in the lognormal body.
        body_sigma: Standard deviation of the logarithm of the bytes in the lognormal body.
        tail_share: Share of flows in the Pareto tail.
        tail_least: The size at which the tail begins.
        tail_shape: Tail index.
        largest: The size at which the tail ends.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        *,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        direction: Literal["forward", "reverse", "both"] | None = None,
        stop: str | None = None,
        gap: str | None = None,
        load: str | None = None,
        sizes: Mapping[str, Any] | None = None,
        body_mu: float | None = None,
        body_sigma: float | None = None,
        tail_share: float | str | None = None,
        tail_least: str | None = None,
        tail_shape: float | None = None,
        largest: str | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "kind": "short",
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "direction": direction,
                "stop": stop,
                "gap": gap,
                "load": load,
                "sizes": sizes,
                "body_mu": body_mu,
                "body_sigma": body_sigma,
                "tail_share": tail_share,
                "tail_least": tail_least,
                "tail_shape": tail_shape,
                "largest": largest,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Bulk(Table):
    """Long-lived flows without series of their own, which send as much as their algorithm allows.

    Args:
        flows: The number of flows in each direction.
        algorithm: The congestion control.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results; by default its kind and number.
        rtt: Two-way propagation delay, drawn for each connection; by default the first flow's.
        direction: Which way data go.
        stop: From then on no connection opens, and endless ones send nothing new.
        start: When a flow starts, drawn for each.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        *,
        flows: int | str,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        direction: Literal["forward", "reverse", "both"] | None = None,
        stop: str | None = None,
        start: str | Mapping[str, Any] | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "kind": "bulk",
                "flows": flows,
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "direction": direction,
                "stop": stop,
                "start": start,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Onoff(Table):
    """On-off sources over UDP that do not react to the network; the algorithm has their rate and periods.

    Args:
        sources: The number of sources in each direction.
        algorithm: The algorithm "onoff" with its rate while on and its periods.
        origin: The node that sends data, with `[[link]]`.
        to: The node that receives data, with `[[link]]`.
        name: Its name in results; by default its kind and number.
        rtt: Two-way propagation delay, drawn for each connection; by default the first flow's.
        direction: Which way data go.
        stop: From then on no connection opens, and endless ones send nothing new.
        load: Mean rate of IP of all sources together, in place of the algorithm's rate.
        start: When a source starts, drawn for each; uniform over an on- and an off-period by default.
        variant: Short for algorithm = { name = ..., variant = ... }.
        stack: Sets the keys of a host of this name; keys that are written out win.
        mss: Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        initial_ssthresh: The slow-start threshold at the beginning.
        ssthresh_cache: Begin with the slow-start threshold that earlier connections between the same two
            hosts left.
        initial_window: The window at the beginning.
        max_window: The receiver's window.
        max_burst: The most segments that one ACK releases; the rest waits for the next ACK.
        slow_start: Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end
            early.
        max_ssthresh: The window from which limited slow-start grows more slowly.
        delayed_ack: The receiver acknowledges every second segment.
        delayed_ack_timeout: The receiver acknowledges a single segment after this long.
        quick_acks: The first this many ACKs of a connection are not delayed.
        sack_compression: ACKs of segments above a gap wait up to this long for each other, as in Linux. With
            0 they do not.
        byte_counting: The window grows by acknowledged segments (RFC 3465), not by ACKs.
        slow_start_limit: With byte counting, the most segments that one ACK counts in slow-start.
        loss_detection: How the sender finds losses; by default as the algorithm has it in the registry.
        recovery: How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable
            algorithms.
        cwnd_moderation: At dubious ACKs the window is at most three segments above those in flight, as in
            Linux 2.6.
        timeout_reductions: Which timeouts reduce ssthresh: only one that begins a loss episode, or each one,
            as in ns-2.
        first_reduction: The first reduction, and those in slow-start and by timeouts: the algorithm's own, or
            to half.
        rtt_samples: Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or
            of QUIC.
        timestamps: Packets carry timestamps (RFC 7323). Without them the sender times one segment per round
            trip.
        host_tick: Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at
            once.
        interrupt_moderation: Both hosts take packets at interrupts at least this far apart. With 0 they take
            each one at once.
        send_jitter: What the sender's host may send waits for a random time up to this, in order. With 0 it
            does not.
        rto_min: Least margin of the retransmission timeout above the smoothed RTT, or least timeout:
            `rto_min_of`.
        rto_min_of: What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout
            (RFC 6298).
        rto_tick: The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is
            exact.
        backoff_until: With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's
            ACK (ns-2).
        initial_rto: The retransmission timeout before the first RTT sample.
        ecn: Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        abe: A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        quick_start: The rate that the connection request asks the routers for (RFC 4782); none by default.
        receiver: What the receiver does against the rules; by default nothing.
    """

    def __init__(
        self,
        *,
        sources: int | str,
        algorithm: str | Mapping[str, Any] | Callable[..., Any] | None = None,
        origin: str | None = None,
        to: str | None = None,
        name: str | None = None,
        rtt: str | Mapping[str, Any] | None = None,
        direction: Literal["forward", "reverse", "both"] | None = None,
        stop: str | None = None,
        load: str | None = None,
        start: str | Mapping[str, Any] | None = None,
        variant: Variant | None = None,
        stack: Literal["rfc", "linux", "linux-2.6.6-altaimd", "linux-2.6.16", "ns-2", "quic"] | None = None,
        mss: str | None = None,
        initial_ssthresh: float | str | None = None,
        ssthresh_cache: bool | None = None,
        initial_window: float | str | None = None,
        max_window: float | str | None = None,
        max_burst: float | str | None = None,
        slow_start: Literal["standard", "limited", "hystart++", "search"] | None = None,
        max_ssthresh: float | str | None = None,
        delayed_ack: bool | None = None,
        delayed_ack_timeout: str | None = None,
        quick_acks: int | str | None = None,
        sack_compression: str | None = None,
        byte_counting: bool | None = None,
        slow_start_limit: float | str | None = None,
        loss_detection: Literal["rack", "sack", "newreno", "reno-classic", "tahoe"] | None = None,
        recovery: Recovery | None = None,
        cwnd_moderation: bool | None = None,
        timeout_reductions: Literal["once", "each"] | None = None,
        first_reduction: Literal["own", "half"] | None = None,
        rtt_samples: Literal["echoed", "last", "numbered"] | None = None,
        timestamps: bool | None = None,
        host_tick: str | None = None,
        interrupt_moderation: str | None = None,
        send_jitter: str | None = None,
        rto_min: str | None = None,
        rto_min_of: Literal["margin", "timeout"] | None = None,
        rto_tick: str | None = None,
        backoff_until: Literal["sample", "new-segment"] | None = None,
        initial_rto: str | None = None,
        ecn: bool | Literal["accurate", "l4s"] | None = None,
        abe: bool | None = None,
        quick_start: str | None = None,
        receiver: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "kind": "onoff",
                "sources": sources,
                "algorithm": algorithm,
                "from": origin,
                "to": to,
                "name": name,
                "rtt": rtt,
                "direction": direction,
                "stop": stop,
                "load": load,
                "start": start,
                "variant": variant,
                "stack": stack,
                "mss": mss,
                "initial_ssthresh": initial_ssthresh,
                "ssthresh_cache": ssthresh_cache,
                "initial_window": initial_window,
                "max_window": max_window,
                "max_burst": max_burst,
                "slow_start": slow_start,
                "max_ssthresh": max_ssthresh,
                "delayed_ack": delayed_ack,
                "delayed_ack_timeout": delayed_ack_timeout,
                "quick_acks": quick_acks,
                "sack_compression": sack_compression,
                "byte_counting": byte_counting,
                "slow_start_limit": slow_start_limit,
                "loss_detection": loss_detection,
                "recovery": recovery,
                "cwnd_moderation": cwnd_moderation,
                "timeout_reductions": timeout_reductions,
                "first_reduction": first_reduction,
                "rtt_samples": rtt_samples,
                "timestamps": timestamps,
                "host_tick": host_tick,
                "interrupt_moderation": interrupt_moderation,
                "send_jitter": send_jitter,
                "rto_min": rto_min,
                "rto_min_of": rto_min_of,
                "rto_tick": rto_tick,
                "backoff_until": backoff_until,
                "initial_rto": initial_rto,
                "ecn": ecn,
                "abe": abe,
                "quick_start": quick_start,
                "receiver": receiver,
            }
        )


class Program(Table):
    """A program that runs on the path in a live run.

    Args:
        command: What is run: a text by /bin/sh, a list as it is. {peer} stands for the other side's address.
        side: The side that it runs on; the bottleneck is in the direction from "a" to "b".
        name: Its name in results, by default program-1 and so on.
        start: When it starts.
        stop: When it is asked to end (SIGTERM, a second later SIGKILL); by default with the run.
        environment: Variables that it has beside those of Longfat's own environment.
    """

    def __init__(
        self,
        command: str | Sequence[Any],
        *,
        side: Literal["a", "b"] | None = None,
        name: str | None = None,
        start: str | None = None,
        stop: str | None = None,
        environment: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            {
                "command": command,
                "side": side,
                "name": name,
                "start": start,
                "stop": stop,
                "environment": environment,
            }
        )


class Sample(Table):
    """How often series are sampled.

    Args:
        cwnd: Period of the series of flows.
        queue: Period of the series of links.
        events: Also log each loss, mark, timeout and recovery of the flows.
        internals: Also sample what the flows' algorithms know of themselves, such as FAST's `alpha`.
    """

    def __init__(
        self,
        *,
        cwnd: str | None = None,
        queue: str | None = None,
        events: bool | None = None,
        internals: bool | None = None,
    ) -> None:
        super().__init__(
            {
                "cwnd": cwnd,
                "queue": queue,
                "events": events,
                "internals": internals,
            }
        )


Background = Web | Surge | Short | Bulk | Onoff
"""Traffic that comes and goes."""
