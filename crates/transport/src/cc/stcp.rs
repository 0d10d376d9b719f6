//! Scalable TCP (Kelly, Computer Communication Review 33(2), 2003): multiplicative increase, so that the time
//! to recover from a loss does not depend on the window.
//!
//! ```text
//! Ack :  cwnd <- cwnd + a               (per segment that counts)
//! Loss:  cwnd <- cwnd - b cwnd
//! ```
//!
//! Below Low_Window it is standard TCP.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | a | 0.01 | segments per segment | Kelly 2003; Li, Leith, Shorten 2007, Table II (alpha) | none |
//! | b | 0.125 | of cwnd | Kelly 2003 | none; Li, Leith, Shorten write the factor beta = 0.875 |
//! | Low_Window | 16 | segments | Kelly 2003; Li, Leith, Shorten 2007, Table II | variant linux has none |
//! | Linux count | 100 | segments | Linux tcp_scalable, TCP_SCALABLE_AI_CNT | is 1/a here; kernels that counted ACKs, not segments, had 50: set a = 0.02 |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Congestion, CongestionControl, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};

/// The registry row.
pub const ROW: Row<Stcp> = Row {
    entry: Entry {
        name: "stcp",
        title: "Scalable TCP",
        aliases: &["scalable", "scalable-tcp"],
        citation: "Kelly: Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM SIGCOMM Computer \
                   Communication Review 33(2), 2003",
        page: "stcp",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux"],
                "linux: grows by max(increase, 1/cwnd) and decreases in the same way at every window, without low_window",
            ),
            Parameter::number(
                "increase",
                0.01,
                (1e-4, 1.0),
                "segments",
                "growth per acknowledged segment (a of the paper)",
            ),
            Parameter::number(
                "decrease",
                0.125,
                (0.001, 0.9),
                "of the window",
                "what a loss takes away (b of the paper)",
            ),
            Parameter::number("low_window", 16.0, (0.0, 1e6), "segments", "standard TCP below this window"),
        ],
        style: Some(Style::new("#d55e00", "^")),
    },
    linux_module: Some("scalable"),
    properties: Properties::DEFAULT,
    build: Stcp::build,
};

/// Scalable TCP. It has no state besides its parameters.
#[derive(Clone, Debug)]
pub struct Stcp {
    linux: bool,
    increase: f64,
    decrease: f64,
    low_window: f64,
}

impl Stcp {
    fn build(p: &Parameters) -> Self {
        Stcp {
            linux: p.word("variant") == "linux",
            increase: p.number("increase"),
            decrease: p.number("decrease"),
            low_window: p.number("low_window"),
        }
    }

    #[inline]
    fn is_standard(&self, cwnd: f64) -> bool {
        !self.linux && cwnd < self.low_window
    }
}

impl CongestionControl for Stcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        let standard = standard_increase(w.cwnd, ack.acked);
        w.cwnd += if self.is_standard(w.cwnd) {
            standard
        } else if self.linux {
            standard.max(self.increase * ack.acked)
        } else {
            self.increase * ack.acked
        };
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = if self.is_standard(w.cwnd) {
            standard_decrease(w.cwnd)
        } else {
            w.cwnd - self.decrease * w.cwnd
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, instance, loss, round_trip, sawtooth, window};
    use super::*;

    #[test]
    fn at_200_ms_a_loss_is_recovered_in_2_7_seconds_at_every_rate() {
        // Kelly 2003, table of recovery times: the same 2.7 s from 10 Mbit/s (167 segments) to 10 Gbit/s
        // (167000)
        for before in [167.0, 16_700.0, 167_000.0] {
            let mut c = instance(&ROW, &[]);
            let mut w = window(before, 2.0);
            c.on_congestion(&loss(), &mut w);
            w.cwnd = w.ssthresh;
            let (mut rounds, mut last) = (0.0, w.cwnd);
            while w.cwnd < before {
                last = w.cwnd;
                round_trip(&mut c, &mut w);
                rounds += 1.0;
            }
            rounds -= (w.cwnd - before) / (w.cwnd - last);
            assert_eq!(
                (rounds * 0.2 * 10.0_f64).round() / 10.0,
                2.7,
                "{before} segments: {rounds} round trips"
            );
        }
    }

    #[test]
    fn a_loss_takes_an_eighth_and_at_small_windows_half() {
        let mut c = instance(&ROW, &[]);
        for (cwnd, left) in [(1000.0, 875.0), (16.0, 14.0), (15.0, 7.5)] {
            let mut w = window(cwnd, 2.0);
            c.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, left);
        }
    }

    #[test]
    fn growth_switches_from_one_segment_a_round_trip_to_a_hundredth_of_the_window() {
        let mut c = instance(&ROW, &[]);
        for (cwnd, growth) in [(10.0, 0.1), (15.9, 1.0 / 15.9), (16.0, 0.01), (5000.0, 0.01)] {
            let mut w = window(cwnd, 2.0);
            c.on_ack(&ack(1.0), &mut w);
            assert!((w.cwnd - cwnd - growth).abs() < 1e-9, "{cwnd}");
        }
    }

    #[test]
    fn linux_never_grows_slower_than_standard_tcp_and_always_takes_an_eighth() {
        let mut c = instance(&ROW, &[("variant", "linux")]);
        for (cwnd, growth) in [(8.0, 0.125), (50.0, 0.02), (100.0, 0.01), (800.0, 0.01)] {
            let mut w = window(cwnd, 2.0);
            c.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, 0.875 * cwnd);
            w.ssthresh = 2.0;
            c.on_ack(&ack(1.0), &mut w);
            assert!((w.cwnd - cwnd - growth).abs() < 1e-9, "{cwnd}");
        }
    }

    #[test]
    fn the_window_before_a_periodic_loss_is_eight_hundredths_of_the_period() {
        // the response function of Scalable TCP, w = (a / b) / p
        let peak = sawtooth(&mut instance(&ROW, &[]), 100_000).peak;
        assert!((peak / 8000.0 - 1.0).abs() < 0.01, "{peak}");
    }
}
