//! Stacks: named presets of the transport keys, each the two ends of a host of its time.
//!
//! A stack holds what differs from Longfat's defaults. Every value has the source that says so, and every
//! stack lists what is unknown about its hosts or has no key. `[[flow]] stack = "NAME"` becomes these keys
//! when a scenario is read, so nothing behind a scenario knows stacks.

use crate::forms::no_choice;
use crate::problem::Refusal;
use crate::tree::Value;
use Word::{No, Number, Text, Yes};

/// A value as a scenario file would have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// true.
    Yes,
    /// false.
    No,
    /// A whole number.
    Number(i64),
    /// A text.
    Text(&'static str),
}

impl From<Word> for Value {
    fn from(word: Word) -> Value {
        match word {
            Word::Yes => true.into(),
            Word::No => false.into(),
            Word::Number(number) => Value::Integer(number.into()),
            Word::Text(text) => text.into(),
        }
    }
}

/// One key of a stack.
#[derive(Debug)]
pub struct Setting {
    /// A key of a flow.
    pub key: &'static str,
    /// What a scenario file would say; `None` where only some algorithms have a value.
    pub value: Option<Word>,
    /// Other values for algorithms by name; `None` leaves the algorithm's default.
    pub algorithms: &'static [(&'static [&'static str], Option<Word>)],
    /// Where the value comes from.
    pub source: &'static str,
}

/// A preset of the transport keys.
#[derive(Debug)]
pub struct Stack {
    /// What scenarios call it.
    pub name: &'static str,
    /// The name in full.
    pub title: &'static str,
    /// When such hosts were in use.
    pub era: &'static str,
    /// What it is for, in a sentence.
    pub summary: &'static str,
    /// The keys that differ from the defaults.
    settings: &'static [&'static [Setting]],
    /// What is not known of such hosts, and what they do that no key has; a sentence each.
    pub unknown: &'static [&'static str],
}

impl Stack {
    /// The keys that differ from the defaults.
    pub fn settings(&self) -> impl Iterator<Item = &'static Setting> {
        self.settings.iter().copied().flatten()
    }

    /// The keys and values that it gives to a flow with this algorithm of the registry; `None` for a user's
    /// own.
    pub fn keys_for(&self, algorithm: Option<&str>) -> Vec<(&'static str, Value)> {
        let value = |setting: &Setting| match algorithm {
            None => setting.value,
            Some(name) => {
                let own = setting.algorithms.iter().find(|(names, _)| names.contains(&name));
                own.map_or(setting.value, |(_, value)| *value)
            }
        };
        self.settings().filter_map(|setting| Some((setting.key, value(setting)?.into()))).collect()
    }
}

/// The stack of this name; the refusal suggests the nearest name.
pub fn find(name: &Value) -> Result<&'static Stack, Refusal> {
    if let Some(stack) = STACKS.iter().find(|stack| Some(stack.name) == name.text()) {
        return Ok(stack);
    }
    let names: Vec<Value> = STACKS.iter().map(|stack| stack.name.into()).collect();
    Err(no_choice(name, &names).about("stack"))
}

/// The keys that any of the stacks sets.
pub fn preset_keys() -> Vec<&'static str> {
    let mut keys = Vec::new();
    for setting in STACKS.iter().flat_map(Stack::settings) {
        if !keys.contains(&setting.key) {
            keys.push(setting.key);
        }
    }
    keys
}

/// A key with one value for all algorithms.
const fn set(key: &'static str, value: Word, source: &'static str) -> Setting {
    Setting { key, value: Some(value), algorithms: &[], source }
}

