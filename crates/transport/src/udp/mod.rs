//! Transports over UDP: senders and receivers of their own beside TCP's, with their own acknowledgements, loss reports
//! and clocks. Sans-I/O like TCP's: every call is handed `now`, and answers what it wants sent and when it wants to be
//! woken. One file a protocol, and the rows of all of them here.
//!
//! | constant | value | source |
//! |---|---|---|
//! | handshake | 92 bytes | IP 20, UDP 8, header 16, information 48: draft-gg-udt-03, section 2; RUNAT's chosen alike |
//! | other control packets | 44 bytes and what they carry | IP 20, UDP 8, header 16: the same |

pub mod cbr;
pub mod onoff;
pub mod runat;
pub mod udt;

use crate::cc::{Parameter, ParameterError, Parameters, Value, Window};
use crate::sender::{Happened, SenderCounters};
use longfat_units::{Interval, Rate, Stream, Time};
use longfat_wire::{FlowId, Kind, SimPacket};

const HANDSHAKE_BYTES: u32 = 92;
/// IP, UDP and UDT headers: what a control packet has at least.
const CONTROL_BYTES: u32 = 44;

/// How a sender behaves, whatever the protocol.
#[derive(Clone, Debug)]
pub struct Config {
    /// The flow it sends.
    pub flow: FlowId,
    /// Payload of a full packet, bytes.
    pub mss_bytes: u32,
    /// All headers of a data packet, bytes.
    pub header_bytes: u32,
    /// Payload to send, bytes; `None` never ends.
    pub bytes: Option<u64>,
    /// The host's own link: no sender is faster than its interface.
    pub line: Rate,
    /// Packets leave only at multiples of this (host timer granularity); zero for at once.
    pub host_tick: Interval,
    /// Where in the tick this host's multiples lie.
    pub tick_phase: Interval,
    /// Floor of the retransmission timeout's margin, where a protocol has one (RFC 6298).
    pub rto_min: Interval,
}

impl Config {
    /// A full packet of IP, bytes.
    fn packet_bytes(&self) -> u32 {
        self.mss_bytes + self.header_bytes
    }

    /// How long the host's own link takes for a full packet, seconds.
    fn line_s(&self) -> f64 {
        f64::from(8 * self.packet_bytes()) / self.line.as_bps() as f64
    }
}

/// Both ends of a connection.
pub type Ends = (Sender, Receiver);

/// One row: a protocol over UDP.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// As written in scenario files.
    pub name: &'static str,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// Author, title, place, year.
    pub citation: &'static str,
    /// What users may set.
    pub parameters: &'static [Parameter],
    /// Whether everything sent is acknowledged, and what is lost sent again.
    pub reliable: bool,
    /// Whether it draws random numbers.
    pub random: bool,
    /// Makes the two ends from checked parameters.
    pub build: fn(&Parameters, &Config, Stream) -> Ends,
}

impl Protocol {
    /// Both ends of a connection with these parameters; random draws come from `stream`.
    pub fn ends(
        &self,
        given: &[(String, Value)],
        config: &Config,
        stream: Stream,
    ) -> Result<Ends, ParameterError> {
        self.check(given, config.line).map(|p| (self.build)(&p, config, stream))
    }

    /// The parameters, if a host with this link of its own can have them: a rate above that is refused.
    pub fn check(&self, given: &[(String, Value)], line: Rate) -> Result<Parameters, ParameterError> {
        let p = Parameters::new(self.name, self.parameters, given)?;
        let line_mbps = line.as_bps() as f64 / BPS_PER_MBPS;
        if self.parameters.iter().any(|one| one.name == RATE.name) && p.number(RATE.name) > line_mbps {
            return Err(ParameterError::Refused {
                owner: self.name,
                name: RATE.name,
                value: format!("{} Mbit/s", p.number(RATE.name)),
                accepted: format!("at most the {line_mbps} Mbit/s of the host's own link"),
            });
        }
        Ok(p)
    }
}

const BPS_PER_MBPS: f64 = 1e6;

/// The rate of sources that listen to nobody.
const RATE: Parameter =
    Parameter::number("rate", 50.0, (0.001, 1e7), "Mbit/s", "IP packets put out while it sends");

static ROWS: [Protocol; 4] = [udt::ROW, runat::ROW, cbr::ROW, onoff::ROW];

/// All rows, in the order of their introduction.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    ROWS.iter()
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Protocol> {
    protocols().find(|p| p.name == name || p.aliases.contains(&name))
}

