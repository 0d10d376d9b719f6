//! TCP-Illinois (Liu, Başar and Srikant 2006, 2008): losses decide when the window shrinks; the queueing
//! delay decides by how much, and how fast it grows.
//!
//! ```text
//! Ack :  cwnd <- cwnd + alpha / cwnd        (per segment that counts)
//! Loss:  cwnd <- (1 - beta) cwnd
//! alpha = alpha_max            da <= d1          da: mean queueing delay of the last round trip
//!         k1 / (k2 + da)       da >  d1          dm: greatest queueing delay seen
//! beta  = beta_min             da <= d2          d1, d2, d3 = 0.01 dm, 0.1 dm, 0.8 dm
//!         k3 + k4 da           d2 < da < d3      k1, k2: alpha(d1) = alpha_max, alpha(dm) = alpha_min
//!         beta_max             da >= d3          k3, k4: beta(d2) = beta_min, beta(d3) = beta_max
//! ```
//! Below `win_thresh` it is standard TCP. Once da has been above d1, alpha goes back to `alpha_max` only
//! after `theta` round trips with da below.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `alpha_min`, `alpha_max` | 0.3, 10 | segments per RTT | Liu et al. 2008 by way of Linux tcp_illinois | Linux: 38/128 |
//! | `beta_min`, `beta_max` | 1/8, 1/2 | of cwnd | the same | none |
//! | d1, d2, d3 | 0.01, 0.1, 0.8 | of dm | the same | none |
//! | `win_thresh` | 15 | segments | the same | none |
//! | `theta` | 5 | RTT | the same | none |
//! | granularity (`linux`) | 1/128, 1/64 | of alpha, of beta | Linux tcp_illinois | not in `paper` |
//! | greatest round-trip time (`linux`) | 3.3 | s | Linux tcp_illinois | not in `paper` |

use super::aimd::standard_decrease;
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::round::Round;
use super::row::{Properties, Row, SendingTimes};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style};

/// Shares of dm: alpha falls from the first on, beta rises from the second to the third.
const D1: f64 = 0.01;
const D2: f64 = 0.1;
const D3: f64 = 0.8;
/// Standard TCP, below the window threshold and after a timeout.
const STANDARD: Gains = Gains { alpha: 1.0, beta: 0.5 };
const LINUX_ALPHA_SCALE: f64 = 128.0;
const LINUX_BETA_SCALE: f64 = 64.0;
/// U32_MAX / ALPHA_MAX, microseconds.
const LINUX_GREATEST_RTT: Interval = Interval::from_ns(3_355_443_000);

/// The registry row.
pub const ROW: Row<Illinois> = Row {
    entry: Entry {
        name: "illinois",
        title: "TCP-Illinois",
        aliases: &["tcp-illinois"],
        citation: "Liu, Basar, Srikant: TCP-Illinois: A Loss- and Delay-Based Congestion Control Algorithm for \
                   High-Speed Networks, Performance Evaluation 65, 2008",
        page: "illinois",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "linux: the kernel's tcp_illinois, with its granularity and resets",
            ),
            Parameter::number(
                "alpha_min",
                0.3,
                (0.01, 1.0),
                "segments per RTT",
                "growth before a full queue",
            ),
            Parameter::number(
                "alpha_max",
                10.0,
                (1.0, 1000.0),
                "segments per RTT",
                "growth before an empty queue",
            ),
            Parameter::number(
                "beta_min",
                0.125,
                (0.0, 0.5),
                "of the window",
                "what a loss takes with a short queue",
            ),
            Parameter::number(
                "beta_max",
                0.5,
                (0.5, 0.99),
                "of the window",
                "what a loss takes with a long queue",
            ),
            Parameter::number("win_thresh", 15.0, (0.0, 1e6), "segments", "standard TCP below this window"),
            Parameter::number(
                "theta",
                5.0,
                (1.0, 1000.0),
                "RTT",
                "round trips of small delay before alpha_max",
            ),
        ],
        style: Some(Style::new("#b22222", "8")),
    },
    linux_module: Some("illinois"),
    properties: Properties {
        samples: true,
        varies: |own, p| Properties { sending_times: sending_times(p), ..own },
        ..Properties::DEFAULT
    },
    build: Illinois::new,
};

