//! The machines at a flow's ends: TCP without explicit headers, TCP with them, or a transport over UDP.
//!
//! TCP without explicit headers is the usual case, and the hot loops ask first whether they have it. That
//! question is quickest with two variants, so each type has that case and a box for all others.

use longfat_transport::cc::{CongestionControl, Internals, Window};
use longfat_transport::{Echoing, Happened, Outbox, Receiver, Sender, SenderCounters, SenderView, udp};
use longfat_units::{Interval, Time};
use longfat_wire::{Extra, SimPacket};

/// A sender of any kind.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
#[repr(u8)] // which one it is lies beside what a usual packet needs
pub enum AnySender {
    /// TCP without explicit headers.
    Tcp(Sender),
    /// Any other sender.
    Other(Box<OtherSender>),
}

/// A sender other than TCP without explicit headers.
#[expect(clippy::large_enum_variant, reason = "both are boxed")]
pub enum OtherSender {
    /// TCP with explicit headers.
    Explicit(Sender),
    /// A transport over UDP.
    Udp(udp::Sender),
}

/// A receiver of any kind.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
#[repr(u8)] // which one it is lies beside what a usual packet needs
pub enum AnyReceiver {
    /// TCP without explicit headers.
    Tcp(Receiver),
    /// Any other receiver.
    Other(Box<OtherReceiver>),
}

/// A receiver other than that of TCP without explicit headers.
pub enum OtherReceiver {
    /// TCP with explicit headers.
    Explicit(Echoing),
    /// A transport over UDP.
    Udp(udp::Receiver),
}

macro_rules! each {
    ([$($by:tt)+] $any:ident, $other:ident, $self:ident, $s:ident => $call:expr) => {
        match $self {
            $any::Tcp($s) => $call,
            $any::Other(other) => {
                seldom();
                match $($by)+ **other {
                    $other::Explicit($s) => $call,
                    $other::Udp($s) => $call,
                }
            }
        }
    };
}

/// Tells the compiler that TCP without explicit headers is the usual case.
#[cold]
const fn seldom() {}

impl AnySender {
    /// The TCP sender, with explicit headers or without; otherwise the sender over UDP.
    #[inline(always)]
    fn common(&self) -> Result<&Sender, &udp::Sender> {
        match self {
            AnySender::Tcp(s) => Ok(s),
            AnySender::Other(other) => match &**other {
                OtherSender::Explicit(s) => Ok(s),
                OtherSender::Udp(s) => Err(s),
            },
        }
    }

