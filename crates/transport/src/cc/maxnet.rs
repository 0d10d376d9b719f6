//! TCP MaxNet's sender (Wydrowski, Zukerman: MaxNet: A Congestion Control Architecture, IEEE Communications
//! Letters 6(11), 2002; Suchara, Witt, Wydrowski: TCP MaxNet, ICON 2005; Suchara, Andrew, Witt, Jacobsson,
//! Wydrowski, Low: Implementation of Provably Stable MaxNet, BROADNETS 2008): its rate x is a function of one
//! price, the greatest of the links on its path (`crates/net/src/router/maxnet.rs`), and packets leave
//! exactly 1/x apart.
//!
//! ```text
//! Out   :  p <- 0 in the header
//! Start :  x doubles each round trip until it is D(p)
//! static:  x <- D(p)
//! stable:  d ln x / dt = - (alpha / tau) dp/dt + (zeta alpha s / tau) (ln D(p) - ln x)
//! D(p)  =  w X e^(-p / s)
//! Loss  :  x stays        only prices change it, also in recovery
//! ```
//!
//! `static` is the letter's source with the demand function chosen here. `stable` is the law of Paganini,
//! Wang, Doyle and Low (Congestion Control for High Performance, Stability, and Fairness in General Networks,
//! IEEE/ACM Transactions on Networking 13(1), 2005) for one bottleneck, which the later MaxNet papers take
//! over: x = X e^(xi - alpha p / tau), where xi moves slowly until the marginal utility of x is p. tau is the
//! smoothed round-trip time. At rest both have x = D(p), which no round-trip time enters, so rates are
//! max-min fair.
//!
//! Only abstracts and the authors' overview were at hand; the law of 2005 is from memory.
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | X, least rate | 10^15, 32 | bit/s | overview of MaxNet at netlab.caltech.edu | none; the form of D is chosen here |
//! | s | 0.4 | s | chosen here: `static` is then stable up to a round trip of (pi / 2) s = 0.63 s | |
//! | w | 1 | | overview: weighted max-min fairness | none |
//! | alpha | 0.5 | | chosen here; stable below pi / 2 (from memory of the paper of 2005, not verified) | |
//! | zeta | 0.25 | 1/s | chosen here: slow beside round trips of up to 2 s (abstract of 2005: a bound has to be known) | |
//! | after a loss | the same rate | | overview: loss and congestion control are decoupled; prices are followed in recovery too | |
//! | start | 2 | of x per RTT | chosen here: as slow-start | MaxStart (2008), whose text was not at hand |
//! | window | 2, and above what is in flight | of x RTT | chosen here: it must not hold a sender that paces | |
//! | first rate | initial window | per RTT | chosen here | |
//! | least, and after a timeout | 1 | segment per RTT | chosen here; then it starts again | |
//! | growth without a router | 1 | segment per RTT | chosen here: standard TCP | |

use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Echo, Internals, Window};
use super::guided::Guided;
use super::row::{Properties, Protocol, Row};
use longfat_units::math::{exp, ln, pow};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Time};
use longfat_wire::{Explicit, MaxNet as Header};

/// The registry row.
pub const ROW: Row<MaxNet> = Row {
    entry: Entry {
        name: "maxnet",
        title: "TCP MaxNet",
        aliases: &[],
        citation: "Wydrowski, Zukerman: MaxNet: A Congestion Control Architecture, IEEE Communications Letters 6(11), \
                   2002; Suchara, Witt, Wydrowski: TCP MaxNet, ICON 2005",
        page: "maxnet",
        parameters: &[
            Parameter::choice("variant", &["stable", "static"], "how the rate follows the price"),
            Parameter::number(
                "alpha",
                0.5,
                (0.01, 1.57),
                "",
                "stable: how strongly the rate follows the price",
            ),
            Parameter::number(
                "zeta",
                0.25,
                (0.0, 10.0),
                "1/s",
                "stable: how fast the rate goes to the demand",
            ),
            Parameter::number("weight", 1.0, (1e-3, 1e3), "", "share among flows with the same bottleneck"),
        ],
        style: None,
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        samples: true,
        paces: true,
        protocol: Some(Protocol { name: "maxnet", header_bytes: Header::HEADER_BYTES, mirror: None }),
        ..Properties::DEFAULT
    },
    build: MaxNet::build,
};

