"""Stacks: named presets of the transport keys, each the two ends of a host of its time.

A stack holds what differs from Longfat's defaults. Every value has the source that says so, and every stack
lists what is unknown about its hosts or has no key. `[[flow]] stack = "NAME"` becomes these keys when a
scenario is read (`scenario.transport`), so nothing behind a scenario knows stacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from longfat.words import choice, shown

OLDER_SPELLINGS = {"sack": "loss_detection"}
"""Keys that say the same as a newer key: one that is written out wins over the stack's value of the other."""


class Setting(NamedTuple):
    """One key of a stack.

    Attributes:
        key: a key of a flow.
        value: what a scenario file would say; None where only some algorithms have a value.
        source: where the value comes from.
        algorithms: other values for algorithms by name; None leaves the algorithm's default.
    """

    key: str
    value: Any
    source: str
    algorithms: Mapping[str, Any] = MappingProxyType({})

    def value_for(self, algorithm: str | None) -> Any:
        """The value for an algorithm of the registry, or for a user's own (None); None if there is none."""
        return self.value if algorithm is None else self.algorithms.get(algorithm, self.value)

    def values_text(self) -> str:
        """Its values as a file writes them, such as '"rack"; tahoe: its own'."""
        texts = [] if self.value is None else [shown(self.value)]
        for value, names in self.other_values():
            told = "its own" if value is None else shown(value)
            texts.append(f"{', '.join(names)}: {told}")
        return "; ".join(texts)

    def other_values(self) -> list[tuple[Any, list[str]]]:
        """The values of particular algorithms, with the names of those that share one."""
        found: list[tuple[Any, list[str]]] = []
        for name, value in self.algorithms.items():
            names = next((names for known, names in found if known == value), None)
            if names is None:
                found.append((value, [name]))
            else:
                names.append(name)
        return found


class Stack(NamedTuple):
    """A preset of the transport keys.

    Attributes:
        name: what scenarios call it.
        title: the name in full.
        era: when such hosts were in use.
        summary: what it is for, in a sentence.
        settings: the keys that differ from the defaults.
        unknown: what is not known of such hosts, and what they do that no key has; a sentence each.
    """

    name: str
    title: str
    era: str
    summary: str
    settings: tuple[Setting, ...] = ()
    unknown: tuple[str, ...] = ()

    def keys_for(self, algorithm: str | None) -> dict[str, Any]:
        """The keys and values that it gives to a flow with this algorithm; None for a user's own."""
        found = {setting.key: setting.value_for(algorithm) for setting in self.settings}
        return {key: value for key, value in found.items() if value is not None}

    def to_json(self) -> dict[str, Any]:
        """What `longfat stacks --json` prints of it."""
        return {
            "name": self.name,
            "title": self.title,
            "era": self.era,
            "summary": self.summary,
            "keys": [
                {
                    "key": setting.key,
                    "value": setting.value,
                    "source": setting.source,
                    "algorithms": dict(setting.algorithms),
                }
                for setting in self.settings
            ],
            "unknown": list(self.unknown),
        }


RFC = Stack(
    "rfc",
    "Longfat's default",
    "any",
    "What a scenario has without a stack: the RFCs, with the timers and the quick ACKs of Linux.",
)

LINUX = Stack(
    "linux",
    "Linux",
    "since 2023",
    "Linux with the defaults of its sysctls; `longfat compare` runs the simulator on it.",
    (
        Setting("initial_window", 10, "RFC 6928; Linux 6, include/net/tcp.h, TCP_INIT_CWND"),
        Setting(
            "slow_start_limit",
            "infinite",
            "Linux 5.10, net/ipv4/tcp_cong.c, tcp_slow_start: the window grows by all that an ACK covers",
        ),
        Setting(
            "loss_detection",
            "rack",
            "RFC 8985; Linux 5.10, net/ipv4/tcp_ipv4.c: tcp_recovery is RACK, tcp_early_retrans 3 sends "
            "probes; Tahoe is how its losses are found, and no kernel of the time has it",
            {"tahoe": None},
        ),
        Setting(
            "recovery",
            "prr-9937",
            "RFC 9937; Linux 6, net/ipv4/tcp_input.c, tcp_cwnd_reduction: the bound depends on new losses",
        ),
        Setting(
            "rtt_samples",
            "last",
            "Linux 5.10, net/ipv4/tcp_input.c, tcp_ack_update_rtt: the RTT of the last segment acknowledged",
        ),
        Setting(
            "variant",
            None,
            "Linux 5.10, net/ipv4/tcp_cubic.c: CUBIC with HyStart; for other algorithms, the scenario says "
            "whether it means the kernel's module",
            {"cubic": "linux"},
        ),
    ),
    (
        "Hosts send single segments: no segmentation offload (TSO, GRO), no pacing by fq, no small queues.",
        "The receiver's window does not grow with the flow (tcp_moderate_rcvbuf); max_window has no limit.",
        "The delayed ACK's timer does not adapt between 40 and 200 ms, and quick ACKs do not come back.",
        "Each segment above a gap is acknowledged at once. Linux lets such ACKs wait for each other, as "
        'sack_compression = "1 ms" does, which this stack leaves to the scenario.',
        "Reordering does not raise the duplicate threshold, and timeouts are undone by timestamps and "
        "DSACKs, not by F-RTO.",
    ),
)

