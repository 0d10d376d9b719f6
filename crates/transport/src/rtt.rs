//! Round-trip time and retransmission timeout (RFC 6298).
//!
//! | constant | value | source | deviation |
//! |---|---|---|---|
//! | alpha, beta, K | 1/8, 1/4, 4 | RFC 6298, section 2 | none |
//! | initial RTO | 1 s | RFC 6298, 2.1 | none |
//! | floor | 200 ms | Linux TCP_RTO_MIN | bounds K RTTVAR, not the sum, as Linux does: with a sample from every acknowledgement RTTVAR goes to zero in steady flow, and a floor on the sum alone would leave no margin on paths longer than the floor. [`RtoMinOf::Timeout`] bounds the sum (RFC 6298, 2.4) |
//! | ceiling | 60 s | RFC 6298, 2.5 | none |
//! | tick of timestamps | 1 ms | Linux TCP_TS_HZ | only with [`RttSamples::Last`]; otherwise timestamps are exact |
//! | units of SRTT, RTTVAR on a coarse clock | 1/8, 1/4 tick | Jacobson 1988, appendix A | only with a tick; RTTVAR stops falling at 3/4 tick, where its quarter is less than a unit |

use longfat_units::{Interval, Time};
use serde::{Deserialize, Serialize};

const GREATEST_RTO: Interval = Interval::from_millis(60_000);
/// More would only matter below a millisecond, without a floor.
const MOST_DOUBLINGS: u32 = 16;

const TICK: Interval = Interval::from_millis(1);

/// Which round-trip times algorithms get, and which are smoothed for the retransmission timeout. In JSON:
/// `echoed`,
/// `last` or `numbered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RttSamples {
    /// Both from the echoed timestamp (RFC 7323): the time of the first segment acknowledged. The connection
    /// request gives a sample too.
    #[default]
    Echoed,
    /// As Linux does (tcp_ack_update_rtt): the time of the last segment acknowledged, also selectively,
    /// without the wait of a delayed acknowledgement. If a segment was sent twice, timestamps in whole ticks
    /// give the time. The connection request gives no sample. The time of the first segment is smoothed.
    Last,
    /// The same, but each transmission is known by a number (RFC 9002, section 5.1): where a segment was sent
    /// twice, the exact time of the one that arrived counts, and only the newest transmission gives a time,
    /// which is smoothed too.
    Numbered,
}

/// What the floor of the retransmission timeout bounds. In JSON: `margin` or `timeout`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RtoMinOf {
    /// The margin above the smoothed round-trip time, K RTTVAR, as in Linux.
    #[default]
    Margin,
    /// The whole timeout (RFC 6298, 2.4).
    Timeout,
}

/// What ends the backoff of the retransmission timeout when packets carry timestamps. In JSON: `sample` or
/// `new-segment`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackoffUntil {
    /// The next sample, which any acknowledgement of new data gives (RFC 6298, section 5).
    #[default]
    Sample,
    /// The acknowledgement of the first segment that was new after the last loss or timeout (ns-2,
    /// ts_resetRTO_ false). Without timestamps Karn's rule does that in any case.
    NewSegment,
}

/// How the retransmission timeout follows from the round-trip times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoConfig {
    /// The timeout before the first sample.
    pub initial: Interval,
    /// The floor.
    pub min: Interval,
    /// What the floor bounds.
    pub min_of: RtoMinOf,
    /// The clock that the timer counts by: samples and timeouts are whole ticks. Zero for an exact clock.
    pub tick: Interval,
    /// What ends the backoff.
    pub backoff_until: BackoffUntil,
}

impl RtoConfig {
    /// The default but for its floor.
    pub const fn with_min(min: Interval) -> Self {
        let initial = Interval::from_millis(1000);
        let backoff_until = BackoffUntil::Sample;
        RtoConfig { initial, min, min_of: RtoMinOf::Margin, tick: Interval::ZERO, backoff_until }
    }
}

/// The ticks from one to another, each with its number; one at least.
const fn ticks_between(from: u64, to: u64) -> u64 {
    let ticks = to.saturating_sub(from);
    if ticks == 0 { 1 } else { ticks }
}

/// The span between two times as the timestamps of Linux measure it: in whole ticks of its clock, at least
/// one.
pub fn in_ticks(from: Time, to: Time) -> Interval {
    let number = |at: Time| at.as_ns() / TICK.as_ns();
    Interval::from_ns(TICK.as_ns() * ticks_between(number(from), number(to)))
}

/// The tick that was asked for last. Times of one kind mostly follow each other within a tick, and a division
/// is slow.
#[derive(Clone, Copy, Debug, Default)]
struct LastTick {
    number: u64,
    begins_ns: u64,
}

