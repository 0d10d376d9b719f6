//! Response functions: the mean window at a given loss ratio, against the published rules and tables.
//! The derivations are in docs/theory.md.

use crate::theory_common::{ENDLESS, PACKET_BYTES, flow, link, off, override_with, plan, run};
use longfat_sim::FlowSummary;
use longfat_units::math::{ln, pow, sqrt};
use serde_json::{Value, json};

const RTT_S: f64 = 0.1;
const BITS: f64 = 8.0 * PACKET_BYTES;

/// A rule that moves the window: growth in segments per round trip, and the part of the window that a loss
/// takes.
struct Rule {
    increase: fn(f64) -> f64,
    decrease: fn(f64) -> f64,
}

/// RFC 5681.
const STANDARD: Rule = Rule { increase: |_| 1.0, decrease: |_| 0.5 };

/// Kelly 2003, beyond Low_Window.
const SCALABLE: Rule = Rule { increase: |w| 0.01 * w, decrease: |_| 0.125 };

/// RFC 3649, section 5, beyond Low_Window: b runs linearly in log w from .5 at 38 to .1 at 83000, log p
/// linearly in log w from 1e-3 to 1e-7.
const HIGH_SPEED: Rule = Rule {
    increase: |w| {
        let way = ln(w / 38.0) / ln(83_000.0 / 38.0);
        let (b, p) = (0.5 - 0.4 * way, pow(10.0, -3.0 - 4.0 * way));
        w * w * p * 2.0 * b / (2.0 - b)
    },
    decrease: |w| 0.5 - 0.4 * ln(w / 38.0) / ln(83_000.0 / 38.0),
};

/// Bhandarkar, Jain, Reddy 2006: layer K begins at 50 K (K + 1) (K - 1) / 6; one layer is standard TCP.
const LAYERED: Rule = Rule {
    increase: |w| (1..).find(|k| w < f64::from(50 * k * (k + 1) * (k + 2) / 6)).map_or(f64::NAN, f64::from),
    decrease: |w| if w < 50.0 { 0.5 } else { 0.15 },
};

/// The steady state under periodic losses: the window after recovery, and the time average of the window.
#[derive(Clone, Copy)]
struct Sawtooth {
    trough: f64,
    mean: f64,
}

/// One of every `period` packets is lost. Segment by segment, w grows by a(w)/w; only whole segments are in
/// flight, so each takes 1 / floor(w) of a round trip. With `recovery`, three duplicates reveal the loss, and
/// the segments outstanding then (floor(w) and those three) are acknowledged without growth, in one round
/// trip, while the sender sends one segment for every two that arrive.
fn recursion(rule: &Rule, period: u64, recovery: bool) -> Sawtooth {
    let mut w = sqrt(period as f64);
    loop {
        let trough_before = w;
        let (mut area, mut round_trips) = (0.0, 0.0);
        let mut pass = |w: f64, share: f64| {
            area += w * share;
            round_trips += share;
        };
        // a cycle is `period` packets, one of them the retransmission
        let mut left = period as f64 - 1.0;
        while left > if recovery { w.floor() + 3.0 } else { 0.0 } {
            pass(w, 1.0 / w.floor());
            w += (rule.increase)(w) / w;
            left -= 1.0;
        }
        let peak = w;
        let trough = (1.0 - (rule.decrease)(peak)) * peak;
        let settled = off(trough, trough_before) < 1e-4;
        if recovery {
            for delivered in 0..(peak.floor() as u64 + 3) {
                pass((peak - (delivered / 2) as f64).max(trough), 1.0 / peak.floor());
            }
        }
        if settled {
            return Sawtooth { trough, mean: area / round_trips };
        }
        w = trough;
    }
}

/// Cycles before the measured span, and cycles that it covers.
fn cycles(period: u64) -> (f64, f64) {
    (6.0, (1e6 / period as f64).clamp(6.0, 200.0))
}

