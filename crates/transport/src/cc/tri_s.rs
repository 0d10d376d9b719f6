//! Tri-S (Wang, Crowcroft: A New Congestion Control Scheme: Slow Start and Search (Tri-S), ACM CCR 21(1),
//! 1991): grows as long as more in flight brings more throughput, and takes a step back that brought none.
//!
//! ```text
//! T(W) = W / D                              D: round-trip time with the window W
//! TG(W_n) = (T(W_n) - T(W_n-1)) / (W_n - W_n-1),   TG(W_1) = 1 / D_1,   NTG(W_n) = TG(W_n) / TG(W_1)
//! Initial phase, at the start and after a timeout:  slow-start; at NTG < NTGd back to W_n-1, then search
//! Search:  W <- W + 1 over each round trip;   at NTG < NTGi back to W_n-1
//! Loss:  ssthresh <- cwnd / 2
//! ```
//!
//! NTG is 1 on an empty path, where D stays as it is, and 0 on a full one, where D grows as W does.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | the search | one segment per round trip | | Peterson, Davie: Computer Networks, a Systems Approach, 6.4.2 | a step shows a round trip later, so what has grown since is taken back too |
//! | `gradient` (NTGi) | 0.5 | of TG(W_1) | Peterson, Davie, 6.4.2 | none |
//! | `initial_gradient` (NTGd) | 0.75 | of TG(W_1) | from memory of the paper, not verified | |
//! | D_1 | the least round-trip time so far | | chosen here | that of the first segment in the source |
//! | D in the search | the least of a round trip | | chosen here, as Vegas does: delayed acknowledgements | |
//! | D in the initial phase | that of a round trip's first segment | | chosen here: later ones wait for slow-start's bursts | |
//! | the initial phase's end | back to W_n-1 | | chosen here: the search's rule | |
//! | what a loss leaves | 1/2 | of cwnd | chosen here: standard TCP; the paper has timeouts only | |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Window};
use super::round::Round;
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const LEAST_CWND: f64 = 2.0;

/// The registry row.
pub const ROW: Row<TriS> = Row {
    entry: Entry {
        name: "tri_s",
        title: "Tri-S",
        aliases: &["tri-s"],
        citation: "Wang, Crowcroft: A New Congestion Control Scheme: Slow Start and Search (Tri-S), ACM CCR 21(1), 1991",
        page: "tri_s",
        parameters: &[
            Parameter::number(
                "initial_gradient",
                0.75,
                (0.0, 1.0),
                "",
                "normalised gradient below which the initial phase ends (NTGd)",
            ),
            Parameter::number(
                "gradient",
                0.5,
                (0.0, 1.0),
                "",
                "normalised gradient below which the search takes a step back (NTGi)",
            ),
        ],
        style: Some(Style::new("#1d4e89", "s")),
    },
    linux_module: None,
    properties: Properties { samples: true, sending_times: SendingTimes::RoundTrips, ..Properties::DEFAULT },
    build: TriS::new,
};

/// A window, segments, and the throughput that it had, segments per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throughput {
    /// W, segments.
    pub window: f64,
    /// T(W), segments per second.
    pub pps: f64,
}

impl Throughput {
    /// That of a window whose segments took this long, seconds.
    pub fn new(window: f64, rtt_s: f64) -> Self {
        Throughput { window, pps: window / rtt_s }
    }

    /// NTG: what one segment more brought since `before`, in terms of what the first segment brought when the
    /// round-trip time was `first_rtt_s`. The two windows differ.
    pub fn gradient_since(self, before: Throughput, first_rtt_s: f64) -> f64 {
        (self.pps - before.pps) / (self.window - before.window) * first_rtt_s
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Initial,
    Search,
}

/// A Tri-S flow.
#[derive(Clone, Debug)]
pub struct TriS {
    initial_gradient: f64,
    gradient: f64,
    phase: Phase,
    round: Round,
    /// The window that the running round trip began with.
    sending: Option<f64>,
    /// Search: the one before, which the acknowledgements of this round trip measure.
    measuring: Option<f64>,
    /// W_n-1 and T(W_n-1).
    before: Option<Throughput>,
    /// The least round-trip time of this round trip, and the last: that of the segment that began it.
    least_rtt: Interval,
    last_rtt: Option<Interval>,
    base_rtt: Interval,
}

impl TriS {
    fn new(p: &Parameters) -> Self {
        TriS {
            initial_gradient: p.number("initial_gradient"),
            gradient: p.number("gradient"),
            phase: Phase::Initial,
            round: Round::default(),
            sending: None,
            measuring: None,
            before: None,
            least_rtt: Interval::MAX,
            last_rtt: None,
            base_rtt: Interval::MAX,
        }
    }

