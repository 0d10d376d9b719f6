//! The list of all transports over UDP, and the enums through which their ends are called without a virtual
//! call.

use super::end::{Books, ReceivingEnd, SendingEnd};
use super::row::Row;
use crate::cc::Window;
use crate::sender::{Happened, SenderCounters};
use longfat_units::{Interval, Time, registry};
use longfat_wire::SimPacket;

/// One row of the registry.
pub type Protocol = Row<Sender, Receiver>;

/// All rows, in the order of the list.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    ROWS.iter()
}

/// The row with this name or alias.
pub fn find(name: &str) -> Option<&'static Protocol> {
    registry::find(ROWS, name)
}

macro_rules! transports {
    ($($variant:ident($sender:ident::$S:ident, $receiver:ident::$R:ident): $($module:ident),+;)*) => {
        /// The sending end of any of them; calls are dispatched statically.
        pub enum Sender {
            $(#[doc = concat!("See [`super::", stringify!($sender), "`].")] $variant(super::$sender::$S),)*
        }

        /// The receiving end of any of them.
        pub enum Receiver {
            $(#[doc = concat!("See [`super::", stringify!($receiver), "`].")] $variant(super::$receiver::$R),)*
        }

        static ROWS: &[Protocol] = &[$($(
            super::$module::ROW.made_by(|p, config, stream| {
                let (sender, receiver) = (super::$module::ROW.build)(p, config, stream);
                (Sender::$variant(sender), Receiver::$variant(receiver))
            }),
        )+)*];

        macro_rules! each {
            ($any:ident, $self:expr, $end:ident => $call:expr) => {
                match $self {
                    $($any::$variant($end) => $call,)*
                }
            };
        }
    };
}

// One line for each pair of ends: its variant, its types, and the modules whose rows make it.
transports! {
    Udt(udt::Sender, udt::Receiver): udt;
    Runat(runat::Sender, runat::Receiver): runat;
    Source(cbr::Source, cbr::Counter): cbr, onoff;
    Cadpc(cadpc::Sender, cadpc::Receiver): cadpc;
    Sabul(sabul::Sender, sabul::Receiver): sabul;
    Rbudp(rbudp::Sender, rbudp::Receiver): rbudp;
    Tsunami(tsunami::Sender, tsunami::Receiver): tsunami;
}

impl Sender {
    /// Opens the connection, or begins to send where there is none to open.
    pub fn start(&mut self, now: Time, out: &mut dyn FnMut(SimPacket)) {
        if !self.books().done {
            self.books_mut().cwnd_since = Some(now);
            each!(Sender, self, s => s.start(now, out));
        }
    }

    /// Sends nothing new from now on; still repairs what is outstanding.
    pub fn stop(&mut self, now: Time) {
        each!(Sender, self, s => s.stop(now));
    }

    /// A packet from the receiver.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket, out: &mut dyn FnMut(SimPacket)) {
        self.account(now);
        each!(Sender, self, s => s.on_packet(now, packet, out));
    }

    /// A time that [`Sender::wake`] asked for has come.
    pub fn on_timer(&mut self, now: Time, out: &mut dyn FnMut(SimPacket)) {
        self.account(now);
        each!(Sender, self, s => s.on_timer(now, out));
    }

    /// When the sender next wants [`Sender::on_timer`].
    pub fn wake(&self) -> Time {
        each!(Sender, self, s => s.wake())
    }

    /// Counters so far.
    pub fn counters(&self) -> &SenderCounters {
        &self.books().counters
    }

    /// Whether the sender has finished: the receiver has acknowledged everything, or, without
    /// acknowledgements, everything has been sent.
    pub fn is_done(&self) -> bool {
        self.books().done
    }

    /// The window that limits what is outstanding or leaves at once, packets, or what a rate sends in a
    /// round-trip time; NaN where there is neither. No protocol here has a slow-start threshold.
    pub fn window(&self) -> Window {
        let cwnd = self.cwnd();
        let ssthresh = if cwnd.is_nan() { f64::NAN } else { f64::INFINITY };
        Window { cwnd, ssthresh, max_ssthresh: f64::INFINITY }
    }

    /// The smoothed round-trip time; `None` before the first sample, and where nothing is measured.
    pub fn srtt(&self) -> Option<Interval> {
        each!(Sender, self, s => s.srtt())
    }

    /// Whether the connection is open, or was; `None` where there is none to open.
    pub fn connected(&self) -> Option<bool> {
        each!(Sender, self, s => s.connected())
    }

    /// Payload bytes acknowledged in order.
    pub fn acked_bytes(&self) -> u64 {
        self.payload(each!(Sender, self, s => s.acked()))
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload(&self, packets: u64) -> u64 {
        self.books().payload(packets)
    }

    /// The integral of the window over time from the start on, packet seconds; NaN where there is no window.
    pub fn cwnd_integral(&self, now: Time) -> f64 {
        let books = self.books();
        let Some(since) = books.cwnd_since else { return 0.0 };
        (books.cwnd_area + self.cwnd() * now.since(since).as_ns() as f64) / 1e9
    }

    /// Keeps a log of events. [`Sender::take_log`] returns it.
    pub fn keep_log(&mut self) {
        self.books_mut().log = Some(Vec::new());
    }

    /// The events since [`Sender::keep_log`]: the time, the event, and the window then.
    pub fn take_log(&mut self) -> Vec<(Time, Happened, f64)> {
        self.books_mut().log.take().unwrap_or_default()
    }

    fn account(&mut self, now: Time) {
        let cwnd = self.cwnd();
        let books = self.books_mut();
        if let (Some(since), false) = (books.cwnd_since, books.done) {
            books.cwnd_area += cwnd * now.since(since).as_ns() as f64;
            books.cwnd_since = Some(now);
        }
    }

    fn cwnd(&self) -> f64 {
        each!(Sender, self, s => s.cwnd())
    }

    fn books(&self) -> &Books {
        each!(Sender, self, s => s.books())
    }

    fn books_mut(&mut self) -> &mut Books {
        each!(Sender, self, s => s.books_mut())
    }
}

impl Receiver {
    /// A packet of the sender arrived. Returns the response, if one is due now.
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        each!(Receiver, self, r => r.on_packet(now, packet))
    }

    /// A time that [`Receiver::wake`] asked for has come; it may ask for the same once more.
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        each!(Receiver, self, r => r.on_timer(now))
    }

    /// When [`Receiver::on_timer`] wants to be called.
    pub fn wake(&self) -> Time {
        each!(Receiver, self, r => r.wake())
    }

    /// Packets handed to the application.
    pub fn delivered(&self) -> u64 {
        each!(Receiver, self, r => r.delivered())
    }

    /// IP bytes that arrived, duplicates included.
    pub fn received_bytes(&self) -> u64 {
        each!(Receiver, self, r => r.counts().received_bytes)
    }

    /// Packets that arrived a second time.
    pub fn duplicates(&self) -> u64 {
        each!(Receiver, self, r => r.counts().duplicates)
    }
}
