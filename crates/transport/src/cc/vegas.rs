//! TCP Vegas (Brakmo and Peterson 1995): the window follows the gap between the rate that it would give on an
//! empty path and the rate achieved.
//!
//! The rule of López Pacheco (2008), algorithm 1, once per round trip:
//! ```text
//! Expected = cwnd / BaseRTT        Actual = segments sent in a round trip / RTT
//! Diff = Expected - Actual
//! Diff < alpha:  one segment more over the next round trip
//! Diff > beta :  one segment less;   in between cwnd stays
//! Loss:  cwnd <- cwnd / 2
//! ```
//! Slow-start doubles every other round trip only, and ends when Diff BaseRTT exceeds gamma. Linux compares
//! Diff BaseRTT, in whole segments, with alpha and beta, and slow-starts in every round trip.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `alpha_rate`, `beta_rate` | 30, 60 | kB/s | López Pacheco 2008, algorithm 1 | none |
//! | `alpha`, `beta` (`linux`) | 2, 4 | segments | Linux tcp_vegas | none |
//! | `gamma` | 1 | segments | Linux tcp_vegas; one router buffer in the paper | none |
//! | what the end of slow-start takes | 1/8 | of cwnd | ns-2 tcp-vegas | the thesis says nothing |
//! | what a loss leaves | 1/2 | of cwnd | López Pacheco 2008; Linux | ns-2: 3/4 if the segment was sent once |
//! | least window | 2 | segments | ns-2; Linux | none |
//! | least samples of a round trip (`linux`) | 3 | | Linux tcp_vegas | none |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, LEAST_SSTHRESH, Window};
use super::round::{Round, RoundTrip};
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const LEAST_CWND: f64 = 2.0;
/// The part of the window that the end of slow-start leaves.
const SLOW_START_LEAVES: f64 = 7.0 / 8.0;
const LINUX_LEAST_SAMPLES: u32 = 3;
/// What ssthresh is raised to after each of Linux's decisions, of cwnd (tcp_current_ssthresh).
const LINUX_SSTHRESH: f64 = 0.75;
/// The segments of the paper's examples, used until the sender's own size is known.
const PAPER_MSS_BYTES: f64 = 1000.0;

/// The registry row.
pub const ROW: Row<Vegas> = Row {
    entry: Entry {
        name: "vegas",
        title: "TCP Vegas",
        aliases: &["tcp-vegas"],
        citation: "Brakmo, Peterson: TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE Journal on \
                   Selected Areas in Communications 13(8), 1995",
        page: "vegas",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "paper: rates as in Lopez Pacheco 2008, algorithm 1; linux: the kernel's tcp_vegas",
            ),
            Parameter::number("alpha_rate", 30.0, (0.0, 1e6), "kB/s", "grows below this Diff (not in linux)"),
            Parameter::number(
                "beta_rate",
                60.0,
                (0.0, 1e6),
                "kB/s",
                "shrinks above this Diff (not in linux)",
            ),
            Parameter::number("alpha", 2.0, (0.0, 1e6), "segments", "linux: grows below this many queued"),
            Parameter::number("beta", 4.0, (0.0, 1e6), "segments", "linux: shrinks above this many queued"),
            Parameter::number("gamma", 1.0, (0.0, 1e6), "segments", "slow-start ends above this many queued"),
            Parameter::choice(
                "fine_check",
                &["on", "off"],
                "whether one duplicate suffices to repeat a segment older than the fine-grained timeout (not in linux)",
            ),
        ],
        style: Some(Style::new("#b4005a", "d")),
    },
    linux_module: Some("vegas"),
    properties: Properties {
        shrinks: true,
        samples: true,
        varies: |own, p| Properties { sending_times: sending_times(p), ..own },
        ..Properties::DEFAULT
    },
    build: Vegas::new,
};

/// The behaviour of the window until the round trip ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Course {
    Grow,
    Stay,
    Shrink,
}