impl LastTick {
    /// The number of the tick of this length that holds `at`.
    #[inline]
    fn number(&mut self, tick: Interval, at: Time) -> u64 {
        if at.as_ns().wrapping_sub(self.begins_ns) >= tick.as_ns() {
            self.number = at.as_ns() / tick.as_ns();
            self.begins_ns = self.number * tick.as_ns();
        }
        self.number
    }
}

/// The estimates of a timer that counts ticks, in the integers of Jacobson 1988, appendix A.
#[derive(Clone, Copy, Debug)]
struct Ticking {
    tick: Interval,
    /// SRTT, eighths of a tick; zero before the first sample.
    srtt: u64,
    /// RTTVAR, quarters of a tick.
    rttvar: u64,
    /// The least that K RTTVAR counts for, whole eighths of a tick.
    margin: u64,
    /// Where the last sample began and ended.
    last: (LastTick, LastTick),
}

impl Ticking {
    fn sample(&mut self, from: Time, to: Time) {
        let rtt = ticks_between(self.last.0.number(self.tick, from), self.last.1.number(self.tick, to));
        if self.srtt == 0 {
            (self.srtt, self.rttvar) = (8 * rtt, 2 * rtt);
            return;
        }
        let smoothed = self.srtt / 8;
        let error = smoothed.abs_diff(rtt);
        self.srtt = (self.srtt - smoothed + rtt).max(1);
        self.rttvar = (self.rttvar - self.rttvar / 4 + error).max(1);
    }

    /// SRTT + K RTTVAR in whole ticks.
    const fn timeout(&self) -> Interval {
        let variation = 8 * self.rttvar;
        let above = if variation > self.margin { variation } else { self.margin };
        Interval::from_ns(self.tick.as_ns() * ((self.srtt + above) / 8))
    }
}

/// The round-trip time estimator of one connection.
#[derive(Clone, Debug)]
#[repr(C)] // what a usual packet needs lies together, in few cache lines
pub struct RttEstimator {
    srtt: Interval,
    rttvar: Interval,
    /// [`Interval::MAX`] before the first sample, so that a sample needs no question whether there is one.
    base: Interval,
    /// The timeout, backoff included: it is read more often than it changes.
    rto: Interval,
    backoff: u32,
    /// Whether there is a sample, and the clock is exact.
    is_usual: bool,
    /// The least that K RTTVAR counts for.
    margin: Interval,
    /// The least timeout.
    least: Interval,
    /// The least time that algorithms got, if it is not the smoothed samples' least.
    told: Interval,
    initial: Interval,
    /// What a coarse clock makes of the samples; none if the clock is exact.
    ticking: Option<Box<Ticking>>,
}

impl RttEstimator {
    /// No sample yet.
    pub fn new(config: &RtoConfig) -> Self {
        let (margin, least) = match config.min_of {
            RtoMinOf::Margin => (config.min, Interval::ZERO),
            RtoMinOf::Timeout => (Interval::ZERO, config.min),
        };
        let ticking = (config.tick > Interval::ZERO).then(|| {
            let eighth = config.tick.as_ns() as f64 / 8.0;
            let margin = (margin.as_ns() as f64 / eighth) as u64;
            Box::new(Ticking { tick: config.tick, srtt: 0, rttvar: 0, margin, last: Default::default() })
        });
        RttEstimator {
            srtt: Interval::ZERO,
            rttvar: Interval::ZERO,
            base: Interval::MAX,
            told: Interval::MAX,
            initial: config.initial,
            margin,
            least,
            is_usual: false,
            ticking,
            rto: config.initial.min(GREATEST_RTO),
            backoff: 0,
        }
    }

    /// What was sent at `from` came back at `to`; ends any backoff. Returns the round-trip time.
    #[inline]
    pub fn sample(&mut self, from: Time, to: Time) -> Interval {
        let rtt = to.since(from);
        if self.is_usual {
            self.smooth(rtt);
            self.rto = self.exact_timeout();
        } else {
            self.unusual_sample(from, to, rtt);
        }
        self.base = self.base.min(rtt);
        self.backoff = 0;
        rtt
    }

    /// [`RttEstimator::sample`], but the backoff stays.
    #[cold]
    pub fn sample_backed_off(&mut self, from: Time, to: Time) -> Interval {
        let kept = self.backoff;
        let rtt = self.sample(from, to);
        (0..kept).for_each(|_| self.back_off());
        rtt
    }

    #[inline]
    fn smooth(&mut self, rtt: Interval) {
        let (s, r) = (self.srtt.as_ns(), rtt.as_ns());
        self.rttvar = Interval::from_ns(self.rttvar.as_ns() - self.rttvar.as_ns() / 4 + s.abs_diff(r) / 4);
        self.srtt = Interval::from_ns(s - s / 8 + r / 8);
    }

