//! LTCP (Bhandarkar, Jain, Reddy, Computer Communication Review 36(1), 2006): a flow with a large window
//! behaves as K standard flows, layers, and loses at most one of them with a loss.
//!
//! ```text
//! Ack :  W <- W + K / W                     while W_K <= W < W_(K+1),   W_K = W_T K (K + 1) (K - 1) / 6
//! Loss:  W <- (1 - beta) W
//! ```
//!
//! Below W_T (K = 1) it is standard TCP. The boundaries follow from the requirement that a flow with more
//! layers takes longer to add one, so that flows converge: delta_K / delta_(K-1) = (K + 1) / (K - 1), with
//! delta_K = W_(K+1) - W_K.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `window_threshold` (W_T) | 50 | segments | Bhandarkar and others 2006, from memory: the text was not at hand | none known |
//! | `decrease` (beta) | 0.15 | of W | as above; up to K = 19 it takes at most one layer of its own accord | none known |
//! | decrease below W_T | 1/2 | of W | RFC 5681 | none |
//! | `rtt_exponent` | 0 | | chosen here: growth K (RTT / `rtt_reference`)^x; 1/3 gives the RTT unfairness of standard TCP | the paper's K_R was not at hand |
//! | `rtt_reference` | 0.1 | s | chosen here | matters only with `rtt_exponent` |

use super::aimd::{standard_decrease, standard_increase};
use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Style};
use longfat_units::{Interval, math::pow};

/// The registry row.
pub const ROW: Row<Ltcp> = Row {
    entry: Entry {
        name: "ltcp",
        title: "LTCP",
        aliases: &["layered-tcp"],
        citation: "Bhandarkar, Jain, Reddy: LTCP: Improving the Performance of TCP in Highspeed Networks, ACM SIGCOMM \
                   Computer Communication Review 36(1), 2006",
        page: "ltcp",
        parameters: &[
            Parameter::number(
                "window_threshold",
                50.0,
                (2.0, 1e5),
                "segments",
                "window at which the second layer begins (W_T)",
            ),
            Parameter::number(
                "decrease",
                0.15,
                (0.001, 0.9),
                "of the window",
                "what a loss takes away beyond window_threshold (beta)",
            ),
            Parameter::number(
                "rtt_exponent",
                0.0,
                (0.0, 2.0),
                "",
                "growth is proportional to this power of the least round-trip time (1/3: RTT unfairness of standard TCP)",
            ),
            Parameter::number(
                "rtt_reference",
                0.1,
                (0.001, 10.0),
                "s",
                "round-trip time at which rtt_exponent changes nothing",
            ),
        ],
        style: Some(Style::new("#a08a00", "H")),
    },
    linux_module: None,
    properties: Properties::DEFAULT,
    build: Ltcp::new,
};

/// W_K: the window at which layer `layer` begins.
fn beginning(window_threshold: f64, layer: f64) -> f64 {
    window_threshold * layer * (layer + 1.0) * (layer - 1.0) / 6.0
}

/// An LTCP flow.
#[derive(Clone, Debug)]
pub struct Ltcp {
    window_threshold: f64,
    decrease: f64,
    rtt_exponent: f64,
    rtt_reference_s: f64,
    /// K, with the windows at which it begins and ends.
    layer: f64,
    from: f64,
    until: f64,
    base_rtt: Interval,
    /// (RTT / reference)^exponent, stored so that an acknowledgement needs no power function.
    scale: f64,
}

impl Ltcp {
    fn new(p: &Parameters) -> Self {
        let window_threshold = p.number("window_threshold");
        Ltcp {
            window_threshold,
            decrease: p.number("decrease"),
            rtt_exponent: p.number("rtt_exponent"),
            rtt_reference_s: p.number("rtt_reference"),
            layer: 1.0,
            from: 0.0,
            until: window_threshold,
            base_rtt: Interval::ZERO,
            scale: 1.0,
        }
    }