    /// The TCP sender, with explicit headers or without; `None` over UDP.
    pub fn tcp(&mut self) -> Option<&mut Sender> {
        match self {
            AnySender::Tcp(s) => Some(s),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => Some(s),
                OtherSender::Udp(_) => None,
            },
        }
    }

    /// What there is to see of a TCP sender; `None` over UDP.
    pub fn tcp_view(&self) -> Option<SenderView> {
        self.common().ok().map(Sender::view)
    }

    /// Whether it may send packets with ECT(1).
    pub fn sends_ect1(&self) -> bool {
        self.common().is_ok_and(Sender::sends_ect1)
    }

    /// Opens the connection.
    pub fn start(&mut self, now: Time, out: &mut impl Outbox) {
        match self {
            AnySender::Tcp(s) => s.start(now, out),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => s.start(now, out),
                OtherSender::Udp(s) => s.start(now, &mut |p| out.send(p)),
            },
        }
    }

    /// Begins with the slow-start threshold that earlier connections have left; before it starts.
    pub fn inherit_ssthresh(&mut self, ssthresh: f64) {
        match self {
            AnySender::Tcp(s) => s.inherit_ssthresh(ssthresh),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => s.inherit_ssthresh(ssthresh),
                OtherSender::Udp(_) => {}
            },
        }
    }

    /// Sends nothing new from now on.
    pub fn stop(&mut self, now: Time) {
        match self {
            AnySender::Tcp(s) => s.stop(),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => s.stop(),
                OtherSender::Udp(s) => s.stop(now),
            },
        }
    }

    /// Takes back what a data packet carried that has arrived.
    pub fn recycle(&mut self, extra: Box<Extra>) {
        if let AnySender::Other(other) = self
            && let OtherSender::Explicit(s) = &mut **other
        {
            s.recycle(extra);
        }
    }

    /// Frees what it needs no more, as its connection is over. Ends over UDP keep it until the index is used
    /// again.
    pub fn free(&mut self) {
        if let Some(sender) = self.tcp() {
            sender.free();
        }
    }

    /// Takes a packet from the receiver and returns whether everything is done now.
    #[inline(always)]
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket, mut out: impl Outbox) -> bool {
        match self {
            AnySender::Tcp(s) => {
                s.on_packet_without_headers(now, packet, &mut out);
                s.is_done()
            }
            AnySender::Other(other) => {
                seldom();
                match &mut **other {
                    OtherSender::Explicit(s) => s.on_packet(now, packet, &mut out),
                    OtherSender::Udp(s) => s.on_packet(now, packet, &mut |p| out.send(p)),
                }
                self.is_done()
            }
        }
    }

    /// The time that `wake` returned has come.
    pub fn on_timer(&mut self, now: Time, out: &mut impl Outbox) {
        match self {
            AnySender::Tcp(s) => s.on_timer(now, out),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => s.on_timer(now, out),
                OtherSender::Udp(s) => s.on_timer(now, &mut |p| out.send(p)),
            },
        }
    }

    /// When `on_timer` has to be called next.
    #[inline(always)]
    pub fn wake(&self) -> Time {
        each!([&] AnySender, OtherSender, self, s => s.wake())
    }

    /// Whether all data have been acknowledged, or sent where nothing is acknowledged.
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        each!([&] AnySender, OtherSender, self, s => s.is_done())
    }

    /// Whether the algorithm failed.
    #[inline(always)]
    pub fn has_failed(&self) -> bool {
        self.common().is_ok_and(Sender::has_failed)
    }

    /// Why the algorithm failed, if it did.
    pub fn take_failure(&mut self) -> Option<String> {
        match self {
            AnySender::Tcp(s) => s.take_failure(),
            AnySender::Other(other) => match &mut **other {
                OtherSender::Explicit(s) => s.take_failure(),
                OtherSender::Udp(_) => None,
            },
        }
    }

    /// The window; NaN where there is none.
    pub fn window(&self) -> Window {
        self.common().map_or_else(udp::Sender::window, |s| *s.window())
    }

    /// The smoothed round-trip time; `None` before the first sample, and where nothing is measured.
    pub fn srtt(&self) -> Option<Interval> {
        self.common().map_or_else(udp::Sender::srtt, |s| s.rtt().measured())
    }

    /// Whether its connection is open, or was; `None` where there is none to open.
    pub fn connected(&self) -> Option<bool> {
        self.common().map_or_else(udp::Sender::connected, |s| Some(s.is_connected()))
    }

    /// Counters so far.
    pub fn counters(&self) -> &SenderCounters {
        each!([&] AnySender, OtherSender, self, s => s.counters())
    }

    /// Payload bytes acknowledged in order.
    pub fn acked_bytes(&self) -> u64 {
        each!([&] AnySender, OtherSender, self, s => s.acked_bytes())
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload(&self, packets: u64) -> u64 {
        each!([&] AnySender, OtherSender, self, s => s.payload(packets))
    }

    /// Payload bytes of the packets that were delivered, while those concealed were not.
    pub fn payload_delivered(&self, delivered: u64, concealed: u64) -> u64 {
        self.common().map_or_else(|s| s.payload(delivered), |s| s.payload_delivered(delivered, concealed))
    }

    /// The integral of cwnd over time since the start, packet seconds.
    pub fn cwnd_integral(&self, now: Time) -> f64 {
        each!([&] AnySender, OtherSender, self, s => s.cwnd_integral(now))
    }

    /// What its algorithm knows of itself; nothing over UDP.
    pub fn internals(&self) -> Internals {
        let mut internals = Internals::default();
        if let Ok(sender) = self.common() {
            sender.controller().internals(&mut internals);
        }
        internals
    }

    /// Whether its algorithm is a user's own.
    pub fn is_custom(&self) -> bool {
        self.common().is_ok_and(|sender| sender.controller().is_custom())
    }

    /// Starts a log of what happens to the window.
    pub fn keep_log(&mut self) {
        each!([&mut] AnySender, OtherSender, self, s => s.keep_log());
    }

    /// Takes the log: when, what happened, and cwnd then.
    pub fn take_log(&mut self) -> Vec<(Time, Happened, f64)> {
        each!([&mut] AnySender, OtherSender, self, s => s.take_log())
    }
}