    #[inline]
    fn exact_timeout(&self) -> Interval {
        let measured = self.srtt + Interval::from_ns(4 * self.rttvar.as_ns()).max(self.margin);
        measured.max(self.least).min(GREATEST_RTO)
    }

    /// The first sample, or one for a coarse clock too.
    #[inline(never)]
    fn unusual_sample(&mut self, from: Time, to: Time, rtt: Interval) {
        if self.srtt == Interval::ZERO {
            self.srtt = rtt;
            self.rttvar = Interval::from_ns(rtt.as_ns() / 2);
            self.is_usual = self.ticking.is_none() && rtt > Interval::ZERO;
        } else {
            self.smooth(rtt);
        }
        self.rto = match &mut self.ticking {
            None => self.exact_timeout(),
            Some(ticking) => {
                ticking.sample(from, to);
                ticking.timeout().max(self.least).min(GREATEST_RTO)
            }
        };
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

    /// The smoothed round-trip time; `None` before the first sample.
    #[inline]
    pub fn measured(&self) -> Option<Interval> {
        (self.srtt != Interval::ZERO).then_some(self.srtt)
    }

    /// The least round-trip time seen; `None` before the first sample.
    #[inline]
    pub fn base(&self) -> Option<Interval> {
        (self.base != Interval::MAX).then_some(self.base)
    }

    /// [`RttEstimator::base`] once there is a sample; [`Interval::MAX`] before.
    #[inline]
    pub(crate) const fn known_base(&self) -> Interval {
        self.base
    }

    /// How far samples are from the smoothed one (RFC 6298, RTTVAR).
    pub const fn variation(&self) -> Interval {
        self.rttvar
    }

    /// How often in a row the timer has expired.
    pub const fn backoffs(&self) -> u32 {
        self.backoff
    }

    /// The timeout without floor and backoff, which an exact clock allows (Brakmo, Peterson 1995).
    pub fn fine_timeout(&self) -> Interval {
        if self.srtt == Interval::ZERO {
            return self.initial;
        }
        self.srtt + Interval::from_ns(4 * self.rttvar.as_ns())
    }

    /// The retransmission timeout, backoff included.
    #[inline]
    pub const fn rto(&self) -> Interval {
        self.rto
    }

    /// The timer expired: the next timeout is twice as long (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        self.backoff += 1;
        if self.backoff <= MOST_DOUBLINGS {
            self.rto = Interval::from_ns(2 * self.rto.as_ns()).min(GREATEST_RTO);
        }
    }