/// The sender checks the age of segments for the original; Linux has no such check.
fn sending_times(p: &Parameters) -> SendingTimes {
    match (p.word("variant"), p.word("fine_check")) {
        ("linux", _) | (_, "off") => SendingTimes::RoundTrips,
        _ => SendingTimes::RoundTripsAndLosses,
    }
}

/// A Vegas flow.
#[derive(Clone, Debug)]
pub struct Vegas {
    linux: bool,
    alpha_bytes_per_s: f64,
    beta_bytes_per_s: f64,
    mss_bytes: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    round: Round,
    course: Course,
    /// Linux: between a congestion event and the end of its recovery it is standard TCP.
    suspended: bool,
    /// Round-trip times measured in this round trip, the least of them, and the least of all.
    samples: u32,
    least_rtt: Interval,
    base_rtt: Interval,
}

impl Vegas {
    fn new(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        Vegas {
            linux,
            alpha_bytes_per_s: 1000.0 * p.number("alpha_rate"),
            beta_bytes_per_s: 1000.0 * p.number("beta_rate"),
            mss_bytes: PAPER_MSS_BYTES,
            alpha: p.number("alpha"),
            beta: p.number("beta"),
            gamma: p.number("gamma"),
            round: Round::default(),
            course: Course::Grow,
            suspended: false,
            samples: 0,
            least_rtt: Interval::MAX,
            base_rtt: Interval::MAX,
        }
    }

    /// The paper's decision at the end of a round trip.
    fn decide(&mut self, trip: RoundTrip, w: &mut Window) {
        let base_s = self.base_rtt.as_secs_f64();
        let rtt_s = self.least_rtt.as_secs_f64();
        // Expected is of the window in transit, counted as Actual is: of cwnd, a segment that a delayed
        // acknowledgement keeps back would look like one queued
        let sent = trip.sent as f64;
        let diff_pps = sent / base_s - sent / rtt_s;
        if w.in_slow_start() {
            // only a round trip with a constant window allows the comparison
            if self.course == Course::Grow {
                self.course = Course::Stay;
            } else if diff_pps * base_s > self.gamma {
                w.cwnd = (SLOW_START_LEAVES * w.cwnd).max(LEAST_CWND);
                w.ssthresh = LEAST_SSTHRESH;
                self.course = Course::Stay;
            } else {
                self.course = Course::Grow;
            }
        } else {
            let diff_bytes_per_s = diff_pps * self.mss_bytes;
            self.course = if diff_bytes_per_s < self.alpha_bytes_per_s {
                Course::Grow
            } else if diff_bytes_per_s > self.beta_bytes_per_s {
                Course::Shrink
            } else {
                Course::Stay
            };
        }
    }

