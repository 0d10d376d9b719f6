//! VCP's sender (Xia, Subramanian, Stoica, Kalyanaraman: One More Bit Is Enough, SIGCOMM 2005): routers
//! (`crates/net/src/router/vcp.rs`) report their load in two bits, and the window reacts in one of three
//! ways.
//!
//! ```text
//! low :  cwnd <- cwnd (1 + xi_s)  per RTT        1 + xi_s = (1 + xi)^(rtt / t_rho),  xi = k (1 - 0.8) / 0.8
//! high:  cwnd <- cwnd + alpha_s   per RTT        alpha_s = alpha (rtt / t_rho)^2
//! over:  cwnd <- beta cwnd        once; for t_rho thereafter nothing, for an RTT after that as high
//! Loss:  cwnd <- cwnd / 2
//! ```
//!
//! xi_s makes growth over time independent of the round-trip time; alpha_s makes the rates of flows with
//! different round-trip times equal.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | t_rho | 200 | ms | SIGCOMM 2005; the authors' ns-2 sender | none; has to be the routers' |
//! | k | 0.25 | | the authors' ns-2 sender | none: xi = 1/16 |
//! | alpha | 1 | segment per RTT of t_rho | the authors' ns-2 sender | none |
//! | beta | 0.875 | of cwnd | SIGCOMM 2005 | none |
//! | ns2: reference of alpha_s | 100 | ms, in place of t_rho | the authors' ns-2 sender | linear below 20 ms and above 500 ms |
//! | ns2: greatest rtt / t_rho in xi_s | 2.5 | | the authors' ns-2 sender | none |
//! | greatest window | 10^9 | segments | what the sender here can have | none in the paper: xi_s and alpha_s have no bound when a round trip takes many t_rho |
//! | decrease on loss | 0.5 | of cwnd | the authors' ns-2 sender: that of Reno | none |

use super::aimd::standard_decrease;
use super::congestion_control::{Ack, Congestion, CongestionControl, Echo, Internals, MOST_CWND, Window};
use super::row::{Properties, Protocol, Row};
use longfat_units::math::pow;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, Load};

/// The registry row.
pub const ROW: Row<Vcp> = Row {
    entry: Entry {
        name: "vcp",
        title: "VCP",
        aliases: &[],
        citation: "Xia, Subramanian, Stoica, Kalyanaraman: One More Bit Is Enough, SIGCOMM 2005",
        page: "vcp",
        parameters: &[
            Parameter::choice("variant", &["paper", "ns2"], "how growth scales with the round-trip time"),
            Parameter::number(
                "interval",
                200.0,
                (1.0, 1e4),
                "ms",
                "the routers' measurement interval (t_rho)",
            ),
            Parameter::number("k", 0.25, (0.001, 10.0), "", "how fast the window grows at low load"),
            Parameter::number("alpha", 1.0, (0.001, 1000.0), "segments per RTT", "growth at high load"),
            Parameter::number("beta", 0.875, (0.01, 0.999), "of the window", "what too much load leaves"),
        ],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        samples: true,
        protocol: Some(Protocol { name: "vcp", header_bytes: 0, mirror: None }),
        ..Properties::DEFAULT
    },
    build: Vcp::build,
};

/// The upper bound of low load.
const LOW: f64 = 0.8;
/// The authors' ns-2 sender.
const NS2_REFERENCE_S: f64 = 0.1;
const NS2_SQUARE_S: (f64, f64) = (0.02, 0.5);
const NS2_GREATEST_SCALE: f64 = 2.5;

/// A VCP sender.
#[derive(Clone, Debug)]
pub struct Vcp {
    ns2: bool,
    interval: Interval,
    xi: f64,
    alpha: f64,
    beta: f64,
    now: Time,
    srtt: Interval,
    /// The last load that routers reported.
    load: Load,
    /// After overload, reports change nothing until the first of these times; until the second the window
    /// grows as under high load.
    frozen_until: Time,
    grows_until: Time,
}

impl Vcp {
    fn build(p: &Parameters) -> Self {
        Vcp {
            ns2: p.word("variant") == "ns2",
            interval: Interval::from_secs_f64(1e-3 * p.number("interval")),
            xi: p.number("k") * (1.0 / LOW - 1.0),
            alpha: p.number("alpha"),
            beta: p.number("beta"),
            now: Time::ZERO,
            srtt: Interval::ZERO,
            load: Load::Low,
            frozen_until: Time::ZERO,
            grows_until: Time::ZERO,
        }
    }