    fn set_layer(&mut self, layer: f64) {
        self.layer = layer;
        self.from = beginning(self.window_threshold, layer);
        self.until = beginning(self.window_threshold, layer + 1.0);
    }

    /// The layer grows with the window; only losses take one away.
    #[inline]
    fn climb(&mut self, cwnd: f64) {
        while cwnd >= self.until {
            self.set_layer(self.layer + 1.0);
        }
    }

    /// 1 before the first round-trip time.
    #[inline]
    fn scale(&mut self, base_rtt: Option<Interval>) -> f64 {
        if let Some(base_rtt) = base_rtt
            && base_rtt != self.base_rtt
        {
            self.base_rtt = base_rtt;
            self.scale = pow(base_rtt.as_secs_f64() / self.rtt_reference_s, self.rtt_exponent);
        }
        self.scale
    }
}

impl CongestionControl for Ltcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        self.climb(w.cwnd);
        let standard = standard_increase(w.cwnd, ack.acked);
        w.cwnd += if self.layer > 1.0 { self.layer * self.scale(ack.base_rtt) * standard } else { standard };
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.climb(w.cwnd);
        w.ssthresh =
            if self.layer > 1.0 { (1.0 - self.decrease) * w.cwnd } else { standard_decrease(w.cwnd) };
        if event.cause == Cause::Timeout {
            // slow-start finds the layer again
            self.set_layer(1.0);
        } else if w.ssthresh < self.from {
            self.set_layer(self.layer - 1.0);
        }
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("layer", self.layer));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, congestion, instance, loss, sawtooth, window, with_numbers};
    use super::*;

    fn ltcp(numbers: &[(&str, f64)]) -> Ltcp {
        with_numbers(&ROW, numbers)
    }

    fn growth_in_a_round_trip(cwnd: f64) -> f64 {
        let mut w = window(cwnd, 1.0);
        ltcp(&[]).on_ack(&ack(1.0), &mut w);
        (w.cwnd - cwnd) * cwnd
    }

    #[test]
    fn layers_begin_at_50_200_500_1000_and_1750_segments() {
        // W_T times 1, 4, 10, 20, 35: the tetrahedral numbers
        for (layer, beginning) in [(2.0, 50.0), (3.0, 200.0), (4.0, 500.0), (5.0, 1000.0), (6.0, 1750.0)] {
            assert!((growth_in_a_round_trip(beginning - 0.5) - layer + 1.0).abs() < 1e-6, "{beginning}");
            assert!((growth_in_a_round_trip(beginning) - layer).abs() < 1e-6, "{beginning}");
        }
    }

    #[test]
    fn a_gigabit_at_100_ms_is_ten_layers() {
        // 8333 packets of 1500 bytes: between 165 and 220 times 50
        assert!((growth_in_a_round_trip(8333.0) - 10.0).abs() < 1e-6);
    }

    #[test]
    fn it_claims_a_large_window_an_order_of_magnitude_faster_than_standard_tcp() {
        // the paper's abstract: "about an order of magnitude"; 2.4 Gbit/s at 150 ms are 30000 packets
        let (mut l, mut w, mut rounds) = (ltcp(&[]), window(50.0, 2.0), 0.0);
        while w.cwnd < 30_000.0 {
            rounds += 0.1;
            l.on_ack(&ack(0.1 * w.cwnd), &mut w);
        }
        let gain = (30_000.0 - 50.0) / rounds;
        assert!((8.0..12.0).contains(&gain), "{gain} times as fast");
    }

    #[test]
    fn a_loss_takes_at_most_one_layer_from_any_window() {
        for step in 1..2000 {
            let mut l = ltcp(&[]);
            let mut w = window(f64::from(step * step), 2.0);
            l.on_ack(&ack(1e-9), &mut w);
            let before = l.layer;
            l.on_congestion(&loss(), &mut w);
            assert!(l.layer == before || l.layer == before - 1.0, "{}: {before} -> {}", w.cwnd, l.layer);
            let left = w.ssthresh / w.cwnd;
            assert!((left - if before > 1.0 { 0.85 } else { 0.5 }).abs() < 1e-9, "{}: {left}", w.cwnd);
        }
    }

    #[test]
    fn up_to_nineteen_layers_the_decrease_spares_the_layer_below_of_its_own_accord() {
        // layer 20 begins at 66500, 19 at 57000: more than .85 of that; there the layer stays, its window
        // does not
        for (cwnd, inside) in [(57_001.0, true), (66_499.0, true), (66_501.0, false), (183_000.0, false)] {
            let mut l = ltcp(&[]);
            let mut w = window(cwnd, 2.0);
            l.on_ack(&ack(1e-9), &mut w);
            l.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh >= l.from, inside, "{cwnd}: {} below {}", w.ssthresh, l.from);
        }
    }

    #[test]
    fn a_timeout_gives_all_layers_up_until_slow_start_has_found_them_again() {
        let mut l = ltcp(&[]);
        let mut w = window(8333.0, 2.0);
        l.on_ack(&ack(1.0), &mut w);
        l.on_congestion(&congestion(Cause::Timeout), &mut w);
        assert_eq!(l.layer, 1.0);
        w = window(600.0, 2.0);
        l.on_ack(&ack(1.0), &mut w);
        assert_eq!(l.layer, 4.0);
    }

    #[test]
    fn a_sawtooth_within_one_layer_has_the_windows_of_so_many_standard_flows() {
        // AIMD(K, beta) loses every N packets at sqrt(K N / (beta (1 - beta / 2))); both ends are in layer 3,
        // or 6
        for (packets, peak, mean) in [(10_000, 465.0, 430.1), (100_000, 2079.4, 1923.5)] {
            let s = sawtooth(&mut instance(&ROW, &[]), packets);
            assert!((s.peak / peak - 1.0).abs() < 0.005, "{packets}: {} against {peak}", s.peak);
            assert!((s.mean / mean - 1.0).abs() < 0.005, "{packets}: {} against {mean}", s.mean);
        }
    }

    /// Mean throughput, in segments per second, of a flow that loses a packet every ten seconds.
    fn throughput(exponent: f64, rtt_s: f64) -> f64 {
        let mut l = ltcp(&[("rtt_exponent", exponent)]);
        let mut w = window(1000.0, 2.0);
        let base_rtt = Some(Interval::from_secs_f64(rtt_s));
        let mut mean = 0.0;
        for _ in 0..200 {
            let rounds = (10.0 / rtt_s) as u32;
            mean = 0.0;
            for _ in 0..10 * rounds {
                mean += 0.1 * w.cwnd / f64::from(rounds);
                let tenth = Ack { base_rtt, ..ack(0.1 * w.cwnd) };
                l.on_ack(&tenth, &mut w);
            }
            l.on_congestion(&loss(), &mut w);
            w.cwnd = w.ssthresh;
        }
        mean / rtt_s
    }

    #[test]
    fn the_exponent_sets_how_unfair_unlike_round_trip_times_are() {
        // synchronised losses: throughputs go as the RTT ratio to 2.5 without, as standard TCP's to 2 with
        // 1/3, and to 1 with 1
        for (exponent, ratio) in [(0.0, 5.66), (1.0 / 3.0, 4.0), (1.0, 2.0)] {
            let measured = throughput(exponent, 0.05) / throughput(exponent, 0.1);
            assert!((measured / ratio - 1.0).abs() < 0.06, "{exponent}: {measured}, expected {ratio}");
        }
    }

    #[test]
    fn the_exponent_changes_nothing_before_the_first_round_trip_time() {
        let windows = [0.0, 2.0].map(|exponent| {
            let mut w = window(1000.0, 2.0);
            let unmeasured = Ack { rtt: None, srtt: Interval::ZERO, base_rtt: None, ..ack(1.0) };
            ltcp(&[("rtt_exponent", exponent)]).on_ack(&unmeasured, &mut w);
            w.cwnd
        });
        assert_eq!(windows[0], windows[1]);
    }
}
