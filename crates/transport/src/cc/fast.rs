//! FAST TCP (Jin, Wei and Low 2004): each round trip the window moves half-way to the one that keeps `alpha`
//! of its own packets queued, judged by the queueing delay.
//!
//! The rule of Li, Leith and Shorten, "Experimental Evaluation of TCP Protocols for High-Speed Networks",
//! IEEE/ACM Transactions on Networking 15(5), 2007 (LLS below), section IV-E (`variant = "lls"`):
//!
//! ```text
//! Each RTT: cwnd <- [cwnd + (Tmin / T) cwnd + alpha] / 2     T: average latency, alpha = f(throughput)
//! Loss    : cwnd <- 0.5 cwnd
//! ```
//!
//! Its fixed point, cwnd (1 - Tmin / T) = alpha, queues alpha packets a flow; LLS's sections V-A and V-D say
//! alpha / 2 ("lls-half": alpha / 2 in the rule). The INFOCOM paper ("infocom"), every 20 ms:
//!
//! ```text
//! w <- min(2 w, (1 - gamma) w + gamma (baseRTT / RTT w + alpha))
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `m0a`, `m1a`, `m2a` | 8, 20, 200 | packets | LLS, Table II | none |
//! | `m0u`, `m1l`, `m1u`, `m2l` | 1500, 1250, 15000, 12500 | kB/s | LLS, Table II | text: `m1u` = 125000 |
//! | `packet_bytes` | 1500 | bytes | LLS's packets | needed to compare segments per second with kB/s |
//! | `gamma` | 1/2 | | LLS ("/ 2") | INFOCOM: any value in (0, 1] |
//! | `update_period` | 0.02 | s | INFOCOM (Lopez Pacheco 2008, 2.4.4.1) | `infocom` only; 0: a round trip |
//! | weight of a sample in T | min(3 / cwnd, 1/8) | | see docs/models/fast.md | LLS only says "average" |
//! | least window | 2 | segments | FAST module of ns-2 | not printed |
//! | end of slow-start | own queue > alpha | packets | chosen here | see docs/models/fast.md |
//! | pacing | cwnd / srtt, twice that in slow-start | | LLS: "rate pacing" | the rate is chosen here |

use super::congestion_control::{Ack, Congestion, CongestionControl, Internals, LEAST_SSTHRESH, Window};
use super::round::Round;
use super::row::{Properties, Row};
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

/// Slow-start doubles the window in a round trip: pacing must allow that.
const SLOW_START_PACING: f64 = 2.0;
const PACKETS: (f64, f64) = (1.0, 1e6);
const KB_PER_S: (f64, f64) = (0.0, 1e9);