/// The summary of one flow that loses one of every `period` packets on a path without queueing.
fn measured(
    algorithm: &str,
    period: u64,
    start: Sawtooth,
    (before, during): (f64, f64),
    with: Value,
) -> FlowSummary {
    let cycle_s = RTT_S * period as f64 / start.mean;
    // the host's own link has room for the peak, and spreads the first windows over the round trip
    let access_bps = 2.0 * start.mean * BITS / RTT_S;
    let first = json!({"initial_ssthresh": start.trough, "access_rate_bps": access_bps});
    let mut planned = flow("1", algorithm, RTT_S, first);
    override_with(&mut planned, with);
    let bottleneck = link(1e12, ENDLESS, json!({"kind": "every", "packets": period}));
    let measured = (before * cycle_s, (before + during) * cycle_s);
    let mut done = run(&plan(bottleneck, vec![planned], vec![], measured));
    assert_eq!(done.summary.links[0].packets_dropped, 0, "only the loss process loses packets");
    let summary = done.summary.flows.remove(0);
    assert_eq!(summary.timeouts, 0, "{algorithm} recovers without timeouts");
    let (lost, noticed) = (summary.packets_lost, summary.congestion_events);
    assert!(lost.abs_diff(noticed) <= 1, "{algorithm}: {lost} losses are {noticed} congestion events");
    summary
}

/// Compares the mean window with the recursion for each period, with every segment acknowledged and every
/// second one.
fn follows(algorithm: &str, rule: &Rule, periods: &[u64]) {
    for &period in periods {
        let expected = recursion(rule, period, true);
        for delayed_ack in [false, true] {
            let with = json!({"delayed_ack": delayed_ack});
            let w = measured(algorithm, period, expected, cycles(period), with).cwnd_mean;
            assert!(
                off(w, expected.mean) < 0.01,
                "{algorithm}, one loss in {period} packets, delayed ACK {delayed_ack}: mean window {w:.2}, the \
                 recursion says {:.2}",
                expected.mean
            );
        }
    }
}

#[test]
fn standard_tcp_follows_its_recursion_under_periodic_loss() {
    follows("reno", &STANDARD, &[1_000, 10_000, 100_000]);
}

#[test]
fn scalable_tcp_follows_its_recursion_under_periodic_loss() {
    follows("stcp", &SCALABLE, &[1_000, 10_000, 100_000]);
}

#[test]
fn highspeed_tcp_follows_its_recursion_under_periodic_loss() {
    follows("hstcp", &HIGH_SPEED, &[10_000, 100_000]);
}

#[test]
fn layered_tcp_follows_its_recursion_under_periodic_loss() {
    follows("ltcp", &LAYERED, &[1_000, 10_000, 100_000]);
}

#[test]
fn the_round_trip_of_recovery_is_what_the_plain_recursion_lacks() {
    // Scalable TCP shows it most: a loss costs 12.5 round trips of growth, and its repair one more
    let period = 10_000;
    let (growth, full) = (recursion(&SCALABLE, period, false), recursion(&SCALABLE, period, true));
    let w = measured("stcp", period, full, cycles(period), json!({})).cwnd_mean;
    assert!(
        (0.06..0.10).contains(&(growth.mean / w - 1.0)),
        "mean window {w:.1}, without the recovery's round trip {:.1}, with it {:.1}",
        growth.mean,
        full.mean
    );
}

/// Standard TCP's mean window, compared with sqrt(`constant` / p): it must be below that, by no more than the
/// tolerance.
fn square_root(constant: f64, byte_counting: bool) {
    for (period, tolerance) in [(1_000, 0.035), (10_000, 0.012), (100_000, 0.006)] {
        let law = sqrt(constant * period as f64);
        let start = Sawtooth { trough: law / 1.5, mean: law };
        let with = json!({"byte_counting": byte_counting});
        let w = measured("reno", period, start, cycles(period), with).cwnd_mean;
        assert!(
            (1.0 - tolerance..1.0).contains(&(w / law)),
            "one loss in {period} packets: mean window {w:.2}, the square root law says {law:.2}"
        );
    }
}

#[test]
fn with_byte_counting_the_mean_window_is_the_square_root_of_3_over_2p() {
    square_root(1.5, true);
}

