//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus): LEDBAT with round-trip times, slower growth, multiplicative
//! decrease, and slowdowns in which the queue drains, so that flows find the true base delay and share the
//! link.
//!
//! ```text
//! GAIN = 1 / min(16, ceil(2 TARGET / base))
//! Slow-start:  W += GAIN                                   per segment that counts
//!              the first one ends when delay > 3/4 TARGET
//! per RTT:     W += GAIN                                             delay <= TARGET
//!              W += max(GAIN - C W (delay / TARGET - 1), -W / 2)     delay >  TARGET
//! Slowdown:    ssthresh <- W, W <- 2 for 2 RTT, then slow-start up to ssthresh
//!              the first one 2 RTT after the first slow-start, each other one 9 times as long after the last one as
//!              that had lasted
//! Loss:        W <- W / 2
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `target` (TARGET) | 60 | ms | draft -01, 4.5, as quoted by implementations | none |
//! | greatest divisor of GAIN | 16 | | draft -01, 4.2, the same | none |
//! | `constant` (C) | 1 | | draft -01, 4.3, the same | none |
//! | end of the first slow-start | 3/4 | of TARGET | draft -01, 4.1, the same | none |
//! | slowdown: window, length | 2, 2 | segments, RTT | draft -01, 4.4, the same | none |
//! | first slowdown | 2 | RTT after slow-start | draft -01, 4.4, the same | none |
//! | `period` | 9 | times the last slowdown | draft -01, 4.4, the same | none |
//! | RTT of a slowdown | smoothed | s | chosen here | none |
//! | `base_history`, `current_filter` | 10, 4 | minutes, samples | as LEDBAT | none |

use super::aimd::standard_decrease;
use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::ledbat::{BASE_HISTORY, CURRENT_FILTER, Delays, LEAST_CWND};
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const GREATEST_DIVISOR: f64 = 16.0;
/// The first slow-start ends at this share of the target.
const SLOW_START_ENDS: f64 = 0.75;
/// The least that a round trip leaves of the window.
const LEAST_LEFT: f64 = 0.5;
/// Round trips of a slowdown, and before the first one.
const ROUND_TRIPS: f64 = 2.0;

/// The registry row.
pub const ROW: Row<LedbatPlusPlus> = Row {
    entry: Entry {
        name: "ledbat++",
        title: "LEDBAT++",
        aliases: &["ledbat-plus-plus"],
        citation: "Balasubramanian, Ertugay, Havey, Bagnulo: LEDBAT++: Congestion Control for Background Traffic, \
                   draft-irtf-iccrg-ledbat-plus-plus-06, 2026",
        page: "ledbat_plus_plus",
        parameters: &[
            Parameter::number("target", 60.0, (1.0, 1e4), "ms", "queueing delay not to exceed"),
            Parameter::number("constant", 1.0, (0.0, 1e3), "", "decrease per excess over the target (C)"),
            Parameter::number(
                "period",
                9.0,
                (1.0, 1e6),
                "slowdowns",
                "time between slowdowns, in the last one's length",
            ),
            BASE_HISTORY,
            CURRENT_FILTER,
        ],
        style: Some(Style::new("#355070", "H")),
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        samples: true,
        sending_times: SendingTimes::RoundTrips,
        ..Properties::DEFAULT
    },
    build: LedbatPlusPlus::new,
};

/// What it is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// The first slow-start.
    Begin,
    /// Until the next slowdown.
    Steady { until: Time },
    /// A slowdown: the window stays at its least.
    Drain { since: Time, until: Time },
    /// The end of a slowdown: back to ssthresh.
    Return { since: Time },
}

/// A LEDBAT++ flow.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlus {
    target: Interval,
    constant: f64,
    period: f64,
    delays: Delays,
    phase: Phase,
}

/// GAIN for this base delay.
fn gain(target: Interval, base: Interval) -> f64 {
    let target_s = target.as_secs_f64();
    // a base delay of 0 gives the greatest divisor
    1.0 / (2.0 * target_s / base.as_secs_f64()).ceil().clamp(1.0, GREATEST_DIVISOR)
}

impl LedbatPlusPlus {
    fn new(p: &Parameters) -> Self {
        LedbatPlusPlus {
            target: Interval::from_secs_f64(1e-3 * p.number("target")),
            constant: p.number("constant"),
            period: p.number("period"),
            delays: Delays::new(p),
            phase: Phase::Begin,
        }
    }

    /// The queueing delay, in targets.
    fn excess(&self) -> f64 {
        self.delays.queueing().map_or(0.0, |delay| delay.as_secs_f64() / self.target.as_secs_f64())
    }