    /// xi_s: what a segment's acknowledgement adds at low load.
    fn multiplicative(&self, rtt_s: f64) -> f64 {
        let scale = rtt_s / self.interval.as_secs_f64();
        pow(1.0 + self.xi, if self.ns2 { scale.min(NS2_GREATEST_SCALE) } else { scale }) - 1.0
    }

    /// alpha_s: what a round trip adds at high load, segments.
    fn additive(&self, rtt_s: f64) -> f64 {
        if !self.ns2 {
            let scale = rtt_s / self.interval.as_secs_f64();
            return self.alpha * scale * scale;
        }
        let (least, greatest) = NS2_SQUARE_S;
        let in_references = |s: f64| s / NS2_REFERENCE_S;
        let beyond = in_references((rtt_s - greatest).max(0.0));
        let within = rtt_s.min(greatest);
        self.alpha * (in_references(within) * in_references(within.max(least)) + beyond)
    }

    fn is_over(&self) -> bool {
        self.load == Load::Over
    }
}

impl CongestionControl for Vcp {
    fn on_sample(&mut self, ack: &Ack) {
        (self.now, self.srtt) = (ack.now, ack.srtt);
    }

    fn explicit(&self, _cwnd_bytes: f64, _srtt: Interval) -> Option<Explicit> {
        Some(Explicit::Vcp(Load::Low))
    }

