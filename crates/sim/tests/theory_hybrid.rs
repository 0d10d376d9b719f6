//! Algorithms that react to delay and to loss: how much they keep in the queue, and how much they leave to a
//! standard flow.

use crate::theory_common::{bdp_packets, flow, link, lossless, plan, run};
use longfat_sim::Outcome;
use serde_json::{Value, json};

const RATE_BPS: f64 = 100e6;
const RTT_S: f64 = 0.1;

/// These flows, each an algorithm and its parameters, behind a buffer of `share` of the bandwidth-delay
/// product.
fn together(share: f64, until_s: f64, algorithms: &[(&str, Value)]) -> Outcome {
    let bdp = bdp_packets(RATE_BPS, RTT_S);
    let one = |(i, (algorithm, parameters)): (usize, &(&str, Value))| {
        let with = json!({"access_rate_bps": 1e9, "start_s": 1.3 * i as f64, "initial_ssthresh": 0.5 * bdp,
            "parameters": parameters});
        flow(&(i + 1).to_string(), algorithm, RTT_S, with)
    };
    let flows = algorithms.iter().enumerate().map(one).collect();
    let bottleneck = link(RATE_BPS, (share * bdp).round() as u64, lossless());
    run(&plan(bottleneck, flows, vec![], (0.3 * until_s, until_s)))
}

/// The share of the link that a standard flow has beside this algorithm.
fn left_to_standard_tcp(share: f64, until_s: f64, algorithm: &str) -> f64 {
    let done = together(share, until_s, &[(algorithm, json!({})), ("reno", json!({}))]);
    done.summary.flows[1].throughput_bps / RATE_BPS
}

#[test]
fn yeah_alone_fills_the_link_with_a_queue_below_its_greatest_and_without_a_loss() {
    // Baiocchi and others 2007: no losses in table I, and a buffer requirement that does not grow with the
    // buffer
    for variant in ["paper", "linux"] {
        for share in [0.3, 1.0] {
            let done = together(share, 100.0, &[("yeah", json!({"variant": variant}))]);
            let bottleneck = &done.summary.links[0];
            let queue = bottleneck.queue_mean_packets;
            assert_eq!(bottleneck.packets_dropped, 0, "{variant}, {share} BDP of buffer");
            assert!(
                (20.0..80.0).contains(&queue),
                "{variant}, {share} BDP of buffer: {queue:.1} packets wait"
            );
            assert!(bottleneck.utilization > 0.98, "{variant}, {share} BDP: {:.4}", bottleneck.utilization);
        }
    }
}

#[test]
fn yeah_alone_keeps_its_queue_short_only_where_the_path_holds_four_times_as_many_packets() {
    // slow mode begins at a queue of BDP / 8. From there to a queue of Qmax = 80, window and count_reno grow
    // alike, and between two resets of count_reno (zeta = 50 fast round trips) lie about four such climbs:
    // count_reno reaches the window where BDP / 2 is below 4 (80 - BDP / 8), which is a BDP of 320. Then
    // nothing is removed any more
    for variant in ["paper", "linux"] {
        for (bdp, is_short) in [(100.0, false), (300.0, false), (400.0, true), (833.0, true)] {
            let rate_bps = bdp * 12_000.0 / 0.06;
            let parameters = json!({"variant": variant});
            let alone =
                json!({"access_rate_bps": 1e10, "initial_ssthresh": 0.5 * bdp, "parameters": parameters});
            let bottleneck = link(rate_bps, 10 * bdp as u64, lossless());
            let done = run(&plan(bottleneck, vec![flow("1", "yeah", 0.06, alone)], vec![], (100.0, 300.0)));
            let (most, mean) =
                (done.summary.links[0].queue_max_packets, done.summary.links[0].queue_mean_packets);
            let fits = if is_short { most < 120 && mean < 80.0 } else { most > 800 };
            assert!(fits, "{variant}, BDP of {bdp} packets: {mean:.0} packets wait, at most {most}");
        }
    }
}

#[test]
fn yeah_and_africa_leave_a_standard_flow_its_half_where_highspeed_tcp_does_not() {
    // Baiocchi and others 2007, section V-D: fair-to-Reno ratios around 1 for these two, 5 to 7 for
    // loss-based ones
    let beside = |algorithm| left_to_standard_tcp(1.0, 200.0, algorithm);
    let fair = beside("reno");
    for algorithm in ["yeah", "africa"] {
        let ratio = fair / beside(algorithm);
        assert!((0.8..1.25).contains(&ratio), "{algorithm}: fair-to-Reno ratio {ratio:.2}");
    }
    let ratio = fair / beside("hstcp");
    assert!(ratio > 4.0, "hstcp: fair-to-Reno ratio {ratio:.2}");
}

#[test]
fn hstcp_lp_uses_the_link_alone_and_leaves_it_to_a_standard_flow() {
    for share in [0.3, 1.0] {
        let lone = |algorithm| together(share, 150.0, &[(algorithm, json!({}))]).summary.links[0].utilization;
        let busy = lone("hstcp-lp");
        assert!(busy > 0.7, "{share} BDP of buffer: utilization {busy:.3}");
        let (left, alone) = (left_to_standard_tcp(share, 150.0, "hstcp-lp"), lone("reno"));
        assert!(
            left > 0.9 * alone,
            "{share} BDP of buffer: {left:.3} of the link left, {alone:.3} without it"
        );
    }
}