    /// The change of the window per round trip, in segments.
    fn change(&self, gain: f64, cwnd: f64) -> f64 {
        let excess = self.excess();
        if excess <= 1.0 {
            return gain;
        }
        (gain - self.constant * cwnd * (excess - 1.0)).max(-LEAST_LEFT * cwnd)
    }

    /// The time of the slowdown after one that began at `since`.
    fn after(&self, since: Time, now: Time) -> Phase {
        Phase::Steady { until: now + now.since(since).scale(self.period) }
    }

    /// Follows the clock.
    fn follow(&mut self, ack: &Ack, w: &mut Window) {
        match self.phase {
            Phase::Begin if self.excess() > SLOW_START_ENDS || !w.in_slow_start() => {
                w.ssthresh = w.ssthresh.min(w.cwnd.max(LEAST_CWND));
                self.phase = Phase::Steady { until: ack.now + ack.srtt.scale(ROUND_TRIPS) };
            }
            Phase::Steady { until } if ack.now >= until => {
                w.ssthresh = w.cwnd.max(LEAST_CWND);
                w.cwnd = w.cwnd.min(LEAST_CWND);
                let until = ack.now + ack.srtt.scale(ROUND_TRIPS);
                self.phase = Phase::Drain { since: ack.now, until };
            }
            Phase::Drain { since, until } if ack.now >= until => self.phase = Phase::Return { since },
            Phase::Return { since } if !w.in_slow_start() => self.phase = self.after(since, ack.now),
            _ => {}
        }
    }
}

