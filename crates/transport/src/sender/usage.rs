//! How much of the window is in use, and when it may grow.
//!
//! ```text
//! what stopped the last transmission | the window grows
//! the window                         | yes; it counts as full if all of it is in flight, also where nothing is left to send
//! the application, the receiver      | until what had left is acknowledged when the window stopped a transmission for the
//!                                    | last time; in slow-start up to twice the most that was in flight in the last round trip
//!                                    | (Linux, tcp_cwnd_validate and tcp_is_cwnd_limited; RFC 7661, section 4.3:
//!                                    | pipeACK >= cwnd / 2)
//! pacing, the longest burst          | if without them the window had stopped it (RFC 9002, section 7.8), and it is less than
//!                                    | twice the most that was in flight in the last round trip
//! ```
//!
//! Reductions know no such rule: see [`CongestionControl::on_ack_unfilled`].

use super::Sender;
use crate::cc::{Ack, CongestionControl};
use longfat_units::Time;

/// What limits the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The window, which may grow.
    Window,
    /// The application or the receiver, but in this round trip the window did too.
    Recent,
    /// Pacing or the longest burst: the window is not in use.
    Spacing,
    /// The application or the receiver.
    Source,
}

/// The most segments in flight in the last round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    most: u64,
    /// The round trip ends when this segment is acknowledged.
    until: u64,
    /// The same of the one in which the window limited for the last time.
    full_until: u64,
}

impl Usage {
    /// A transmission has ended with `in_flight` segments; `next` is the first that has not left (Linux,
    /// tcp_cwnd_validate).
    #[inline]
    pub fn note(&mut self, in_flight: u64, unacknowledged: u64, next: u64) {
        if in_flight > self.most || unacknowledged >= self.until {
            (self.most, self.until) = (in_flight, next);
        }
    }

    #[inline]
    pub const fn most(&self) -> f64 {
        self.most as f64
    }
}

impl Sender {
    /// Whether the window may grow.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        match self.limit {
            Limit::Window | Limit::Recent => true,
            Limit::Source => self.window.in_slow_start() && self.window.cwnd < 2.0 * self.usage.most(),
            Limit::Spacing => false,
        }
    }

    /// What limits where there is nothing more to send, or no room for it at the receiver: `in_flight` of the `allowed`
    /// segments are under way, and `before` was the first new segment before this transmission.
    #[cold]
    pub(super) fn limit_of_source(&mut self, in_flight: u64, allowed: u64, before: u64) -> Limit {
        if in_flight >= allowed {
            return Limit::Window;
        }
        if self.limit == Limit::Window {
            self.usage.full_until = before;
        }
        let base = self.board.base();
        self.usage.note(in_flight, base, self.next);
        if base < self.usage.full_until { Limit::Recent } else { Limit::Source }
    }

    /// New data were acknowledged, but the window does not limit: the algorithm may shrink it.
    #[cold]
    pub(super) fn hear_without_growth(&mut self, now: Time, ack: &Ack) {
        let before = self.window.cwnd;
        self.controller.on_ack_unfilled(ack, &mut self.window);
        self.withhold_growth(before);
        self.check("on_ack", now);
    }

    /// Takes back what the window has grown beyond `before`, unless it limits. A model-based algorithm decides itself.
    #[inline]
    pub(super) fn withhold_growth(&mut self, before: f64) {
        if !self.may_grow() && !self.is_model_based() && self.window.cwnd > before {
            self.window.cwnd = before;
        }
    }
}
