//! H-TCP (Shorten and Leith 2004): additive increase that grows with the time since the last
//! congestion event, and a decrease that just empties the bottleneck's queue.
//!
//! The rule of Li, Leith and Shorten, "Experimental Evaluation of TCP Protocols for High-Speed Networks",
//! IEEE/ACM Transactions on Networking 15(5), 2007 (LLS below), section IV-C:
//!
//! ```text
//! Ack :  cwnd <- cwnd + 2 (1 - beta) f(D) / cwnd
//! Loss:  cwnd <- beta cwnd
//! f(D)  = 1                         D <= D_L        D: time since the last congestion event
//!         max(F(D) Tmin, 1)         D >  D_L        F(D) = 1 + 10 (D - D_L) + 0.25 (D - D_L)^2
//! beta  = 0.5                       if |B(k+1) - B(k)| / B(k) > D_B
//!         min(Tmin / Tmax, 0.8)     otherwise       B(k): greatest throughput achieved in epoch k
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `delta_l` (D_L) | 1 | s | LLS, Table II | none |
//! | `delta_b` (D_B) | 0.2 | of B(k) | LLS, Table II; Linux (5 B within 4..6 of the last) | none |
//! | linear, quadratic term of F | 10, 0.25 | 1/s, 1/s^2 | LLS, IV-C; Linux; FreeBSD | `draft`: 0.5 |
//! | `beta_min` | 0.5 | of cwnd | Linux | LLS prints no lower bound |
//! | `beta_max` | 0.8 | of cwnd | LLS, IV-C; Linux (102/128) | none |
//! | `rtt_reference` | 0.1 | s | Linux | LLS prints F Tmin without a unit |
//! | bounds of the scaling (`linux`) | 0.1 .. 2 | | Linux; FreeBSD | not in `paper`, which prints none |
//! | weight of a throughput sample | 1/4 | | Linux | LLS does not say how B is measured |
//! | epoch's first round trips | 3 | RTT | Linux: B restarts there | none |
//! | Tmax decay per event | 0.95 | of Tmax - Tmin | Linux; FreeBSD | LLS does not say |
//! | greatest believed step of Tmax | 20 | ms | Linux | LLS does not say |
//! | least Tmin for beta > 1/2 (`linux`) | 10 | ms | Linux | not in `paper` |

use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, Window};
use super::round::Round;
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// The backoff when the throughput changed, or when nothing is known yet.
const DEFAULT_BETA: f64 = 0.5;
const SAMPLE_WEIGHT: f64 = 0.25;
const EPOCH_START_ROUNDS: f64 = 3.0;
const MAX_RTT_DECAY: f64 = 0.95;
const MAX_RTT_STEP: Interval = Interval::from_millis(20);
const LINUX_LEAST_RTT: Interval = Interval::from_millis(10);
const LINUX_SCALING: (f64, f64) = (0.1, 2.0);

/// The registry row.
pub const ROW: Row<Htcp> = Row {
    entry: Entry {
        name: "htcp",
        title: "H-TCP",
        aliases: &["h-tcp", "hamilton"],
        citation: "Shorten, Leith: H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004",
        page: "htcp",
        parameters: &[
            Parameter::choice(
                "variant",
                &["paper", "linux", "draft"],
                "paper: LLS 2007, IV-C; linux: the kernel's tcp_htcp; draft: draft-leith-tcp-htcp-06",
            ),
            Parameter::number(
                "delta_l",
                1.0,
                (0.0, 60.0),
                "s",
                "time after a congestion event with standard growth",
            ),
            Parameter::number(
                "delta_b",
                0.2,
                (0.0, 1.0),
                "",
                "relative change of throughput that halves the window",
            ),
            Parameter::number("beta_min", 0.5, (0.01, 0.8), "", "least backoff factor"),
            Parameter::number("beta_max", 0.8, (0.5, 0.99), "", "greatest backoff factor"),
            Parameter::number(
                "rtt_reference",
                0.1,
                (0.001, 10.0),
                "s",
                "round-trip time at which the growth is not scaled (1 s: LLS's formula with Tmin in seconds)",
            ),
        ],
        style: Some(Style::new("#e69f00", "P")),
    },
    linux_module: Some("htcp"),
    properties: Properties {
        varies: |own, p| Properties { samples: p.word("variant") != "draft", ..own },
        ..Properties::DEFAULT
    },
    build: Htcp::new,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Paper,
    Linux,
    Draft,
}

