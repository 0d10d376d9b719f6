//! Hybrid slow-start (Ha, Rhee: Taming the elephants: New TCP slow start, Computer Networks 55(9), 2011), as
//! in Linux 6's tcp_cubic: slow-start ends once the acknowledgements of one round trip arrive close together
//! for half the least round-trip time, or once the least delay of a round trip has risen.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | least window | 16 | segments | Linux, hystart_low_window | none |
//! | greatest gap in a train | 2 | ms | Linux, hystart_ack_delta_us | none |
//! | cushion of the train | 1 | ms | Linux, hystart_ack_delay: at most 1 ms | always 1 ms |
//! | samples | 8 | | Linux, HYSTART_MIN_SAMPLES | none |
//! | rise of the delay | 1/8 of the least, 4 to 16 ms | | Linux, HYSTART_DELAY_THRESH | none |

use super::super::congestion_control::Ack;
use longfat_units::{Interval, Time};

const LEAST_WINDOW: f64 = 16.0;
const TRAIN_GAP: Interval = Interval::from_millis(2);
const TRAIN_CUSHION: Interval = Interval::from_millis(1);
const LEAST_SAMPLES: u32 = 8;
const RISE: (Interval, Interval) = (Interval::from_millis(4), Interval::from_millis(16));

/// By how much the least delay of a round trip may exceed the least ever.
fn accepted_rise(least_delay: Interval) -> Interval {
    Interval::from_ns(least_delay.as_ns() / 8).clamp(RISE.0, RISE.1)
}

/// How long a train of acknowledgements may be. Without pacing a window leaves in one burst, so the train
/// shows the bottleneck's rate, and half a round trip of it means that the doubled window fills the path.
fn accepted_train(least_delay: Interval) -> Interval {
    Interval::from_ns((least_delay + TRAIN_CUSHION).as_ns() / 2)
}

/// The state of one slow-start.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    found: bool,
    /// The round trip ends once more than this many segments are acknowledged.
    round_end: u64,
    round_start: Time,
    /// The train's last acknowledgement.
    train_end: Time,
    round_delay: Interval,
    samples: u32,
    /// The next new segment when the last acknowledgement came.
    next_segment: u64,
}

impl HyStart {
    pub fn new() -> Self {
        HyStart {
            found: false,
            round_end: 0,
            round_start: Time::ZERO,
            train_end: Time::ZERO,
            round_delay: Interval::MAX,
            samples: 0,
            next_segment: 0,
        }
    }

    /// A timeout: the next slow-start has to find its end again.
    pub fn restart(&mut self, now: Time) {
        self.found = false;
        self.begin_round(now, self.next_segment);
    }

    fn begin_round(&mut self, now: Time, end: u64) {
        self.round_end = end;
        self.round_start = now;
        self.train_end = now;
        self.round_delay = Interval::MAX;
        self.samples = 0;
    }

    /// An acknowledgement came: a round trip that begins now ends with this segment.
    pub fn expect(&mut self, next_segment: u64) {
        self.next_segment = next_segment;
    }

    /// Whether slow-start has to end with this acknowledgement, at a window of `cwnd` segments.
    pub fn ends_slow_start(&mut self, ack: &Ack, cwnd: f64, least_delay: Interval) -> bool {
        self.next_segment = ack.next_segment;
        let Some(delay) = ack.rtt.filter(|_| !self.found) else { return false };
        if ack.unacknowledged > self.round_end {
            self.begin_round(ack.now, ack.next_segment);
        }
        if cwnd < LEAST_WINDOW {
            return false;
        }
        if ack.now.since(self.train_end) <= TRAIN_GAP {
            self.train_end = ack.now;
            self.found |= ack.now.since(self.round_start) > accepted_train(least_delay);
        }
        self.round_delay = self.round_delay.min(delay);
        if self.samples < LEAST_SAMPLES {
            self.samples += 1;
        } else {
            self.found |= self.round_delay > least_delay + accepted_rise(least_delay);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::ack_at;
    use super::*;

    const BASE: Interval = Interval::from_millis(100);

    fn ms(ms: f64) -> Interval {
        Interval::from_secs_f64(ms / 1e3)
    }

    /// One round trip of `acks` acknowledgements `gap_ms` apart that measure `delay_ms`; after how many
    /// it ends slow-start.
    fn round(h: &mut HyStart, start: Time, acks: u64, gap_ms: f64, delay_ms: f64, cwnd: f64) -> Option<u64> {
        let first = h.next_segment + 1;
        (0..acks).find(|i| {
            let mut ack = ack_at(start + ms(*i as f64 * gap_ms), 1.0, ms(delay_ms));
            (ack.unacknowledged, ack.next_segment) = (first + i, first + acks);
            h.ends_slow_start(&ack, cwnd, BASE)
        })
    }

    #[test]
    fn a_train_of_half_the_least_delay_ends_slow_start() {
        // (100 ms + 1 ms) / 2: the 52nd acknowledgement comes 51 ms after the first
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 90, 1.0, 100.0, 40.0), Some(51));
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 50, 1.0, 100.0, 40.0), None);
    }

    #[test]
    fn a_gap_of_more_than_two_milliseconds_breaks_the_train() {
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 45, 2.0, 100.0, 40.0), Some(26));
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 45, 2.1, 100.0, 40.0), None);
    }

    #[test]
    fn a_rise_of_an_eighth_counts_from_the_ninth_sample_of_a_round_trip() {
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 20, 3.0, 112.6, 40.0), Some(8));
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 20, 3.0, 112.4, 40.0), None);
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 8, 3.0, 150.0, 40.0), None);
    }

    #[test]
    fn the_accepted_rise_is_at_least_4_and_at_most_16_milliseconds() {
        for (least_ms, rise_ms) in [(1, 4), (32, 4), (64, 8), (128, 16), (400, 16)] {
            assert_eq!(accepted_rise(Interval::from_millis(least_ms)), Interval::from_millis(rise_ms));
        }
    }

    #[test]
    fn below_16_segments_slow_start_goes_on() {
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 90, 1.0, 150.0, 15.0), None);
        assert_eq!(round(&mut HyStart::new(), Time::ZERO, 90, 1.0, 150.0, 16.0), Some(8));
    }

    #[test]
    fn each_round_trip_is_judged_on_its_own() {
        let mut h = HyStart::new();
        let at = |ms| Time::ZERO + Interval::from_millis(ms);
        assert_eq!(round(&mut h, at(0), 40, 1.0, 100.0, 20.0), None);
        assert_eq!(round(&mut h, at(100), 40, 1.0, 100.0, 20.0), None);
        // the first round trip's least delay would hide the rise
        assert_eq!(round(&mut h, at(200), 40, 1.0, 120.0, 20.0), Some(8));
    }

    #[test]
    fn it_speaks_once_and_again_after_a_timeout() {
        let mut h = HyStart::new();
        let at = |ms| Time::ZERO + Interval::from_millis(ms);
        assert!(round(&mut h, at(0), 40, 3.0, 150.0, 20.0).is_some());
        assert_eq!(round(&mut h, at(200), 40, 3.0, 150.0, 20.0), None);
        h.restart(at(400));
        assert!(round(&mut h, at(500), 40, 3.0, 150.0, 20.0).is_some());
    }
}
