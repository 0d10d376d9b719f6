//! How many more segments than expected acknowledgements report at a time: what BBR adds to its window so
//! that it can send while none arrive (Linux tcp_bbr.c, bbr_update_ack_aggregation, of versions 1 and 3).

use longfat_units::Time;

/// The age at which one of the two windows of the maximum is replaced, round trips
/// (bbr_extra_acked_win_rtts).
pub(super) const WINDOW_ROUNDS: u32 = 5;
/// An epoch ends when it has reported this many segments (bbr_ack_epoch_acked_reset_thresh).
const MOST_ACKED: f64 = (1 << 20) as f64;

/// The maximum of the last one to two windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    epoch: Time,
    acked: f64,
    extra: [f64; 2],
    rounds: u32,
    index: usize,
}

impl Aggregation {
    /// Begins an epoch.
    pub fn restart(&mut self, now: Time) {
        (self.epoch, self.acked) = (now, 0.0);
    }

    /// The most segments above those expected, lately.
    pub const fn extra(&self) -> f64 {
        self.extra[0].max(self.extra[1])
    }

    /// Replaces one of the windows once it is `window` round trips old; one has ended.
    pub const fn end_round(&mut self, window: u32) {
        self.rounds += 1;
        if self.rounds >= window {
            self.rounds = 0;
            self.index = 1 - self.index;
            self.extra[self.index] = 0.0;
        }
    }

    /// An acknowledgement has reported `acked` segments, `rate` a second were expected, and the window is
    /// `cwnd`.
    pub fn update(&mut self, now: Time, acked: f64, rate: f64, cwnd: f64) {
        let mut expected = (rate * now.since(self.epoch).as_secs_f64()).floor();
        if self.acked <= expected || self.acked + acked >= MOST_ACKED {
            self.restart(now);
            expected = 0.0;
        }
        self.acked += acked;
        let extra = (self.acked - expected).min(cwnd);
        self.extra[self.index] = self.extra[self.index].max(extra);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Interval;

    #[test]
    fn a_burst_after_silence_counts_as_extra_and_is_forgotten_after_ten_round_trips() {
        let mut aggregation = Aggregation::default();
        let at = |ms| Time::ZERO + Interval::from_millis(ms);
        // 1000 segments a second are expected; 20 come at once every 20 ms
        for i in 1..=5 {
            aggregation.update(at(20 * i), 20.0, 1000.0, 100.0);
        }
        assert_eq!(aggregation.extra(), 20.0);
        // then one each ms: an epoch begins with one segment too many
        for i in 0..10 {
            aggregation.end_round(WINDOW_ROUNDS);
            aggregation.update(at(120 + i), 1.0, 1000.0, 100.0);
        }
        assert_eq!(aggregation.extra(), 1.0);
    }

    #[test]
    fn the_window_bounds_it() {
        let mut aggregation = Aggregation::default();
        aggregation.update(Time::ZERO, 500.0, 1000.0, 64.0);
        assert_eq!(aggregation.extra(), 64.0);
    }
}