/// F(D): segments per round trip, `beyond_s` seconds after D_L.
#[inline]
fn growth(beyond_s: f64, quadratic: f64) -> f64 {
    1.0 + 10.0 * beyond_s + quadratic * beyond_s * beyond_s
}

/// f(D) as LLS prints it; `scale` is Tmin over the reference round-trip time.
#[inline]
fn paper_increase(since_s: f64, delta_l_s: f64, scale: f64) -> f64 {
    if since_s <= delta_l_s { 1.0 } else { (growth(since_s - delta_l_s, 0.25) * scale).max(1.0) }
}

/// f(D) as Linux computes it: in whole numbers, scaled within bounds, and before D_L too.
#[inline]
fn linux_increase(since_s: f64, delta_l_s: f64, scale: f64) -> f64 {
    let whole = growth((since_s - delta_l_s).max(0.0), 0.25).floor();
    (whole * scale.clamp(LINUX_SCALING.0, LINUX_SCALING.1)).floor().max(1.0)
}

/// f(D) of the draft: without scaling.
#[inline]
fn draft_increase(since_s: f64, delta_l_s: f64) -> f64 {
    growth((since_s - delta_l_s).max(0.0), 0.5)
}

/// Whether the throughput of the last epoch differs from that of the one before by more than `delta_b`.
fn throughput_changed(before: f64, last: f64, delta_b: f64) -> bool {
    (last - before).abs() > delta_b * before
}

/// The state that a congestion event changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// Beginning of D.
    congested: Option<Time>,
    max_rtt: Interval,
    /// B(k): greatest throughput of the epoch before, in segments per second; zero before the first event.
    throughput_before: f64,
    beta: f64,
    /// Linux adapts beta only from the second event after a change of throughput.
    adaptive: bool,
}

/// An H-TCP flow.
#[derive(Clone, Debug)]
pub struct Htcp {
    variant: Variant,
    delta_l_s: f64,
    delta_b: f64,
    beta_range: (f64, f64),
    rtt_reference_s: f64,
    epoch: Epoch,
    undo: Option<Epoch>,
    recovering: bool,
    base_rtt: Interval,
    /// Tmin over the reference, stored so that an acknowledgement needs no division.
    scale: f64,
    round: Round,
    /// Smoothed and greatest throughput of this epoch, in segments per second.
    throughput: f64,
    greatest_throughput: f64,
}

impl Htcp {
    fn new(p: &Parameters) -> Self {
        Htcp {
            variant: match p.word("variant") {
                "linux" => Variant::Linux,
                "draft" => Variant::Draft,
                _ => Variant::Paper,
            },
            delta_l_s: p.number("delta_l"),
            delta_b: p.number("delta_b"),
            beta_range: (p.number("beta_min"), p.number("beta_max")),
            rtt_reference_s: p.number("rtt_reference"),
            epoch: Epoch {
                congested: None,
                max_rtt: Interval::ZERO,
                throughput_before: 0.0,
                beta: DEFAULT_BETA,
                adaptive: false,
            },
            undo: None,
            recovering: false,
            base_rtt: Interval::ZERO,
            scale: 1.0,
            round: Round::default(),
            throughput: 0.0,
            greatest_throughput: 0.0,
        }
    }

    /// f(D) for a flow whose last congestion event is `since_s` seconds ago.
    #[inline]
    fn increase(&self, since_s: f64) -> f64 {
        match self.variant {
            Variant::Paper => paper_increase(since_s, self.delta_l_s, self.scale),
            Variant::Linux => linux_increase(since_s, self.delta_l_s, self.scale),
            Variant::Draft => draft_increase(since_s, self.delta_l_s),
        }
    }

    /// Before the first round-trip time nothing is scaled, as in Linux.
    fn set_base_rtt(&mut self, base_rtt: Option<Interval>) {
        if let Some(base_rtt) = base_rtt
            && base_rtt != self.base_rtt
        {
            self.base_rtt = base_rtt;
            self.scale = base_rtt.as_secs_f64() / self.rtt_reference_s;
        }
    }

    fn recovered(&mut self, now: Time) {
        self.recovering = false;
        self.round.restart();
        if self.variant == Variant::Linux {
            self.epoch.congested = Some(now);
        }
    }

