//! CUBIC (Rhee, Xu 2005; Ha, Rhee, Xu 2008; RFC 9438): the window is a cubic function of the time since
//! the last congestion event, flat at the window of that event.
//!
//! ```text
//! W(t)  = C (t - K)^3 + W_max,   K = cbrt((W_max - cwnd_epoch) / C)
//! Ack :  cwnd <- cwnd + (target - cwnd) / cwnd        (per segment that counts)
//!        target = W(t + RTT) within cwnd .. 1.5 cwnd
//!        but cwnd <- W_est where W(t) < W_est;  W_est <- W_est + alpha / cwnd   (Reno-friendly region)
//!        alpha = 3 (1 - beta) / (1 + beta), and 1 once W_est has reached the window of the last event
//! Loss:  W_max <- (1 + beta) / 2 cwnd  if cwnd < W_max (fast convergence), else cwnd
//!        cwnd <- beta cwnd
//! ```
//!
//! | constant | value | unit | source | deviation |
//! |---|---|---|---|---|
//! | `c` | 0.4 | segments/s^3 | RFC 9438, section 5.1; the 2005 paper | Linux: 410/1024 |
//! | `beta` | 0.7 | of cwnd | RFC 9438, section 4.6 | `2005`: 0.8; Linux: 717/1024 |
//! | greatest target | 1.5 | of cwnd | RFC 9438, section 4.2 | `2005` has `s_max` instead |
//! | what a mark leaves with `abe` | 0.85 | of cwnd | RFC 8511, section 3.1 | fast convergence still counts with `beta` |
//! | `s_max` | 160 | segments/s | Linux tcp_cubic 2.0 (2.6.16), max_increment: 16 per 100 ms | `2005` only |
//! | W_est | | | RFC 9438, section 4.3 | `2005`: cwnd_epoch + alpha t / RTT |
//! | time without growth | > 2 | srtt | RFC 9438, section 4.2, sets no bound | not part of t; chosen here |
//! | HyStart | | | cubic/hystart.rs | |
//! | Linux' arithmetic | | | cubic/linux.rs | |

mod curve;
mod hystart;
mod linux;

use super::congestion_control::{Ack, Cause, Congestion, CongestionControl, Internals, Window};
use super::row::{Properties, Row};
use curve::{Curve, Text};
use hystart::HyStart;
use linux::Linux;
use longfat_units::parameters::{Parameter, Parameters};
use longfat_units::{Entry, Interval, Style, Time};

const RFC_BETA: f64 = 0.7;
const PAPER_BETA: f64 = 0.8;
const BETA_ECN: f64 = 0.85;
const LINUX_BETA: f64 = 717.0 / 1024.0;

/// The registry row.
pub const ROW: Row<Cubic> = Row {
    entry: Entry {
        name: "cubic",
        title: "CUBIC",
        aliases: &[],
        citation: "Xu, Ha, Rhee, Goel, Eggert: CUBIC for Fast and Long-Distance Networks, RFC 9438, 2023",
        page: "cubic",
        parameters: &[
            Parameter::choice(
                "variant",
                &["rfc9438", "2005", "linux"],
                "RFC 9438, the workshop paper of 2005 (Rhee, Xu), or Linux's module",
            ),
            Parameter::number("c", 0.4, (0.001, 100.0), "", "scale of the cubic curve, in segments/s^3 (C)"),
            Parameter::number("beta", 0.0, (0.0, 0.95), "of the window", "what a loss leaves")
                .or_auto("the variant's own: 0.7, 2005 0.8, Linux 717/1024"),
            Parameter::number(
                "s_max",
                160.0,
                (1.0, 1e6),
                "segments",
                "greatest growth per second (variant 2005 only)",
            ),
            Parameter::choice(
                "fast_convergence",
                &["on", "off"],
                "whether a loss below the last maximum lowers the next one",
            ),
            Parameter::choice(
                "hystart",
                &["auto", "on", "off"],
                "hybrid slow-start, which ends before the first loss; auto: on in variant linux",
            ),
        ],
        style: Some(Style::new("#56b4e9", ">")),
    },
    linux_module: Some("cubic"),
    properties: Properties {
        beta_ecn: Some(BETA_ECN),
        varies: |own, p| Properties { samples: p.word("variant") == "linux", ..own },
        ..Properties::DEFAULT
    },
    build: Cubic::build,
};

#[derive(Clone, Debug)]
enum Rule {
    Curve(Curve),
    Linux(Linux),
}

/// CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    rule: Rule,
    hystart: Option<HyStart>,
}

impl Cubic {
    fn build(p: &Parameters) -> Self {
        let (c, given, fast) = (p.number("c"), p.number("beta"), p.word("fast_convergence") == "on");
        let beta = |own| if given > 0.0 { given } else { own };
        let rule = match p.word("variant") {
            "linux" => Rule::Linux(Linux::new(c, beta(LINUX_BETA), fast)),
            "2005" => {
                let text = Text::Paper2005 { s_max: p.number("s_max") };
                Rule::Curve(Curve::new(text, c, beta(PAPER_BETA), fast))
            }
            _ => Rule::Curve(Curve::new(Text::Rfc9438, c, beta(RFC_BETA), fast)),
        };
        let hybrid = match p.word("hystart") {
            "auto" => matches!(rule, Rule::Linux(_)),
            word => word == "on",
        };
        Cubic { rule, hystart: hybrid.then(HyStart::new) }
    }
}

/// What the kernel offers of CUBIC to others, for `variant = "linux"` (net/ipv4/tcp_cubic.c): they call its
/// parts when they want to. The sender calls [`CongestionControl`] instead.
impl Cubic {
    /// Begins as with a new connection, or after a timeout (cubictcp_init, cubictcp_state).
    pub fn reset(&mut self, now: Time) {
        if let Rule::Linux(linux) = &mut self.rule {
            linux.reset();
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.restart(now);
        }
    }

    /// Sending begins again after an idle time (cubictcp_cwnd_event).
    pub fn restart(&mut self, now: Time, idle: Interval) {
        if let Rule::Linux(linux) = &mut self.rule {
            linux.restart(now, idle);
        }
    }

    /// An acknowledgement, in any phase (cubictcp_acked). Wherever the window is below ssthresh, it may end
    /// slow-start: in a recovery that holds the window so low, too.
    pub fn acked(&mut self, ack: &Ack, w: &mut Window) {
        let Rule::Linux(linux) = &mut self.rule else { return };
        let counts = linux.on_sample(ack);
        let Some(hystart) = &mut self.hystart else { return };
        hystart.expect(ack.next_segment);
        if counts && w.in_slow_start() && hystart.ends_slow_start(ack, w.cwnd, linux.least_delay()) {
            w.ssthresh = w.cwnd;
        }
    }

    /// Lets the window grow for `ack.acked` segments (cubictcp_cong_avoid). What slow-start leaves of them
    /// counts further.
    pub fn grow(&mut self, ack: &Ack, w: &mut Window) {
        let before = w.cwnd;
        if w.in_slow_start() {
            w.cwnd = (before + ack.acked).min(w.ssthresh);
        }
        let left = ack.acked - (w.cwnd - before);
        if let Rule::Linux(linux) = &mut self.rule
            && left >= 1.0
        {
            linux.on_ack(&Ack { acked: left, ..*ack }, w);
        }
    }
}

