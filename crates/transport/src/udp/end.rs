//! The interface of the two ends of any transport over UDP, and the parts that all senders share: accounting,
//! events, the end and the pace.
//!
//! | constant | value | source |
//! |---|---|---|
//! | control packets | 44 bytes and what they carry | IP 20, UDP 8, header 16: draft-gg-udt-03, section 2 |

use super::connection::Connection;
use super::row::Config;
use crate::sender::{Happened, SenderCounters};
use longfat_units::{Interval, Time};
use longfat_wire::{Kind, SimPacket};

/// IP, UDP and UDT headers: the least size of a control packet.
pub(super) const CONTROL_BYTES: u32 = 44;

/// Where a sender puts the packets that it sends.
pub(super) type Out<'a> = &'a mut dyn FnMut(SimPacket);

/// The sending end of a protocol.
pub trait SendingEnd {
    /// Opens the connection, or begins to send where there is none to open.
    fn start(&mut self, now: Time, out: &mut dyn FnMut(SimPacket)) {
        self.books_mut().connection.request(now, out);
    }
    /// Sends nothing new from now on; still repairs what is outstanding.
    fn stop(&mut self, now: Time);
    /// A packet from the receiver. A protocol without acknowledgements gets none.
    fn on_packet(&mut self, _now: Time, _packet: &SimPacket, _out: &mut dyn FnMut(SimPacket)) {}
    /// A time that [`SendingEnd::wake`] asked for has come.
    fn on_timer(&mut self, now: Time, out: &mut dyn FnMut(SimPacket));
    /// When it next wants [`SendingEnd::on_timer`].
    fn wake(&self) -> Time {
        self.books().connection.wake()
    }
    /// The window that limits what is outstanding or leaves at once, packets. A reliable protocol that limits
    /// its rate alone gives what it sends in a round-trip time at that rate; NaN where there is neither.
    fn cwnd(&self) -> f64 {
        f64::NAN
    }
    /// The smoothed round-trip time; `None` before the first sample, and where nothing is measured.
    fn srtt(&self) -> Option<Interval> {
        self.books().connection.rtt.measured()
    }
    /// Whether the connection is open, or was; `None` where there is none to open.
    fn connected(&self) -> Option<bool> {
        Some(self.books().connection.is_open())
    }
    /// Packets acknowledged in order.
    fn acked(&self) -> u64 {
        0
    }
    /// What it keeps.
    fn books(&self) -> &Books;
    /// What it keeps.
    fn books_mut(&mut self) -> &mut Books;
}

/// What is the same in all senders that are done when everything is acknowledged. The others do not use it.
pub(super) trait Reliable: SendingEnd {
    /// Opens the connection if this packet is the response to the request. Returns whether it is.
    fn opens(&mut self, now: Time, packet: &SimPacket) -> bool {
        let opens = self.books_mut().connection.opens(now, packet);
        if opens {
            self.note(now, Happened::Connected);
        }
        opens
    }

    /// Stops if everything has been acknowledged.
    fn look_for_end(&mut self, now: Time) {
        if self.acked() < self.books().end || self.books().done {
            return;
        }
        self.books_mut().done = true;
        self.books_mut().connection.rest();
        if self.books().connection.is_open() {
            self.note(now, Happened::Done);
        }
    }

    /// The losses that the receiver reports change the rate or the window.
    fn count_congestion(&mut self, now: Time) {
        self.books_mut().counters.congestion_events += 1;
        self.note(now, Happened::Loss);
    }

    /// Nothing was heard for too long.
    fn count_timeout(&mut self, now: Time) {
        self.books_mut().counters.timeouts += 1;
        self.note(now, Happened::Timeout);
    }

    /// Writes an event into the log.
    fn note(&mut self, now: Time, what: Happened) {
        let cwnd = self.cwnd();
        if let Some(log) = &mut self.books_mut().log {
            log.push((now, what, cwnd));
        }
    }
}

impl<S: SendingEnd> Reliable for S {}

/// The receiving end of a protocol.
pub trait ReceivingEnd {
    /// A packet of the sender arrived. Returns the response, if one is due now.
    fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket>;
    /// A time that [`ReceivingEnd::wake`] asked for has come; it may ask for the same once more.
    fn on_timer(&mut self, _now: Time) -> Option<SimPacket> {
        None
    }
    /// When it next wants [`ReceivingEnd::on_timer`].
    fn wake(&self) -> Time {
        Time::NEVER
    }
    /// Packets handed to the application.
    fn delivered(&self) -> u64;
    /// What has arrived.
    fn counts(&self) -> &Counts;
}

/// What a receiver counts.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// IP bytes that arrived, duplicates included.
    pub(super) received_bytes: u64,
    /// Packets that arrived a second time. A protocol that repairs nothing has none.
    pub(super) duplicates: u64,
}

/// The books of a sender: what there is to send, and what has been sent.
pub struct Books {
    pub(super) config: Config,
    /// Idle where there is none to open.
    pub(super) connection: Connection,
    /// One past the last packet; never reached by endless flows.
    pub(super) end: u64,
    /// The sender has finished.
    pub(super) done: bool,
    pub(super) counters: SenderCounters,
    pub(super) log: Option<Vec<(Time, Happened, f64)>>,
    /// Integral of the window over time, packet ns.
    pub(super) cwnd_area: f64,
    pub(super) cwnd_since: Option<Time>,
}

impl Books {
    pub(super) fn new(config: &Config) -> Self {
        Books {
            end: config.bytes.map_or(u64::MAX, |b| b.div_ceil(u64::from(config.mss_bytes)).max(1)),
            config: config.clone(),
            connection: Connection::new(config),
            done: false,
            counters: SenderCounters::default(),
            log: None,
            cwnd_area: 0.0,
            cwnd_since: None,
        }
    }

    /// The connection is open, and the sender has not finished.
    pub(super) fn is_active(&self) -> bool {
        self.connection.is_open() && !self.done
    }

    pub(super) fn payload(&self, packets: u64) -> u64 {
        let bytes = packets * u64::from(self.config.mss_bytes);
        self.config.bytes.map_or(bytes, |most| bytes.min(most))
    }

    /// Sends data packet `seq`.
    pub(super) fn send(&mut self, now: Time, seq: u64, again: bool, out: Out) {
        let payload = self.payload(seq + 1) - self.payload(seq);
        self.counters.packets_sent += 1;
        self.counters.retransmits += u64::from(again);
        let bytes = payload as u32 + self.config.header_bytes;
        out(SimPacket::new(Kind::Data, self.config.flow, seq, bytes, now));
    }
}

/// When the next packet may leave.
#[derive(Clone, Debug)]
pub(super) struct Pace {
    next: Time,
    tick: Interval,
    phase: Interval,
}

impl Pace {
    pub(super) fn new(config: &Config) -> Self {
        Pace { next: Time::ZERO, tick: config.host_tick, phase: config.tick_phase }
    }

    /// When that is; a host with a coarse timer acts only at its ticks.
    pub(super) fn due(&self, now: Time) -> Time {
        if self.next <= now { now } else { self.next.round_up(self.tick, self.phase) }
    }

    /// A packet has left; the next one may leave `gap` later. A host that wakes once per tick may make up for
    /// what the tick kept it from sending.
    pub(super) fn sent(&mut self, now: Time, gap: Interval) {
        self.next = self.next.max(now - self.tick) + gap;
    }

    /// The next packet may leave `gap` from now, unless it may sooner: the sender has become faster.
    pub(super) fn hasten(&mut self, now: Time, gap: Interval) {
        self.next = self.next.min(now + gap);
    }
}