/// The registry row.
pub const ROW: Row<Fast> = Row {
    entry: Entry {
        name: "fast",
        title: "FAST TCP",
        aliases: &["fast-tcp"],
        citation: "Jin, Wei, Low: FAST TCP: Motivation, Architecture, Algorithms, Performance, INFOCOM 2004",
        page: "fast",
        parameters: &[
            Parameter::choice(
                "variant",
                &["lls", "lls-half", "infocom"],
                "lls: the rule LLS 2007 prints; lls-half: with alpha / 2, as its text says; infocom: Jin 2004",
            ),
            Parameter::number(
                "alpha",
                0.0,
                (0.0, 1e6),
                "packets",
                "packets to keep queued, e.g. 20, 200, 500, 2000 at 0.1, 1, 2.5, 10 Gbit/s",
            )
            .or_auto("m0a, m1a or m2a, by throughput"),
            Parameter::number("m0a", 8.0, PACKETS, "packets", "alpha at low throughput"),
            Parameter::number("m1a", 20.0, PACKETS, "packets", "alpha at medium throughput"),
            Parameter::number("m2a", 200.0, PACKETS, "packets", "alpha at high throughput"),
            Parameter::number("m0u", 1500.0, KB_PER_S, "kB/s", "throughput above which m0a gives way to m1a"),
            Parameter::number("m1l", 1250.0, KB_PER_S, "kB/s", "throughput below which m1a gives way to m0a"),
            Parameter::number(
                "m1u",
                15000.0,
                KB_PER_S,
                "kB/s",
                "throughput above which m1a gives way to m2a",
            ),
            Parameter::number(
                "m2l",
                12500.0,
                KB_PER_S,
                "kB/s",
                "throughput below which m2a gives way to m1a",
            ),
            Parameter::number(
                "packet_bytes",
                1500.0,
                (1.0, 65536.0),
                "bytes",
                "size that turns packets/s into kB/s",
            ),
            Parameter::number(
                "gamma",
                0.5,
                (0.001, 1.0),
                "",
                "share of the way to the target taken by an update",
            ),
            Parameter::number("update_period", 0.02, (0.0, 10.0), "s", "time between updates of infocom")
                .or_auto("a round trip"),
            Parameter::choice(
                "pacing",
                &["on", "off"],
                "send at cwnd / srtt, or as acknowledgements come in",
            ),
        ],
        style: Some(Style::new("#cc79a7", "v")),
    },
    linux_module: None,
    properties: Properties {
        shrinks: true,
        paces: true,
        varies: |own, p| Properties { timer_period: period(p), ..own },
        ..Properties::DEFAULT
    },
    build: Fast::new,
};

/// The window after one update of the printed rule, for any gamma.
#[inline]
fn updated(cwnd: f64, base_over_mean: f64, alpha: f64, gamma: f64) -> f64 {
    (1.0 - gamma) * cwnd + gamma * (base_over_mean * cwnd + alpha)
}

/// Weight of one round-trip time in the average.
#[inline]
fn sample_weight(cwnd: f64) -> f64 {
    (3.0 / cwnd).min(0.125)
}

/// alpha by throughput, with hysteresis: one level up or down a round trip.
#[derive(Clone, Debug)]
struct Switch {
    level: usize,
    alphas: [f64; 3],
    /// The bounds in kB/s of each level: above the first the flow moves up, below the second down.
    upper: [f64; 3],
    lower: [f64; 3],
}

impl Switch {
    fn new(p: &Parameters) -> Self {
        Switch {
            level: 0,
            alphas: [p.number("m0a"), p.number("m1a"), p.number("m2a")],
            upper: [p.number("m0u"), p.number("m1u"), f64::INFINITY],
            lower: [0.0, p.number("m1l"), p.number("m2l")],
        }
    }

    fn fixed(alpha: f64) -> Self {
        Switch { level: 0, alphas: [alpha; 3], upper: [f64::INFINITY; 3], lower: [0.0; 3] }
    }

    #[inline]
    fn alpha(&self) -> f64 {
        self.alphas[self.level]
    }

    fn measured(&mut self, throughput_kbyteps: f64) {
        if throughput_kbyteps > self.upper[self.level] {
            self.level += 1;
        } else if throughput_kbyteps < self.lower[self.level] {
            self.level -= 1;
        }
    }
}

/// The time between updates, if a timer makes them.
fn period(p: &Parameters) -> Option<Interval> {
    let period = Interval::from_secs_f64(p.number("update_period"));
    (p.word("variant") == "infocom" && period > Interval::ZERO).then_some(period)
}

/// A FAST flow.
#[derive(Clone, Debug)]
pub struct Fast {
    switch: Switch,
    /// The factor on alpha: 1, or 1/2 in "lls-half".
    alpha_share: f64,
    gamma: f64,
    /// An update at most doubles the window.
    bounded: bool,
    /// Updates by timer; otherwise once per round trip.
    period: Option<Interval>,
    packet_bytes: f64,
    paced: bool,
    round: Round,
    base_rtt_s: f64,
    mean_rtt_s: f64,
    /// Acknowledgements came since the last update.
    fresh: bool,
}