impl AnyReceiver {
    /// The TCP receiver, with explicit headers or without; otherwise the receiver over UDP.
    #[inline(always)]
    fn common(&self) -> Result<&Receiver, &udp::Receiver> {
        match self {
            AnyReceiver::Tcp(r) => Ok(r),
            AnyReceiver::Other(other) => match &**other {
                OtherReceiver::Explicit(r) => Ok(r.receiver()),
                OtherReceiver::Udp(r) => Err(r),
            },
        }
    }

    /// Takes a packet from the sender and returns the acknowledgement, if one is due now.
    #[inline(always)]
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        each!([&mut] AnyReceiver, OtherReceiver, self, r => r.on_packet(now, packet))
    }

    /// Takes back what an acknowledgement carried.
    #[inline(always)]
    pub fn recycle(&mut self, extra: Box<Extra>) {
        match self {
            AnyReceiver::Tcp(r) => r.recycle(extra),
            AnyReceiver::Other(other) => {
                seldom();
                if let OtherReceiver::Explicit(r) = &mut **other {
                    r.recycle(extra);
                }
            }
        }
    }

    /// Frees what it needs no more, as its connection is over. Ends over UDP keep it until the index is used
    /// again.
    pub fn free(&mut self) {
        match self {
            AnyReceiver::Tcp(r) => r.free(),
            AnyReceiver::Other(other) => {
                if let OtherReceiver::Explicit(r) = &mut **other {
                    r.free();
                }
            }
        }
    }

    /// The time that `wake` returned has come.
    #[inline]
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        each!([&mut] AnyReceiver, OtherReceiver, self, r => r.on_timer(now))
    }

    /// When `on_timer` has to be called next.
    #[inline(always)]
    pub fn wake(&self) -> Time {
        each!([&] AnyReceiver, OtherReceiver, self, r => r.wake())
    }

    /// Whether it sends nothing more by itself. A receiver that acknowledges data ahead of their arrival may
    /// have a delayed acknowledgement to send when its sender is done.
    pub fn is_silent(&self) -> bool {
        self.wake() == Time::NEVER
    }

    /// Packets handed to the application.
    pub fn delivered(&self) -> u64 {
        self.common().map_or_else(udp::Receiver::delivered, Receiver::delivered)
    }

    /// Packets that count as received although they never came.
    pub fn concealed(&self) -> u64 {
        self.common().map_or(0, Receiver::concealed)
    }

    /// IP bytes of data that arrived, duplicates included.
    pub fn received_bytes(&self) -> u64 {
        self.common().map_or_else(udp::Receiver::received_bytes, |r| r.received_bytes)
    }

    /// As [`Receiver::prefetch_room`].
    #[inline(always)]
    pub fn prefetch_room(&self) {
        if let AnyReceiver::Tcp(r) = self {
            r.prefetch_room();
        }
    }

    /// Packets that arrived a second time.
    pub fn duplicates(&self) -> u64 {
        self.common().map_or_else(udp::Receiver::duplicates, |r| r.duplicates)
    }
}