impl CongestionControl for LedbatPlusPlus {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.follow(ack, w);
        let base = self.delays.base().or(ack.base_rtt);
        // before the first round-trip time the path counts as a long one
        let gain = base.map_or(1.0, |base| gain(self.target, base));
        match self.phase {
            Phase::Drain { .. } => {}
            Phase::Begin | Phase::Return { .. } => w.slow_start(gain * ack.acked),
            // after a timeout
            Phase::Steady { .. } if w.in_slow_start() && self.excess() <= 1.0 => {
                w.slow_start(gain * ack.acked)
            }
            Phase::Steady { .. } => {
                let change = self.change(gain, w.cwnd) * ack.acked / w.cwnd;
                w.cwnd = (w.cwnd + change).max(LEAST_CWND);
                if change < 0.0 {
                    w.ssthresh = w.ssthresh.min(w.cwnd);
                }
            }
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
        self.phase = match self.phase {
            Phase::Begin => Phase::Steady { until: event.now + event.srtt.scale(ROUND_TRIPS) },
            Phase::Drain { since, .. } | Phase::Return { since } => self.after(since, event.now),
            steady => steady,
        };
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.delays.sample(ack.now, rtt);
        }
    }

    fn internals(&self, out: &mut Internals) {
        if let Some(base) = self.delays.base() {
            out.push(("base_delay_s", base.as_secs_f64()));
            out.push(("gain", gain(self.target, base)));
        }
        out.push(("queueing_delay_s", self.excess() * self.target.as_secs_f64()));
        let slows = matches!(self.phase, Phase::Drain { .. } | Phase::Return { .. });
        out.push(("slowdown", f64::from(u8::from(slows))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{ack_at, instance, loss, window};
    use super::*;

    fn plus_plus() -> LedbatPlusPlus {
        instance(&ROW, &[])
    }

    fn ms(ms: u64) -> Interval {
        Interval::from_millis(ms)
    }

    /// A flow past its first slow-start whose least round-trip time is 120 ms and whose last ones are
    /// `last_ms`.
    fn after(last_ms: u64) -> LedbatPlusPlus {
        let mut c = plus_plus();
        c.phase = Phase::Steady { until: Time::NEVER };
        c.delays.sample(Time::ZERO, ms(120));
        (0..4).for_each(|_| c.delays.sample(Time::ZERO, ms(last_ms)));
        c
    }

    #[test]
    fn growth_is_a_sixteenth_of_a_segment_on_short_paths_and_one_on_long_ones() {
        // 2 * 60 ms: ceil(120 / 20) = 6, ceil(120 / 50) = 3, ceil(120 / 5) = 24
        for (base_ms, divisor) in
            [(1, 16.0), (5, 16.0), (20, 6.0), (50, 3.0), (119, 2.0), (120, 1.0), (300, 1.0)]
        {
            assert_eq!(gain(ms(60), ms(base_ms)), 1.0 / divisor, "{base_ms} ms");
        }
        assert_eq!(gain(ms(60), Interval::ZERO), 1.0 / 16.0);
    }

    #[test]
    fn before_the_first_round_trip_time_a_segment_adds_one_as_on_a_long_path() {
        let mut w = window(10.0, f64::INFINITY);
        let unmeasured =
            Ack { rtt: None, srtt: Interval::ZERO, base_rtt: None, ..ack_at(Time::ZERO, 1.0, ms(100)) };
        plus_plus().on_ack(&unmeasured, &mut w);
        assert_eq!(w.cwnd, 11.0);
    }

    #[test]
    fn beyond_the_target_a_round_trip_takes_a_share_of_the_window_but_at_most_half() {
        // delays of 60, 66, 90 and 300 ms: 1, 1 - 100 * 0.1, 1 - 100 * 0.5, and half
        for (delay_ms, change) in [(0, 1.0), (60, 1.0), (66, -9.0), (90, -49.0), (300, -50.0)] {
            let seen = after(120 + delay_ms).change(1.0, 100.0);
            assert!((seen - change).abs() < 1e-9, "{delay_ms} ms: {seen}");
        }
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
        for (rtt_ms, cwnd, steady) in [(165, 11.0, false), (166, 10.1, true)] {
            let mut c = plus_plus();
            c.delays.sample(Time::ZERO, ms(120));
            (0..4).for_each(|_| c.delays.sample(Time::ZERO, ms(rtt_ms)));
            let mut w = window(10.0, f64::INFINITY);
            c.on_ack(&ack_at(Time::ZERO, 1.0, ms(rtt_ms)), &mut w);
            assert!((w.cwnd - cwnd).abs() < 1e-9, "{rtt_ms}: {}", w.cwnd);
            assert_eq!(c.phase != Phase::Begin, steady);
        }
    }

    /// Alone on a path of 120 ms and 1000 segments a second, which holds 120: when slowdowns begin and end in
    /// this many acknowledgements.
    fn slowdowns(acks: u32) -> Vec<(f64, f64)> {
        let (mut c, mut path, mut w) = (plus_plus(), Path::new(0.12, 1000.0), window(10.0, f64::INFINITY));
        let (mut seen, mut begun) = (Vec::new(), None);
        for _ in 0..acks {
            let rtt_s = path.rtt_s(w.cwnd);
            path.now_s += rtt_s / w.cwnd;
            let ack = path.ack(rtt_s, w.cwnd);
            c.on_sample(&ack);
            c.on_ack(&ack, &mut w);
            let slows = matches!(c.phase, Phase::Drain { .. } | Phase::Return { .. });
            if slows {
                begun = begun.or(Some(path.now_s));
            } else if let Some(at) = begun.take() {
                seen.push((at, path.now_s));
            }
        }
        seen
    }

    #[test]
    fn a_slowdown_comes_nine_times_as_long_after_the_last_one_as_that_had_lasted() {
        let seen = slowdowns(60_000);
        assert!(seen.len() >= 4, "{seen:?}");
        for pair in seen.windows(2) {
            let (lasted, pause) = (pair[0].1 - pair[0].0, pair[1].0 - pair[0].1);
            // as exact as acknowledgements are close
            assert!((pause - 9.0 * lasted).abs() < 0.005, "{lasted} {pause}");
        }
    }

    #[test]
    fn a_slowdown_halts_at_two_segments_for_two_round_trips_and_returns_to_the_window_before() {
        let mut c = after(120);
        c.phase = Phase::Steady { until: Time::ZERO };
        let mut w = window(100.0, 2.0);
        let ack = |at_ms, acked| ack_at(Time::ZERO + ms(at_ms), acked, ms(120));
        for at_ms in [0, 100, 239] {
            c.on_ack(&ack(at_ms, 1.0), &mut w);
            assert_eq!((w.cwnd, w.ssthresh), (2.0, 100.0), "{at_ms}");
        }
        // one segment for each: 98 more
        for i in 0..97 {
            c.on_ack(&ack(240 + i, 1.0), &mut w);
        }
        assert_eq!(w.cwnd, 99.0);
        c.on_ack(&ack(400, 1.0), &mut w);
        c.on_ack(&ack(500, 1.0), &mut w);
        assert_eq!(c.phase, Phase::Steady { until: Time::ZERO + ms(500 + 9 * 500) });
    }

    #[test]
    fn alone_it_stays_at_the_target() {
        // 120 segments on the path, 60 queued, and what a round trip adds
        let (mut c, mut w) = (after(120), window(150.0, 2.0));
        let mut path = Path::new(0.12, 1000.0);
        path.run(30.0, &mut c, &mut w);
        assert!((175.0..=184.0).contains(&w.cwnd), "{}", w.cwnd);
    }

    #[test]
    fn a_loss_halves_the_window_and_ends_a_slowdown() {
        let mut c = plus_plus();
        c.phase = Phase::Return { since: Time::ZERO };
        let mut w = window(50.0, 100.0);
        c.on_congestion(&Congestion { now: Time::ZERO + ms(300), ..loss() }, &mut w);
        assert_eq!(w.ssthresh, 25.0);
        assert_eq!(c.phase, Phase::Steady { until: Time::ZERO + ms(3_000) });
    }
}
