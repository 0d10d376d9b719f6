//! TCP Hybla (Caini, Firrincieli 2004): a connection with a long round-trip time, such as one over a
//! satellite, sends as fast as one with the round-trip time RTT0 would.
//!
//! ```text
//! rho = max(RTT / RTT0, 1)
//! Slow-start:            cwnd <- cwnd + 2^rho - 1         (per segment that counts)
//! Congestion avoidance:  cwnd <- cwnd + rho^2 / cwnd
//! Loss:                  cwnd <- cwnd / 2
//! ```
//!
//! Linux calculates per acknowledgement, and with whole numbers: rho in eighths, growth in 128ths.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `rtt0` | 25 | ms | Linux tcp_hybla, which cites the paper; Cheung, lecture notes on Hybla | none |
//! | RTT | least | s | Linux: rho follows the least smoothed round-trip time | the paper's RTT; the least is chosen here |
//! | what a loss leaves | 1/2 | of cwnd | Linux tcp_hybla; standard TCP | none |
//! | greatest exponent | 16 | | Linux tcp_hybla, for the whole part of rho | the paper: none known |
//! | granularity (`linux`) | 1/8, 1/128 | of rho, of a segment | Linux tcp_hybla | not in `paper` |
//! | greatest window (`linux`) | 65 535 | segments | Linux tcp_hybla | not in `paper` |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row};
use longfat_units::math::pow;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const GREATEST_EXPONENT: f64 = 16.0;
/// Linux: 2^(i/8) in 128ths, downwards.
const LINUX_FRACTIONS: [u64; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
const LINUX_RHO_SCALE: u64 = 8;
const LINUX_GROWTH_SCALE: u64 = 128;
const LINUX_GREATEST_CWND: f64 = 65_535.0;

/// The registry row.
pub const ROW: Row<Hybla> = Row {
    entry: Entry {
        name: "hybla",
        title: "TCP Hybla",
        aliases: &["tcp-hybla"],
        citation: "Caini, Firrincieli: TCP Hybla: A TCP Enhancement for Heterogeneous Networks, International Journal \
                   of Satellite Communications and Networking 22(5), 2004",
        page: "hybla",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "linux: the kernel's tcp_hybla, which grows per acknowledgement and in whole segments",
            ),
            Parameter::number("rtt0", 25.0, (0.1, 1e4), "ms", "round-trip time of the connection to equal"),
        ],
        style: Some(Style::new("#264653", "v")),
    },
    linux_module: Some("hybla"),
    properties: Properties::DEFAULT,
    build: Hybla::new,
};

/// A Hybla flow.
#[derive(Clone, Debug)]
pub struct Hybla {
    linux: bool,
    rtt0_s: f64,
    /// The round-trip time that rho comes from.
    least: Interval,
    rho: f64,
    /// 2^rho - 1.
    slow_start: f64,
    whole: Whole,
    /// Linux: between a congestion event and the end of its recovery it is standard TCP.
    suspended: bool,
}

/// Linux's arithmetic.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    /// rho in eighths.
    rho: u64,
    /// Growth that is less than a segment, in 128ths.
    rest: u64,
    /// Acknowledgements since the window last grew, while each brings less than a segment.
    count: u64,
}

impl Whole {
    fn new(rtt_s: f64, rtt0_s: f64) -> Self {
        let rho = (LINUX_RHO_SCALE as f64 * rtt_s / rtt0_s) as u64;
        Whole { rho: rho.max(LINUX_RHO_SCALE), ..Whole::default() }
    }

    /// 2^rho - 1 in 128ths of a segment.
    fn slow_start(self) -> u64 {
        let whole = (self.rho / LINUX_RHO_SCALE).min(GREATEST_EXPONENT as u64);
        (LINUX_FRACTIONS[(self.rho % LINUX_RHO_SCALE) as usize] << whole) - LINUX_GROWTH_SCALE
    }

    /// rho^2 / cwnd in 128ths of a segment, `cwnd` in segments.
    fn avoidance(self, cwnd: f64) -> u64 {
        let scale = LINUX_GROWTH_SCALE / (LINUX_RHO_SCALE * LINUX_RHO_SCALE);
        ((scale * self.rho * self.rho) as f64 / cwnd.floor()) as u64
    }