/// The sending end of any of them; calls are dispatched statically.
pub enum Sender {
    /// See [`udt`].
    Udt(udt::Sender),
    /// See [`runat`].
    Runat(runat::Sender),
    /// See [`cbr`] and [`onoff`].
    Source(cbr::Source),
}

macro_rules! each {
    ($self:expr, $s:ident => $call:expr) => {
        match $self {
            Sender::Udt($s) => $call,
            Sender::Runat($s) => $call,
            Sender::Source($s) => $call,
        }
    };
}

impl Sender {
    /// Opens the connection, or begins to send where there is none to open.
    pub fn start(&mut self, now: Time, mut out: &mut dyn FnMut(SimPacket)) {
        if !self.books().done {
            self.books_mut().cwnd_since = Some(now);
            each!(self, s => s.start(now, &mut out));
        }
    }

    /// Sends nothing new from now on; what is outstanding is still repaired.
    pub fn stop(&mut self, now: Time) {
        each!(self, s => s.stop(now));
    }

    /// A packet from the receiver.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket, mut out: &mut dyn FnMut(SimPacket)) {
        self.account(now);
        match self {
            Sender::Udt(s) => s.on_packet(now, packet, &mut out),
            Sender::Runat(s) => s.on_packet(now, packet, &mut out),
            Sender::Source(_) => {} // nobody answers it
        }
    }

    /// A time that [`Sender::wake`] asked for has come.
    pub fn on_timer(&mut self, now: Time, mut out: &mut dyn FnMut(SimPacket)) {
        self.account(now);
        each!(self, s => s.on_timer(now, &mut out));
    }

    /// When the sender next wants [`Sender::on_timer`].
    pub fn wake(&self) -> Time {
        each!(self, s => s.wake())
    }

    /// Counters so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.books().counters
    }

    /// Whether everything there was to send has been acknowledged; sent, where nothing is.
    pub fn is_done(&self) -> bool {
        self.books().done
    }

    /// The window that limits what is outstanding or leaves at once, packets; NaN where there is none. No protocol here
    /// has a slow-start threshold.
    pub fn window(&self) -> Window {
        let (cwnd, ssthresh) = match self {
            Sender::Udt(s) => (s.cwnd(), f64::INFINITY),
            Sender::Runat(s) => (s.cwnd(), f64::INFINITY),
            Sender::Source(_) => (f64::NAN, f64::NAN),
        };
        Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
    }

    /// The smoothed round-trip time; zero before the first sample, and where nothing is measured.
    pub fn srtt(&self) -> Interval {
        match self {
            Sender::Udt(s) => s.rtt(),
            Sender::Runat(s) => s.rtt(),
            Sender::Source(_) => Interval::ZERO,
        }
    }

    /// Payload bytes acknowledged in order.
    pub fn acked_bytes(&self) -> u64 {
        match self {
            Sender::Udt(s) => self.payload(s.acked()),
            Sender::Runat(s) => self.payload(s.acked()),
            Sender::Source(_) => 0,
        }
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload(&self, packets: u64) -> u64 {
        self.books().payload(packets)
    }

    /// The integral of the window over time from the start on, packet seconds; NaN where there is no window.
    pub fn cwnd_integral(&self, now: Time) -> f64 {
        let books = self.books();
        let Some(since) = books.cwnd_since else { return 0.0 };
        (books.cwnd_area + self.window().cwnd * now.since(since).as_ns() as f64) / 1e9
    }

    /// Keeps a log of what happens, to be had by [`Sender::take_log`].
    pub fn keep_log(&mut self) {
        self.books_mut().log = Some(Vec::new());
    }

    /// What happened: when, what, and the window then.
    pub fn take_log(&mut self) -> Vec<(Time, Happened, f64)> {
        self.books_mut().log.take().unwrap_or_default()
    }

    fn account(&mut self, now: Time) {
        let cwnd = self.window().cwnd;
        let books = self.books_mut();
        if let (Some(since), false) = (books.cwnd_since, books.done) {
            books.cwnd_area += cwnd * now.since(since).as_ns() as f64;
            books.cwnd_since = Some(now);
        }
    }

    fn books(&self) -> &Books {
        each!(self, s => s.books())
    }

    fn books_mut(&mut self) -> &mut Books {
        each!(self, s => s.books_mut())
    }
}

/// The receiving end of any of them.
pub enum Receiver {
    /// See [`udt`].
    Udt(udt::Receiver),
    /// See [`runat`].
    Runat(runat::Receiver),
    /// Counts what arrives, and answers nothing.
    Count(cbr::Counter),
}

