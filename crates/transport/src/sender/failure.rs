//! What becomes of an algorithm that fails: it raised an exception, or left a window that no sender can have.

use super::Sender;
use crate::cc::{CongestionControl, LEAST_SSTHRESH, MOST_CWND, Window};
use longfat_units::Time;

impl Sender {
    /// Checks that the algorithm left a valid window.
    #[inline(always)]
    pub(super) fn check(&mut self, method: &str, now: Time) {
        let sound = self.window.cwnd >= 1.0 && self.window.cwnd <= MOST_CWND && self.window.ssthresh > 0.0;
        if !sound || self.controller.is_custom() {
            self.look_for_failure(sound, method, now);
        }
    }

    /// Checks that the algorithm raised nothing in `on_sample`, which moves no window.
    #[inline]
    pub(super) fn check_sampling(&mut self, now: Time) {
        if self.controller.is_custom() {
            self.look_for_failure(true, "on_sample", now);
        }
    }

    fn look_for_failure(&mut self, sound: bool, method: &str, now: Time) {
        let raised = self.controller.take_failure();
        let sound = sound || self.window.cwnd == 0.0 && self.controller.properties.may_close;
        if sound && raised.is_none() {
            return;
        }
        let reason = raised.unwrap_or_else(|| {
            let Window { cwnd, ssthresh, .. } = self.window;
            format!(
                "{method} left cwnd = {cwnd:?}, ssthresh = {ssthresh:?} at {} s: \
                 cwnd must be from 1 to {MOST_CWND:e} segments, ssthresh above 0",
                now.as_secs_f64()
            )
        });
        self.failure.get_or_insert(reason);
        self.window.cwnd = 1.0;
        self.window.ssthresh = LEAST_SSTHRESH;
    }
}