    /// The window's growth for one acknowledgement, in segments.
    fn growth(&mut self, cwnd: f64, slow_start: bool) -> f64 {
        let growth = if slow_start { self.slow_start() } else { self.avoidance(cwnd) };
        if !slow_start && growth < LINUX_GROWTH_SCALE {
            self.count += 1;
        }
        self.rest += growth % LINUX_GROWTH_SCALE;
        let mut grown = growth / LINUX_GROWTH_SCALE;
        if self.rest >= LINUX_GROWTH_SCALE {
            grown += self.rest / LINUX_GROWTH_SCALE;
            self.rest %= LINUX_GROWTH_SCALE;
            self.count = 0;
        }
        // no 128th is left of the growth at a large window: it goes on as standard TCP, per acknowledgement
        if growth == 0 && self.count as f64 >= cwnd + grown as f64 {
            grown += 1;
            self.count = 0;
        }
        grown as f64
    }
}

impl Hybla {
    fn new(p: &Parameters) -> Self {
        Hybla {
            linux: p.word("variant") == "linux",
            rtt0_s: 1e-3 * p.number("rtt0"),
            least: Interval::MAX,
            rho: 1.0,
            slow_start: 1.0,
            whole: Whole::new(0.0, 1.0),
            suspended: false,
        }
    }

    /// Follows the least round-trip time.
    #[inline]
    fn follow(&mut self, rtt: Interval) {
        if rtt < self.least {
            self.least = rtt;
            let rtt_s = rtt.as_secs_f64();
            self.rho = (rtt_s / self.rtt0_s).max(1.0);
            self.slow_start = pow(2.0, self.rho.min(GREATEST_EXPONENT)) - 1.0;
            self.whole.rho = Whole::new(rtt_s, self.rtt0_s).rho;
        }
    }

    fn on_ack_as_linux(&mut self, ack: &Ack, w: &mut Window) {
        self.follow(ack.srtt);
        let slow_start = w.in_slow_start();
        if self.suspended {
            if slow_start {
                return w.slow_start(ack.acked);
            }
            w.cwnd += standard_increase(w.cwnd, ack.acked);
            return;
        }
        let grown = self.whole.growth(w.cwnd, slow_start);
        if slow_start {
            w.slow_start(grown);
        } else {
            w.cwnd += grown;
        }
        w.cwnd = w.cwnd.min(LINUX_GREATEST_CWND);
    }
}