LINUX_2_6 = (
    Setting("initial_rto", "3 s", "Linux 2.6.11 and 2.6.18, include/net/tcp.h, TCP_TIMEOUT_INIT"),
    Setting(
        "cwnd_moderation",
        True,
        "Linux 2.6.11 and 2.6.18, net/ipv4/tcp_input.c, tcp_moderate_cwnd with tcp_max_burst 3",
    ),
    Setting(
        "ssthresh_cache",
        True,
        "Linux 2.6.11 and 2.6.18, net/ipv4/tcp_input.c: tcp_update_metrics, and tcp_no_metrics_save is 0",
    ),
)
"""What 2.6.11 and 2.6.18 have in common, and so the kernels between and just before them."""

LINUX_2_6_6 = Stack(
    "linux-2.6.6-altaimd",
    "Linux 2.6.6 with altAIMD 0.6",
    "2004 to 2006",
    "The hosts of Li, Leith and Shorten's testbed (IEEE/ACM Transactions on Networking 15(5), 2007).",
    (
        Setting(
            "recovery",
            "rate-halving-to-half",
            "Linux 2.6.11, net/ipv4/tcp_input.c, tcp_cwnd_down: the window falls to half of ssthresh, "
            "whatever the algorithm; LLS 2007, Appendix I: the base kernel has rate halving",
        ),
        Setting(
            "rto_tick",
            "1 ms",
            "LLS 2007, V-D: HZ at its default of 1 ms; Linux 2.6.11, include/asm-i386/param.h: 1000",
        ),
        *LINUX_2_6,
        Setting(
            "interrupt_moderation",
            "125 us",
            "LLS 2007, Table I: Intel 82540EM, e1000 5.2.39; Linux 2.6.12-rc2, "
            "drivers/net/e1000/e1000_param.c: 8000 interrupts a second",
        ),
    ),
    (
        "The source of 2.6.6 itself was not available; 2.6.11 and 2.6.18 agree where both are cited.",
        "The patch altAIMD 0.6 was not available. Its limit L of RFC 3465 is not known; the RFC allows 2.",
        "FACK was on (tcp_fack = 1): it finds a loss by the highest segment that arrived, not by three "
        "duplicates; both are the same on a path that keeps the order.",
        "txqueuelen 1000, max_backlog 300 and 4096 descriptors (LLS 2007, Table I) are queues in the "
        "hosts; a host's queue has no limit here. The driver's interrupt rate in 5.2.39 is taken from a "
        "later one.",
        "Whether the testers flushed the cached ssthresh between runs is not known; each run begins "
        "without any.",
        "The processor's time, which limited SACK processing before the patch.",
    ),
)

