//! What somebody outside of the connection sets and sees: an experiment that is stepped, or a learnt
//! controller.

use crate::cc::{Ack, Window};
use longfat_units::Interval;

/// What somebody has set, and what a watched sender has seen since the last look.
#[derive(Default)]
pub(super) struct Steering {
    /// The window that is held, segments.
    pub(super) cwnd: Option<f64>,
    /// The pacing rate that was set, segments per second.
    pub(super) rate: Option<f64>,
    /// Somebody looks at what happens.
    pub(super) watches: bool,
    /// The round-trip times since the last look, in the order in which they were measured.
    rtts: Vec<Interval>,
}

/// What to set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steer {
    /// The window, segments.
    pub cwnd: Option<f64>,
    /// The window stays there until it is set again or [`release`](super::Sender::release) is called.
    pub holds: bool,
    /// The pacing rate from now on, segments per second.
    pub rate: Option<f64>,
}

/// What a watched sender has seen since the last look, and its state now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// Round-trip times measured.
    pub rtts: u64,
    /// Their mean; NaN if there is none.
    pub rtt_mean_s: f64,
    /// The mean of their second half less that of their first half; NaN if there are fewer than two.
    pub rtt_increase_s: f64,
    /// Smoothed round-trip time; NaN before the first measurement.
    pub srtt_s: f64,
    /// The least round-trip time since the connection began; NaN before the first measurement.
    pub base_rtt_s: f64,
    /// The window.
    pub window: Window,
    /// Segments in flight (RFC 6675 "pipe").
    pub in_flight: u64,
    /// All segments sent so far, retransmissions included.
    pub sent: u64,
    /// All retransmissions so far.
    pub retransmits: u64,
    /// All segments known to have reached the receiver so far.
    pub delivered: u64,
    /// The pacing rate, segments per second; `None` without pacing.
    pub rate: Option<f64>,
}

impl Steering {
    /// An acknowledgement was read.
    pub(super) fn watch(&mut self, ack: &Ack) {
        if self.watches {
            self.rtts.extend(ack.rtt);
        }
    }

    /// The number of round-trip times, their mean, and by how much it grew; forgets them.
    pub(super) fn look(&mut self) -> (u64, f64, f64) {
        let rtts = core::mem::take(&mut self.rtts);
        let (early, late) = rtts.split_at(rtts.len() / 2);
        let increase = mean(late) - mean(early);
        let looked = (rtts.len() as u64, mean(&rtts), increase);
        self.rtts = rtts;
        self.rtts.clear(); // keeps its room
        looked
    }
}

/// The mean of these, seconds; NaN if there are none.
fn mean(rtts: &[Interval]) -> f64 {
    let sum_ns: u64 = rtts.iter().map(|rtt| rtt.as_ns()).sum();
    sum_ns as f64 / 1e9 / rtts.len() as f64
}