/// A key with other values for some algorithms.
const fn set_for(
    key: &'static str,
    value: Option<Word>,
    algorithms: &'static [(&'static [&'static str], Option<Word>)],
    source: &'static str,
) -> Setting {
    Setting { key, value, algorithms, source }
}

/// What 2.6.11 and 2.6.18 have in common, and so the kernels between and just before them.
const LINUX_2_6: &[Setting] = &[
    set("initial_rto", Text("3 s"), "Linux 2.6.11 and 2.6.18, include/net/tcp.h, TCP_TIMEOUT_INIT"),
    set(
        "cwnd_moderation",
        Yes,
        "Linux 2.6.11 and 2.6.18, net/ipv4/tcp_input.c, tcp_moderate_cwnd with tcp_max_burst 3",
    ),
    set(
        "ssthresh_cache",
        Yes,
        "Linux 2.6.11 and 2.6.18, net/ipv4/tcp_input.c: tcp_update_metrics, and tcp_no_metrics_save is 0",
    ),
];

/// Every stack, in the order in which they are listed.
pub static STACKS: &[Stack] = &[
    Stack {
        name: "rfc",
        title: "Longfat's default",
        era: "any",
        summary: "What a scenario has without a stack: the RFCs, with the timers and the quick ACKs of \
                  Linux.",
        settings: &[],
        unknown: &[],
    },
    Stack {
        name: "linux",
        title: "Linux",
        era: "since 2023",
        summary: "Linux with the defaults of its sysctls; `longfat crosscheck` runs the simulator on it.",
        settings: &[&[
            set("initial_window", Number(10), "RFC 6928; Linux 6, include/net/tcp.h, TCP_INIT_CWND"),
            set(
                "slow_start_limit",
                Text("infinite"),
                "Linux 5.10, net/ipv4/tcp_cong.c, tcp_slow_start: the window grows by all that an ACK \
                 covers",
            ),
            set_for(
                "loss_detection",
                Some(Text("rack")),
                &[(&["tahoe"], None)],
                "RFC 8985; Linux 5.10, net/ipv4/tcp_ipv4.c: tcp_recovery is RACK, tcp_early_retrans 3 sends \
                 probes; Tahoe is how its losses are found, and no kernel of the time has it",
            ),
            set(
                "recovery",
                Text("prr-9937"),
                "RFC 9937; Linux 6, net/ipv4/tcp_input.c, tcp_cwnd_reduction: the bound depends on new \
                 losses",
            ),
            set(
                "rtt_samples",
                Text("last"),
                "Linux 5.10, net/ipv4/tcp_input.c, tcp_ack_update_rtt: the RTT of the last segment \
                 acknowledged",
            ),
            set_for(
                "variant",
                None,
                &[(&["cubic"], Some(Text("linux")))],
                "Linux 5.10, net/ipv4/tcp_cubic.c: CUBIC with HyStart; for other algorithms, the scenario \
                 says whether it means the kernel's module",
            ),
        ]],
        unknown: &[
            "Hosts send single segments: no segmentation offload (TSO, GRO), no pacing by fq, no small \
             queues.",
            "The receiver's window does not grow with the flow (tcp_moderate_rcvbuf); max_window has no \
             limit.",
            "The delayed ACK's timer does not adapt between 40 and 200 ms, and quick ACKs do not come back.",
            "Each segment above a gap is acknowledged at once. Linux lets such ACKs wait for each other, as \
             sack_compression = \"1 ms\" does, which this stack leaves to the scenario.",
            "Reordering does not raise the duplicate threshold, and timeouts are undone by timestamps and \
             DSACKs, not by F-RTO.",
        ],
    },
    Stack {
        name: "linux-2.6.6-altaimd",
        title: "Linux 2.6.6 with altAIMD 0.6",
        era: "2004 to 2006",
        summary: "The hosts of Li, Leith and Shorten's testbed (IEEE/ACM Transactions on Networking 15(5), \
                  2007).",
        settings: &[
            &[
                set(
                    "recovery",
                    Text("rate-halving-to-half"),
                    "Linux 2.6.11, net/ipv4/tcp_input.c, tcp_cwnd_down: the window falls to half of \
                     ssthresh, with every algorithm; LLS 2007, Appendix I: the base kernel has rate \
                     halving",
                ),
                set(
                    "rto_tick",
                    Text("1 ms"),
                    "LLS 2007, V-D: HZ at its default of 1 ms; Linux 2.6.11, include/asm-i386/param.h: \
                     1000",
                ),
            ],
            LINUX_2_6,
            &[set(
                "interrupt_moderation",
                Text("125 us"),
                "LLS 2007, Table I: Intel 82540EM, e1000 5.2.39; Linux 2.6.12-rc2, \
                 drivers/net/e1000/e1000_param.c: 8000 interrupts a second",
            )],
        ],
        unknown: &[
            "The source of 2.6.6 itself was not available; 2.6.11 and 2.6.18 agree where both are cited.",
            "The patch altAIMD 0.6 was not available. Its limit L of RFC 3465 is not known; the RFC allows \
             2.",
            "FACK was on (tcp_fack = 1): it finds a loss by the highest segment that arrived, not by three \
             duplicates; both are the same on a path that keeps the order.",
            "txqueuelen 1000, max_backlog 300 and 4096 descriptors (LLS 2007, Table I) are queues in the \
             hosts; a host's queue has no limit here. The driver's interrupt rate in 5.2.39 is taken from a \
             later one.",
            "Whether the testers flushed the cached ssthresh between runs is not known; each run begins \
             without any.",
            "The processor's time, which limited SACK processing before the patch.",
        ],
    },
    Stack {
        name: "linux-2.6.16",
        title: "Linux 2.6.16",
        era: "2006",
        summary: "The kernel of YeAH's testbed (2.6.16.2) and of its time: BIC, CUBIC and the others as \
                  modules.",
        settings: &[
            &[
                set(
                    "slow_start_limit",
                    Number(1),
                    "tcp_slow_start with tcp_abc = 1, its value in Linux 9772efb97078 \
                     (net/ipv4/tcp_input.c, November 2005, which brought RFC 3465) and in 2.6.17-rc6 \
                     (Documentation/networking/ip-sysctl.txt); 2.6.18 has 0",
                ),
                set_for(
                    "byte_counting",
                    None,
                    &[(&["hstcp", "stcp"], Some(No))],
                    "Linux 2.6.18, net/ipv4/tcp_highspeed.c and tcp_scalable.c: these two count ACKs \
                     for every value of tcp_abc; tcp_bic.c and tcp_cubic.c make up for delayed ACKs, \
                     tcp_htcp.c counts segments",
                ),
                set_for(
                    "initial_ssthresh",
                    None,
                    &[(&["bic", "cubic"], Some(Number(100)))],
                    "Linux 2.6.18, net/ipv4/tcp_bic.c and tcp_cubic.c: initial_ssthresh",
                ),
                set_for(
                    "slow_start",
                    None,
                    &[(&["hstcp"], Some(Text("limited")))],
                    "Linux 2.6.18, net/ipv4/tcp_highspeed.c: limited slow-start above max_ssthresh = 100",
                ),
                set_for(
                    "recovery",
                    Some(Text("rate-halving-to-half")),
                    &[(&["bic", "cubic", "htcp", "westwood", "westwood+"], Some(Text("rate-halving")))],
                    "Linux 2.6.18, net/ipv4/tcp_input.c, tcp_cwnd_down and tcp_cwnd_min: the floor is half \
                     of ssthresh (tcp_reno_min_cwnd), but ssthresh for modules without min_cwnd, and for \
                     tcp_westwood.c",
                ),
                set(
                    "rto_tick",
                    Text("4 ms"),
                    "Linux 2.6.18, kernel/Kconfig.hz: 250 Hz unless configured otherwise",
                ),
            ],
            LINUX_2_6,
        ],
        unknown: &[
            "The source of 2.6.16 itself was not available; 2.6.11 and 2.6.18 agree where both are cited.",
            "The authors of YeAH made their stack RFC compliant, as they say, and used limited slow-start; \
             what they changed is not printed. This is the kernel without their changes.",
            "A kernel may have been built for 100 or 1000 Hz: rto_tick = \"10 ms\" or \"1 ms\".",
            "FACK was on, as in linux-2.6.6-altaimd.",
            "The network cards' interrupt moderation is not printed.",
        ],
    },
    Stack {
        name: "ns-2",
        title: "ns-2.35",
        era: "2006 to 2011",
        summary: "The one-way agents of ns-2 with the defaults of tcl/lib/ns-default.tcl (2.30 to 2.35).",
        settings: &[&[
            set("mss", Text("1000 B"), "ns-default.tcl: packetSize_ 1000"),
            set_for(
                "timestamps",
                Some(No),
                &[(&["xcp", "xcp-r"], None)],
                "ns-default.tcl: timestamps_ false, tcpip_base_hdr_size_ 40 and useHeaders_ true: headers \
                 of 40 bytes; Agent/TCP/Reno/XCP has timestamps",
            ),
            set("initial_window", Number(2), "ns-default.tcl: windowInit_ 2"),
            set("byte_counting", No, "tcp/tcp.cc, opencwnd: each ACK counts 1"),
            set("delayed_ack", No, "tcp/tcp-sink.cc: Agent/TCPSink acknowledges every packet"),
            set(
                "delayed_ack_timeout",
                Text("100 ms"),
                "ns-default.tcl: Agent/TCPSink/DelAck interval_ 100ms",
            ),
            set("quick_acks", Number(0), "tcp/tcp-sink.cc: a DelAck sink acknowledges only the SYN at once"),
            set_for(
                "loss_detection",
                None,
                &[(&["xcp", "xcp-r"], Some(Text("reno-classic")))],
                "the agents keep their own: Sack1, Newreno, Reno, Tahoe; the XCP agent is \
                 Agent/TCP/Reno/XCP, Reno without SACK (ns-default.tcl)",
            ),
            set(
                "recovery",
                Text("immediate"),
                "tcp/tcp-sack1.cc, dupack_action: slowdown halves cwnd at once, and pipe_ says what may be \
                 sent",
            ),
            set(
                "timeout_reductions",
                Text("each"),
                "tcp/tcp.cc, timeout: slowdown sets ssthresh at every timeout, in a recovery and after \
                 another timeout too; so do tcp/tcp-vegas.cc, timeout, and tcp/tcp-linux.cc, enter_loss",
            ),
            set_for(
                "first_reduction",
                None,
                &[(
                    &["reno", "newreno", "reno-classic", "tahoe", "hstcp", "xcp", "xcp-r"],
                    Some(Text("half")),
                )],
                "tcp/tcp.cc, slowdown: half of cwnd if first_decrease_ is 1, if cwnd_ < ssthresh_, or if \
                 last_cwnd_action_ is CWND_ACTION_TIMEOUT; windowOption_ 8 is HighSpeed TCP. \
                 Agent/TCP/Linux and agents from elsewhere have their own",
            ),
            set("initial_rto", Text("3 s"), "ns-default.tcl: rtxcur_init_ 3.0"),
            set("rto_tick", Text("10 ms"), "ns-default.tcl: tcpTick_ 0.01"),
            set(
                "rto_min_of",
                Text("timeout"),
                "tcp/tcp.cc, rtt_timeout: minrto_ 0.2 bounds the whole timeout before the backoff",
            ),
            set(
                "backoff_until",
                Text("new-segment"),
                "ns-default.tcl: ts_resetRTO_ false; tcp/tcp.cc, newack: t_backoff_ becomes 1 with the ACK \
                 of rtt_seq_, the first new segment since reset_rtx_timer",
            ),
        ]],
        unknown: &[
            "window_ is 20 packets unless a script sets it, and the initial ssthresh with it; a script for \
             a fat path has to set it, so here both have no limit.",
            "maxburst_ and overhead_ are 0 by default: max_burst and send_jitter stay off unless they are \
             written.",
            "Scripts set packetSize_; the packets of Lopez Pacheco's thesis have 1024 bytes: mss = \"1024 \
             B\".",
            "A SACK block takes no bytes in ns-2: its ACKs always have 40.",
            "Vegas, HSTCP (windowOption_ 8) and the others have their own parameters in ns-2.",
            "Before 2.32 the timeout had no bound of 60 s.",
            "Within a recovery by an echoed mark, a timeout leaves ssthresh alone in ns-2; here it halves \
             it.",
            "A timeout is never undone in ns-2 (frto_enabled_ is 0); here it can be, with timestamps.",
        ],
    },
    Stack {
        name: "quic",
        title: "QUIC as in RFC 9002",
        era: "since 2021",
        summary: "TCP that detects losses and recovers like QUIC's recommended constants; with `cubic`, RFC \
                  9438's CUBIC.",
        settings: &[&[
            set("initial_window", Number(10), "RFC 9002, section 7.2"),
            set(
                "slow_start_limit",
                Text("infinite"),
                "RFC 9002, section 7.3.1: the window grows by the bytes that an ACK covers",
            ),
            set(
                "quick_acks",
                Number(0),
                "RFC 9000, section 13.2.2: an ACK after two packets, from the beginning",
            ),
            set("delayed_ack_timeout", Text("25 ms"), "RFC 9000, section 18.2: max_ack_delay"),
            set_for(
                "loss_detection",
                Some(Text("rack")),
                &[(&["tahoe"], None)],
                "RFC 9002, section 6.1: 3 packets, or a time threshold in the spirit of RACK",
            ),
            set("recovery", Text("immediate"), "RFC 9002, section 7.3.2: the window is reduced immediately"),
            set(
                "rtt_samples",
                Text("numbered"),
                "RFC 9002, section 5.1: the RTT of the largest packet acknowledged; no number is used \
                 twice",
            ),
        ]],
        unknown: &[
            "The time threshold is RACK's, the RTT and a quarter of the least RTT; QUIC's is 9/8 of the \
             RTT.",
            "Headers have TCP's 52 bytes. UDP, a short header, a STREAM frame and the authentication tag \
             have about as many.",
            "A timeout sets the window to 1, as in TCP; QUIC's probe timeouts do so only after persistent \
             congestion.",
            "The timer restarts with each ACK and each repair of the first segment; QUIC's also with each \
             packet that is sent.",
            "ACKs have three SACK blocks, not QUIC's many ranges; ACK delays are not reported.",
            "Many implementations acknowledge less often than every second packet, and pace.",
        ],
    },
];