    /// W_n-1, if the step to the window of `now` brought less than `threshold`.
    fn failed(&self, now: Option<Throughput>, threshold: f64) -> Option<f64> {
        let (now, before) = now.zip(self.before)?;
        let grown = now.window > before.window;
        let gradient = || now.gradient_since(before, self.base_rtt.as_secs_f64());
        (grown && gradient() < threshold).then_some(before.window)
    }

    /// A round trip of the initial phase is over.
    fn double(&mut self, w: &mut Window) {
        let rtt_s = self.last_rtt.map(|rtt| rtt.as_secs_f64());
        let now = self.sending.zip(rtt_s).map(|(window, rtt_s)| Throughput::new(window, rtt_s));
        if let Some(window) = self.failed(now, self.initial_gradient) {
            self.step_back(window, w);
        } else if w.in_slow_start() {
            (self.before, self.sending) = (now.or(self.before), Some(w.cwnd));
        } else {
            self.forget();
            self.phase = Phase::Search;
            self.sending = Some(w.cwnd);
        }
    }

    /// A round trip of the search is over. A step shows in the one after the next: the acknowledgements of a
    /// round trip are of segments that were sent in the one before.
    fn search(&mut self, w: &mut Window) {
        if w.in_slow_start() {
            return self.forget(); // recovery ended below ssthresh
        }
        let rtt_s = self.last_rtt.map(|_| self.least_rtt.as_secs_f64());
        let now = self.measuring.zip(rtt_s).map(|(window, rtt_s)| Throughput::new(window, rtt_s));
        if let Some(window) = self.failed(now, self.gradient) {
            self.step_back(window, w);
        } else {
            (self.before, self.measuring, self.sending) = (now, self.sending, Some(w.cwnd));
        }
    }

    fn step_back(&mut self, window: f64, w: &mut Window) {
        w.cwnd = window.min(w.cwnd).max(LEAST_CWND.min(w.cwnd));
        // slow-start does not take back what the search gives up
        w.ssthresh = w.ssthresh.min(w.cwnd);
        self.phase = Phase::Search;
        // the acknowledgements to come are of a larger window
        self.forget();
        self.sending = Some(w.cwnd);
    }

    /// Forgets what belongs to windows of the past.
    fn forget(&mut self) {
        (self.measuring, self.sending, self.before) = (None, None, None);
    }

