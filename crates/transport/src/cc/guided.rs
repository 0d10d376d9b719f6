//! The rate of a sender that routers tell how fast to send. Packets leave at this rate; the window only
//! follows it, with room for a queue. Without a router of the protocol on the path the sender is standard TCP
//! (chosen here).
//!
//! A loss says nothing about the rate that routers allow, and they also speak to a sender in recovery. So the
//! rate stays after a loss, unless the sender is made by [`Guided::halving`].

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, Window};
use longfat_units::Interval;

/// The window is this multiple of the data in flight at the rate, which leaves room for a queue.
const WINDOW_PER_RATE: f64 = 2.0;

/// What a loss leaves of the rate of a sender that halves it.
const LEFT: f64 = 0.5;

/// The least rate while no round-trip time is known, segments/s: one in the first timeout of RFC 6298.
const LEAST: f64 = 1.0;

/// What sets the rate.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Guide {
    /// No echo has come back yet.
    #[default]
    Unknown,
    /// There is no router of the protocol on the path.
    Nobody,
    /// Routers.
    Routers,
}

/// The rate, and what sets it.
#[derive(Clone, Debug, Default)]
pub(super) struct Guided {
    guide: Guide,
    /// Segments/s, once routers set it.
    rate: f64,
    /// The rate before a timeout, until routers set another.
    before: Option<f64>,
    /// A loss halves the rate, and the window may hold the sender when the rate falls.
    halves: bool,
    /// 0 before the first round trip.
    srtt_s: f64,
    /// Segments.
    in_flight: f64,
}

impl Guided {
    /// A rate that each loss halves.
    pub fn halving() -> Self {
        Guided { halves: true, ..Guided::default() }
    }

    /// Takes the round-trip time and the data in flight of an acknowledgement.
    pub fn sample(&mut self, ack: &Ack) {
        (self.srtt_s, self.in_flight) = (ack.srtt.as_secs_f64(), ack.in_flight);
    }

    /// Takes the round-trip time of the connection request; zero if nobody knows it.
    pub fn connected(&mut self, srtt: Interval) {
        self.srtt_s = srtt.as_secs_f64();
    }

    /// A header has come back as it left: no router has seen it. If routers have set the rate so far, the
    /// path has changed, and the window goes on from the data in flight at the rate.
    pub fn hear_nobody(&mut self, w: &mut Window) {
        if self.guide == Guide::Routers {
            w.cwnd = (self.rate * self.srtt_s).max(1.0);
            w.ssthresh = w.cwnd;
        }
        self.guide = Guide::Nobody;
    }

    /// A router has written into a header. The first rate is the window in a round trip. Returns whether this
    /// is the first time.
    pub fn hear_router(&mut self, w: &mut Window) -> bool {
        let first = self.guide != Guide::Routers && self.srtt_s > 0.0;
        if first {
            self.guide = Guide::Routers;
            self.set(w.cwnd / self.srtt_s, w);
        }
        first
    }

    /// Whether routers set the rate.
    pub fn has_router(&self) -> bool {
        self.guide == Guide::Routers
    }

    /// The rate, segments/s; 0 until routers set it.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The smoothed round-trip time, s; 0 before the first.
    pub fn srtt_s(&self) -> f64 {
        self.srtt_s
    }

    /// The least rate, segments/s: one segment per round trip.
    fn least(&self) -> f64 {
        if self.srtt_s > 0.0 { 1.0 / self.srtt_s } else { LEAST }
    }

    /// Opens the window wide enough for the rate. It stays as it is while no round-trip time is known.
    fn open(&self, w: &mut Window) {
        if self.srtt_s > 0.0 {
            let held = if self.halves { 0.0 } else { self.in_flight + 1.0 };
            w.cwnd = (WINDOW_PER_RATE * self.rate * self.srtt_s).max(held);
        }
    }

    /// Sends at this rate, segments/s, or one segment per round trip if that is more.
    pub fn set(&mut self, rate: f64, w: &mut Window) {
        self.pace(rate);
        self.open(w);
    }

    /// Sends at this rate, as routers said in recovery: the window belongs to the recovery.
    pub fn pace(&mut self, rate: f64) {
        self.rate = rate.max(self.least());
        self.before = None;
    }

    /// Routers say this rate, segments/s, whether they have set one before or not.
    pub fn follow(&mut self, rate: f64, w: &mut Window) {
        self.guide = Guide::Routers;
        self.set(rate, w);
    }

    /// The same in recovery.
    pub fn follow_in_recovery(&mut self, rate: f64) {
        self.guide = Guide::Routers;
        self.pace(rate);
    }

    /// The rate stays, and the window follows the round-trip time.
    fn keep(&mut self, w: &mut Window) {
        self.rate = self.rate.max(self.least());
        self.open(w);
    }

    /// An acknowledgement: the window follows the round-trip time, or grows as standard TCP's.
    pub fn ack(&mut self, ack: &Ack, w: &mut Window) {
        match self.guide {
            Guide::Routers => self.keep(w),
            _ if w.in_slow_start() => w.slow_start(ack.acked),
            _ => w.cwnd += standard_increase(w.cwnd, ack.acked),
        }
    }

    /// A congestion event. Returns the slow-start threshold: the window if only routers change the rate,
    /// otherwise half of it. A rate that a loss halves is one segment per round trip after a timeout.
    pub fn congestion(&mut self, event: &Congestion, w: &Window) -> f64 {
        if self.guide == Guide::Routers {
            if !self.halves {
                return w.cwnd;
            }
            self.rate = if event.cause == Cause::Timeout { 0.0 } else { LEFT * self.rate };
            self.rate = self.rate.max(self.least());
        }
        standard_decrease(w.cwnd)
    }

    /// Nothing has come back for a timeout: sends one segment per round trip until routers speak again.
    pub fn restart(&mut self) {
        if self.guide == Guide::Routers {
            self.before = self.before.or(Some(self.rate));
            self.rate = self.least();
        }
    }

    /// Recovery has ended.
    pub fn recovered(&mut self, w: &mut Window) {
        if self.guide == Guide::Routers {
            self.keep(w);
        }
    }

    /// The window is again what it was before a spurious event, and so is the rate, unless routers have set
    /// another.
    pub fn undone(&mut self, w: &mut Window) {
        if self.guide != Guide::Routers {
            return;
        }
        if self.halves {
            self.set(w.cwnd / (WINDOW_PER_RATE * self.srtt_s), w);
        } else {
            self.set(self.before.unwrap_or(self.rate), w);
        }
    }

    /// See [`super::CongestionControl::pacing_rate`].
    pub fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        match self.guide {
            Guide::Routers => Some(self.rate),
            Guide::Unknown if srtt > Interval::ZERO => Some(w.cwnd / srtt.as_secs_f64()),
            _ => None,
        }
    }
}