/// How much ln x moves when the price moves by `price_change_s` in `span_s`, with a round-trip time `tau_s`
/// and a demand of e^`gap` times x.
pub fn step(alpha: f64, zeta: f64, tau_s: f64, price_change_s: f64, span_s: f64, gap: f64) -> f64 {
    // more than the whole gap would pass the demand
    let share = (zeta * alpha * Header::SCALE_S / tau_s * span_s).min(1.0);
    share * gap - alpha / tau_s * price_change_s
}

/// A MaxNet sender.
#[derive(Clone, Debug)]
pub struct MaxNet {
    is_static: bool,
    alpha: f64,
    zeta: f64,
    weight: f64,
    x: Guided,
    /// x has not reached the demand yet.
    starting: bool,
    now: Time,
    /// The last price, s, and when it came.
    price_s: f64,
    heard: Time,
}

impl MaxNet {
    fn build(p: &Parameters) -> Self {
        MaxNet {
            is_static: p.word("variant") == "static",
            alpha: p.number("alpha"),
            zeta: p.number("zeta"),
            weight: p.number("weight"),
            x: Guided::default(),
            starting: true,
            now: Time::ZERO,
            price_s: 0.0,
            heard: Time::ZERO,
        }
    }

    /// The rate that follows the present one at this price, segments/s.
    fn next(&mut self, price_s: f64, packet_bytes: f64) -> f64 {
        let demand = self.weight * Header::demand_bps(price_s) / (8.0 * packet_bytes);
        let (rate, tau_s) = (self.x.rate(), self.x.srtt_s());
        let span_s = self.now.since(self.heard).as_secs_f64();
        if self.starting {
            let grown = rate * pow(2.0, span_s / tau_s);
            self.starting = grown < demand;
            return grown.min(demand);
        }
        if self.is_static {
            return demand;
        }
        let step = step(self.alpha, self.zeta, tau_s, price_s - self.price_s, span_s, ln(demand / rate));
        // a price that falls suddenly must not ask for more than a price of 0 does
        (rate * exp(step)).min(self.weight * Header::demand_bps(0.0) / (8.0 * packet_bytes))
    }
}

impl CongestionControl for MaxNet {
    fn on_sample(&mut self, ack: &Ack) {
        self.now = ack.now;
        self.x.sample(ack);
    }

    fn explicit(&self, _cwnd_bytes: f64, _srtt: Interval) -> Option<Explicit> {
        Some(Explicit::MaxNet(Header { price_s: 0.0 }))
    }

