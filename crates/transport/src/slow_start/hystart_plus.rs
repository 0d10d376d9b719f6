//! HyStart++ (Balasubramanian, Huang, Olson: RFC 9406, 2023): slow-start gives way to Conservative Slow Start
//! (CSS) once the least round-trip time of a round has risen, and that to congestion avoidance after some
//! rounds, unless the round-trip time falls again.
//!
//! ```text
//! round:  ends when windowEnd is acknowledged; windowEnd <- SND.NXT, lastRoundMinRTT <- currentRoundMinRTT
//! SS :    after N_RTT_SAMPLE samples, if currentRoundMinRTT >= lastRoundMinRTT + RttThresh:
//!           cssBaselineMinRtt <- currentRoundMinRTT; CSS
//!         RttThresh = max(MIN_RTT_THRESH, min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))
//! CSS:    cwnd grows by 1 / CSS_GROWTH_DIVISOR of slow-start's step
//!         after N_RTT_SAMPLE samples, if currentRoundMinRTT < cssBaselineMinRtt: SS
//!         after CSS_ROUNDS rounds, the partial one at the beginning included: ssthresh <- cwnd
//! ```
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | MIN_RTT_THRESH | 4 ms | RFC 9406, section 4.3 | none |
//! | MAX_RTT_THRESH | 16 ms | RFC 9406, section 4.3 | none |
//! | MIN_RTT_DIVISOR | 8 | RFC 9406, section 4.3 | none |
//! | N_RTT_SAMPLE | 8 | RFC 9406, section 4.3 | none |
//! | CSS_GROWTH_DIVISOR | 4 | RFC 9406, section 4.3 | none |
//! | CSS_ROUNDS | 5 | RFC 9406, section 4.3 | none |
//! | L | `slow_start_limit` | RFC 9406, section 4.3: 8 without pacing | the key's default, 2, is that of RFC 3465; an acknowledgement of more than two segments is rare |

use super::progress::Progress;
use longfat_units::Interval;

const RTT_THRESH: (Interval, Interval) = (Interval::from_millis(4), Interval::from_millis(16));
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: f64 = 4.0;
const CSS_ROUNDS: u32 = 5;

/// Conservative Slow Start.
#[derive(Clone, Copy, Debug)]
struct Css {
    /// cssBaselineMinRtt.
    baseline: Interval,
    /// Rounds that have begun since its beginning, the one in which it began included.
    rounds: u32,
}

/// The state of the first slow-start.
#[derive(Clone, Debug, Default)]
pub(crate) struct HystartPlus {
    /// windowEnd; `None` before the first acknowledgement.
    window_end: Option<u64>,
    last_round: Option<Interval>,
    this_round: Option<Interval>,
    samples: u32,
    css: Option<Css>,
}

/// RttThresh.
fn threshold(last_round: Interval) -> Interval {
    Interval::from_ns(last_round.as_ns() / MIN_RTT_DIVISOR).clamp(RTT_THRESH.0, RTT_THRESH.1)
}

impl HystartPlus {
    /// The share of standard slow-start's growth that the window has now.
    pub fn growth(&self) -> f64 {
        if self.css.is_some() { 1.0 / CSS_GROWTH_DIVISOR } else { 1.0 }
    }

    /// Looks at an acknowledgement in slow-start. Returns whether congestion avoidance begins.
    pub fn look(&mut self, progress: &Progress) -> bool {
        let ended = self.end_round(progress);
        if let Some(rtt) = progress.rtt {
            self.this_round = Some(self.this_round.map_or(rtt, |least| least.min(rtt)));
            self.samples += 1;
        }
        let Some(least) = self.this_round.filter(|_| self.samples >= N_RTT_SAMPLE) else { return ended };
        match (self.css, self.last_round) {
            (Some(css), _) if least < css.baseline => self.css = None, // the rise was spurious
            (None, Some(last)) if least >= last + threshold(last) => {
                self.css = Some(Css { baseline: least, rounds: 1 });
            }
            _ => {}
        }
        ended
    }

    /// A round ends when its last segment is acknowledged. Returns whether it was the last one of CSS.
    fn end_round(&mut self, progress: &Progress) -> bool {
        if self.window_end.is_some_and(|end| progress.unacknowledged < end) {
            return false;
        }
        let first = self.window_end.replace(progress.next_segment).is_none();
        if first {
            return false;
        }
        self.last_round = self.this_round.take();
        self.samples = 0;
        self.css.as_mut().is_some_and(|css| {
            css.rounds += 1;
            css.rounds > CSS_ROUNDS
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use longfat_units::Time;

    const ACKS: u64 = 10;

    /// One round of ten acknowledgements that measure these times, ms. Returns the growth after it, or `None`
    /// if slow-start has ended.
    fn round(h: &mut HystartPlus, number: u64, rtt_ms: u64) -> Option<f64> {
        for n in 1..=ACKS {
            let unacknowledged = ACKS * number + n;
            let progress = Progress {
                now: Time::ZERO,
                rtt: Some(Interval::from_millis(rtt_ms)),
                delivered: unacknowledged,
                unacknowledged,
                next_segment: unacknowledged + ACKS,
            };
            if h.look(&progress) {
                return None;
            }
        }
        Some(h.growth())
    }

    fn rounds(rtts_ms: &[u64]) -> Vec<Option<f64>> {
        let mut h = HystartPlus::default();
        (0..).zip(rtts_ms).map(|(number, &rtt)| round(&mut h, number, rtt)).collect()
    }

    #[test]
    fn the_accepted_rise_is_an_eighth_of_the_last_round_but_at_least_4_and_at_most_16_ms() {
        for (last_ms, rise_ms) in [(1, 4), (32, 4), (40, 5), (100, 12), (128, 16), (400, 16)] {
            let rise = threshold(Interval::from_millis(last_ms));
            assert_eq!(rise.as_ns() / 1_000_000, rise_ms, "{last_ms}");
        }
    }

    #[test]
    fn a_round_that_takes_the_rise_longer_than_the_last_one_slows_growth_to_a_quarter() {
        assert_eq!(rounds(&[80, 80, 89])[2], Some(1.0));
        assert_eq!(rounds(&[80, 80, 90])[2], Some(0.25));
        // each round is compared with the one before it: a slow rise passes
        assert!(rounds(&[80, 85, 90, 95, 100, 105]).iter().all(|g| *g == Some(1.0)));
    }

    #[test]
    fn five_rounds_of_slow_growth_end_slow_start() {
        // the round of the transition counts; windowEnd of the fifth is acknowledged in the first of the next
        let found = rounds(&[80, 80, 100, 100, 100, 100, 100, 100]);
        assert_eq!(found[2..7], [Some(0.25); 5]);
        assert_eq!(found[7], None);
    }

    #[test]
    fn a_round_trip_time_below_that_of_the_transition_resumes_slow_start() {
        let found = rounds(&[80, 80, 100, 99, 100, 120]);
        assert_eq!(found[2..], [Some(0.25), Some(1.0), Some(1.0), Some(0.25)]);
    }

    #[test]
    fn fewer_than_eight_samples_of_a_round_decide_nothing() {
        let mut h = HystartPlus::default();
        round(&mut h, 0, 80);
        round(&mut h, 1, 80);
        for n in 1..=8 {
            let unacknowledged = 20 + n;
            let rtt = (n > 1).then_some(Interval::from_millis(200));
            let next_segment = unacknowledged + ACKS;
            h.look(&Progress { now: Time::ZERO, rtt, delivered: 0, unacknowledged, next_segment });
            assert_eq!(h.growth(), 1.0, "acknowledgement {n}: the first measured nothing");
        }
    }
}
