//! LEDBAT, Low Extra Delay Background Transport (RFC 6817): the window settles where the flow's own queueing
//! delay is the target, and gives way to others, who make it longer.
//!
//! ```text
//! queueing_delay = min(last CURRENT_FILTER delays) - min(base delays of the last BASE_HISTORY minutes)
//! off_target     = (TARGET - queueing_delay) / TARGET
//! Ack :  cwnd <- cwnd + GAIN off_target acked / cwnd
//!        at most flightsize + ALLOWED_INCREASE, at least MIN_CWND
//! Loss:  cwnd <- max(cwnd / 2, MIN_CWND)
//! ```
//!
//! Delays are one-way delays. The RFC has no slow-start.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `target` (TARGET) | 100 | ms | RFC 6817: at most 100 ms | none |
//! | `gain` (GAIN) | 1 | segments per RTT | RFC 6817: at most 1 | none |
//! | `allowed_increase` (ALLOWED_INCREASE) | 1 | segments | RFC 6817, as quoted by an implementation | none |
//! | `base_history` (BASE_HISTORY) | 10 | minutes | the same | none |
//! | MIN_CWND | 2 | segments | the same | none |
//! | `current_filter` (CURRENT_FILTER) | 4 | samples | ns-3 tcp-ledbat; the RFC leaves the filter open | the least of them, as the RFC suggests |

use super::aimd::standard_decrease;
use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, LEAST_SSTHRESH, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};
use std::collections::VecDeque;

/// MIN_CWND.
pub(super) const LEAST_CWND: f64 = 2.0;
const MINUTE_NS: u64 = 60_000_000_000;

/// How far back the least delay is looked for.
pub(super) const BASE_HISTORY: Parameter =
    Parameter::number("base_history", 10.0, (1.0, 1e3), "minutes", "of delays whose least is the base delay");
/// How many delays the current one comes from.
pub(super) const CURRENT_FILTER: Parameter =
    Parameter::number("current_filter", 4.0, (1.0, 1e4), "samples", "whose least is the current delay");

/// The registry row.
pub const ROW: Row<Ledbat> = Row {
    entry: Entry {
        name: "ledbat",
        title: "LEDBAT",
        aliases: &[],
        citation: "Shalunov, Hazel, Iyengar, Kuehlewind: Low Extra Delay Background Transport (LEDBAT), RFC 6817, 2012",
        page: "ledbat",
        parameters: &[
            Parameter::number("target", 100.0, (1.0, 1e4), "ms", "queueing delay to settle at"),
            Parameter::number("gain", 1.0, (1e-3, 1.0), "segments per RTT", "greatest growth"),
            Parameter::number(
                "allowed_increase",
                1.0,
                (1e-3, 1e3),
                "segments",
                "cwnd beyond what is in flight",
            ),
            BASE_HISTORY,
            CURRENT_FILTER,
            Parameter::choice(
                "slow_start",
                &["off", "on"],
                "on: standard slow-start until the first loss or a queueing delay of the target",
            ),
        ],
        style: Some(Style::new("#b5838d", "h")),
    },
    linux_module: None,
    properties: Properties { shrinks: true, samples: true, ..Properties::DEFAULT },
    build: Ledbat::new,
};

/// The delays of a flow: the least of each minute, and the last ones.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    history: u64,
    filter: usize,
    /// A minute, and its least delay.
    base: VecDeque<(u64, Interval)>,
    current: VecDeque<Interval>,
}

impl Delays {
    /// Takes the parameters `base_history` and `current_filter`.
    pub fn new(p: &Parameters) -> Self {
        Delays {
            history: p.number("base_history") as u64,
            filter: p.number("current_filter") as usize,
            base: VecDeque::new(),
            current: VecDeque::new(),
        }
    }

    /// Takes a delay.
    pub fn sample(&mut self, now: Time, delay: Interval) {
        let minute = now.as_ns() / MINUTE_NS;
        match self.base.back_mut() {
            Some((at, least)) if *at == minute => *least = (*least).min(delay),
            _ => {
                self.base.push_back((minute, delay));
                self.base.retain(|(at, _)| at + self.history > minute);
            }
        }
        if self.current.len() >= self.filter {
            self.current.pop_front();
        }
        self.current.push_back(delay);
    }

    /// The least delay of the history.
    pub fn base(&self) -> Option<Interval> {
        self.base.iter().map(|(_, least)| *least).min()
    }

    /// The current delay beyond the least.
    pub fn queueing(&self) -> Option<Interval> {
        let current = self.current.iter().min()?;
        Some(current.saturating_sub(self.base()?))
    }
}

/// A LEDBAT flow.
#[derive(Clone, Debug)]
pub struct Ledbat {
    target: Interval,
    gain: f64,
    allowed_increase: f64,
    slow_start: bool,
    delays: Delays,
}

impl Ledbat {
    fn new(p: &Parameters) -> Self {
        Ledbat {
            target: Interval::from_secs_f64(1e-3 * p.number("target")),
            gain: p.number("gain"),
            allowed_increase: p.number("allowed_increase"),
            slow_start: p.word("slow_start") == "on",
            delays: Delays::new(p),
        }
    }

