//! The machines at a flow's ends: TCP's, with explicit headers or without, or those of a transport over UDP.

use longfat_transport::cc::Window;
use longfat_transport::{Echoing, Happened, Receiver, Sender, SenderCounters, udp};
use longfat_units::{Interval, Time};
use longfat_wire::SimPacket;

/// A sender of any kind. TCP's lies in place: it is what hot loops call.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
pub enum AnySender {
    /// TCP whose data carry no explicit headers.
    Tcp(Sender),
    /// TCP whose data do.
    Explicit(Box<Sender>),
    /// Over UDP.
    Udp(Box<udp::Sender>),
}

/// A receiver of any kind.
pub enum AnyReceiver {
    /// TCP whose data carry no explicit headers.
    Tcp(Receiver),
    /// TCP whose data do.
    Explicit(Box<Echoing>),
    /// Over UDP.
    Udp(Box<udp::Receiver>),
}

macro_rules! each {
    ($any:ident, $self:expr, $s:ident => $call:expr) => {
        match $self {
            $any::Tcp($s) => $call,
            $any::Explicit($s) => {
                seldom();
                $call
            }
            $any::Udp($s) => {
                seldom();
                $call
            }
        }
    };
}

/// Tells the compiler that plain TCP is the usual case.
#[cold]
const fn seldom() {}

impl AnySender {
    /// Opens the connection.
    pub fn start(&mut self, now: Time, out: &mut impl FnMut(SimPacket)) {
        each!(AnySender, self, s => s.start(now, out));
    }

    /// Sends nothing new from now on.
    pub fn stop(&mut self, now: Time) {
        match self {
            AnySender::Tcp(s) => s.stop(),
            AnySender::Explicit(s) => s.stop(),
            AnySender::Udp(s) => s.stop(now),
        }
    }

    /// A packet from the receiver. Answers whether everything is done now. `out` is made for each kind, so that plain
    /// TCP's stays in registers.
    #[inline(always)]
    pub fn on_packet<O: FnMut(SimPacket)>(
        &mut self,
        now: Time,
        packet: &SimPacket,
        out: impl FnOnce() -> O,
    ) -> bool {
        match self {
            AnySender::Tcp(s) => {
                s.on_packet_without_headers(now, packet, &mut out());
                s.is_done()
            }
            AnySender::Explicit(s) => {
                seldom();
                s.on_packet(now, packet, &mut out());
                s.is_done()
            }
            AnySender::Udp(s) => {
                seldom();
                s.on_packet(now, packet, &mut out());
                s.is_done()
            }
        }
    }

    /// A time that `wake` asked for has come.
    pub fn on_timer(&mut self, now: Time, out: &mut impl FnMut(SimPacket)) {
        each!(AnySender, self, s => s.on_timer(now, out));
    }

    /// When it next wants `on_timer`.
    #[inline(always)]
    pub fn wake(&self) -> Time {
        each!(AnySender, self, s => s.wake())
    }

    /// Whether everything there was to send has been acknowledged (sent, where nothing is acknowledged).
    #[inline(always)]
    pub fn is_done(&self) -> bool {
        each!(AnySender, self, s => s.is_done())
    }

    /// Whether the algorithm failed.
    #[inline(always)]
    pub fn has_failed(&self) -> bool {
        match self {
            AnySender::Tcp(s) => s.has_failed(),
            AnySender::Explicit(s) => s.has_failed(),
            AnySender::Udp(_) => false,
        }
    }

    /// Why the algorithm failed, if it did.
    pub fn take_failure(&mut self) -> Option<String> {
        match self {
            AnySender::Tcp(s) => s.take_failure(),
            AnySender::Explicit(s) => s.take_failure(),
            AnySender::Udp(_) => None,
        }
    }

    /// The window; not a number where there is none.
    pub fn window(&self) -> Window {
        match self {
            AnySender::Tcp(s) => *s.window(),
            AnySender::Explicit(s) => *s.window(),
            AnySender::Udp(s) => s.window(),
        }
    }

    /// The smoothed round-trip time; zero before the first sample.
    pub fn srtt(&self) -> Interval {
        match self {
            AnySender::Tcp(s) => s.rtt().srtt(),
            AnySender::Explicit(s) => s.rtt().srtt(),
            AnySender::Udp(s) => s.srtt(),
        }
    }

    /// Counters so far.
    pub fn counters(&self) -> &SenderCounters {
        each!(AnySender, self, s => s.counters())
    }

    /// Payload bytes acknowledged in order.
    pub fn acked_bytes(&self) -> u64 {
        each!(AnySender, self, s => s.acked_bytes())
    }

    /// Payload bytes of the first `packets` packets.
    pub fn payload(&self, packets: u64) -> u64 {
        each!(AnySender, self, s => s.payload(packets))
    }

    /// The integral of the window over time from the start on, packet seconds.
    pub fn cwnd_integral(&self, now: Time) -> f64 {
        each!(AnySender, self, s => s.cwnd_integral(now))
    }

    /// Keeps a log of what happens.
    pub fn keep_log(&mut self) {
        each!(AnySender, self, s => s.keep_log());
    }

    /// What happened: when, what, and the window then.
    pub fn take_log(&mut self) -> Vec<(Time, Happened, f64)> {
        each!(AnySender, self, s => s.take_log())
    }
}

impl AnyReceiver {
    /// A packet of the sender arrived; the answer, if one is due now.
    #[inline(always)]
    pub fn on_packet(&mut self, now: Time, packet: &SimPacket) -> Option<SimPacket> {
        each!(AnyReceiver, self, r => r.on_packet(now, packet))
    }

    /// A time that `wake` asked for has come.
    #[inline]
    pub fn on_timer(&mut self, now: Time) -> Option<SimPacket> {
        each!(AnyReceiver, self, r => r.on_timer(now))
    }

    /// When it next wants `on_timer`.
    #[inline(always)]
    pub fn wake(&self) -> Time {
        each!(AnyReceiver, self, r => r.wake())
    }

    /// Whether it says nothing more of its own accord, once its sender is done.
    pub fn is_silent(&self) -> bool {
        match self {
            AnyReceiver::Tcp(_) | AnyReceiver::Explicit(_) => true,
            AnyReceiver::Udp(r) => r.wake() == Time::NEVER,
        }
    }

    /// Packets handed to the application.
    pub fn delivered(&self) -> u64 {
        match self {
            AnyReceiver::Tcp(r) => r.delivered(),
            AnyReceiver::Explicit(r) => r.receiver().delivered(),
            AnyReceiver::Udp(r) => r.delivered(),
        }
    }

    /// IP bytes of data that arrived, duplicates included.
    pub fn received_bytes(&self) -> u64 {
        match self {
            AnyReceiver::Tcp(r) => r.received_bytes,
            AnyReceiver::Explicit(r) => r.receiver().received_bytes,
            AnyReceiver::Udp(r) => r.received_bytes(),
        }
    }

    /// Packets that arrived a second time.
    pub fn duplicates(&self) -> u64 {
        match self {
            AnyReceiver::Tcp(r) => r.duplicates,
            AnyReceiver::Explicit(r) => r.receiver().duplicates,
            AnyReceiver::Udp(r) => r.duplicates(),
        }
    }
}