    /// Linux's decision, at once and in whole segments.
    fn decide_as_linux(&self, ack: &Ack, w: &mut Window) {
        let (rtt_s, base_s) = (self.least_rtt.as_secs_f64(), self.base_rtt.as_secs_f64());
        let cwnd = w.cwnd.floor();
        let queued = (cwnd * (rtt_s - base_s) / base_s).floor();
        if w.in_slow_start() {
            if queued > self.gamma {
                w.cwnd = cwnd.min((cwnd * base_s / rtt_s).floor() + 1.0);
                w.ssthresh = w.ssthresh.min(w.cwnd);
            } else {
                w.slow_start(ack.acked);
            }
        } else if queued > self.beta {
            w.cwnd -= 1.0;
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if queued < self.alpha {
            w.cwnd += 1.0;
        }
        w.cwnd = w.cwnd.max(LEAST_CWND);
        w.ssthresh = w.ssthresh.max(LINUX_SSTHRESH * w.cwnd);
    }

    fn on_ack_as_linux(&mut self, ack: &Ack, w: &mut Window) {
        let ended = !self.suspended && self.round.passed(ack).is_some();
        let measured = ended && self.samples >= LINUX_LEAST_SAMPLES;
        if measured {
            self.decide_as_linux(ack, w);
        } else if w.in_slow_start() {
            w.slow_start(ack.acked);
        } else if ended || self.suspended {
            w.cwnd += standard_increase(w.cwnd, ack.acked);
        }
        if ended {
            self.forget_samples();
        }
    }

    fn forget_samples(&mut self) {
        self.samples = 0;
        self.least_rtt = Interval::MAX;
    }

    /// Starts again with the next acknowledgement: the measurements belong to another window.
    fn begin(&mut self, w: &Window) {
        self.suspended = false;
        self.round.restart();
        self.course = if w.in_slow_start() { Course::Grow } else { Course::Stay };
        self.forget_samples();
    }
}

impl CongestionControl for Vegas {
    fn on_start(&mut self, mss_bytes: u32, _seed: u64) {
        self.mss_bytes = f64::from(mss_bytes);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.linux {
            return self.on_ack_as_linux(ack, w);
        }
        if let Some(trip) = self.round.passed(ack) {
            if self.samples > 0 {
                self.decide(trip, w);
            }
            self.forget_samples();
        }
        let step = standard_increase(w.cwnd, ack.acked);
        match self.course {
            Course::Stay => {}
            Course::Grow if w.in_slow_start() => w.slow_start(ack.acked),
            Course::Grow => w.cwnd += step,
            Course::Shrink => {
                w.cwnd = (w.cwnd - step).max(LEAST_CWND);
                // slow-start does not take back what it gives up
                w.ssthresh = w.ssthresh.min(w.cwnd);
            }
        }
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        self.suspended = true;
        self.course = Course::Grow;
        self.round.restart();
        let half = standard_decrease(w.cwnd);
        w.ssthresh = if self.linux { half.floor().max(1.0) } else { half };
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.samples += 1;
            self.least_rtt = self.least_rtt.min(rtt);
            self.base_rtt = self.base_rtt.min(rtt);
        }
    }

