//! A sender that somebody steers and watches from outside of the connection.
//!
//! Whoever steers sets the window once, or holds it against the algorithm, recovery and timeouts, and sets
//! the pacing rate. Loss detection and retransmissions stay as they are, and the algorithm learns everything
//! as before.

use super::steering::{Steer, Steering, Watched};
use super::{Outbox, Phase, Sender};
use crate::cc::MOST_CWND;
use longfat_units::{Interval, Time};

/// The greatest window that can be set, segments: from there the algorithm can still grow it.
const MOST_SET: f64 = 0.1 * MOST_CWND;

impl Sender {
    /// Sets the window and the pacing rate, and sends what they allow. The window is brought into the range
    /// that a sender can have, from 1 to a tenth of [`MOST_CWND`] segments. Returns false, and changes
    /// nothing, if the window is not finite, or the rate not finite and above 0.
    pub fn steer(&mut self, now: Time, steer: Steer, out: &mut impl Outbox) -> bool {
        let sound = steer.cwnd.is_none_or(f64::is_finite)
            && steer.rate.is_none_or(|rate| rate.is_finite() && rate > 0.0);
        if !sound {
            return false;
        }
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
        true
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
        Watched {
            rtts,
            rtt_mean_s,
            rtt_increase_s,
            srtt_s: self.rtt.measured().map_or(f64::NAN, Interval::as_secs_f64),
            base_rtt_s: self.rtt.base().map_or(f64::NAN, Interval::as_secs_f64),
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
