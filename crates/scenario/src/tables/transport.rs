//! How the two ends of a connection behave; flows and background traffic share it.

use crate::at::{At, Context};
use crate::form::{Maybe, View};
use crate::forms::{
    ALGORITHM, Algorithm, Carrier, ECN, Ecn, MSS_BYTES, NAME, RECEIVER, Receiver, SEGMENTS,
    SEGMENTS_OR_INFINITE, SWITCH, TICK, Words, constant_rate, row_named, size, table_of, time, whole,
};
use crate::keys::{Checked, Keys, Mark, read, table, write};
use crate::problem::{Refusal, refuse_key};
use crate::stacks::{self, Stack};
use crate::tree::{Item, Table, Value};
use crate::units::SIZE;
use crate::world::Files;
use longfat_transport::cc::LossDetection;
use longfat_transport::{BackoffUntil, FirstReduction, Recovery, RtoConfig, RtoMinOf, RttSamples};
use longfat_transport::{SlowStartExit, TimeoutReductions};
use longfat_units::Interval;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How slow-start grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SlowStart {
    /// One segment for each segment acknowledged.
    Standard,
    /// Slower above `max_ssthresh` (RFC 3742).
    Limited,
    /// As standard, until the first one ends by HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HystartPlus,
    /// As standard, until the first one ends by SEARCH (draft-chung-ccwg-search).
    Search,
}

impl SlowStart {
    /// What ends the first slow-start early.
    pub const fn exit(self) -> SlowStartExit {
        match self {
            SlowStart::Standard | SlowStart::Limited => SlowStartExit::None,
            SlowStart::HystartPlus => SlowStartExit::HystartPlus,
            SlowStart::Search => SlowStartExit::Search,
        }
    }
}

/// IPv4 (20), TCP (20) and its timestamps option (12) before each segment's payload, bytes.
pub const HEADER_BYTES: u32 = 52;
/// The longest packet of IP, bytes.
const LARGEST_PACKET_BYTES: u32 = 65_535;
/// The timestamps option of RFC 7323, padded, bytes.
pub const TIMESTAMP_BYTES: u32 = 12;

/// The lowest and the highest rate that a request can ask for, bit/s (RFC 4782, section 3.1).
const QUICK_START_BPS: (f64, f64) = (80e3, 1_310_720e3);

const SLOW_STARTS: Words<SlowStart> = Words(&[
    ("standard", SlowStart::Standard),
    ("limited", SlowStart::Limited),
    ("hystart++", SlowStart::HystartPlus),
    ("search", SlowStart::Search),
]);
const LOSS_DETECTIONS: Words<LossDetection> = Words(&[
    ("rack", LossDetection::Rack),
    ("sack", LossDetection::Sack),
    ("newreno", LossDetection::NewReno),
    ("reno-classic", LossDetection::RenoClassic),
    ("tahoe", LossDetection::Tahoe),
]);
const RECOVERIES: Words<Recovery> = Words(&[
    ("rate-halving", Recovery::RateHalving),
    ("rate-halving-to-half", Recovery::RateHalvingToHalf),
    ("prr", Recovery::Prr),
    ("prr-9937", Recovery::Prr9937),
    ("immediate", Recovery::Immediate),
]);
const RTT_SAMPLES: Words<RttSamples> =
    Words(&[("echoed", RttSamples::Echoed), ("last", RttSamples::Last), ("numbered", RttSamples::Numbered)]);

