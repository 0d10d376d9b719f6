//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | alpha, beta, K | 1/8, 1/4, 4 | RFC 6298, section 2 | none |
//! | initial RTO | 1 s | RFC 6298, 2.1 | none |
//! | floor | 200 ms | Linux TCP_RTO_MIN | bounds K RTTVAR, not the sum, as Linux does: with a sample from every acknowledgement RTTVAR goes to zero in steady flow, and a floor on the sum alone would leave no margin on paths longer than the floor |
//! | ceiling | 60 s | RFC 6298, 2.5 | none |
//! | tick of timestamps | 1 ms | Linux TCP_TS_HZ | only with [`RttSamples::Last`]; otherwise timestamps are exact |

use longfat_units::{Interval, Time};
use serde::Deserialize;

const INITIAL_RTO: Interval = Interval::from_millis(1000);
const GREATEST_RTO: Interval = Interval::from_millis(60_000);

const TICK: Interval = Interval::from_millis(1);

/// Which round-trip times algorithms get. The retransmission timeout always uses the echoed timestamp. In JSON:
/// `echoed` or `last`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttSamples {
    /// From the echoed timestamp (RFC 7323): the time of the first segment acknowledged. The connection
    /// request gives a sample too.
    #[default]
    Echoed,
    /// As Linux does (tcp_ack_update_rtt): the time of the last segment acknowledged, also selectively,
    /// without the wait of a delayed acknowledgement. If a segment was sent twice, timestamps in whole ticks
    /// give the time. The connection request gives no sample.
    Last,
}

/// The span between two times as the timestamps of Linux measure it: in whole ticks of its clock, at least
/// one.
pub fn in_ticks(from: Time, to: Time) -> Interval {
    let ticks = |at: Time| at.as_ns() / TICK.as_ns();
    Interval::from_ns(TICK.as_ns() * ticks(to).saturating_sub(ticks(from)).max(1))
}

/// The round-trip time estimator of one connection.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    srtt: Interval,
    rttvar: Interval,
    base: Interval,
    /// The least time that algorithms got, if it is not the smoothed samples' least.
    told: Interval,
    floor: Interval,
    backoff: u32,
}

impl RttEstimator {
    /// No sample yet; K RTTVAR never counts for less than `floor`.
    pub const fn new(floor: Interval) -> Self {
        RttEstimator {
            srtt: Interval::ZERO,
            rttvar: Interval::ZERO,
            base: Interval::MAX,
            told: Interval::MAX,
            floor,
            backoff: 0,
        }
    }

    /// A round trip took `rtt`; ends any backoff.
    #[inline]
    pub fn sample(&mut self, rtt: Interval) {
        if self.srtt == Interval::ZERO {
            self.srtt = rtt;
            self.rttvar = Interval::from_ns(rtt.as_ns() / 2);
        } else {
            let (s, r) = (self.srtt.as_ns(), rtt.as_ns());
            self.rttvar =
                Interval::from_ns(self.rttvar.as_ns() - self.rttvar.as_ns() / 4 + s.abs_diff(r) / 4);
            self.srtt = Interval::from_ns(s - s / 8 + r / 8);
        }
        self.base = self.base.min(rtt);
        self.backoff = 0;
    }

    /// Algorithms get `rtt`, which is not smoothed. From now on [`RttEstimator::base`] is the least of these.
    pub fn tell(&mut self, rtt: Interval) {
        self.told = self.told.min(rtt);
        self.base = self.told;
    }

    /// The smoothed round-trip time; zero before the first sample.
    #[inline]
    pub const fn srtt(&self) -> Interval {
        self.srtt
    }

    /// The least round-trip time seen; [`Interval::MAX`] before the first sample.
    #[inline]
    pub const fn base(&self) -> Interval {
        self.base
    }

    /// The timeout without floor and backoff, which an exact clock allows (Brakmo, Peterson 1995).
    pub fn fine_timeout(&self) -> Interval {
        if self.srtt == Interval::ZERO {
            return INITIAL_RTO;
        }
        self.srtt + Interval::from_ns(4 * self.rttvar.as_ns())
    }

    /// The retransmission timeout, backoff included.
    #[inline]
    pub fn rto(&self) -> Interval {
        let unscaled = if self.srtt == Interval::ZERO {
            INITIAL_RTO
        } else {
            self.srtt + Interval::from_ns(4 * self.rttvar.as_ns()).max(self.floor)
        };
        if self.backoff == 0 {
            return unscaled.min(GREATEST_RTO);
        }
        Interval::from_ns(unscaled.as_ns().saturating_mul(1 << self.backoff.min(16))).min(GREATEST_RTO)
    }

    /// The timer expired: the next timeout is twice as long (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// When a timer that is restarted now expires.
    #[inline]
    pub fn deadline(&self, now: Time) -> Time {
        now + self.rto()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(x: f64) -> Interval {
        Interval::from_secs_f64(x / 1000.0)
    }

    #[test]
    fn first_and_second_sample_follow_rfc_6298() {
        let mut r = RttEstimator::new(Interval::ZERO);
        assert_eq!(r.rto(), ms(1000.0));
        r.sample(ms(100.0));
        // (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR
        assert_eq!((r.srtt(), r.rto()), (ms(100.0), ms(300.0)));
        r.sample(ms(140.0));
        // (2.3): RTTVAR = 3/4 50 + 1/4 |100 - 140| = 47.5, SRTT = 7/8 100 + 1/8 140 = 105
        assert_eq!((r.srtt(), r.rto()), (ms(105.0), ms(295.0)));
    }

    #[test]
    fn once_something_was_told_the_least_is_of_that_alone() {
        let mut r = RttEstimator::new(Interval::ZERO);
        r.sample(ms(100.0));
        assert_eq!((r.srtt(), r.base()), (ms(100.0), ms(100.0)));
        for (smoothed, told, least) in [(108.0, 104.0, 104.0), (102.0, 106.0, 104.0), (101.0, 103.0, 103.0)] {
            r.sample(ms(smoothed));
            r.tell(ms(told));
            assert_eq!(r.base(), ms(least));
        }
    }

    #[test]
    fn timestamps_of_linux_count_whole_ticks_and_one_at_least() {
        let spans = [(0.9, 1.1), (0.1, 0.9), (0.0, 162.9), (0.5, 163.4), (0.2, 163.1)];
        let told = spans.map(|(from, to)| in_ticks(Time::ZERO + ms(from), Time::ZERO + ms(to)));
        assert_eq!(told, [1.0, 1.0, 162.0, 163.0, 163.0].map(ms));
    }

    #[test]
    fn timeouts_double_until_a_sample_and_stop_at_a_minute() {
        let mut r = RttEstimator::new(ms(200.0));
        r.sample(ms(100.0));
        let first = r.rto();
        r.back_off();
        assert_eq!(r.rto().as_ns(), 2 * first.as_ns());
        (0..40).for_each(|_| r.back_off());
        assert_eq!(r.rto(), ms(60_000.0));
        r.sample(ms(100.0));
        assert!(r.rto() <= first);
    }

    #[test]
    fn the_floor_keeps_a_margin_above_a_steady_round_trip() {
        let mut r = RttEstimator::new(ms(200.0));
        (0..1000).for_each(|_| r.sample(ms(320.0)));
        assert_eq!(r.rto(), ms(520.0));
    }
}