LINUX_2_6_16 = Stack(
    "linux-2.6.16",
    "Linux 2.6.16",
    "2006",
    "The kernel of YeAH's testbed (2.6.16.2) and of its time: BIC, CUBIC and the others as modules.",
    (
        Setting(
            "slow_start_limit",
            1,
            "tcp_slow_start with tcp_abc = 1, its value in Linux 9772efb97078 (net/ipv4/tcp_input.c, "
            "November 2005, which brought RFC 3465) and in 2.6.17-rc6 "
            "(Documentation/networking/ip-sysctl.txt); 2.6.18 has 0",
        ),
        Setting(
            "byte_counting",
            None,
            "Linux 2.6.18, net/ipv4/tcp_highspeed.c and tcp_scalable.c: these two count ACKs whatever "
            "tcp_abc is; tcp_bic.c and tcp_cubic.c make up for delayed ACKs, tcp_htcp.c counts segments",
            {"hstcp": False, "stcp": False},
        ),
        Setting(
            "initial_ssthresh",
            None,
            "Linux 2.6.18, net/ipv4/tcp_bic.c and tcp_cubic.c: initial_ssthresh",
            {"bic": 100, "cubic": 100},
        ),
        Setting(
            "slow_start",
            None,
            "Linux 2.6.18, net/ipv4/tcp_highspeed.c: limited slow-start above max_ssthresh = 100",
            {"hstcp": "limited"},
        ),
        Setting(
            "recovery",
            "rate-halving-to-half",
            "Linux 2.6.18, net/ipv4/tcp_input.c, tcp_cwnd_down and tcp_cwnd_min: the floor is half of "
            "ssthresh (tcp_reno_min_cwnd), but ssthresh for modules without min_cwnd, and for tcp_westwood.c",
            dict.fromkeys(("bic", "cubic", "htcp", "westwood", "westwood+"), "rate-halving"),
        ),
        Setting("rto_tick", "4 ms", "Linux 2.6.18, kernel/Kconfig.hz: 250 Hz unless configured otherwise"),
        *LINUX_2_6,
    ),
    (
        "The source of 2.6.16 itself was not available; 2.6.11 and 2.6.18 agree where both are cited.",
        "The authors of YeAH made their stack RFC compliant, as they say, and used limited slow-start; what "
        "they changed is not printed. This is the kernel without their changes.",
        'A kernel may have been built for 100 or 1000 Hz: rto_tick = "10 ms" or "1 ms".',
        "FACK was on, as in linux-2.6.6-altaimd.",
        "The network cards' interrupt moderation is not printed.",
    ),
)

NS_2 = Stack(
    "ns-2",
    "ns-2.35",
    "2006 to 2011",
    "The one-way agents of ns-2 with the defaults of tcl/lib/ns-default.tcl (2.30 to 2.35).",
    (
        Setting("mss", "1000 B", "ns-default.tcl: packetSize_ 1000"),
        Setting(
            "timestamps",
            False,
            "ns-default.tcl: timestamps_ false, tcpip_base_hdr_size_ 40 and useHeaders_ true: headers of "
            "40 bytes; Agent/TCP/Reno/XCP has timestamps",
            {"xcp": None, "xcp-r": None},
        ),
        Setting("initial_window", 2, "ns-default.tcl: windowInit_ 2"),
        Setting("byte_counting", False, "tcp/tcp.cc, opencwnd: each ACK counts 1"),
        Setting("delayed_ack", False, "tcp/tcp-sink.cc: Agent/TCPSink acknowledges every packet"),
        Setting("delayed_ack_timeout", "100 ms", "ns-default.tcl: Agent/TCPSink/DelAck interval_ 100ms"),
        Setting("quick_acks", 0, "tcp/tcp-sink.cc: a DelAck sink acknowledges only the SYN at once"),
        Setting(
            "loss_detection",
            None,
            "the agents keep their own: Sack1, Newreno, Reno, Tahoe; the XCP agent is Agent/TCP/Reno/XCP, "
            "Reno without SACK (ns-default.tcl)",
            {"xcp": "reno", "xcp-r": "reno"},
        ),
        Setting(
            "recovery",
            "immediate",
            "tcp/tcp-sack1.cc, dupack_action: slowdown halves cwnd at once, and pipe_ says what may be sent",
        ),
        Setting(
            "timeout_reductions",
            "each",
            "tcp/tcp.cc, timeout: slowdown sets ssthresh at every timeout, in a recovery and after another "
            "timeout too; so do tcp/tcp-vegas.cc, timeout, and tcp/tcp-linux.cc, enter_loss",
        ),
        Setting(
            "first_reduction",
            None,
            "tcp/tcp.cc, slowdown: half of cwnd if first_decrease_ is 1, if cwnd_ < ssthresh_, or if "
            "last_cwnd_action_ is CWND_ACTION_TIMEOUT; windowOption_ 8 is HighSpeed TCP. Agent/TCP/Linux and "
            "agents from elsewhere have their own",
            dict.fromkeys(("sack", "newreno", "reno", "tahoe", "hstcp", "xcp", "xcp-r"), "half"),
        ),
        Setting("initial_rto", "3 s", "ns-default.tcl: rtxcur_init_ 3.0"),
        Setting("rto_tick", "10 ms", "ns-default.tcl: tcpTick_ 0.01"),
        Setting(
            "rto_min_of",
            "timeout",
            "tcp/tcp.cc, rtt_timeout: minrto_ 0.2 bounds the whole timeout before the backoff",
        ),
        Setting(
            "backoff_until",
            "new-segment",
            "ns-default.tcl: ts_resetRTO_ false; tcp/tcp.cc, newack: t_backoff_ becomes 1 with the ACK of "
            "rtt_seq_, the first new segment since reset_rtx_timer",
        ),
    ),
    (
        "window_ is 20 packets unless a script sets it, and the initial ssthresh with it; a script for a "
        "fat path has to set it, so here both have no limit.",
        "maxburst_ and overhead_ are 0 by default: max_burst and send_jitter stay off unless they are "
        "written.",
        'Scripts set packetSize_; the packets of Lopez Pacheco\'s thesis have 1024 bytes: mss = "1024 B".',
        "A SACK block takes no bytes in ns-2: its ACKs always have 40.",
        "Vegas, HSTCP (windowOption_ 8) and the others have their own parameters in ns-2.",
        "Before 2.32 the timeout had no bound of 60 s.",
        "Within a recovery by an echoed mark, a timeout leaves ssthresh alone in ns-2; here it halves it.",
        "A timeout is never undone in ns-2 (frto_enabled_ is 0); here it can be, with timestamps.",
    ),
)