/// The kernel gives its modules the round-trip time of the last segment acknowledged.
fn sending_times(p: &Parameters) -> SendingTimes {
    if p.word("variant") == "linux" { SendingTimes::RoundTrips } else { SendingTimes::Unused }
}

/// The decision of a round trip for the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gains {
    /// Segments per round trip.
    alpha: f64,
    /// The part of the window that a loss removes.
    beta: f64,
}

/// The curves of alpha and beta over the queueing delay.
#[derive(Clone, Debug)]
struct Curves {
    linux: bool,
    alpha: (f64, f64),
    beta: (f64, f64),
}

impl Curves {
    /// alpha at the mean delay `da` above d1, both delays in one unit.
    fn alpha(&self, da: f64, dm: f64) -> f64 {
        let (least, greatest) = self.alpha;
        let (da, dm) = (da - D1 * dm, dm - D1 * dm);
        dm * least * greatest / (dm * least + da * (greatest - least))
    }

    fn beta(&self, da: f64, dm: f64) -> f64 {
        let (least, greatest) = self.beta;
        let (d2, d3) = (D2 * dm, D3 * dm);
        if da <= d2 {
            least
        } else if da >= d3 {
            greatest
        } else {
            least + (greatest - least) * (da - d2) / (d3 - d2)
        }
    }

    /// Linux counts alpha in 1/128 and beta in 1/64, downwards.
    fn rounded(&self, gains: Gains) -> Gains {
        if !self.linux {
            return gains;
        }
        Gains {
            alpha: (gains.alpha * LINUX_ALPHA_SCALE).floor() / LINUX_ALPHA_SCALE,
            beta: (gains.beta * LINUX_BETA_SCALE).floor() / LINUX_BETA_SCALE,
        }
    }
}

/// A TCP-Illinois flow.
#[derive(Clone, Debug)]
pub struct Illinois {
    curves: Curves,
    win_thresh: f64,
    theta: f64,
    gains: Gains,
    round: Round,
    base_rtt: Interval,
    max_rtt: Interval,
    /// Round-trip times of this round trip: their sum, and how many.
    sum_ns: u64,
    count: u64,
    /// Whether da has been above d1, and for how many round trips it has been below since.
    above: bool,
    low_rounds: f64,
    /// Linux: segments counted towards the next step of the window.
    counted: f64,
}

impl Illinois {
    fn new(p: &Parameters) -> Self {
        let linux = p.word("variant") == "linux";
        let least = p.number("alpha_min");
        let curves = Curves {
            linux,
            alpha: (
                if linux { (least * LINUX_ALPHA_SCALE).floor() / LINUX_ALPHA_SCALE } else { least },
                p.number("alpha_max"),
            ),
            beta: (p.number("beta_min"), p.number("beta_max")),
        };
        Illinois {
            gains: STANDARD,
            curves,
            win_thresh: p.number("win_thresh"),
            theta: p.number("theta"),
            round: Round::default(),
            base_rtt: Interval::MAX,
            max_rtt: Interval::ZERO,
            sum_ns: 0,
            count: 0,
            above: false,
            low_rounds: 0.0,
            counted: 0.0,
        }
    }

    /// alpha for the mean delay `da` and the greatest one `dm`, both in ns.
    fn alpha(&mut self, da: f64, dm: f64) -> f64 {
        if da > D1 * dm {
            self.above = true;
            if !self.curves.linux {
                self.low_rounds = 0.0;
            }
            return self.curves.alpha(da, dm);
        }
        if self.above {
            self.low_rounds += 1.0;
            if self.low_rounds < self.theta {
                return self.gains.alpha;
            }
        }
        self.low_rounds = 0.0;
        self.above = false;
        self.curves.alpha.1
    }

    /// A round trip has ended.
    fn update(&mut self, cwnd: f64) {
        if cwnd < self.win_thresh {
            self.gains = STANDARD;
        } else if self.count > 0 {
            let base_ns = self.base_rtt.as_ns() as f64;
            let da = (self.sum_ns as f64 / self.count as f64 - base_ns).max(0.0);
            let dm = self.max_rtt.as_ns() as f64 - base_ns;
            let gains = Gains { alpha: self.alpha(da, dm), beta: self.curves.beta(da, dm) };
            self.gains = self.curves.rounded(gains);
        }
        self.forget_samples();
    }

