//! How much of the window is in use, and when it may grow.
//!
//! ```text
//! what stopped the last transmission | the window grows
//! the window                         | yes; it counts as full if all of it is in flight, also where
//!                                    | nothing is left to send
//! the application, the receiver      | no (RFC 9002, section 7.8). Where slow-start has no limit, as in
//!                                    | Linux: until what had left when the window stopped a transmission
//!                                    | for the last time is acknowledged, and in slow-start up to twice the
//!                                    | most that was in flight in the last round trip (Linux 6.12,
//!                                    | tcp_cwnd_validate and tcp_is_cwnd_limited; RFC 7661, section 4.3:
//!                                    | pipeACK >= cwnd / 2)
//! pacing, the longest burst          | if without them the window had stopped it (RFC 9002, section 7.8),
//!                                    | and it is at most twice the most that was in flight in the last
//!                                    | round trip
//! ```
//!
//! Reductions know no such rule: see [`crate::cc::Properties::shrinks`].

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
    pub full_until: u64,
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
