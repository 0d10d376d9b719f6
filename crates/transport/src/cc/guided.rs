//! The rate of a sender that routers tell how fast to send. Packets leave at this rate; the window only follows it,
//! with room for a queue. Without a router of the protocol on the path the sender is standard TCP (chosen here).

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, Window};
use longfat_units::Interval;

/// The window is this multiple of the data in flight at the rate, which leaves room for a queue.
const WINDOW_PER_RATE: f64 = 2.0;

/// What a loss leaves of the rate. The sender does not look at headers during recovery, so a rate that a loss does not
/// reduce could stay too high for good.
const LEFT: f64 = 0.5;

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
    srtt_s: f64,
}

impl Guided {
    /// Takes the round-trip time of an acknowledgement.
    pub fn sample(&mut self, ack: &Ack) {
        self.srtt_s = ack.srtt.as_secs_f64();
    }

    /// A header has come back as it left: no router has seen it.
    pub fn hear_nobody(&mut self) {
        self.guide = Guide::Nobody;
    }

    /// A router has written into a header. The first rate is the window in a round trip. Returns whether this is
    /// the first time.
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

    /// The smoothed round-trip time, s.
    pub fn srtt_s(&self) -> f64 {
        self.srtt_s
    }

    /// Sends at this rate, segments/s, or one segment per round trip if that is more.
    pub fn set(&mut self, rate: f64, w: &mut Window) {
        self.rate = rate.max(1.0 / self.srtt_s);
        w.cwnd = WINDOW_PER_RATE * self.rate * self.srtt_s;
    }

    /// An acknowledgement: the window follows the round-trip time, or grows as standard TCP's.
    pub fn ack(&mut self, ack: &Ack, w: &mut Window) {
        match self.guide {
            Guide::Routers => self.set(self.rate, w),
            _ if w.in_slow_start() => w.slow_start(ack.acked),
            _ => w.cwnd += standard_increase(w.cwnd, ack.acked),
        }
    }

    /// A loss halves the rate, a timeout leaves one segment per round trip. Returns the slow-start threshold, half of
    /// the window.
    pub fn congestion(&mut self, event: &Congestion, w: &Window) -> f64 {
        if self.guide == Guide::Routers {
            self.rate = if event.cause == Cause::Timeout { 0.0 } else { LEFT * self.rate };
            self.rate = self.rate.max(1.0 / self.srtt_s);
        }
        standard_decrease(w.cwnd)
    }

    /// Recovery has ended.
    pub fn recovered(&mut self, w: &mut Window) {
        if self.guide == Guide::Routers {
            self.set(self.rate, w);
        }
    }

    /// The window is again what it was before a spurious event, and so is the rate.
    pub fn undone(&mut self, w: &mut Window) {
        if self.guide == Guide::Routers {
            self.set(w.cwnd / (WINDOW_PER_RATE * self.srtt_s), w);
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