    fn forget_samples(&mut self) {
        self.sum_ns = 0;
        self.count = 0;
    }
}

impl CongestionControl for Illinois {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.round.passed(ack).is_some() {
            self.update(w.cwnd);
        }
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        if !self.curves.linux {
            w.cwnd += self.gains.alpha * ack.acked / w.cwnd;
            return;
        }
        // the fraction beyond a whole step is lost
        self.counted += ack.acked;
        let earned = (self.counted * self.gains.alpha).floor();
        let cwnd = w.cwnd.floor();
        if earned >= cwnd {
            w.cwnd += (earned / cwnd).floor();
            self.counted = 0.0;
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.counted = 0.0;
        let timeout = event.cause == Cause::Timeout;
        w.ssthresh = if self.curves.linux {
            w.cwnd - (w.cwnd * self.gains.beta).floor()
        } else if timeout {
            standard_decrease(w.cwnd)
        } else {
            w.cwnd - self.gains.beta * w.cwnd
        };
        if timeout {
            self.gains = STANDARD;
            self.above = false;
            self.low_rounds = 0.0;
            self.round.restart();
            self.forget_samples();
        }
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        let Some(mut rtt) = ack.rtt else { return };
        if self.curves.linux {
            rtt = rtt.min(LINUX_GREATEST_RTT);
        }
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.sum_ns += rtt.as_ns();
        self.count += 1;
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("alpha", self.gains.alpha));
        out.push(("beta", self.gains.beta));
        if self.max_rtt > Interval::ZERO {
            out.push(("max_rtt_s", self.max_rtt.as_secs_f64()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{ack, congestion, instance, loss, window};
    use super::*;

    fn illinois(words: &[(&str, &str)]) -> Illinois {
        instance(&ROW, words)
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-4, "{a} is not {b}");
    }

    #[test]
    fn the_curves_take_the_values_of_the_printed_constants_and_halve_by_hand_between_them() {
        // dm = 100 ms: d1 = 1, d2 = 10, d3 = 80; k1 = 99 * 3 / 9.7 = 30.61856, k2 = 99 * 0.3 / 9.7 - 1 =
        // 2.06186
        let c = illinois(&[]).curves;
        for (da_ms, alpha) in [(1.0, 10.0), (10.0, 2.53846), (50.0, 0.58812), (100.0, 0.3)] {
            near(c.alpha(da_ms, 100.0), alpha);
        }
        for (da_ms, beta) in [(0.0, 0.125), (10.0, 0.125), (45.0, 0.3125), (80.0, 0.5), (100.0, 0.5)] {
            near(c.beta(da_ms, 100.0), beta);
        }
    }

    #[test]
    fn linux_counts_alpha_in_128ths_and_beta_in_64ths_downwards() {
        let c = illinois(&[("variant", "linux")]).curves;
        let gains = |da, dm| c.rounded(Gains { alpha: c.alpha(da, dm), beta: c.beta(da, dm) });
        // ALPHA_MIN is 3 * 128 / 10 in whole numbers: 38
        near(gains(100.0, 100.0).alpha, 38.0 / 128.0);
        near(gains(1.0, 100.0).alpha, 10.0);
        // (8 * 80 - 32 * 10 + 24 * 50) / 70 = 21.7
        near(gains(50.0, 100.0).beta, 21.0 / 64.0);
    }

    /// Runs through round trips with these delays (of 100 segments each on a path of 100 ms, dm = 100 ms).
    fn rounds(i: &mut Illinois, path: &mut Path, delays_ms: &[f64]) {
        for delay_ms in delays_ms {
            for _ in 0..100 {
                path.now_s += 0.001;
                let ack = path.ack(0.1 + delay_ms / 1000.0, 100.0);
                i.on_sample(&ack);
                i.on_ack(&ack, &mut window(100.0, 2.0));
            }
        }
    }

    #[test]
    fn growth_at_full_speed_returns_after_five_round_trips_without_a_queue() {
        for word in ["paper", "linux"] {
            let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 1000.0));
            rounds(&mut i, &mut path, &[0.0, 0.0, 0.0]);
            near(i.gains.alpha, 10.0);
            rounds(&mut i, &mut path, &[100.0, 100.0, 0.0, 0.0, 0.0, 0.0]);
            assert!(i.gains.alpha < 1.0, "{word}: {}", i.gains.alpha);
            rounds(&mut i, &mut path, &[0.0, 0.0, 0.0]);
            near(i.gains.alpha, 10.0);
        }
    }