impl Fast {
    fn new(p: &Parameters) -> Self {
        Fast {
            switch: match p.number("alpha") {
                0.0 => Switch::new(p),
                alpha => Switch::fixed(alpha),
            },
            alpha_share: if p.word("variant") == "lls-half" { 0.5 } else { 1.0 },
            gamma: p.number("gamma"),
            bounded: p.word("variant") == "infocom",
            period: period(p),
            packet_bytes: p.number("packet_bytes"),
            paced: p.word("pacing") == "on",
            round: Round::default(),
            base_rtt_s: 0.0,
            mean_rtt_s: 0.0,
            fresh: false,
        }
    }

    /// Packets of its own that the flow wants queued.
    #[inline]
    fn target_queue(&self) -> f64 {
        self.alpha_share * self.switch.alpha()
    }

    /// Packets of its own that the flow believes queued.
    #[inline]
    fn own_queue(&self, cwnd: f64) -> f64 {
        if self.mean_rtt_s > 0.0 { cwnd * (1.0 - self.base_rtt_s / self.mean_rtt_s) } else { 0.0 }
    }

    fn update(&mut self, w: &mut Window) {
        if !self.fresh || self.mean_rtt_s <= 0.0 {
            return;
        }
        self.fresh = false;
        let target = updated(w.cwnd, self.base_rtt_s / self.mean_rtt_s, self.target_queue(), self.gamma);
        let target = if self.bounded { target.min(2.0 * w.cwnd) } else { target };
        w.cwnd = target.max(LEAST_SSTHRESH);
        // a window below ssthresh would be slow-start again
        w.ssthresh = w.ssthresh.min(w.cwnd);
    }
}