table! {
    /// How the two ends of a connection behave; flows and background traffic share it.
    #[derive(Serialize, Deserialize)]
    pub struct Transport {
        /// The congestion control.
        algorithm: Algorithm, Udp, Datagrams = ALGORITHM, else Algorithm::STANDARD;
        /// Payload of a full segment; with the headers this makes a packet of 1500 bytes of IP.
        mss: f64, Udp, Datagrams = size(MSS_BYTES, "1448 B"), else 1448.0;
        /// The slow-start threshold at the beginning.
        initial_ssthresh: Option<f64>, Kernel = SEGMENTS_OR_INFINITE, else None;
        /// Begin with the slow-start threshold that earlier connections between the same two hosts left.
        ssthresh_cache: bool, Kernel = SWITCH, else false;
        /// The window at the beginning.
        initial_window: f64 = SEGMENTS, else 3.0; // RFC 3390 for this segment size
        /// The receiver's window.
        max_window: Option<f64> = SEGMENTS_OR_INFINITE, else None;
        /// The most segments that one ACK releases; the rest waits for the next ACK.
        max_burst: Option<f64>, Kernel = SEGMENTS_OR_INFINITE, else None;
        /// Standard slow-start, the limited one of RFC 3742, or one that HyStart++ or SEARCH may end early.
        slow_start: SlowStart, Kernel = SLOW_STARTS, else SlowStart::Standard;
        /// The window from which limited slow-start grows more slowly.
        max_ssthresh: f64, Kernel = SEGMENTS, else 100.0; // RFC 3742; used by limited slow-start
        /// The receiver acknowledges every second segment.
        delayed_ack: bool, Kernel = SWITCH, else true;
        /// The receiver acknowledges a single segment after this long.
        delayed_ack_timeout: f64, Kernel = time((1e-6, 10.0), "40 ms"), else 0.04; // Linux's least
        /// The first this many ACKs of a connection are not delayed.
        quick_acks: i64, Kernel = whole((0, 1_000_000_000), "segments"), else 16; // Linux TCP_MAX_QUICKACKS
        /// ACKs of segments above a gap wait up to this long for each other, as in Linux. With 0 they do not.
        sack_compression: f64, Kernel = TICK, else 0.0;
        /// The window grows by acknowledged segments (RFC 3465), not by ACKs.
        byte_counting: bool, Kernel = SWITCH, else true;
        /// With byte counting, the most segments that one ACK counts in slow-start.
        slow_start_limit: Option<f64>, Kernel = SEGMENTS_OR_INFINITE, else Some(2.0); // RFC 3465, 2.2, L
        /// How the sender finds losses; by default as the algorithm has it in the registry.
        loss_detection: Option<LossDetection> = Maybe(LOSS_DETECTIONS), else None;
        /// How the window shrinks in SACK recovery; by default "rate-halving"; "prr" for scalable algorithms.
        recovery: Option<Recovery> = Maybe(RECOVERIES), else None;
        /// At dubious ACKs the window is at most three segments above those in flight, as in Linux 2.6.
        cwnd_moderation: bool, Kernel = SWITCH, else false;
        /// Which timeouts reduce ssthresh: only one that begins a loss episode, or each one, as in ns-2.
        timeout_reductions: TimeoutReductions, Kernel = Words(&[
            ("once", TimeoutReductions::Once),
            ("each", TimeoutReductions::Each),
        ]), else TimeoutReductions::Once;
        /// The first reduction, and those in slow-start and by timeouts: the algorithm's own, or to half.
        first_reduction: FirstReduction, Kernel = Words(&[
            ("own", FirstReduction::Own),
            ("half", FirstReduction::Half),
        ]), else FirstReduction::Own;
        /// Which round-trip times reach the algorithm: the echoed timestamp's, or those of Linux or of QUIC.
        rtt_samples: RttSamples = RTT_SAMPLES, else RttSamples::Echoed;
        /// Packets carry timestamps (RFC 7323). Without them the sender times one segment per round trip.
        timestamps: bool, Kernel = SWITCH, else true;
        /// Granularity of the host's timer: packets leave in bursts at its ticks. With 0 they leave at once.
        host_tick: f64, Kernel, Udp, Datagrams = TICK, else 0.0;
        /// Both hosts take packets at interrupts at least this far apart. With 0 they take each one at once.
        interrupt_moderation: f64, Kernel, Udp, Datagrams = TICK, else 0.0;
        /// What the sender's host may send waits for a random time up to this, in order. With 0 it does not.
        send_jitter: f64, Kernel = TICK, else 0.0;
        /// Least margin of the retransmission timeout above the smoothed RTT, or least timeout: `rto_min_of`.
        rto_min: f64, Kernel, Udp = time((0.0, 60.0), "200 ms"), else 0.2; // Linux; RFC 6298 has 1 s
        /// What `rto_min` bounds: the margin above the smoothed RTT (Linux), or the whole timeout (RFC 6298).
        rto_min_of: RtoMinOf, Kernel = Words(&[
            ("margin", RtoMinOf::Margin),
            ("timeout", RtoMinOf::Timeout),
        ]), else RtoMinOf::Margin;
        /// The clock of the retransmission timer: RTTs and timeouts are whole ticks. With 0 it is exact.
        rto_tick: f64, Kernel = TICK, else 0.0;
        /// With timestamps, what ends the timer's backoff: the next RTT sample, or a new segment's ACK
        /// (ns-2).
        backoff_until: BackoffUntil, Kernel = Words(&[
            ("sample", BackoffUntil::Sample),
            ("new-segment", BackoffUntil::NewSegment),
        ]), else BackoffUntil::Sample;
        /// The retransmission timeout before the first RTT sample.
        initial_rto: f64, Kernel = time((1e-3, 60.0), "1 s"), else 1.0; // RFC 6298, section 2.1
        /// Negotiate ECN (RFC 3168), for marks instead of drops. "accurate": counters; "l4s": ECT(1) too.
        ecn: Ecn = ECN, else Ecn::Off;
        /// A mark reduces the window less than a loss does (RFC 8511): to 0.8, CUBIC to 0.85.
        abe: bool, Kernel = SWITCH, else false;
        /// The rate that the connection request asks the routers for (RFC 4782); none by default.
        quick_start: Option<f64> = Maybe(constant_rate(QUICK_START_BPS, "10 Mbit/s")), else None;
        /// What the receiver does against the rules; by default nothing.
        receiver: Receiver, Kernel = RECEIVER, else Receiver::HONEST;
    }
}