QUIC = Stack(
    "quic",
    "QUIC as in RFC 9002",
    "since 2021",
    "TCP that detects losses and recovers like QUIC's recommended constants; with `cubic`, RFC 9438's CUBIC.",
    (
        Setting("initial_window", 10, "RFC 9002, section 7.2"),
        Setting(
            "slow_start_limit",
            "infinite",
            "RFC 9002, section 7.3.1: the window grows by the bytes that an ACK covers",
        ),
        Setting("quick_acks", 0, "RFC 9000, section 13.2.2: an ACK after two packets, from the beginning"),
        Setting("delayed_ack_timeout", "25 ms", "RFC 9000, section 18.2: max_ack_delay"),
        Setting(
            "loss_detection",
            "rack",
            "RFC 9002, section 6.1: 3 packets, or a time threshold in the spirit of RACK",
            {"tahoe": None},
        ),
        Setting("recovery", "immediate", "RFC 9002, section 7.3.2: the window is reduced immediately"),
        Setting(
            "rtt_samples",
            "numbered",
            "RFC 9002, section 5.1: the RTT of the largest packet acknowledged; no number is used twice",
        ),
    ),
    (
        "The time threshold is RACK's, the RTT and a quarter of the least RTT; QUIC's is 9/8 of the RTT.",
        "Headers have TCP's 52 bytes. UDP, a short header, a STREAM frame and the authentication tag have "
        "about as many.",
        "A timeout sets the window to 1, as in TCP; QUIC's probe timeouts do so only after persistent "
        "congestion.",
        "The timer restarts with each ACK and each repair of the first segment; QUIC's also with each packet "
        "that is sent.",
        "ACKs have three SACK blocks, not QUIC's many ranges; ACK delays are not reported.",
        "Many implementations acknowledge less often than every second packet, and pace.",
    ),
)

STACKS = (RFC, LINUX, LINUX_2_6_6, LINUX_2_6_16, NS_2, QUIC)
"""Every stack, in the order in which they are listed."""

NAMES = tuple(stack.name for stack in STACKS)
"""The names of all stacks."""
PRESET_KEYS = tuple(dict.fromkeys(setting.key for stack in STACKS for setting in stack.settings))
"""The keys that any of the stacks sets."""


def find(name: Any) -> Stack:
    """The stack of this name; ValueError suggests the nearest name."""
    for stack in STACKS:
        if stack.name == name:
            return stack
    raise ValueError(f"stack = {shown(name)}: {choice(name, NAMES)}")