#[test]
fn delayed_acknowledgements_without_byte_counting_make_it_the_square_root_of_3_over_4p() {
    square_root(0.75, false);
}

/// RFC 3649, table of loss ratios and windows; the measured mean window must be within 5 %.
fn meets_the_rfc(period: u64, printed: f64, cycles: (f64, f64)) {
    let trough = printed * (1.0 - (HIGH_SPEED.decrease)(printed) / 2.0);
    let start = Sawtooth { trough, mean: printed };
    let w = measured("hstcp", period, start, cycles, json!({})).cwnd_mean;
    assert!(off(w, printed) < 0.05, "p = 1 / {period}: mean window {w:.1}, RFC 3649 prints {printed}");
}

#[test]
fn highspeed_tcp_has_the_windows_of_rfc_3649() {
    meets_the_rfc(10_000, 263.0, cycles(10_000));
    meets_the_rfc(100_000, 1_795.0, cycles(100_000));
    meets_the_rfc(1_000_000, 12_279.0, (3.0, 3.0));
}

#[test]
#[ignore = "300 million packets take half a minute or more"]
fn highspeed_tcp_has_the_rfcs_window_at_one_loss_in_ten_million() {
    meets_the_rfc(10_000_000, 83_981.0, (4.0, 4.0));
}

/// Packets per second of a flow that loses each packet with probability `p`.
fn rate_under_random_loss(algorithm: &str, p: f64, losses: f64, byte_counting: bool) -> f64 {
    let law = 1.3 / sqrt(p);
    let seconds = losses * RTT_S / (p * law);
    let with = json!({"byte_counting": byte_counting, "access_rate_bps": 1e9, "initial_ssthresh": law});
    let bottleneck = link(1e12, ENDLESS, json!({"kind": "random", "probability": p}));
    let measured = (0.05 * seconds, seconds);
    let done = run(&plan(bottleneck, vec![flow("1", algorithm, RTT_S, with)], vec![], measured));
    done.summary.flows[0].packets_sent as f64 / (measured.1 - measured.0)
}

/// Padhye, Firoiu, Towsley, Kurose 1998, equation 30 without a receiver's limit; `b` segments an
/// acknowledgement that counts, `t0_s` the first timeout.
fn pftk_pps(p: f64, b: f64, t0_s: f64) -> f64 {
    let timeouts = (3.0 * sqrt(3.0 * b * p / 8.0)).min(1.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (RTT_S * sqrt(2.0 * b * p / 3.0) + t0_s * timeouts)
}

#[test]
fn under_random_loss_the_rate_is_that_of_padhye_and_others() {
    // the first timeout is the round-trip time and the least margin, 200 ms
    let t0_s = RTT_S + 0.2;
    let settings =
        [("reno", 0.10, [1e-3, 3e-3, 1e-2, 3e-2]), ("reno-classic", 0.15, [1e-3, 2e-3, 5e-3, 1e-2])];
    for (algorithm, tolerance, ratios) in settings {
        for p in ratios {
            for (b, byte_counting) in [(1.0, true), (2.0, false)] {
                let (rate, law) =
                    (rate_under_random_loss(algorithm, p, 1000.0, byte_counting), pftk_pps(p, b, t0_s));
                assert!(
                    off(rate, law) < tolerance,
                    "{algorithm}, p = {p}, b = {b}: {rate:.1} packets/s, the formula says {law:.1}"
                );
            }
        }
    }
}

#[test]
fn rare_random_losses_give_the_constant_of_independent_losses() {
    // Mathis and others 1997, table 1: C = 1.31 for random losses, every segment acknowledged; 0.93 for every
    // second
    for (constant, byte_counting) in [(1.31, true), (0.93, false)] {
        let p = 1e-4;
        let rate = rate_under_random_loss("reno", p, 800.0, byte_counting);
        let measured = rate * RTT_S * sqrt(p);
        assert!(off(measured, constant) < 0.05, "C = {measured:.3}, the theory says {constant}");
    }
}