impl CongestionControl for Fast {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        // a measured round-trip time is one of those of which the base is the least
        if let (Some(rtt), Some(base_rtt)) = (ack.rtt, ack.base_rtt) {
            let rtt_s = rtt.as_secs_f64();
            let weight = if self.mean_rtt_s == 0.0 { 1.0 } else { sample_weight(w.cwnd) };
            self.mean_rtt_s += weight * (rtt_s - self.mean_rtt_s);
            self.base_rtt_s = base_rtt.as_secs_f64();
            self.fresh = true;
        }
        let round = self.round.passed(ack);
        if let Some(trip) = round {
            self.switch.measured(trip.throughput_pps() * self.packet_bytes / 1000.0);
        }
        if w.in_slow_start() {
            if self.own_queue(w.cwnd) <= self.target_queue() {
                return w.slow_start(ack.acked);
            }
            w.ssthresh = w.cwnd;
        }
        if round.is_some() && self.period.is_none() {
            self.update(w);
        }
    }

    fn on_congestion(&mut self, _event: &Congestion, w: &mut Window) {
        w.ssthresh = 0.5 * w.cwnd;
    }

    fn on_timer(&mut self, _now: Time, w: &mut Window) {
        if !w.in_slow_start() {
            self.update(w);
        }
    }

    #[inline]
    fn pacing_rate(&self, w: &Window, srtt: Interval) -> Option<f64> {
        if !self.paced || srtt == Interval::ZERO {
            return None;
        }
        let rate_pps = w.cwnd / srtt.as_secs_f64();
        Some(if w.in_slow_start() { SLOW_START_PACING * rate_pps } else { rate_pps })
    }

    fn internals(&self, out: &mut Internals) {
        out.push(("alpha", self.switch.alpha()));
        if self.mean_rtt_s > 0.0 {
            out.extend([("mean_rtt_s", self.mean_rtt_s), ("base_rtt_s", self.base_rtt_s)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::round::path::{Path, window};
    use super::super::{Cause, Value};
    use super::*;

    /// Packets of 1500 bytes a second.
    fn packets_per_s(rate_bps: f64) -> f64 {
        rate_bps / 12000.0
    }

    fn fast(given: &[(&str, Value)]) -> Fast {
        let given: Vec<_> = given.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
        ROW.instance(&given).unwrap()
    }

    fn word(key: &'static str, value: &str) -> (&'static str, Value) {
        (key, Value::Word(value.into()))
    }

    /// The queue that a lone flow settles at.
    fn settled_queue(f: &mut Fast, rate_bps: f64, base_s: f64) -> f64 {
        let mut path = Path::new(base_s, packets_per_s(rate_bps));
        let mut w = window(3.0, f64::INFINITY);
        path.timer_period_s = f.period.map(|period| period.as_secs_f64());
        path.run(200.0 * base_s, f, &mut w);
        path.queue_packets(w.cwnd)
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn an_update_is_the_printed_mean_of_window_and_target() {
        // [100 + (1/2) 100 + 20] / 2
        near(updated(100.0, 0.5, 20.0, 0.5), 85.0);
        // an empty queue: half of alpha a round trip
        near(updated(100.0, 1.0, 8.0, 0.5), 104.0);
    }

    #[test]
    fn a_sample_weighs_three_over_the_window_and_at_most_an_eighth() {
        near(sample_weight(10.0), 0.125);
        near(sample_weight(24.0), 0.125);
        near(sample_weight(300.0), 0.01);
    }

    #[test]
    fn the_literal_rule_queues_eight_twenty_and_two_hundred_packets() {
        // LLS, V-D: alpha is 8 packets at 10 Mb/s and 20 at 100 Mb/s; V-A: 200 above
        for (rate_bps, base_s, alpha) in [(10e6, 0.082, 8.0), (100e6, 0.082, 20.0), (250e6, 0.042, 200.0)] {
            let queue = settled_queue(&mut fast(&[]), rate_bps, base_s);
            assert!((queue - alpha).abs() < 0.5, "{rate_bps}: {queue}");
        }
    }

    #[test]
    fn the_corrected_rule_queues_a_hundred_packets_at_250_megabits() {
        // LLS, V-A: "For link speeds above 100 Mb/s, f/2 = 100"
        let queue = settled_queue(&mut fast(&[word("variant", "lls-half")]), 250e6, 0.042);
        assert!((queue - 100.0).abs() < 0.5, "{queue}");
    }

    #[test]
    fn a_gigabit_threshold_as_in_the_text_keeps_twenty_packets_at_250_megabits() {
        for (rate_bps, alpha) in [(250e6, 20.0), (2e9, 200.0)] {
            let mut f = fast(&[("m1u", Value::Number(125_000.0))]);
            let queue = settled_queue(&mut f, rate_bps, 0.042);
            assert!((queue - alpha).abs() < 0.5, "{rate_bps}: {queue}");
        }
    }

    #[test]
    fn the_infocom_rule_queues_its_fixed_alpha_by_timer_and_by_round_trip() {
        for period_s in [0.02, 0.0] {
            let mut f = fast(&[
                word("variant", "infocom"),
                ("alpha", Value::Number(200.0)),
                ("update_period", Value::Number(period_s)),
            ]);
            assert_eq!(f.period.is_some(), period_s > 0.0);
            let queue = settled_queue(&mut f, 1e9, 0.05);
            assert!((queue - 200.0).abs() < 1.0, "{period_s}: {queue}");
        }
    }

    #[test]
    fn the_infocom_rule_at_most_doubles_the_window_and_the_printed_one_does_not_say_so() {
        for (variant, expected) in [("infocom", 6.0), ("lls", 103.0)] {
            let mut f = fast(&[
                word("variant", variant),
                ("alpha", Value::Number(200.0)),
                ("update_period", Value::Number(0.0)),
            ]);
            let mut w = window(3.0, 1.0);
            (f.base_rtt_s, f.mean_rtt_s, f.fresh) = (0.1, 0.1, true);
            f.update(&mut w);
            near(w.cwnd, expected);
        }
    }

    #[test]
    fn alpha_keeps_its_level_between_the_two_thresholds() {
        let mut s = fast(&[]).switch;
        let mut at = |kbyteps: f64| {
            s.measured(kbyteps);
            s.alpha()
        };
        assert_eq!([at(1400.0), at(1501.0), at(1300.0), at(1249.0), at(1400.0)], [8.0, 20.0, 20.0, 8.0, 8.0]);
        assert_eq!([at(16000.0), at(14999.0), at(15001.0), at(12501.0)], [20.0, 20.0, 200.0, 200.0]);
        assert_eq!([at(12499.0), at(14000.0), at(0.0), at(0.0)], [20.0, 20.0, 8.0, 8.0]);
    }

    #[test]
    fn a_fixed_alpha_never_switches() {
        let mut s = fast(&[("alpha", Value::Number(50.0))]).switch;
        for kbyteps in [0.0, 1e4, 1e9] {
            s.measured(kbyteps);
            near(s.alpha(), 50.0);
        }
    }

    #[test]
    fn slow_start_doubles_until_the_target_is_queued_and_does_not_come_back() {
        let mut f = fast(&[]);
        let mut path = Path::new(0.1, packets_per_s(50e6));
        let mut w = window(4.0, f64::INFINITY);
        path.run(0.15, &mut f, &mut w);
        near(w.cwnd, 16.0);
        path.run(10.0, &mut f, &mut w);
        assert!(w.ssthresh.is_finite() && !w.in_slow_start());
        // another flow's queue shrinks the window without a new slow-start
        for _ in 0..2000 {
            path.now_s += 0.001;
            f.on_ack(&path.ack(0.3, w.cwnd), &mut w);
            assert!(!w.in_slow_start());
        }
        assert!(w.cwnd < 60.0, "{}", w.cwnd);
    }

    #[test]
    fn the_window_moves_once_a_round_trip() {
        let mut f = fast(&[]);
        let mut path = Path::new(0.1, 1e6);
        let mut w = window(100.0, 1.0);
        let mut moves = 0;
        for _ in 0..1000 {
            path.now_s += 0.001;
            let before = w.cwnd;
            f.on_ack(&path.ack(0.1, w.cwnd), &mut w);
            moves += u32::from(w.cwnd != before);
        }
        assert!((7..=9).contains(&moves), "{moves}");
    }

    #[test]
    fn the_timer_waits_for_new_acknowledgements() {
        let mut f = fast(&[word("variant", "infocom")]);
        let mut path = Path::new(0.1, 1e6);
        let mut w = window(100.0, 1.0);
        f.on_timer(Time::ZERO, &mut w);
        near(w.cwnd, 100.0);
        f.on_ack(&path.ack(0.1, 100.0), &mut w);
        f.on_timer(Time::ZERO, &mut w);
        near(w.cwnd, 104.0);
        f.on_timer(Time::ZERO, &mut w);
        near(w.cwnd, 104.0);
    }

    #[test]
    fn a_congestion_event_halves_the_window() {
        for cause in [Cause::Loss, Cause::Mark, Cause::Timeout] {
            let mut w = window(100.0, 1.0);
            Path::new(0.1, 1e4).lose(cause, &mut fast(&[]), &mut w);
            near(w.ssthresh, 50.0);
        }
    }

    #[test]
    fn a_window_leaves_in_one_round_trip_and_in_half_of_it_during_slow_start() {
        let f = fast(&[]);
        let srtt = Interval::from_millis(50);
        near(f.pacing_rate(&window(100.0, 1.0), srtt).unwrap(), 2000.0);
        near(f.pacing_rate(&window(100.0, 200.0), srtt).unwrap(), 4000.0);
        assert_eq!(f.pacing_rate(&window(100.0, 1.0), Interval::ZERO), None);
        assert_eq!(fast(&[word("pacing", "off")]).pacing_rate(&window(100.0, 1.0), srtt), None);
    }
}