impl Receiver {
    /// A packet of the sender arrived; the answer, if one is due now.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        match self {
            Receiver::Udt(r) => r.on_packet(now, packet),
            Receiver::Runat(r) => r.on_packet(packet),
            Receiver::Count(r) => {
                r.on_packet(packet);
                None
            }
        }
    }

    /// A time that [`Receiver::wake`] asked for has come; it may ask for the same once more.
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        match self {
            Receiver::Udt(r) => r.on_timer(now),
            Receiver::Runat(_) | Receiver::Count(_) => None,
        }
    }

    /// When [`Receiver::on_timer`] wants to be called.
    pub fn wake(&self) -> Time {
        match self {
            Receiver::Udt(r) => r.wake(),
            Receiver::Runat(_) | Receiver::Count(_) => Time::NEVER,
        }
    }

    /// Packets handed to the application.
    pub fn delivered(&self) -> u64 {
        match self {
            Receiver::Udt(r) => r.delivered(),
            Receiver::Runat(r) => r.delivered(),
            Receiver::Count(r) => r.delivered,
        }
    }

    /// IP bytes that arrived, duplicates included.
    pub fn received_bytes(&self) -> u64 {
        match self {
            Receiver::Udt(r) => r.received_bytes,
            Receiver::Runat(r) => r.received_bytes,
            Receiver::Count(r) => r.received_bytes,
        }
    }

    /// Packets that arrived a second time.
    pub fn duplicates(&self) -> u64 {
        match self {
            Receiver::Udt(r) => r.duplicates,
            Receiver::Runat(r) => r.duplicates,
            Receiver::Count(_) => 0, // none is sent again
        }
    }
}

/// What a reliable sender is at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Idle,
    Connecting,
    Open,
}

/// What every sender keeps: what there is to send, and what has been done.
struct Books {
    config: Config,
    /// One past the last packet; never reached by endless flows.
    end: u64,
    /// Nothing is left to do.
    done: bool,
    counters: SenderCounters,
    log: Option<Vec<(Time, Happened, f64)>>,
    /// Integral of the window over time, packet ns.
    cwnd_area: f64,
    cwnd_since: Option<Time>,
}

impl Books {
    fn new(config: &Config) -> Self {
        Books {
            end: config.bytes.map_or(u64::MAX, |b| b.div_ceil(u64::from(config.mss_bytes)).max(1)),
            config: config.clone(),
            done: false,
            counters: SenderCounters::default(),
            log: None,
            cwnd_area: 0.0,
            cwnd_since: None,
        }
    }

    fn payload(&self, packets: u64) -> u64 {
        let bytes = packets * u64::from(self.config.mss_bytes);
        self.config.bytes.map_or(bytes, |most| bytes.min(most))
    }

    /// Sends data packet `seq`.
    fn send(&mut self, now: Time, seq: u64, again: bool, out: &mut impl FnMut(SimPacket)) {
        let payload = self.payload(seq + 1) - self.payload(seq);
        self.counters.packets_sent += 1;
        self.counters.retransmits += u64::from(again);
        let bytes = payload as u32 + self.config.header_bytes;
        out(SimPacket::new(Kind::Data, self.config.flow, seq, bytes, now));
    }

    /// Sends a connection request.
    fn connect(&self, now: Time, out: &mut impl FnMut(SimPacket)) {
        out(SimPacket::new(Kind::Syn, self.config.flow, 0, HANDSHAKE_BYTES, now));
    }

    fn note(&mut self, now: Time, what: Happened, cwnd: f64) {
        if let Some(log) = &mut self.log {
            log.push((now, what, cwnd));
        }
    }
}

/// The answer to a connection request.
fn accept(request: &SimPacket) -> SimPacket {
    SimPacket::new(Kind::SynAck, request.flow, 0, HANDSHAKE_BYTES, request.stamp)
}

/// When the next packet may leave.
#[derive(Clone, Debug)]
struct Pace {
    next: Time,
    tick: Interval,
    phase: Interval,
}

impl Pace {
    fn new(config: &Config) -> Self {
        Pace { next: Time::ZERO, tick: config.host_tick, phase: config.tick_phase }
    }

    /// When that is; a host with a coarse timer looks at its ticks only.
    fn due(&self, now: Time) -> Time {
        if self.next <= now { now } else { self.next.round_up(self.tick, self.phase) }
    }

    /// A packet has left; the one after it may do so `gap` later. A host that wakes once a tick may catch up on what
    /// that tick kept it from sending.
    fn sent(&mut self, now: Time, gap: Interval) {
        self.next = self.next.max(now - self.tick) + gap;
    }
}

#[cfg(test)]
mod testing;