table! {
    /// A transport that sends from one node to another, in a scenario that has links.
    pub struct Placed {
        ..transport: Transport,
        /// The node that sends data, with `[[link]]`.
        origin as "from": Option<String> = Maybe(NAME), else None;
        /// The node that receives data, with `[[link]]`.
        to: Option<String> = Maybe(NAME), else None;
    }
}

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// As the flows'.
    Forward,
    /// Against them.
    Reverse,
    /// Both ways.
    Both,
}

/// The keys with a mark.
pub fn marked(mark: Mark) -> Vec<&'static str> {
    let mut marks = Vec::new();
    Transport::marks(&mut marks);
    marks.into_iter().filter(|(_, marks)| marks.contains(&mark)).map(|(name, _)| name).collect()
}

/// The keys of a flow that its transport ignores.
pub fn ignored_keys(carrier: Carrier) -> Vec<&'static str> {
    let used = match carrier {
        Carrier::Tcp => return Vec::new(),
        Carrier::Udp => marked(Mark::Udp),
        Carrier::Datagrams => marked(Mark::Datagrams),
    };
    let mut names = Vec::new();
    Transport::names(&mut names);
    names.retain(|name| !used.contains(name));
    names
}

/// What the kernel has where the stack "linux" leaves a key to the scenario, s: tcp_comp_sack_delay_ns,
/// Documentation/networking/ip-sysctl.rst.
const SACK_COMPRESSION_S: f64 = 1e-3;

/// The keys that the kernel decides in a live run and that have neither their default, nor the value of the
/// stack "linux", nor the kernel's.
pub fn decided_by_kernel(part: &Transport) -> Vec<&'static str> {
    let keys = marked(Mark::Kernel);
    let stack = |name: &str| stacks::STACKS.iter().find(|stack| stack.name == name);
    let (Some(rfc), Some(linux)) = (stack("rfc"), stack("linux")) else { return Vec::new() };
    let differs = unlike(part, rfc, &keys);
    let mut differs: Vec<&str> = unlike(part, linux, &differs);
    differs.retain(|key| *key != "sack_compression" || part.sack_compression != SACK_COMPRESSION_S);
    differs
}

impl Transport {
    /// How the window shrinks in SACK recovery, also where no key says so.
    ///
    /// Rate halving takes a segment for every two that arrive, down to what is in flight and one: too coarse
    /// for reductions by the extent of marks (RFC 8257), which are frequent and small. Linux has PRR.
    pub fn recovery_used(&self) -> Recovery {
        let is_scalable = || self.algorithm.needs_marks() || self.algorithm.is_scalable();
        self.recovery.unwrap_or_else(|| if is_scalable() { Recovery::Prr } else { Recovery::RateHalving })
    }

    /// The bytes of headers before each segment's payload.
    pub fn header_bytes(&self) -> u32 {
        let stamps = if self.timestamps { 0 } else { TIMESTAMP_BYTES };
        HEADER_BYTES + self.algorithm.explicit_bytes() - stamps
    }