    /// 1 with an empty queue, 0 at the target, negative beyond.
    fn off_target(&self) -> f64 {
        let target_s = self.target.as_secs_f64();
        self.delays.queueing().map_or(1.0, |delay| (target_s - delay.as_secs_f64()) / target_s)
    }
}

impl CongestionControl for Ledbat {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let off_target = self.off_target();
        if self.slow_start && w.in_slow_start() && off_target > 0.0 {
            return w.slow_start(ack.acked);
        }
        let flight = ack.in_flight + f64::from(ack.newly_delivered);
        let wanted = w.cwnd + self.gain * off_target * ack.acked / w.cwnd;
        w.cwnd = wanted.min((flight + self.allowed_increase).max(w.cwnd)).max(LEAST_CWND);
        // there is no slow-start back to a window that delay has reduced
        w.ssthresh = w.ssthresh.min(w.cwnd).max(LEAST_SSTHRESH);
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(delay) = ack.one_way_delay {
            self.delays.sample(ack.now, delay);
        }
    }

    fn internals(&self, out: &mut Internals) {
        if let (Some(base), Some(queueing)) = (self.delays.base(), self.delays.queueing()) {
            out.push(("base_delay_s", base.as_secs_f64()));
            out.push(("queueing_delay_s", queueing.as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, instance, loss, window};
    use super::*;

    fn ledbat() -> Ledbat {
        instance(&ROW, &[])
    }

    fn at(s: u64) -> Time {
        Time::from_ns(1_000_000_000 * s)
    }

    /// A flow whose least delay is 50 ms and whose last ones are `ms`.
    fn after(ms: u64) -> Ledbat {
        let mut c = ledbat();
        c.delays.sample(at(0), Interval::from_millis(50));
        (0..4).for_each(|_| c.delays.sample(at(1), Interval::from_millis(ms)));
        c
    }

    /// What a round trip adds to a window of 100 segments.
    fn growth(c: &mut Ledbat) -> f64 {
        let mut w = window(100.0, 2.0);
        for _ in 0..100 {
            let ack = Ack { in_flight: 200.0, ..ack_at(at(1), 1.0, Interval::from_millis(100)) };
            c.on_ack(&ack, &mut w);
        }
        w.cwnd - 100.0
    }

    #[test]
    fn the_window_moves_by_the_share_of_the_target_that_is_free() {
        // RFC 6817, section 2.4.2: +1 segment per round trip on an empty queue, 0 at 100 ms, -1 at 200 ms
        for (ms, expected) in [(50, 1.0), (100, 0.5), (150, 0.0), (200, -0.5), (250, -1.0)] {
            let seen = growth(&mut after(ms));
            assert!((seen - expected).abs() < 0.011, "{ms} ms: {seen}");
        }
    }

    #[test]
    fn the_least_of_the_last_four_delays_counts() {
        let mut c = after(200);
        c.delays.sample(at(1), Interval::from_millis(60));
        assert_eq!(c.delays.queueing(), Some(Interval::from_millis(10)));
        (0..3).for_each(|_| c.delays.sample(at(1), Interval::from_millis(200)));
        assert_eq!(c.delays.queueing(), Some(Interval::from_millis(10)));
        c.delays.sample(at(1), Interval::from_millis(200));
        assert_eq!(c.delays.queueing(), Some(Interval::from_millis(150)));
    }

    #[test]
    fn a_least_delay_is_forgotten_after_ten_minutes() {
        let mut c = after(200);
        for minute in 1..10 {
            c.delays.sample(at(60 * minute), Interval::from_millis(80));
            assert_eq!(c.delays.base(), Some(Interval::from_millis(50)), "{minute}");
        }
        c.delays.sample(at(600), Interval::from_millis(80));
        assert_eq!(c.delays.base(), Some(Interval::from_millis(80)));
    }

    #[test]
    fn the_window_exceeds_what_is_in_flight_by_one_segment_at_most_and_never_falls_below_two() {
        let mut c = after(50);
        let mut w = window(10.0, 2.0);
        for _ in 0..100 {
            let ack = Ack { in_flight: 9.0, ..ack_at(at(1), 1.0, Interval::from_millis(100)) };
            c.on_ack(&ack, &mut w);
        }
        assert_eq!(w.cwnd, 11.0);
        let (mut c, mut w) = (after(5_000), window(3.0, 2.0));
        for _ in 0..100 {
            c.on_ack(&ack_at(at(1), 1.0, Interval::from_millis(5_000)), &mut w);
        }
        assert_eq!(w.cwnd, 2.0);
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut w = window(101.0, 2.0);
        ledbat().on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 50.5);
    }

    #[test]
    fn slow_start_is_a_choice_and_ends_at_the_target() {
        let ack = Ack { in_flight: 20.0, ..ack_at(at(1), 2.0, Interval::from_millis(100)) };
        for (word, cwnd) in [("off", 10.2), ("on", 12.0)] {
            let mut w = window(10.0, f64::INFINITY);
            instance(&ROW, &[("slow_start", word)]).on_ack(&ack, &mut w);
            assert_eq!(w.cwnd, cwnd, "{word}");
        }
        let mut c = after(150);
        c.slow_start = true;
        let mut w = window(10.0, f64::INFINITY);
        c.on_ack(&ack, &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (10.0, 10.0));
    }
}
