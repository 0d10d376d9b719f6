//! Acknowledgements while the window is not in use (`usage.rs`): it may shrink, and grows within bounds or
//! not at all.

use super::Sender;
use super::usage::Limit;
use crate::cc::{Ack, CongestionControl};
use longfat_units::Time;

impl Sender {
    /// Whether the window may grow.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        match self.limit {
            Limit::Window | Limit::Recent => true,
            Limit::Source => {
                self.follows_use()
                    && self.window.in_slow_start()
                    && self.window.cwnd < 2.0 * self.usage.most()
            }
            Limit::Spacing => false,
        }
    }

    /// Whether the window follows what was in use in the last round trip, as in Linux 6.12, and not only
    /// whether it is full now: where slow-start has no limit.
    #[inline]
    fn follows_use(&self) -> bool {
        self.config.slow_start_limit.is_infinite()
    }

    /// What limits where there is nothing more to send, or no room for it at the receiver: `in_flight`
    /// segments are under way, and `before` was the first new segment before this transmission.
    #[cold]
    pub(super) fn limit_of_source(&mut self, in_flight: u64, before: u64) -> Limit {
        let (allowed, _) = self.limits();
        if in_flight >= allowed {
            return Limit::Window;
        }
        if self.limit == Limit::Window {
            self.usage.full_until = before;
        }
        let base = self.board.base();
        self.usage.note(in_flight, base, self.next);
        if self.follows_use() && base < self.usage.full_until { Limit::Recent } else { Limit::Source }
    }

    /// New data were acknowledged, but the window does not limit: the algorithm may shrink it.
    #[cold]
    pub(super) fn hear_without_growth(&mut self, now: Time, ack: &Ack) {
        if !self.controller.properties.shrinks {
            return;
        }
        let before = self.window.cwnd;
        self.controller.on_ack(&Ack { may_grow: false, ..*ack }, &mut self.window);
        self.withhold_growth(before);
        self.check("on_ack", now);
    }

    /// Takes back what the window has grown beyond `before`, unless it limits. A model-based algorithm
    /// decides itself.
    #[inline]
    pub(super) fn withhold_growth(&mut self, before: f64) {
        if !self.may_grow() && !self.is_model_based() && self.window.cwnd > before {
            self.window.cwnd = before;
        }
    }
}