    /// Whether the timer has expired since the last sample.
    pub const fn is_backed_off(&self) -> bool {
        self.backoff > 0
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

    /// A round trip from one second on.
    fn took(r: &mut RttEstimator, rtt_ms: f64) {
        let from = Time::ZERO + ms(1000.0);
        r.sample(from, from + ms(rtt_ms));
    }

    #[test]
    fn first_and_second_sample_follow_rfc_6298() {
        let mut r = RttEstimator::new(&RtoConfig::with_min(Interval::ZERO));
        assert_eq!((r.rto(), r.base()), (ms(1000.0), None));
        took(&mut r, 100.0);
        // (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR
        assert_eq!((r.srtt(), r.rto()), (ms(100.0), ms(300.0)));
        took(&mut r, 140.0);
        // (2.3): RTTVAR = 3/4 50 + 1/4 |100 - 140| = 47.5, SRTT = 7/8 100 + 1/8 140 = 105
        assert_eq!((r.srtt(), r.rto()), (ms(105.0), ms(295.0)));
    }

    #[test]
    fn once_something_was_told_the_least_is_of_that_alone() {
        let mut r = RttEstimator::new(&RtoConfig::with_min(Interval::ZERO));
        took(&mut r, 100.0);
        assert_eq!((r.srtt(), r.base()), (ms(100.0), Some(ms(100.0))));
        for (smoothed, told, least) in [(108.0, 104.0, 104.0), (102.0, 106.0, 104.0), (101.0, 103.0, 103.0)] {
            took(&mut r, smoothed);
            r.tell(ms(told));
            assert_eq!(r.base(), Some(ms(least)));
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
        let mut r = RttEstimator::new(&RtoConfig::with_min(ms(200.0)));
        took(&mut r, 100.0);
        let first = r.rto();
        r.back_off();
        assert_eq!(r.rto().as_ns(), 2 * first.as_ns());
        (0..40).for_each(|_| r.back_off());
        assert_eq!(r.rto(), ms(60_000.0));
        took(&mut r, 100.0);
        assert!(r.rto() <= first);
    }

    #[test]
    fn a_sample_may_leave_the_timeout_backed_off() {
        let mut r = RttEstimator::new(&RtoConfig::with_min(Interval::ZERO));
        took(&mut r, 100.0);
        (0..3).for_each(|_| r.back_off());
        assert_eq!(r.rto(), ms(8.0 * 300.0));
        // SRTT = 105, RTTVAR = 47.5, as in RFC 6298's second sample: the timeout is 295, eight times that
        let from = Time::ZERO + ms(2000.0);
        assert_eq!(r.sample_backed_off(from, from + ms(140.0)), ms(140.0));
        assert_eq!((r.srtt(), r.rto(), r.is_backed_off()), (ms(105.0), ms(8.0 * 295.0), true));
        took(&mut r, 105.0);
        assert!(!r.is_backed_off() && r.rto() < ms(295.0), "{:?}", r.rto());
    }

    #[test]
    fn the_floor_keeps_a_margin_above_a_steady_round_trip() {
        let mut r = RttEstimator::new(&RtoConfig::with_min(ms(200.0)));
        (0..1000).for_each(|_| took(&mut r, 320.0));
        assert_eq!(r.rto(), ms(520.0));
    }

    #[test]
    fn the_floor_of_the_timeout_leaves_no_margin_above_a_longer_steady_round_trip() {
        let rules = RtoConfig { min_of: RtoMinOf::Timeout, ..RtoConfig::with_min(ms(200.0)) };
        for (rtt_ms, rto_ms) in [(320.0, 320.0), (150.0, 200.0)] {
            let mut r = RttEstimator::new(&rules);
            (0..1000).for_each(|_| took(&mut r, rtt_ms));
            assert!(r.rto().as_ns().abs_diff(ms(rto_ms).as_ns()) < 100, "{:?}", r.rto());
        }
    }

    #[test]
    fn the_floor_of_the_timeout_comes_before_the_backoff() {
        let rules = RtoConfig { min_of: RtoMinOf::Timeout, ..RtoConfig::with_min(ms(200.0)) };
        let mut r = RttEstimator::new(&rules);
        took(&mut r, 10.0);
        assert_eq!(r.rto(), ms(200.0));
        r.back_off();
        assert_eq!((r.rto(), r.is_backed_off()), (ms(400.0), true));
    }

    #[test]
    fn the_initial_timeout_holds_until_the_first_sample() {
        let mut r = RttEstimator::new(&RtoConfig { initial: ms(3000.0), ..RtoConfig::with_min(ms(200.0)) });
        assert_eq!((r.rto(), r.fine_timeout()), (ms(3000.0), ms(3000.0)));
        r.back_off();
        assert_eq!(r.rto(), ms(6000.0));
        took(&mut r, 100.0);
        assert_eq!(r.rto(), ms(300.0));
    }

    #[test]
    fn a_coarse_clock_counts_samples_and_timeouts_in_whole_ticks() {
        let rules = RtoConfig { tick: ms(10.0), ..RtoConfig::with_min(Interval::ZERO) };
        let mut r = RttEstimator::new(&rules);
        let sample = |r: &mut RttEstimator, from, to| r.sample(Time::ZERO + ms(from), Time::ZERO + ms(to));
        // from tick 0 to tick 4: SRTT = 4, RTTVAR = 2, RTO = 4 + 4 2
        sample(&mut r, 9.0, 41.0);
        assert_eq!((r.rto(), r.srtt()), (ms(120.0), ms(32.0)));
        // 7 ticks: SRTT = 4 + 3/8, RTTVAR = 3/4 2 + 1/4 3 = 2 1/4, RTO = 13 3/8, in whole ticks 13
        sample(&mut r, 100.0, 170.0);
        assert_eq!(r.rto(), ms(130.0));
        // the error is 1 - 4, from SRTT in whole ticks: SRTT = 4, RTTVAR = 2 1/4 - 1/2 + 3/4 = 2 1/2
        sample(&mut r, 200.0, 200.1);
        assert_eq!(r.rto(), ms(140.0));
    }

    #[test]
    fn on_a_coarse_clock_a_margin_of_three_ticks_is_left_above_a_steady_round_trip() {
        let rules = RtoConfig { tick: ms(10.0), ..RtoConfig::with_min(Interval::ZERO) };
        let mut exact = RttEstimator::new(&RtoConfig { tick: Interval::ZERO, ..rules });
        let mut coarse = RttEstimator::new(&rules);
        for _ in 0..1000 {
            took(&mut exact, 50.0);
            took(&mut coarse, 50.0);
        }
        assert!(exact.rto() < ms(50.1), "{:?}", exact.rto());
        // RTTVAR falls from 2 1/2 ticks to 3/4, which has no whole quarter to lose
        assert_eq!((coarse.rto(), coarse.srtt()), (ms(80.0), exact.srtt()));
    }
}
