//! A sender that somebody steers and watches from outside of the connection: an experiment that is stepped, or a
//! learnt controller.
//!
//! Whoever steers sets the window once, or holds it against the algorithm, recovery and timeouts, and sets the
//! pacing rate. Loss detection and retransmissions stay as they are, and the algorithm learns everything as
//! before.

use super::{Outbox, Phase, Sender};
use crate::cc::{Ack, MOST_CWND, Window};
use longfat_units::{Interval, Time};

/// The greatest window that can be set, segments: from there the algorithm can still grow it.
const MOST_SET: f64 = 0.1 * MOST_CWND;

/// What somebody has set, and what a watched sender has seen since the last look.
#[derive(Default)]
pub(super) struct Steering {
    /// The window that is held, segments.
    cwnd: Option<f64>,
    /// Segments per second.
    rate: Option<f64>,
    watches: bool,
    /// The round-trip times since the last look, in the order in which they were measured.
    rtts: Vec<Interval>,
}

/// What to set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steer {
    /// The window, segments.
    pub cwnd: Option<f64>,
    /// The window stays there until it is set again or [`Sender::release`] is called.
    pub holds: bool,
    /// The pacing rate from now on, segments per second.
    pub rate: Option<f64>,
}

/// What a watched sender has seen since the last look, and its state now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watched {
    /// Round-trip times measured.
    pub rtts: u64,
    /// Their mean; zero if there is none.
    pub rtt_mean_s: f64,
    /// The mean of their second half less that of their first half; zero if there are fewer than two.
    pub rtt_increase_s: f64,
    /// Smoothed round-trip time; zero before the first measurement.
    pub srtt_s: f64,
    /// The least round-trip time since the connection began; zero before the first measurement.
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
    #[inline]
    pub(super) const fn cwnd(&self) -> Option<f64> {
        self.cwnd
    }

    #[inline]
    pub(super) const fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// An acknowledgement was read.
    pub(super) fn watch(&mut self, ack: &Ack) {
        if self.watches {
            self.rtts.extend(ack.rtt);
        }
    }

    /// The number of round-trip times, their mean, and by how much it grew; forgets them.
    fn look(&mut self) -> (u64, f64, f64) {
        let rtts = core::mem::take(&mut self.rtts);
        let (early, late) = rtts.split_at(rtts.len() / 2);
        let increase = if early.is_empty() { 0.0 } else { mean(late) - mean(early) };
        let looked = (rtts.len() as u64, mean(&rtts), increase);
        self.rtts = rtts;
        self.rtts.clear(); // keeps its room
        looked
    }
}

/// The mean of these, seconds; zero if there are none.
fn mean(rtts: &[Interval]) -> f64 {
    let sum_ns: u64 = rtts.iter().map(|rtt| rtt.as_ns()).sum();
    sum_ns as f64 / 1e9 / rtts.len().max(1) as f64
}

impl Sender {
    /// Sets the window and the pacing rate, and sends what they allow. The window is brought into the range that a
    /// sender can have, from 1 to a tenth of [`MOST_CWND`] segments.
    pub fn steer(&mut self, now: Time, steer: Steer, out: &mut impl Outbox) {
        self.pause(now);
        if let Some(cwnd) = steer.cwnd {
            self.window.cwnd = cwnd.clamp(1.0, MOST_SET);
            if steer.holds || self.steering.is_some() {
                self.steering().cwnd = steer.holds.then_some(cwnd.clamp(1.0, MOST_SET));
            }
        }
        if let Some(rate) = steer.rate {
            self.steering().rate = Some(rate);
            // the next segment does not wait for what the rate before would have made of it
            self.pace_at = self.pace_at.min(now + Interval::from_secs_f64(1.0 / rate));
        }
        self.go_on(now, out);
    }

    /// Leaves the window and the pacing rate to the algorithm again.
    pub fn release(&mut self, now: Time, out: &mut impl Outbox) {
        self.pause(now);
        if let Some(steering) = &mut self.steering {
            (steering.cwnd, steering.rate) = (None, None);
            self.pace_at = self.pace_at.min(now);
            self.go_on(now, out);
        }
    }

    /// The integral of cwnd up to now, before the window changes; it begins with the connection.
    fn pause(&mut self, now: Time) {
        if self.phase != Phase::Idle {
            self.account(now);
        }
    }

    /// Sends what may leave now, although nothing was due.
    fn go_on(&mut self, now: Time, out: &mut impl Outbox) {
        self.send_at = Time::NEVER; // worked out anew
        self.transmit::<true>(now, out);
    }

    /// From now on [`Sender::look`] tells what happens.
    pub fn watch(&mut self) {
        self.steering().watches = true;
    }

    /// What has happened since the last look, and how things are. Call it after [`Sender::watch`].
    pub fn look(&mut self) -> Watched {
        let (rtts, rtt_mean_s, rtt_increase_s) = self.steering().look();
        let measured = self.rtt.srtt() != Interval::ZERO;
        Watched {
            rtts,
            rtt_mean_s,
            rtt_increase_s,
            srtt_s: self.rtt.srtt().as_secs_f64(),
            base_rtt_s: if measured { self.rtt.base().as_secs_f64() } else { 0.0 },
            window: self.window,
            in_flight: self.in_flight(),
            sent: self.counters.packets_sent,
            retransmits: self.counters.retransmits,
            delivered: self.board.base() + self.board.sacked(),
            rate: self.pace(),
        }
    }

    fn steering(&mut self) -> &mut Steering {
        self.plain = false; // the usual care is not enough
        self.steering.get_or_insert_default()
    }
}