    /// Payload of a full segment, whole bytes.
    pub const fn mss_bytes(&self) -> u32 {
        self.mss as u32
    }

    /// The retransmission timeout.
    pub fn rto(&self) -> RtoConfig {
        RtoConfig {
            initial: Interval::from_secs_f64(self.initial_rto),
            min: Interval::from_secs_f64(self.rto_min),
            min_of: self.rto_min_of,
            tick: Interval::from_secs_f64(self.rto_tick),
            backoff_until: self.backoff_until,
        }
    }

    /// The bytes of a full packet of IP.
    pub fn packet_bytes(&self) -> f64 {
        self.mss + f64::from(self.header_bytes())
    }

    fn options_fit(&self) -> Result<(), Refusal> {
        let name = self.algorithm.name();
        let ignored = ignored_keys(self.algorithm.carrier());
        let mut wrong: Vec<&str> = ignored.iter().copied().filter(|key| self.given.has(key)).collect();
        wrong.sort_unstable();
        if let Some(key) = wrong.first() {
            let mut others = Vec::new();
            Transport::names(&mut others);
            others.retain(|other| !ignored.contains(other));
            return refuse_key(
                *key,
                format!("it does not go with \"{name}\", which is not TCP"),
                format!("beside it {}", others.join(", ")),
            );
        }
        if self.quick_start.is_some() && self.algorithm.protocol().is_some() {
            return refuse_key(
                "quick_start",
                format!("it does not go with \"{name}\", which its routers guide from the start"),
                "one of them",
            );
        }
        if self.abe && !self.algorithm.has_abe() {
            let able: Vec<String> = longfat_transport::cc::algorithms()
                .filter(|row| Algorithm::Listed(row.name, Vec::new()).has_abe())
                .map(|row| format!("\"{}\"", row.name))
                .collect();
            return refuse_key(
                "abe",
                format!("it does not go with \"{name}\", for which RFC 8511 has no factor"),
                format!("beside it {}", able.join(", ")),
            );
        }
        Ok(())
    }

    fn one_rule_ends_slow_start(&self) -> Result<(), Refusal> {
        if !matches!(self.slow_start, SlowStart::HystartPlus | SlowStart::Search) {
            return Ok(());
        }
        let name = self.algorithm.name();
        if self.algorithm.protocol().is_some() {
            return refuse_key(
                "slow_start",
                format!("it does not go with \"{name}\", which its routers guide"),
                "\"standard\" or \"limited\"",
            );
        }
        if self.algorithm.is_model_based() {
            return refuse_key(
                "slow_start",
                format!("it does not go with \"{name}\", which controls the window itself"),
                "\"standard\"",
            );
        }
        let hybrid = if name == "cubic" { self.algorithm.word("hystart") } else { None };
        let is_linux = || self.algorithm.word("variant").as_deref() == Some("linux");
        if hybrid.as_deref() == Some("on") || (hybrid.as_deref() == Some("auto") && is_linux()) {
            return refuse_key(
                "slow_start",
                "it stands beside cubic's own HyStart",
                "{ name = \"cubic\", hystart = false } with it, or slow_start = \"standard\"",
            );
        }
        Ok(())
    }

    /// Whether it is the variant of the algorithm that has a HyStart, and not the scenario.
    fn brings_hystart(&self) -> bool {
        let variant = match &self.algorithm {
            Algorithm::Listed("cubic", given) => given.iter().find(|(name, _)| *name == "variant"),
            _ => None,
        };
        let is_linux =
            matches!(variant, Some((_, longfat_units::parameters::Value::Word(word))) if word == "linux");
        is_linux && !self.algorithm.has_given("hystart")
    }
}