    #[test]
    fn a_queue_in_between_starts_the_count_of_five_anew_but_not_in_linux() {
        for (word, back) in [("paper", false), ("linux", true)] {
            let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 1000.0));
            rounds(&mut i, &mut path, &[0.0, 0.0, 100.0, 100.0, 0.0, 0.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0]);
            assert_eq!(i.gains.alpha == 10.0, back, "{word}: {}", i.gains.alpha);
        }
    }

    #[test]
    fn the_window_grows_by_ten_segments_a_round_trip_and_by_less_than_one_before_a_full_queue() {
        for word in ["paper", "linux"] {
            let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 10_000.0));
            let mut w = window(200.0, 2.0);
            path.run(1.0, &mut i, &mut w);
            let first = w.cwnd;
            path.run(1.0, &mut i, &mut w);
            // ten round trips, or eleven
            assert!((95.0..=111.0).contains(&(w.cwnd - first)), "{word}: {first} {}", w.cwnd);
            // the delay of the last round trip is always close to the greatest seen: the queue is full as far
            // as it knows
            w.cwnd = 1500.0;
            path.run(1.5, &mut i, &mut w);
            let before = w.cwnd;
            path.run(1.5, &mut i, &mut w);
            let per_round = (w.cwnd - before) / 10.0;
            assert!((0.25..=0.4).contains(&per_round), "{word}: {per_round}");
        }
    }

    #[test]
    fn a_loss_takes_an_eighth_of_the_window_with_a_short_queue_and_half_with_a_long_one() {
        for (delay_ms, left) in [(5.0, 700.0), (95.0, 400.0)] {
            for word in ["paper", "linux"] {
                let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 1000.0));
                rounds(&mut i, &mut path, &[0.0, 100.0, delay_ms, delay_ms, delay_ms]);
                let mut w = window(800.0, 2.0);
                i.on_congestion(&loss(), &mut w);
                assert_eq!(w.ssthresh, left, "{word} {delay_ms}");
            }
        }
    }

    #[test]
    fn below_fifteen_segments_it_is_standard_tcp() {
        for word in ["paper", "linux"] {
            let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 1000.0));
            let mut w = window(8.0, 2.0);
            path.run(0.45, &mut i, &mut w);
            assert!((3.9..=5.1).contains(&(w.cwnd - 8.0)), "{word}: {}", w.cwnd);
            assert_eq!(i.gains, STANDARD);
            path.run(0.5, &mut i, &mut w);
            assert!(i.gains.alpha > 1.0 && w.cwnd > 15.0, "{word}: {}", w.cwnd);
            let mut i = illinois(&[("variant", word)]);
            let mut w = window(14.0, 2.0);
            i.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, 7.0);
        }
    }

    #[test]
    fn a_timeout_makes_it_standard_tcp_until_a_round_trip_has_been_measured() {
        for word in ["paper", "linux"] {
            let (mut i, mut path) = (illinois(&[("variant", word)]), Path::new(0.1, 1000.0));
            rounds(&mut i, &mut path, &[0.0, 100.0, 5.0, 5.0]);
            let mut w = window(800.0, 2.0);
            i.on_congestion(&congestion(Cause::Timeout), &mut w);
            // Linux takes what its curve says, the paper half
            assert_eq!(w.ssthresh, if word == "linux" { 700.0 } else { 400.0 });
            assert_eq!(i.gains, STANDARD);
            let mut w = window(100.0, 2.0);
            for _ in 0..100 {
                i.on_ack(&ack(1.0), &mut w);
            }
            assert!((100.9..=101.1).contains(&w.cwnd), "{word}: {}", w.cwnd);
        }
    }
}