impl CongestionControl for Hybla {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.linux {
            return self.on_ack_as_linux(ack, w);
        }
        if let Some(base_rtt) = ack.base_rtt {
            self.follow(base_rtt);
        }
        if w.in_slow_start() {
            return w.slow_start(self.slow_start * ack.acked);
        }
        w.cwnd += self.rho * self.rho * ack.acked / w.cwnd;
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        self.suspended = true;
        let half = standard_decrease(w.cwnd);
        w.ssthresh = if self.linux { half.floor().max(1.0) } else { half };
    }

    fn on_recovered(&mut self, _now: Time, _w: &mut Window) {
        self.suspended = false;
    }

    fn on_undo(&mut self, _w: &mut Window) {
        self.suspended = false;
    }

    fn internals(&self, out: &mut Internals) {
        let rho = if self.linux { self.whole.rho as f64 / LINUX_RHO_SCALE as f64 } else { self.rho };
        out.push(("rho", rho));
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::Path;
    use super::super::testing::{ack, ack_at, instance, loss, round_trip, window, with_numbers};
    use super::*;
    use longfat_units::parameters::Value;

    /// An instance of Linux's form; the path of the acknowledgements in tests has 100 ms.
    fn linux(rtt0_ms: f64) -> Hybla {
        let given = [
            ("variant".to_owned(), Value::Word("linux".to_owned())),
            ("rtt0".to_owned(), Value::Number(rtt0_ms)),
        ];
        ROW.instance(&given).expect("declared parameters")
    }

    #[test]
    fn with_rho_2_slow_start_reaches_8_32_and_128_segments_from_2() {
        // Cheung, CS 558, homework 8: RTT = 0.1 s, RTT0 = 0.05 s
        let mut c = with_numbers(&ROW, &[("rtt0", 50.0)]);
        let mut w = window(2.0, f64::INFINITY);
        for expected in [8.0, 32.0, 128.0] {
            round_trip(&mut c, &mut w);
            assert_eq!(w.cwnd, expected);
        }
    }

    #[test]
    fn the_rate_grows_at_the_same_speed_at_every_round_trip_time_above_rtt0() {
        // 1 / RTT0^2 = 1600 segments per second, each second
        for base_s in [0.025, 0.1, 0.6] {
            let mut c: Hybla = instance(&ROW, &[]);
            let (mut path, mut w) = (Path::new(base_s, 1e9), window(1000.0 * base_s / 0.025, 2.0));
            path.run(1.2, &mut c, &mut w);
            let before = w.cwnd / base_s;
            let begun_s = path.now_s;
            path.run(12.0, &mut c, &mut w);
            let speed = (w.cwnd / base_s - before) / (path.now_s - begun_s);
            assert!((speed / 1600.0 - 1.0).abs() < 0.03, "{base_s} s: {speed}");
        }
    }

    #[test]
    fn below_rtt0_it_is_standard_tcp() {
        let mut c = with_numbers(&ROW, &[("rtt0", 200.0)]);
        let mut w = window(10.0, f64::INFINITY);
        c.on_ack(&ack(2.0), &mut w);
        assert_eq!(w.cwnd, 12.0);
        w.ssthresh = 2.0;
        c.on_ack(&ack(1.0), &mut w);
        assert!((w.cwnd - 12.0 - 1.0 / 12.0).abs() < 1e-12);
    }

    #[test]
    fn a_queue_does_not_raise_rho() {
        for variant in ["paper", "linux"] {
            let mut c: Hybla = instance(&ROW, &[("variant", variant)]);
            let mut w = window(100.0, 2.0);
            c.on_ack(&ack(1.0), &mut w);
            c.on_ack(&ack_at(Time::ZERO, 1.0, Interval::from_millis(300)), &mut w);
            let mut seen = Internals::default();
            c.internals(&mut seen);
            assert_eq!(seen.iter().collect::<Vec<_>>(), [("rho", 4.0)], "{variant}");
        }
    }

    #[test]
    fn a_loss_halves_the_window() {
        for (variant, left) in [("paper", 50.5), ("linux", 50.0)] {
            let mut w = window(101.0, 2.0);
            instance(&ROW, &[("variant", variant)]).on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, left, "{variant}");
        }
    }

    #[test]
    fn linux_counts_rho_in_eighths_and_growth_in_128ths() {
        // 100 ms of 30: 26.67 eighths are 26; 2^3.25 = 9.51, 152 / 128 * 8 = 9.5, less 1
        let whole = Whole::new(0.1, 0.03);
        assert_eq!((whole.rho, whole.slow_start()), (26, 1088));
        // 3.25^2 = 10.5625 segments a round trip: 1352 / 128
        assert_eq!(whole.avoidance(100.0), 13);
        assert_eq!(whole.avoidance(1400.0), 0);
        // rho of 16 and more leaves 2^16
        assert_eq!(Whole::new(2.0, 0.025).slow_start(), (128 << 16) - 128);
    }

    #[test]
    fn linux_grows_per_acknowledgement_however_many_segments_it_covers() {
        let mut c = linux(50.0);
        let mut w = window(10.0, f64::INFINITY);
        c.on_ack(&ack(2.0), &mut w);
        assert_eq!(w.cwnd, 13.0);
        // 4 segments a round trip at a window of 40: each acknowledgement brings 12 of 128, the eleventh
        // fills a segment
        let mut w = window(40.0, 2.0);
        for _ in 0..10 {
            c.on_ack(&ack(2.0), &mut w);
        }
        assert_eq!(w.cwnd, 40.0);
        c.on_ack(&ack(2.0), &mut w);
        assert_eq!(w.cwnd, 41.0);
    }

    #[test]
    fn linux_grows_by_a_segment_a_window_where_no_128th_is_left() {
        let mut c = linux(100.0);
        let mut w = window(200.0, 2.0);
        for _ in 0..199 {
            c.on_ack(&ack(1.0), &mut w);
        }
        assert_eq!(w.cwnd, 200.0);
        c.on_ack(&ack(1.0), &mut w);
        assert_eq!(w.cwnd, 201.0);
    }

    #[test]
    fn linux_is_standard_tcp_until_a_timeout_is_repaired() {
        let mut c = linux(25.0);
        c.on_congestion(&loss(), &mut window(100.0, 2.0));
        let mut w = window(10.0, 50.0);
        c.on_ack(&ack(1.0), &mut w);
        assert_eq!(w.cwnd, 11.0);
        c.on_recovered(Time::ZERO, &mut w);
        c.on_ack(&ack(1.0), &mut w);
        assert_eq!(w.cwnd, 26.0);
    }
}
