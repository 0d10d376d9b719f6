//! How standard flows share a drop-tail bottleneck. The derivations are in docs/theory.md.

use crate::theory_common::{bdp_packets, flow, link, lossless, off, plan, run};
use longfat_sim::FlowSummary;
use serde_json::json;

/// Two standard flows over `seconds` after the start, with a buffer of `share` of the first one's
/// bandwidth-delay product.
fn pair(rate_bps: f64, rtts_s: (f64, f64), share: f64, seconds: f64) -> [FlowSummary; 2] {
    let one = |name: &str, rtt_s: f64, start_s: f64| {
        flow(name, "reno", rtt_s, json!({"access_rate_bps": 1e9, "start_s": start_s}))
    };
    let flows = vec![one("1", rtts_s.0, 0.0), one("2", rtts_s.1, 1.3)];
    let bottleneck = link(rate_bps, (share * bdp_packets(rate_bps, rtts_s.0)).round() as u64, lossless());
    let done = run(&plan(bottleneck, flows, vec![], (100.0, 100.0 + seconds)));
    done.summary.flows.try_into().unwrap_or_else(|_| panic!("two flows were planned"))
}

fn ratio(flows: &[FlowSummary; 2], value: fn(&FlowSummary) -> f64) -> f64 {
    value(&flows[0]) / value(&flows[1])
}

#[test]
fn flows_with_the_same_round_trip_time_share_alike() {
    for rate_bps in [20e6, 50e6] {
        for share in [0.2, 0.5, 1.0] {
            let flows = pair(rate_bps, (0.05, 0.05), share, 600.0);
            let throughputs = ratio(&flows, |f| f.throughput_bps);
            assert!(
                off(throughputs, 1.0) < 0.10,
                "{rate_bps} bit/s, {share} BDP of buffer: throughput ratio {throughputs:.3}"
            );
        }
    }
}

/// Rate, round-trip times, buffer.
const UNLIKE: [(f64, (f64, f64), f64); 6] = [
    (20e6, (0.04, 0.08), 0.1),
    (20e6, (0.04, 0.08), 0.25),
    (100e6, (0.04, 0.08), 0.1),
    (20e6, (0.04, 0.16), 0.1),
    (100e6, (0.04, 0.16), 0.1),
    (100e6, (0.04, 0.16), 0.25),
];

#[test]
fn throughputs_go_as_the_inverse_square_of_round_trip_times_for_equally_many_losses() {
    let mut synchronised = 0;
    for (rate_bps, rtts_s, share) in UNLIKE {
        let flows = pair(rate_bps, rtts_s, share, 400.0);
        let expected = 1.0 / (ratio(&flows, |f| f.srtt_mean_s) * ratio(&flows, |f| f.srtt_mean_s));
        let events = ratio(&flows, |f| f.congestion_events as f64);
        let throughputs = ratio(&flows, |f| f.throughput_bps);
        // a flow that backs off n times in a given time has 1/n of the window
        assert!(
            off(throughputs * events, expected) < 0.15,
            "{rate_bps} bit/s, RTTs {rtts_s:?}, {share} BDP: throughputs {throughputs:.2}, events {events:.2}, \
             squared RTTs {expected:.2}"
        );
        // only where the flows lose about equally often, nearly synchronised, is that the ratio of the
        // throughputs
        if (0.65..1.55).contains(&events) {
            synchronised += 1;
            let apart = throughputs / expected;
            assert!(
                (1.0 / 1.6..1.6).contains(&apart),
                "throughputs {throughputs:.2}, squared RTTs {expected:.2}"
            );
        }
    }
    assert!(synchronised >= 2, "{synchronised} settings are nearly synchronised");
}