    /// Starts again with the next acknowledgement: the measurements belong to another window.
    fn begin(&mut self) {
        self.round.restart();
        self.forget();
        (self.least_rtt, self.last_rtt) = (Interval::MAX, None);
    }
}

impl CongestionControl for TriS {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.round.passed(ack).is_some() {
            match self.phase {
                Phase::Initial => self.double(w),
                Phase::Search => self.search(w),
            }
            (self.least_rtt, self.last_rtt) = (Interval::MAX, None);
        }
        if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else {
            // a whole segment at once would hold up all that follow it in this round trip
            w.cwnd += standard_increase(self.sending.unwrap_or(w.cwnd), ack.acked);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
        self.phase = if event.cause == Cause::Timeout { Phase::Initial } else { Phase::Search };
        self.begin();
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.last_rtt = Some(rtt);
            self.least_rtt = self.least_rtt.min(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.begin();
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.phase = if w.in_slow_start() { Phase::Initial } else { Phase::Search };
        self.begin();
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{congestion, instance, loss, window, with_numbers};
    use super::*;

    /// A path of 100 ms whose bottleneck takes 1000 segments a second: 100 of them fill it.
    fn path() -> Path {
        Path::new(0.1, 1000.0)
    }

    /// A round trip on the empty path, so that D_1 is known, and then the search from this window.
    fn searching(c: &mut TriS, path: &mut Path, cwnd: f64) -> Window {
        path.run(path.base_s, c, &mut window(2.0, 2.0));
        c.begin();
        c.phase = Phase::Search;
        window(cwnd, 2.0)
    }

    #[test]
    fn a_segment_more_brings_as_much_as_the_first_until_the_path_is_full() {
        // 100 ms: 10 segments a second each
        let at = |window, rtt_s| Throughput::new(window, rtt_s);
        assert!((at(51.0, 0.1).gradient_since(at(50.0, 0.1), 0.1) - 1.0).abs() < 1e-9);
        // full: 101 segments take 101 ms, 1000 a second as before
        assert!(at(101.0, 0.101).gradient_since(at(100.0, 0.1), 0.1).abs() < 1e-9);
        // half of the step from 60 to 140 fits: 400 of 800 a second more
        assert!((at(140.0, 0.14).gradient_since(at(60.0, 0.1), 0.1) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_search_adds_a_segment_in_each_round_trip_while_the_path_is_not_full() {
        let (mut c, mut path) = (instance(&ROW, &[]), path());
        let mut w = searching(&mut c, &mut path, 50.0);
        path.run(2.0, &mut c, &mut w);
        // 20 round trips of 100 ms
        assert!((68.0..=70.0).contains(&w.cwnd), "{}", w.cwnd);
    }

    #[test]
    fn the_search_stays_within_three_segments_of_the_window_that_fills_the_path() {
        let (mut c, mut path) = (instance(&ROW, &[]), path());
        let mut w = searching(&mut c, &mut path, 90.0);
        path.run(5.0, &mut c, &mut w);
        let mut seen = Vec::new();
        for _ in 0..30 {
            path.run(0.1, &mut c, &mut w);
            seen.push(w.cwnd);
        }
        // 100, and then a segment more in each of three round trips
        assert!(seen.iter().all(|cwnd| (99.5..=103.5).contains(cwnd)), "{seen:?}");
        assert!(seen.windows(2).filter(|w| w[1] < w[0]).count() >= 9, "{seen:?}");
    }

    #[test]
    fn a_queue_that_stands_already_stays_as_the_search_only_takes_back_its_own_steps() {
        let (mut c, mut path) = (instance(&ROW, &[]), path());
        let mut w = searching(&mut c, &mut path, 150.0);
        path.run(10.0, &mut c, &mut w);
        assert!((150.0..=153.1).contains(&w.cwnd), "{}", w.cwnd);
    }

    #[test]
    fn a_lower_threshold_takes_less_for_more() {
        // a path that fills up gently: each segment above 50 lengthens the round trip by half of a segment's
        // time
        let gentle = |cwnd: f64| 0.1 + 0.0005 * (cwnd - 50.0).max(0.0);
        let settled = |threshold: f64| {
            let mut c = with_numbers(&ROW, &[("gradient", threshold)]);
            let mut now = Throughput::new(50.0, gentle(50.0));
            c.base_rtt = Interval::from_millis(100);
            loop {
                c.before = Some(now);
                now = Throughput::new(now.window + 1.0, gentle(now.window + 1.0));
                if c.failed(Some(now), threshold).is_some() {
                    return now.window - 1.0;
                }
            }
        };
        assert!(settled(0.5) > 60.0 && settled(0.25) > settled(0.5) + 20.0, "{}", settled(0.5));
    }

    #[test]
    fn the_initial_phase_ends_on_queueing_without_a_loss() {
        let (mut c, mut path, mut w) = (instance(&ROW, &[]), path(), window(2.0, f64::INFINITY));
        path.run(1.5, &mut c, &mut w);
        assert!(!w.in_slow_start() && c.phase == Phase::Search);
        // the last doubling that paid
        assert!((50.0..=110.0).contains(&w.cwnd), "{}", w.cwnd);
        path.run(6.0, &mut c, &mut w);
        assert!((98.0..=110.0).contains(&w.cwnd), "{}", w.cwnd);
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_begins_the_initial_phase() {
        let (mut c, mut path) = (instance(&ROW, &[]), path());
        let mut w = searching(&mut c, &mut path, 80.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!((w.ssthresh, c.phase), (40.0, Phase::Search));
        c.on_congestion(&congestion(Cause::Timeout), &mut w);
        assert_eq!((w.ssthresh, c.phase), (40.0, Phase::Initial));
        w.cwnd = 1.0;
        path.run(1.0, &mut c, &mut w);
        assert_eq!(c.phase, Phase::Search);
        assert!((40.0..=46.0).contains(&w.cwnd), "{}", w.cwnd);
    }
}