    fn on_recovered(&mut self, _now: Time, w: &mut Window) {
        self.begin(w);
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.begin(w);
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{ack, instance, loss, properties, window};
    use super::*;

    /// A path of 100 ms whose bottleneck takes 1000 segments a second: 100 of them fill it.
    fn path() -> Path {
        Path::new(0.1, 1000.0)
    }

    fn vegas(words: &[(&str, &str)]) -> Vegas {
        instance(&ROW, words)
    }

    fn started(words: &[(&str, &str)], mss_bytes: u32) -> Vegas {
        let mut c = instance(&ROW, words);
        c.on_start(mss_bytes, 0);
        c
    }

    /// A round trip on the empty path, so that BaseRTT is known.
    fn know_base(c: &mut Vegas, path: &mut Path) {
        path.run(path.base_s, c, &mut window(2.0, 2.0));
    }

    /// Segments queued once a window that began with `cwnd`, past slow-start, has settled, and stays.
    fn settled_queue(c: &mut Vegas, cwnd: f64) -> f64 {
        let (mut path, mut w) = (path(), window(cwnd, 2.0));
        know_base(c, &mut path);
        path.run(12.0, c, &mut w);
        let queue = path.queue_packets(w.cwnd.floor());
        path.run(12.0, c, &mut w);
        assert_eq!(path.queue_packets(w.cwnd.floor()), queue);
        queue
    }

    /// The values at which a window from below and one from above settle; a decision shows after two round
    /// trips.
    fn settles_within(words: &[(&str, &str)], mss_bytes: u32, least: f64, most: f64) {
        let below = settled_queue(&mut started(words, mss_bytes), 60.0);
        let above = settled_queue(&mut started(words, mss_bytes), 150.0);
        assert!((least..=least + 2.0).contains(&below), "{words:?}: {below}, not from {least}");
        assert!((most - 2.0..=most).contains(&above), "{words:?}: {above}, not up to {most}");
    }

    #[test]
    fn at_100_ms_with_segments_of_1_kb_three_to_six_buffers_are_kept_filled() {
        // Brakmo and Peterson 1995, on alpha = 30 kB/s and beta = 60 kB/s
        settles_within(&[], 1000, 3.0, 6.0);
    }

    #[test]
    fn half_as_large_segments_fill_twice_as_many_buffers() {
        settles_within(&[], 500, 6.0, 12.0);
    }

    #[test]
    fn linux_keeps_two_to_four_segments_queued_at_any_segment_size() {
        // whole segments: 4.9 are no more than 4
        settles_within(&[("variant", "linux")], 500, 2.0, 5.0);
        settles_within(&[("variant", "linux")], 1448, 2.0, 5.0);
    }

    #[test]
    fn the_window_moves_by_one_segment_a_round_trip_in_either_direction() {
        for words in [&[][..], &[("variant", "linux")]] {
            for (cwnd, sign) in [(50.0, 1.0), (150.0, -1.0)] {
                let (mut c, mut path, mut w) = (started(words, 1000), path(), window(cwnd, 2.0));
                know_base(&mut c, &mut path);
                // ten round trips and one to begin with
                path.run(11.0 * path.rtt_s(cwnd), &mut c, &mut w);
                let moved = sign * (w.cwnd - cwnd);
                assert!((8.9..=11.1).contains(&moved), "{words:?} from {cwnd}: {moved}");
            }
        }
    }

    #[test]
    fn slow_start_doubles_in_every_other_round_trip() {
        // Brakmo and Peterson 1995; Linux doubles in each
        for (words, factor) in [(&[][..], 2.0), (&[("variant", "linux")], 4.0)] {
            let mut c = started(words, 1000);
            let (mut path, mut w) = (Path::new(0.1, 1e6), window(10.0, f64::INFINITY));
            path.run(0.15, &mut c, &mut w);
            for _ in 0..4 {
                let before = w.cwnd;
                path.run(0.15, &mut c, &mut w); // two round trips
                let grown = w.cwnd / before;
                assert!((grown / factor - 1.0).abs() < 0.1, "{words:?}: {before} {}", w.cwnd);
            }
        }
    }

    #[test]
    fn slow_start_ends_on_queueing_without_a_loss() {
        for words in [&[][..], &[("variant", "linux")]] {
            let mut c = started(words, 1000);
            let (mut path, mut w) = (path(), window(10.0, f64::INFINITY));
            path.run(3.0, &mut c, &mut w);
            assert!(!w.in_slow_start(), "{words:?}");
            // twice the path, and what came in while the queue was measured
            assert!((80.0..=250.0).contains(&w.cwnd), "{words:?}: {}", w.cwnd);
        }
    }

    #[test]
    fn linux_leaves_slow_start_with_one_segment_more_than_the_measured_rate_needs() {
        // 200 segments at twice the least round-trip time: 100 would have done
        let mut c = vegas(&[("variant", "linux")]);
        c.base_rtt = Interval::from_millis(100);
        c.least_rtt = Interval::from_millis(200);
        let mut w = window(200.0, f64::INFINITY);
        c.decide_as_linux(&ack(1.0), &mut w);
        assert_eq!((w.cwnd, w.ssthresh), (101.0, 101.0));
        // and below gamma it goes on
        c.least_rtt = Interval::from_millis(101);
        let mut w = window(100.0, f64::INFINITY);
        c.decide_as_linux(&ack(1.0), &mut w);
        assert_eq!(w.cwnd, 101.0);
        assert!(w.in_slow_start());
    }

    #[test]
    fn a_loss_halves_and_growth_waits_for_a_measured_round_trip() {
        let mut c = started(&[], 1000);
        let mut w = window(81.0, 2.0);
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 40.5);
        let mut linux = started(&[("variant", "linux")], 1000);
        let mut w = window(81.0, 2.0);
        linux.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 40.0);
        w.cwnd = 40.0;
        linux.on_recovered(Time::ZERO, &mut w);
        let mut path = path();
        path.run(0.09, &mut linux, &mut w);
        assert_eq!(w.cwnd, 40.0);
    }

    #[test]
    fn the_sender_is_asked_for_the_fine_grained_check_except_by_linux() {
        let asks = |words| properties(&ROW, words).sending_times == SendingTimes::RoundTripsAndLosses;
        assert!(asks(&[]));
        assert!(!asks(&[("fine_check", "off")]));
        assert!(!asks(&[("variant", "linux")]));
    }
}