impl CongestionControl for Cubic {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, w: &mut Window) {
        if w.in_slow_start() {
            let least_delay = match &self.rule {
                // before the first round-trip time none is too long
                Rule::Curve(_) => ack.base_rtt.unwrap_or(Interval::MAX),
                Rule::Linux(linux) => linux.least_delay(),
            };
            let end = self.hystart.as_mut().is_some_and(|h| h.ends_slow_start(ack, w.cwnd, least_delay));
            if !end {
                return w.slow_start(ack.acked);
            }
            w.ssthresh = w.cwnd;
        }
        match &mut self.rule {
            Rule::Curve(curve) => curve.on_ack(ack, w),
            Rule::Linux(linux) => linux.on_ack(ack, w),
        }
    }

    fn on_congestion(&mut self, event: &Congestion, w: &mut Window) {
        match &mut self.rule {
            Rule::Curve(curve) => curve.on_congestion(event, w),
            Rule::Linux(linux) => linux.on_congestion(event, w),
        }
        if let Some(h) = self.hystart.as_mut().filter(|_| event.cause == Cause::Timeout) {
            h.restart(event.now);
        }
    }

    #[inline]
    fn on_sample(&mut self, ack: &Ack) {
        if let Rule::Linux(linux) = &mut self.rule {
            linux.on_sample(ack); // whether it counts is asked again when the window grows
        }
    }

    fn on_undo(&mut self, _w: &mut Window) {
        // Linux restores the window alone; its next epoch begins there
        if let Rule::Curve(curve) = &mut self.rule {
            curve.on_undo();
        }
    }

    fn internals(&self, out: &mut Internals) {
        let (w_max, k_s) = match &self.rule {
            Rule::Curve(curve) => (curve.w_max(), curve.k_s()),
            Rule::Linux(linux) => (linux.last_max(), linux.k_s()),
        };
        out.extend([("w_max", w_max), ("k_s", k_s)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{ack, congestion, instance, loss, periodic, window};
    use super::super::{ParameterError, Value};
    use super::*;

    fn variant(word: &str, c: f64) -> Cubic {
        let given = [
            ("variant", Value::Word(word.to_owned())),
            // with it, windows that a loss finds a little below the last maximum settle lower than the tables
            ("fast_convergence", Value::Word("off".to_owned())),
            ("c", Value::Number(c)),
        ];
        ROW.instance(&given.map(|(k, v)| (k.to_owned(), v))).unwrap()
    }

    /// The mean window under one loss in `period` packets; the connection starts at the peak of the tables'
    /// formula.
    fn mean(word: &str, c: f64, rtt_s: f64, period: u64, printed: f64) -> f64 {
        let cycles = (1_000_000 / period).clamp(2, 60) as u32;
        periodic(&mut variant(word, c), rtt_s, period, printed / 0.925, cycles).mean
    }

    #[test]
    fn rfc_9438_has_the_mean_windows_of_its_tables_1_and_2() {
        let rows = [
            (0.1, 0.04, [38.0, 120.0, 593.0, 3332.0]),
            (0.1, 0.4, [38.0, 187.0, 1054.0, 5926.0]),
            (0.1, 4.0, [59.0, 333.0, 1874.0, 10538.0]),
            (0.01, 0.04, [38.0, 120.0, 379.0, 1200.0]),
            (0.01, 0.4, [38.0, 120.0, 379.0, 1200.0]),
            (0.01, 4.0, [38.0, 120.0, 379.0, 1874.0]),
        ];
        // there the cubic and the standard formula are nearly equal; the window follows now one, now the
        // other, and is above both
        let between = [(0.1, 0.04, 10_000), (0.1, 0.4, 1000), (0.01, 0.4, 1_000_000), (0.01, 4.0, 100_000)];
        for (rtt_s, c, windows) in rows {
            for (period, printed) in [1000, 10_000, 100_000, 1_000_000].into_iter().zip(windows) {
                let off = mean("rfc9438", c, rtt_s, period, printed) / printed - 1.0;
                let context = format!("RTT {rtt_s} s, C {c}, one loss in {period}: {off:+.3}");
                let greatest = if between.contains(&(rtt_s, c, period)) { 0.06 } else { 0.025 };
                assert!((-0.01..greatest).contains(&off), "{context}");
            }
        }
    }

    #[test]
    fn rfc_9438_needs_the_loss_ratios_of_its_table_3() {
        for (p, printed) in [(2.9e-4, 83.3), (1.4e-5, 833.3), (6.3e-7, 8333.3)] {
            let w = mean("rfc9438", 0.4, 0.1, (1.0 / p) as u64, printed);
            assert!((w / printed - 1.0).abs() < 0.05, "{p}: {w}");
        }
    }

    #[test]
    fn linux_has_the_mean_windows_of_the_rfcs_table_1() {
        for (period, printed) in [(1000, 38.0), (10_000, 187.0), (100_000, 1054.0), (1_000_000, 5926.0)] {
            let w = mean("linux", 0.4, 0.1, period, printed);
            assert!((w / printed - 1.0).abs() < 0.02, "{period}: {w}");
        }
    }

    #[test]
    fn a_window_a_fifth_too_wide_takes_hundreds_of_losses_to_come_within_5_percent() {
        // the curve is flat there: wider by a part d it ends 0.9 d K early, and K is d K / 3 longer, so d
        // shrinks by 0.3 (0.9 d + d / 3)^3 = 0.563 d^3 a cycle: 1 / d^2 grows by 1.126
        let peak = 187.0 / 0.925;
        let distance = |cycles| {
            periodic(&mut variant("rfc9438", 0.4), 0.1, 10_000, 1.2 * peak, cycles).peak / peak - 1.0
        };
        let (d100, d400) = (distance(100), distance(400));
        assert!(d100 > 0.09 && d400 < 0.05, "{d100} {d400}");
        let growth = (1.0 / (d400 * d400) - 1.0 / (d100 * d100)) / 300.0;
        assert!((growth / 1.126 - 1.0).abs() < 0.1, "{growth}");
    }

    #[test]
    fn in_reach_of_standard_tcp_each_variant_has_its_mean_window() {
        // RTT 10 ms, one loss in 100 000: sqrt(3 / 2p)
        for word in ["rfc9438", "2005", "linux"] {
            let w = mean(word, 0.4, 0.01, 100_000, 387.3);
            assert!((w / 387.3 - 1.0).abs() < 0.02, "{word}: {w}");
        }
    }

    #[test]
    fn each_variant_keeps_its_own_part_of_the_window() {
        for (word, left) in [("rfc9438", 700.0), ("2005", 800.0), ("linux", 700.0)] {
            for event in [loss(), congestion(Cause::Timeout)] {
                let mut w = window(1000.0, 2.0);
                instance(&ROW, &[("variant", word)]).on_congestion(&event, &mut w);
                assert_eq!(w.ssthresh, left, "{word}");
            }
        }
    }

    #[test]
    fn a_given_beta_replaces_that_of_every_variant() {
        for word in ["rfc9438", "2005", "linux"] {
            let given = [("variant", Value::Word(word.to_owned())), ("beta", Value::Number(0.5))];
            let mut c = ROW.instance(&given.map(|(k, v)| (k.to_owned(), v))).unwrap();
            let mut w = window(1000.0, 2.0);
            c.on_congestion(&loss(), &mut w);
            assert_eq!(w.ssthresh, 500.0, "{word}");
        }
        let refused = ROW.instance(&[("beta".to_owned(), Value::Number(1.0))]);
        assert!(matches!(refused, Err(ParameterError::Refused { .. })));
    }

    #[test]
    fn a_recovery_that_holds_the_window_below_ssthresh_may_lower_ssthresh_if_others_drive_it() {
        // after a timeout nothing is found yet; 20 acknowledgements 1 ms apart tell of twice the least delay
        let mut c = variant("linux", 0.4);
        let at = |ms: u32, delay_ms: u64| {
            let mut ack = ack(1.0);
            ack.now = Time::from_secs_f64(0.001 * f64::from(ms));
            ack.rtt = Some(longfat_units::Interval::from_millis(delay_ms));
            (ack.unacknowledged, ack.next_segment) = (100, 200);
            ack
        };
        let mut w = window(50.0, 84.0);
        c.reset(Time::ZERO);
        c.acked(&at(1, 25), &mut w);
        assert_eq!(w.ssthresh, 84.0, "one sample says nothing");
        let found = (2..40).find(|&ms| {
            w.cwnd -= 1.0; // as a recovery does that sends nothing new
            c.acked(&at(ms, 50), &mut w);
            w.ssthresh < 84.0
        });
        // the train is longer than (25 ms + 1 ms) / 2 with the acknowledgement at 15 ms, and the window then
        // 36
        assert_eq!((found, w.ssthresh), (Some(15), 36.0));
    }

    #[test]
    fn growth_that_others_drive_goes_on_after_slow_start_with_what_that_leaves() {
        let mut c = variant("linux", 0.4);
        c.reset(Time::ZERO);
        let mut w = window(38.0, 40.0);
        let mut ack = ack(42.0);
        ack.now = Time::from_secs_f64(1.0);
        c.grow(&ack, &mut w);
        // 2 reach ssthresh; before a loss each 20 of the 40 others add one
        assert_eq!(w.cwnd, 42.0);
    }

    #[test]
    fn slow_start_ends_early_in_linux_or_when_asked_to() {
        for (words, early) in [
            (vec![], false),
            (vec![("hystart", "on")], true),
            (vec![("variant", "linux")], true),
            (vec![("variant", "linux"), ("hystart", "off")], false),
        ] {
            let mut c = instance(&ROW, &words);
            let mut w = window(40.0, f64::INFINITY);
            for i in 1..=60_u32 {
                let mut ack = ack(1.0);
                ack.now = longfat_units::Time::from_secs_f64(0.001 * f64::from(i));
                (ack.unacknowledged, ack.next_segment) = (u64::from(i), 100);
                c.on_sample(&ack);
                c.on_ack(&ack, &mut w);
            }
            assert_eq!(w.ssthresh.is_finite(), early, "{words:?}");
        }
    }
}