    fn update_beta(&mut self) {
        let before = self.epoch.throughput_before;
        let changed = before == 0.0 || throughput_changed(before, self.greatest_throughput, self.delta_b);
        self.epoch.throughput_before = self.greatest_throughput;
        let waits =
            self.variant == Variant::Linux && (!self.epoch.adaptive || self.base_rtt <= LINUX_LEAST_RTT);
        self.epoch.adaptive = !changed;
        self.epoch.beta = if changed || waits || self.epoch.max_rtt == Interval::ZERO {
            DEFAULT_BETA
        } else {
            let ratio = self.base_rtt.as_secs_f64() / self.epoch.max_rtt.as_secs_f64();
            ratio.min(self.beta_range.1).max(self.beta_range.0)
        };
    }
}

impl CongestionControl for Htcp {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if self.recovering {
            self.recovered(ack.now);
        }
        let congested = *self.epoch.congested.get_or_insert(ack.now);
        if w.in_slow_start() {
            return w.slow_start(ack.acked);
        }
        self.set_base_rtt(ack.base_rtt);
        let since_s = ack.now.since(congested).as_secs_f64();
        w.cwnd += ack.acked * 2.0 * (1.0 - self.epoch.beta) * self.increase(since_s) / w.cwnd;
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        self.set_base_rtt(event.base_rtt);
        self.undo = Some(self.epoch);
        self.recovering = true;
        self.epoch.congested = Some(event.now);
        if self.variant != Variant::Draft {
            self.update_beta();
            // routes change: an old Tmax fades
            let queueing = self.epoch.max_rtt.saturating_sub(self.base_rtt);
            if queueing > Interval::ZERO {
                self.epoch.max_rtt = self.base_rtt + queueing.scale(MAX_RTT_DECAY);
            }
        }
        w.ssthresh = self.epoch.beta * w.cwnd;
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        // round trips and rates with retransmissions say little about the path
        if self.recovering {
            return;
        }
        let congested = *self.epoch.congested.get_or_insert(ack.now);
        // a measured round-trip time is one of those of which the base is the least
        if let (Some(rtt), Some(base_rtt)) = (ack.rtt, ack.base_rtt) {
            let known = self.epoch.max_rtt.max(base_rtt);
            self.epoch.max_rtt = if rtt > known && rtt <= known + MAX_RTT_STEP { rtt } else { known };
        }
        let Some(trip) = self.round.passed(ack) else { return };
        let sample = trip.throughput_pps();
        let epoch_s = ack.now.since(congested).as_secs_f64();
        // nobody knows how many round trips have passed before the first time of one
        let begins = ack.base_rtt.is_none_or(|rtt| epoch_s <= EPOCH_START_ROUNDS * rtt.as_secs_f64());
        if self.throughput == 0.0 || begins {
            self.throughput = sample;
            self.greatest_throughput = sample;
        } else {
            self.throughput += SAMPLE_WEIGHT * (sample - self.throughput);
            self.greatest_throughput = self.greatest_throughput.max(self.throughput);
        }
    }

    fn on_recovered(&mut self, now: Time, _w: &mut Window) {
        if self.recovering {
            self.recovered(now);
        }
    }

    fn on_undo(&mut self, _w: &mut Window) {
        if let Some(epoch) = self.undo.take() {
            self.epoch = epoch;
        }
        self.recovering = false;
        self.round.restart();
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("beta", self.epoch.beta));
        let known = |value: f64| Some(value).filter(|&value| value > 0.0);
        out.extend(known(self.epoch.max_rtt.as_secs_f64()).map(|max_rtt_s| ("max_rtt_s", max_rtt_s)));
        out.extend(known(self.throughput).map(|throughput| ("throughput_pps", throughput)));
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::{Path, window};
    use super::super::{Cause, Value};
    use super::*;

    fn htcp(given: &[(&str, Value)]) -> Htcp {
        let given: Vec<_> = given.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        ROW.instance(&given).unwrap()
    }

    fn variant(word: &str) -> Htcp {
        htcp(&[("variant", Value::Word(word.into()))])
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    /// Segments gained in one round trip that begins `since_s` seconds after the last congestion event.
    fn gain(h: &mut Htcp, path: &mut Path, since_s: f64, cwnd: f64) -> f64 {
        h.epoch.congested = Some(Time::from_secs_f64(path.now_s));
        path.now_s += since_s;
        let mut w = window(cwnd, 1.0);
        for _ in 0..cwnd as u64 {
            let ack = path.ack(path.base_s, cwnd);
            h.on_ack(&ack, &mut w);
        }
        w.cwnd - cwnd
    }

    #[test]
    fn the_growth_function_takes_the_values_that_its_printed_polynomial_gives_by_hand() {
        for (since_s, lls, draft) in [(0.5, 1.0, 1.0), (1.0, 1.0, 1.0), (2.0, 11.25, 11.5), (3.0, 22.0, 23.0)]
        {
            near(paper_increase(since_s, 1.0, 1.0), lls);
            near(draft_increase(since_s, 1.0), draft);
        }
        near(paper_increase(11.0, 1.0, 1.0), 126.0);
        near(draft_increase(11.0, 1.0), 151.0);
    }

    #[test]
    fn the_paper_scales_growth_by_the_round_trip_time_but_never_below_standard_tcp() {
        near(paper_increase(3.0, 1.0, 0.5), 11.0);
        near(paper_increase(3.0, 1.0, 3.2), 70.4);
        near(paper_increase(3.0, 1.0, 0.01), 1.0);
        near(paper_increase(0.9, 1.0, 3.2), 1.0);
    }

    #[test]
    fn linux_scales_within_a_tenth_and_twofold_in_whole_numbers_and_from_the_start() {
        near(linux_increase(3.0, 1.0, 3.2), 44.0);
        near(linux_increase(0.9, 1.0, 3.2), 2.0);
        near(linux_increase(3.0, 1.0, 0.001), 2.0);
        near(linux_increase(2.0, 1.0, 1.0), 11.0);
        near(linux_increase(1.05, 1.0, 0.42), 1.0);
    }

    #[test]
    fn a_second_after_a_halving_the_window_still_grows_by_one_segment_a_round_trip() {
        for word in ["paper", "linux", "draft"] {
            let mut path = Path::new(0.1, 1e4);
            let got = gain(&mut variant(word), &mut path, 0.9, 200.0);
            assert!((got - 1.0).abs() < 0.01, "{word}: {got}");
        }
    }

    #[test]
    fn growth_is_scaled_by_twice_the_complement_of_the_backoff_factor() {
        // F(3 s) = 22 at the reference round-trip time; 2 (1 - 0.8) = 0.4 of it
        let mut path = Path::new(0.1, 1e5);
        let mut h = variant("paper");
        h.epoch.beta = 0.8;
        let got = gain(&mut h, &mut path, 3.0, 5000.0);
        assert!((got - 8.8).abs() < 0.02, "{got}");
    }

    /// The backoff factors of a flow that loses a packet whenever its window has reached `limit`.
    fn losses(h: &mut Htcp, path: &mut Path, limit: f64, events: usize) -> Vec<f64> {
        let mut w = window(500.0, 1.0);
        (0..events)
            .map(|_| {
                while w.cwnd < limit {
                    path.run(0.5 * path.base_s, h, &mut w);
                }
                path.lose(Cause::Loss, h, &mut w);
                h.epoch.beta
            })
            .collect()
    }

    #[test]
    fn the_decrease_empties_the_queue_once_the_throughput_is_steady() {
        // base 100 ms, a queue of just above 600 packets at 10000 a second: Tmin / Tmax just below .625
        let betas = losses(&mut variant("paper"), &mut Path::new(0.1, 1e4), 1600.0, 4);
        near(betas[0], 0.5);
        for beta in &betas[1..] {
            assert!((0.60..0.64).contains(beta), "{betas:?}");
        }
    }

    #[test]
    fn linux_adapts_the_decrease_one_event_later_and_not_below_ten_milliseconds() {
        let betas = losses(&mut variant("linux"), &mut Path::new(0.1, 1e4), 1600.0, 4);
        near(betas[0], 0.5);
        near(betas[1], 0.5);
        assert!((0.60..0.64).contains(&betas[2]), "{betas:?}");
        let betas = losses(&mut variant("linux"), &mut Path::new(0.01, 1e5), 1600.0, 4);
        assert_eq!(betas, [0.5; 4]);
    }

    #[test]
    fn the_backoff_factor_stays_between_a_half_and_eight_tenths_unless_told_otherwise() {
        let deep = losses(&mut variant("paper"), &mut Path::new(0.1, 1e4), 3000.0, 3);
        near(deep[2], 0.5);
        let shallow = losses(&mut variant("paper"), &mut Path::new(0.1, 1e4), 1050.0, 3);
        near(shallow[2], 0.8);
        let mut literal = htcp(&[("beta_min", Value::Number(0.01))]);
        let betas = losses(&mut literal, &mut Path::new(0.1, 1e4), 3000.0, 3);
        assert!((0.3..0.4).contains(&betas[2]), "{betas:?}");
    }

    #[test]
    fn a_changed_throughput_brings_back_the_halving() {
        let mut h = variant("paper");
        let mut path = Path::new(0.1, 1e4);
        losses(&mut h, &mut path, 1600.0, 3);
        path.rate_pps = 7000.0;
        near(losses(&mut h, &mut path, 1200.0, 1)[0], 0.5);
        assert!(losses(&mut h, &mut path, 1200.0, 2)[1] > 0.5);
    }

    #[test]
    fn a_change_of_throughput_counts_from_one_fifth() {
        assert!(!throughput_changed(100.0, 119.9, 0.2) && !throughput_changed(100.0, 80.1, 0.2));
        assert!(throughput_changed(100.0, 120.1, 0.2) && throughput_changed(100.0, 79.9, 0.2));
    }

    #[test]
    fn the_draft_always_halves() {
        assert_eq!(losses(&mut variant("draft"), &mut Path::new(0.1, 1e4), 1600.0, 4), [0.5; 4]);
    }

    #[test]
    fn throughputs_under_common_losses_go_as_the_inverse_of_the_round_trip_times() {
        // LLS, V-B and Fig. 10: H-TCP's throughput ratio is proportional to the ratio of the round-trip times
        let flows = [0.162, 0.081, 0.0405].map(|base_s| {
            let mut h = htcp(&[("beta_max", Value::Number(0.5))]);
            let mut path = Path::new(base_s, 1e6);
            let mut w = window(100.0, 1.0);
            for _ in 0..10 {
                path.run(8.0 - path.now_s % 8.0, &mut h, &mut w);
                path.lose(Cause::Loss, &mut h, &mut w);
            }
            path.run(8.0 - path.now_s % 8.0, &mut h, &mut w);
            w.cwnd / base_s
        });
        assert!((flows[1] / flows[0] / 2.0 - 1.0).abs() < 0.02, "{flows:?}");
        assert!((flows[2] / flows[0] / 4.0 - 1.0).abs() < 0.02, "{flows:?}");
    }

    #[test]
    fn linux_counts_the_time_from_the_end_of_recovery_and_the_paper_from_the_event() {
        for (word, expected_s) in [("paper", 0.0), ("linux", 0.1)] {
            let mut h = variant(word);
            let mut path = Path::new(0.1, 1e4);
            let mut w = window(100.0, 1.0);
            path.run(1.0, &mut h, &mut w);
            let lost_s = path.now_s;
            path.lose(Cause::Loss, &mut h, &mut w);
            let congested_s = h.epoch.congested.unwrap().as_secs_f64();
            assert!((congested_s - lost_s - expected_s).abs() < 1e-6, "{word}: {congested_s}");
        }
    }

    #[test]
    fn an_undo_restores_the_time_the_factor_and_the_greatest_round_trip_time() {
        let mut h = variant("paper");
        let mut path = Path::new(0.1, 1e4);
        losses(&mut h, &mut path, 1600.0, 2);
        let mut w = window(1600.0, 1.0);
        path.run(2.0, &mut h, &mut w);
        let before = h.epoch;
        path.lose(Cause::Loss, &mut h, &mut w);
        assert_ne!(h.epoch.congested, before.congested);
        h.on_undo(&mut w);
        assert_eq!(h.epoch.congested, before.congested);
        assert_eq!(h.epoch.max_rtt, before.max_rtt);
        near(h.epoch.throughput_before, before.throughput_before);
        near(h.epoch.beta, before.beta);
    }

    #[test]
    fn the_greatest_round_trip_time_ignores_leaps_and_fades_with_every_event() {
        let mut h = variant("paper");
        let mut path = Path::new(0.1, 1e4);
        for rtt_s in [0.1, 0.115, 0.2, 0.134] {
            path.now_s += 0.01;
            h.on_sample(&path.ack(rtt_s, 10.0));
        }
        near(h.epoch.max_rtt.as_secs_f64(), 0.134);
        let mut w = window(10.0, 1.0);
        path.lose(Cause::Loss, &mut h, &mut w);
        // 95 % of the 34 ms above the base are left
        near(h.epoch.max_rtt.as_secs_f64(), 0.1323);
    }

    #[test]
    fn slow_start_comes_first() {
        let mut h = variant("paper");
        let mut path = Path::new(0.1, 1e4);
        let mut w = window(10.0, 64.0);
        for _ in 0..10 {
            h.on_ack(&path.ack(0.1, 10.0), &mut w);
        }
        near(w.cwnd, 20.0);
    }
}
