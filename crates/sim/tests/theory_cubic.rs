//! CUBIC's mean windows under periodic loss against the tables of RFC 9438, and the end of its slow-start.

use crate::theory_common::{ENDLESS, PACKET_BYTES, bdp_packets, flow, link, lossless, off, plan, run};
use serde_json::{Value, json};

const BETA: f64 = 0.7;

/// The mean window of one flow that loses one of every `period` packets on a path of `rtt_s` without
/// queueing.
///
/// The RFC's formula implies a window before each loss. A flow with any other window approaches it only with
/// the third power of the distance, in hundreds of cycles, so this flow begins there: limited slow-start
/// (RFC 3742) grows by max_ssthresh / 2 a round trip, and has sent peak^2 / max_ssthresh packets at the peak.
fn mean(rtt_s: f64, period: u64, printed: f64, parameters: Value) -> f64 {
    let cycle_s = rtt_s * period as f64 / printed;
    let cycles = (1e6 / period as f64).clamp(3.0, 60.0);
    let peak = printed * 4.0 / (3.0 + BETA);
    let cubic = flow(
        "1",
        "cubic",
        rtt_s,
        json!({"parameters": parameters, "slow_start": "limited", "max_ssthresh": peak * peak / period as f64,
            "access_rate_bps": 2.0 * peak * 8.0 * PACKET_BYTES / rtt_s}),
    );
    let bottleneck = link(1e12, ENDLESS, json!({"kind": "every", "packets": period}));
    let window = (3.0 * cycle_s, (3.0 + cycles) * cycle_s);
    let done = run(&plan(bottleneck, vec![cubic], vec![], window));
    let summary = &done.summary.flows[0];
    assert_eq!(summary.timeouts, 0, "recovers without timeouts");
    summary.cwnd_mean
}

/// Tables 1 and 2, C = 0.4: round-trip time, packets to a loss, window.
const TABLES: [(f64, u64, f64); 7] = [
    (0.1, 1_000, 38.0),
    (0.1, 10_000, 187.0),
    (0.1, 100_000, 1_054.0),
    (0.1, 1_000_000, 5_926.0),
    (0.01, 1_000, 38.0),
    (0.01, 10_000, 120.0),
    (0.01, 100_000, 379.0),
];

#[test]
fn cubic_has_the_mean_windows_of_rfc_9438() {
    for (rtt_s, period, printed) in TABLES {
        let w = mean(rtt_s, period, printed, json!({"fast_convergence": "off"}));
        assert!(
            off(w, printed) < 0.05,
            "RTT {rtt_s} s, one loss in {period}: mean window {w:.1}, RFC 9438 prints {printed}"
        );
    }
}

#[test]
fn linux_has_them_at_100_milliseconds() {
    let parameters = json!({"variant": "linux", "fast_convergence": "off", "hystart": "off"});
    for (rtt_s, period, printed) in &TABLES[..3] {
        let w = mean(*rtt_s, *period, *printed, parameters.clone());
        assert!(off(w, *printed) < 0.05, "one loss in {period}: mean window {w:.1}, printed {printed}");
    }
}

#[test]
fn fast_convergence_costs_a_tenth_of_the_window_under_periodic_loss() {
    // each loss slightly below the last maximum lowers the next one, though there is no other flow
    for (rtt_s, period, printed) in &TABLES[1..3] {
        let w = mean(*rtt_s, *period, *printed, json!({}));
        assert!((0.85..0.95).contains(&(w / printed)), "one loss in {period}: {w:.1}, printed {printed}");
    }
}

/// Packets that the bottleneck's queue dropped in a flow's first 0.8 s, and packets sent.
fn slow_start(parameters: Value) -> (u64, u64) {
    let (rate_bps, rtt_s) = (100e6, 0.06);
    let buffer = bdp_packets(rate_bps, rtt_s) as u64;
    let cubic = flow("1", "cubic", rtt_s, json!({"parameters": parameters, "access_rate_bps": 1e9}));
    let done = run(&plan(link(rate_bps, buffer, lossless()), vec![cubic], vec![], (0.0, 0.8)));
    (done.summary.links[0].packets_dropped, done.summary.flows[0].packets_sent)
}

#[test]
fn hybrid_slow_start_ends_before_the_queue_overflows() {
    for variant in ["rfc9438", "linux"] {
        let dropped = |hystart| slow_start(json!({"variant": variant, "hystart": hystart}));
        let (without, with) = (dropped("off"), dropped("on"));
        // slow-start doubles once too often: path and queue hold 500 packets each, so it sends about 1000 too
        // many
        assert!((800..1200).contains(&without.0), "{variant}: {without:?}");
        // and the link was busy nevertheless from when the window had filled it
        assert_eq!(with.0, 0, "{variant}: {with:?}");
        assert!(with.1 > 2500, "{variant}: {with:?}");
    }
}
