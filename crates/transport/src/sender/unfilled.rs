//! Acknowledgements while the window is not in use (`usage.rs`): it may shrink, and does not grow.

use super::Sender;
use super::usage::Limit;
use crate::cc::{Ack, CongestionControl};
use longfat_units::Time;

impl Sender {
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
        if self.limit != Limit::Window && !self.is_model_based() && self.window.cwnd > before {
            self.window.cwnd = before;
        }
    }
}