    fn on_explicit(&mut self, header: &Explicit, packet_bytes: f64, echo: Echo, w: &mut Window) {
        let Explicit::MaxNet(Header { price_s }) = *header else { return };
        match echo {
            Echo::Data { .. } if price_s <= 0.0 => return self.x.hear_nobody(w),
            Echo::Data { limited } => {
                if self.x.hear_router(w) {
                    self.heard = self.now;
                }
                if !self.x.has_router() {
                    return;
                }
                let next = self.next(price_s, packet_bytes);
                // a rate that is not used does not grow
                if limited || next < self.x.rate() {
                    self.x.set(next, w);
                }
            }
            Echo::Recovery if price_s > 0.0 && self.x.has_router() => {
                let next = self.next(price_s, packet_bytes);
                self.x.pace(next);
            }
            _ => return,
        }
        (self.price_s, self.heard) = (price_s, self.now);
    }

    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        self.x.ack(ack, w);
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        w.ssthresh = self.x.congestion(event, w);
        if event.cause == Cause::Timeout {
            self.starting = true;
            self.x.restart();
        }
        // a start doubles the rate in each round trip of echoes, not of silence
        self.heard = event.now;
    }

    fn on_recovered(&mut self, now: Time, w: &mut Window) {
        self.x.recovered(w);
        if self.starting {
            self.heard = now;
        }
    }

    fn on_undo(&mut self, w: &mut Window) {
        self.x.undone(w);
    }

    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        self.x.pacing_rate(w, srtt)
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("rate", self.x.rate()));
        out.push(("price", self.price_s));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack_at, congestion, instance, loss, window, with_numbers};
    use super::*;

    const RTT: Interval = Interval::from_millis(100);
    const PACKET_BYTES: f64 = 1500.0;
    /// 1000 segments/s of 1500 bytes.
    const FAIR_BPS: f64 = 12e6;

    fn hear(c: &mut MaxNet, w: &mut Window, at_s: f64, price_s: f64) {
        let ack = ack_at(Time::from_secs_f64(at_s), 1.0, RTT);
        c.on_sample(&ack);
        c.on_explicit(&Explicit::MaxNet(Header { price_s }), PACKET_BYTES, Echo::Data { limited: true }, w);
        c.on_ack(&ack, w);
    }

    /// Echoes of this price for a span, 100 in each second.
    fn hear_for(c: &mut MaxNet, w: &mut Window, from_s: f64, to_s: f64, price_s: f64) {
        let echoes = (100.0 * (to_s - from_s)) as u32;
        (1..=echoes).for_each(|i| hear(c, w, from_s + 0.01 * f64::from(i), price_s));
    }

    fn rate(c: &MaxNet, w: &Window) -> f64 {
        c.pacing_rate(w, RTT).expect("it paces")
    }

    /// A sender of 1000 segments/s, which is what it wants at this price, after 20 s.
    fn settled(mut c: MaxNet) -> (MaxNet, Window, f64) {
        let mut w = window(10.0, f64::INFINITY);
        let price_s = Header::price_s_for(FAIR_BPS);
        hear_for(&mut c, &mut w, 0.0, 20.0, price_s);
        (c, w, price_s)
    }

    #[test]
    fn a_start_doubles_each_round_trip_until_the_demand() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, f64::INFINITY));
        let price_s = Header::price_s_for(FAIR_BPS);
        hear(&mut c, &mut w, 1.0, price_s);
        assert!((rate(&c, &w) - 100.0).abs() < 1e-9, "the initial window in a round trip");
        for (at_s, expected) in [(1.1, 200.0), (1.2, 400.0), (1.3, 800.0), (1.4, 1000.0)] {
            hear(&mut c, &mut w, at_s, price_s);
            assert!((rate(&c, &w) - expected).abs() < 1e-6, "{at_s}: {}", rate(&c, &w));
        }
        // what is in flight at the rate is half of the window
        assert!((w.cwnd - 200.0).abs() < 1e-6, "{}", w.cwnd);
    }

    #[test]
    fn a_price_that_rises_by_a_tenth_of_a_second_takes_a_part_of_the_rate_that_falls_with_the_round_trip_time()
     {
        // e^(-0.5 x 0.1 / 0.1) = e^-0.5 = 0.606531 at 100 ms, e^-0.05 = 0.951229 at 1 s
        for (tau_s, left) in [(0.1, 0.606_531), (1.0, 0.951_229)] {
            assert!((exp(step(0.5, 0.25, tau_s, 0.1, 0.0, 0.0)) - left).abs() < 1e-6, "{tau_s}");
        }
    }

    #[test]
    fn the_gap_to_the_demand_closes_at_the_slow_rate_and_is_never_passed() {
        // 0.25 x 0.5 x 0.4 / 0.1 = 0.5 of the gap in a second
        let moved = step(0.5, 0.25, 0.1, 0.0, 0.2, 2.0);
        assert!((moved - 0.2).abs() < 1e-12, "{moved}");
        assert_eq!(step(0.5, 0.25, 0.1, 0.0, 60.0, 2.0), 2.0);
    }

    #[test]
    fn both_variants_rest_at_the_demand_which_no_round_trip_time_enters() {
        for variant in ["stable", "static"] {
            for rtt in [20, 100, 400] {
                let rtt = Interval::from_millis(rtt);
                let (mut c, mut w) = (instance(&ROW, &[("variant", variant)]), window(10.0, f64::INFINITY));
                for (i, bps) in (1..=40_000).map(|i| (i, if i < 10_000 { 48e6 } else { FAIR_BPS })) {
                    let ack = ack_at(Time::from_secs_f64(0.01 * f64::from(i)), 1.0, rtt);
                    let price_s = Header::price_s_for(bps);
                    c.on_sample(&ack);
                    c.on_explicit(
                        &Explicit::MaxNet(Header { price_s }),
                        PACKET_BYTES,
                        Echo::Data { limited: true },
                        &mut w,
                    );
                }
                let rate = c.pacing_rate(&w, rtt).expect("it paces");
                assert!((rate - 1000.0).abs() < 1.0, "{variant}, {rtt:?}: {rate}");
            }
        }
    }

    #[test]
    fn the_static_variant_is_at_the_demand_at_once() {
        let (mut c, mut w, _) = settled(instance(&ROW, &[("variant", "static")]));
        hear(&mut c, &mut w, 20.1, Header::price_s_for(3e6));
        assert!((rate(&c, &w) - 250.0).abs() < 1e-6, "{}", rate(&c, &w));
    }

    #[test]
    fn a_price_that_falls_suddenly_asks_for_no_more_than_a_price_of_0() {
        let (mut c, mut w, _) = settled(instance(&ROW, &[]));
        for i in 0..40 {
            hear(&mut c, &mut w, 20.1 + 0.1 * f64::from(i), if i % 2 == 0 { 5.0 } else { 1e-9 });
        }
        assert!(rate(&c, &w) <= 1e15 / (8.0 * PACKET_BYTES) * (1.0 + 1e-9), "{}", rate(&c, &w));
    }

    #[test]
    fn weights_share_the_rate_at_one_price() {
        for (weight, expected) in [(0.5, 500.0), (3.0, 3000.0)] {
            let (c, w, _) = settled(with_numbers(&ROW, &[("weight", weight)]));
            assert!((rate(&c, &w) - expected).abs() < 1e-6, "{weight}: {}", rate(&c, &w));
        }
    }

    #[test]
    fn a_rate_that_is_not_used_does_not_grow() {
        let (mut c, mut w, price_s) = settled(instance(&ROW, &[("variant", "static")]));
        for (change_s, expected) in [(-0.2, 1000.0), (0.2, 1000.0 * exp(-0.5))] {
            c.on_sample(&ack_at(Time::from_secs_f64(21.0), 1.0, RTT));
            let echo = Explicit::MaxNet(Header { price_s: price_s + change_s });
            c.on_explicit(&echo, PACKET_BYTES, Echo::Data { limited: false }, &mut w);
            assert!((rate(&c, &w) - expected).abs() < 1e-6, "{change_s}: {}", rate(&c, &w));
        }
    }

    #[test]
    fn a_loss_leaves_the_rate_to_the_prices_which_count_in_recovery_too() {
        let (mut c, mut w, price_s) = settled(instance(&ROW, &[("variant", "static")]));
        c.on_congestion(&loss(), &mut w);
        assert!((rate(&c, &w) - 1000.0).abs() < 1e-6 && w.ssthresh == w.cwnd, "{w:?}");
        let before = w;
        c.on_sample(&ack_at(Time::from_secs_f64(20.1), 1.0, RTT));
        let echo = Explicit::MaxNet(Header { price_s: Header::price_s_for(3e6) });
        c.on_explicit(&echo, PACKET_BYTES, Echo::Recovery, &mut w);
        assert!((rate(&c, &w) - 250.0).abs() < 1e-6 && w == before, "{} {w:?}", rate(&c, &w));
        c.on_recovered(Time::from_secs_f64(20.2), &mut w);
        assert!((w.cwnd - 50.0).abs() < 1e-6, "{}", w.cwnd);
        hear(&mut c, &mut w, 20.3, price_s);
        assert!((rate(&c, &w) - 1000.0).abs() < 1e-6, "{}", rate(&c, &w));
    }

    #[test]
    fn after_a_timeout_it_starts_again_from_a_segment_a_round_trip_however_long_the_silence_was() {
        let (mut c, mut w, price_s) = settled(instance(&ROW, &[]));
        c.on_congestion(&Congestion { now: Time::from_secs_f64(25.0), ..congestion(Cause::Timeout) }, &mut w);
        assert!((rate(&c, &w) - 10.0).abs() < 1e-9, "a segment a round trip");
        for (at_s, expected) in [(25.1, 20.0), (25.2, 40.0)] {
            hear(&mut c, &mut w, at_s, price_s);
            assert!((rate(&c, &w) - expected).abs() < 1e-6, "{at_s}: {}", rate(&c, &w));
        }
        // silence in a recovery does not double the rate either
        c.on_recovered(Time::from_secs_f64(30.0), &mut w);
        hear(&mut c, &mut w, 30.1, price_s);
        assert!((rate(&c, &w) - 80.0).abs() < 1e-6, "{}", rate(&c, &w));
    }

    #[test]
    fn a_path_that_loses_its_routers_goes_on_as_tcp_from_the_data_in_flight_at_the_rate() {
        let (mut c, mut w, _) = settled(instance(&ROW, &[]));
        hear(&mut c, &mut w, 20.1, 0.0);
        assert_eq!(c.pacing_rate(&w, RTT), None);
        assert!((w.cwnd - 100.01).abs() < 1e-6 && (w.ssthresh - 100.0).abs() < 1e-6, "{w:?}");
    }

    #[test]
    fn without_a_router_on_the_path_it_is_standard_tcp_and_does_not_pace() {
        let (mut c, mut w) = (instance(&ROW, &[]), window(10.0, 20.0));
        hear(&mut c, &mut w, 1.0, 0.0);
        assert_eq!((w.cwnd, c.pacing_rate(&w, RTT)), (11.0, None));
        c.on_congestion(&loss(), &mut w);
        assert_eq!(w.ssthresh, 5.5);
    }
}