    fn on_explicit(&mut self, header: &Explicit, _packet_bytes: f64, echo: Echo, w: &mut Window) {
        let (Explicit::Vcp(load), Echo::Data { .. }) = (header, echo) else { return };
        self.load = *load;
        if self.is_over() && self.now >= self.grows_until {
            w.cwnd = (self.beta * w.cwnd).max(1.0);
            self.frozen_until = self.now + self.interval;
            self.grows_until = self.frozen_until + self.srtt;
        }
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        let rtt_s = ack.srtt.as_secs_f64();
        match self.load {
            Load::Low => w.cwnd += self.multiplicative(rtt_s) * ack.acked,
            Load::Over if ack.now < self.frozen_until => {}
            Load::High | Load::Over => w.cwnd += self.additive(rtt_s) * ack.acked / w.cwnd,
        }
        w.cwnd = w.cwnd.min(MOST_CWND);
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = standard_decrease(w.cwnd);
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("load", f64::from(self.load as u8)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, instance, loss, window, with_numbers};
    use super::*;

    fn ms(x: u64) -> Interval {
        Interval::from_millis(x)
    }

    /// Acknowledgements of one segment each at `now` that report this load.
    fn told(c: &mut Vcp, w: &mut Window, load: Load, now: Interval, rtt: Interval, segments: u32) {
        for _ in 0..segments {
            let ack = ack_at(Time::ZERO + now, 1.0, rtt);
            c.on_sample(&ack);
            c.on_explicit(&Explicit::Vcp(load), 1500.0, Echo::Data { limited: true }, w);
            c.on_ack(&ack, w);
        }
    }

    #[test]
    fn at_low_load_a_window_grows_by_a_sixteenth_in_t_rho_whatever_the_round_trip_time() {
        // a round trip acknowledges the window once
        for (rtt, rounds) in [(200, 1), (100, 2), (50, 4)] {
            let (mut c, mut w) = (instance(&ROW, &[]), window(100.0, f64::INFINITY));
            for _ in 0..rounds {
                c.on_ack(&ack_at(Time::ZERO, w.cwnd, ms(rtt)), &mut w);
            }
            assert!((w.cwnd - 106.25).abs() < 1e-9, "{rtt}: {}", w.cwnd);
        }
    }

    #[test]
    fn a_round_trip_of_many_intervals_leaves_a_window_that_a_sender_can_have() {
        // 1.0625^(60 s / 200 ms) is 8e7 for each segment
        let (mut c, mut w) = (instance(&ROW, &[]), window(100.0, f64::INFINITY));
        for _ in 0..3 {
            c.on_ack(&ack_at(Time::ZERO, 100.0, ms(60_000)), &mut w);
        }
        assert_eq!(w.cwnd, MOST_CWND);
        // 1000 (60 s / 1 ms)^2 segments in a round trip
        let given = [("alpha", 1000.0), ("interval", 1.0)];
        let (mut c, mut w) = (with_numbers(&ROW, &given), window(100.0, f64::INFINITY));
        told(&mut c, &mut w, Load::High, ms(1000), ms(60_000), 1);
        assert_eq!(w.cwnd, MOST_CWND);
    }

    /// The growth in a round trip of this many milliseconds at high load.
    fn grown(variant: &str, rtt_ms: u64) -> f64 {
        let (mut c, mut w) = (instance(&ROW, &[("variant", variant)]), window(100.0, f64::INFINITY));
        told(&mut c, &mut w, Load::High, ms(1000), ms(rtt_ms), 1);
        let before = w.cwnd;
        c.on_ack(&ack_at(Time::ZERO + ms(1001), before, ms(rtt_ms)), &mut w);
        w.cwnd - before
    }

    #[test]
    fn at_high_load_a_window_grows_by_the_square_of_the_round_trip_time_in_t_rho() {
        // one segment at 200 ms, a quarter at 100 ms, four at 400 ms: the rates then grow equally fast in
        // time
        for (rtt, growth) in [(200, 1.0), (100, 0.25), (400, 4.0)] {
            assert!((grown("paper", rtt) - growth).abs() < 1e-9, "{rtt}: {}", grown("paper", rtt));
        }
    }

    #[test]
    fn the_published_code_scales_by_100_ms_and_only_between_20_and_500_ms() {
        // per RTT: 1 at 100 ms, .25 at 50; below 20 ms linear (10 ms: .1 x .2), above 500 ms too (700 ms: 25
        // + 2)
        for (rtt, growth) in [(100, 1.0), (50, 0.25), (10, 0.02), (500, 25.0), (700, 27.0)] {
            assert!((grown("ns2", rtt) - growth).abs() < 1e-9, "{rtt}: {}", grown("ns2", rtt));
        }
        // 1.0625^2.5 - 1 = 0.16364 a segment, however long the round trip
        for rtt in [500, 900] {
            let (mut c, mut w) = (instance(&ROW, &[("variant", "ns2")]), window(10.0, f64::INFINITY));
            told(&mut c, &mut w, Load::Low, ms(10_000), ms(rtt), 1);
            assert!((w.cwnd - 10.163_64).abs() < 1e-5, "{rtt}: {}", w.cwnd);
        }
    }

    #[test]
    fn too_much_load_takes_an_eighth_once_then_freezes_then_grows_for_a_round_trip_before_the_next() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(800.0, f64::INFINITY));
        let mut over = |at, w: &mut Window| told(&mut c, w, Load::Over, ms(at), ms(100), 1);
        over(1000, &mut w);
        assert_eq!(w.cwnd, 700.0);
        over(1001, &mut w);
        over(1199, &mut w);
        assert_eq!(w.cwnd, 700.0, "frozen for 200 ms");
        over(1200, &mut w);
        over(1299, &mut w);
        assert!(w.cwnd > 700.0 && w.cwnd < 700.001, "a quarter of a segment a round trip: {}", w.cwnd);
        over(1300, &mut w);
        assert!((w.cwnd - 612.5).abs() < 0.001, "{}", w.cwnd);
    }

    #[test]
    fn a_freeze_ends_when_the_load_is_no_longer_too_much() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(800.0, f64::INFINITY));
        told(&mut c, &mut w, Load::Over, ms(1000), ms(200), 1);
        told(&mut c, &mut w, Load::Low, ms(1010), ms(200), 16);
        assert_eq!(w.cwnd, 701.0);
    }

    #[test]
    fn a_sender_that_the_window_does_not_hold_shrinks_all_the_same() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(8.0, f64::INFINITY));
        c.on_sample(&ack_at(Time::ZERO + ms(1000), 1.0, ms(100)));
        c.on_explicit(&Explicit::Vcp(Load::Over), 1500.0, Echo::Data { limited: false }, &mut w);
        assert_eq!(w.cwnd, 7.0);
    }

    #[test]
    fn a_loss_halves_the_window() {
        let mut w = window(40.0, f64::INFINITY);
        instance(&ROW, &[]).on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 20.0);
    }
}