impl Checked for Transport {
    const SHORTHANDS: &'static [&'static str] = &["variant", "stack"];

    fn spelled_out(given: &Table, at: &At<'_>) -> Result<Option<Table>, Refusal> {
        let standard = Value::from("reno");
        let algorithm = given.get("algorithm").map_or(&standard, |item| &item.value).clone();
        let mut table = None;
        if let Some(stack) = given.get("stack") {
            table = Some(with_stack(given, &stack.value, &algorithm)?);
        } else if let Some(stack) = at.context.stack
            && carrier(&algorithm) == Carrier::Tcp
        {
            table = Some(with_stack(given, &stack.into(), &algorithm)?);
        }
        let current = table.as_ref().unwrap_or(given);
        if let Some(variant) = current.get("variant").cloned() {
            let mut inner = table_of(&algorithm);
            if !inner.has("variant") {
                inner.set("variant", variant);
            }
            let mut changed = current.clone();
            changed.remove("variant");
            let span = given.get("algorithm").and_then(|item| item.span.clone());
            changed.set("algorithm", Item { value: inner.into(), span, key: None });
            table = Some(changed);
        }
        let current = table.as_ref().unwrap_or(given);
        if current.has("slow_start") {
            table = without_own_hystart(current).or(table);
        }
        Ok(table)
    }

    fn check(&self) -> Result<(), Refusal> {
        let room = LARGEST_PACKET_BYTES - self.header_bytes();
        if self.mss_bytes() > room {
            return refuse_key(
                "mss",
                format!("with {} B of headers it does not fit into an IP packet", self.header_bytes()),
                format!("up to {}", SIZE.write(room.into())),
            );
        }
        self.options_fit()?;
        self.one_rule_ends_slow_start()
    }

    fn derived(&self, out: &mut Vec<(&'static str, View)>) {
        out.push(("header_bytes", View::Integer(self.header_bytes().into())));
        out.push(("packet_bytes", View::Float(self.packet_bytes())));
        let kernels = decided_by_kernel(self).into_iter().map(|key| View::Text(key.to_owned()));
        out.push(("decided_by_kernel", View::List(kernels.collect())));
    }

    fn tidy(&self, written: &mut Table) {
        for key in ignored_keys(self.algorithm.carrier()) {
            written.remove(key);
        }
        if self.brings_hystart() {
            written.remove("slow_start");
        }
    }
}

/// What carries the algorithm that a table names.
fn carrier(algorithm: &Value) -> Carrier {
    row_named(algorithm).map_or(Carrier::Tcp, |row| Algorithm::Listed(row.name, Vec::new()).carrier())
}

/// A table with the keys of a stack in place of the stack's name; keys that are written out win.
fn with_stack(given: &Table, stack: &Value, algorithm: &Value) -> Result<Table, Refusal> {
    let stack = stacks::find(stack)?;
    let row = row_named(algorithm);
    if let Some(row) = row
        && carrier(algorithm) != Carrier::Tcp
    {
        return refuse_key(
            "stack",
            format!("it does not go with \"{}\", which is not TCP", row.name),
            "no stack",
        );
    }
    let mut table = Table::default();
    for (key, value) in stack.keys_for(row.map(|row| row.name)) {
        if !given.has(key) {
            table.set(key, value);
        }
    }
    for (key, item) in given.iter().filter(|(key, _)| *key != "stack") {
        table.set(key, item.clone());
    }
    Ok(table)
}

/// A table that has slow_start, without the HyStart that its algorithm's variant brings along; `None` if it
/// brings none.
fn without_own_hystart(given: &Table) -> Option<Table> {
    let algorithm = given.get("algorithm")?;
    let mut inner = table_of(&algorithm.value);
    let is_linux = inner.get("variant").is_some_and(|item| item.value.text() == Some("linux"));
    if row_named(&algorithm.value)?.name != "cubic" || !is_linux || inner.has("hystart") {
        return None;
    }
    inner.push("hystart", false);
    let mut table = given.clone();
    table.set("algorithm", Item { value: inner.into(), ..algorithm.clone() });
    Some(table)
}

/// The keys of stacks in which a connection over TCP differs from this stack's hosts.
pub fn unlike(part: &Transport, stack: &Stack, keys: &[&'static str]) -> Vec<&'static str> {
    let context = Context { world: &Files, base: Path::new(""), stack: None };
    let mut given = Table::default();
    if let Algorithm::Listed(..) = part.algorithm {
        let algorithm = write(part).remove("algorithm");
        given.set("algorithm", algorithm.unwrap_or_else(|| Item::from("reno")));
    }
    given.push("stack", stack.name);
    let Ok(hosts) = read::<Transport>(&Item::new(given.into()), &At::top(&context)) else {
        return Vec::new();
    };
    let (mut mine, mut theirs) = (Table::default(), Table::default());
    part.put(&mut mine);
    hosts.put(&mut theirs);
    keys.iter().copied().filter(|key| *key != "variant" && mine.get(key) != theirs.get(key)).collect()
}
