//! Queues: the throughput of one flow with a given buffer, how full delay-based flows keep it, and the
//! Pollaczek-Khinchine mean. The derivations are in docs/theory.md.

use crate::theory_common::{ENDLESS, bdp_packets, connection, flow, link, lossless, off, plan, run};
use longfat_sim::LinkSummary;
use serde_json::{Value, json};

/// Rate in bit/s and round-trip time in s of two paths: 100 and 400 packets of bandwidth-delay product.
const PATHS: [(f64, f64); 2] = [(20e6, 0.06), (60e6, 0.08)];

/// One standard flow behind a buffer of `share` of the bandwidth-delay product, after the start.
fn sawtooth_link((rate_bps, rtt_s): (f64, f64), share: f64) -> LinkSummary {
    let bdp = bdp_packets(rate_bps, rtt_s);
    let with = json!({"initial_ssthresh": bdp, "access_rate_bps": 10.0 * rate_bps});
    // a sawtooth takes half a bandwidth-delay product of round trips and more
    let until_s = 20.0 * bdp * rtt_s;
    let bottleneck = link(rate_bps, (share * bdp).round() as u64, lossless());
    let planned = plan(bottleneck, vec![flow("1", "reno", rtt_s, with)], vec![], (0.2 * until_s, until_s));
    let mut done = run(&planned);
    assert!(done.summary.flows[0].congestion_events >= 7, "the measured span covers many sawteeth");
    done.summary.links.remove(0)
}

#[test]
fn a_buffer_of_the_bandwidth_delay_product_keeps_the_link_busy() {
    for path in PATHS {
        for share in [1.0, 1.2] {
            let busy = sawtooth_link(path, share).utilization;
            assert!(busy > 0.99, "{path:?}, {share} BDP of buffer: utilization {busy:.4}");
        }
    }
}

#[test]
fn a_smaller_buffer_leaves_the_link_idle_as_the_sawtooth_says() {
    // 3/4 (1 + q)^2 / (1 + q + q^2), see docs/theory.md
    for (share, expected) in [(0.1, 0.8176), (0.25, 0.8929), (0.5, 0.9643)] {
        for path in PATHS {
            let busy = sawtooth_link(path, share).utilization;
            assert!(
                off(busy, expected) < 0.01,
                "{path:?}, {share} BDP of buffer: utilization {busy:.4}, the sawtooth says {expected}"
            );
        }
    }
}

#[test]
fn fast_keeps_alpha_packets_in_the_network_as_printed_and_half_of_them_as_its_text_says() {
    // at 100 Mbit/s (12500 kB/s) alpha is 20 packets, LLS 2007, table II
    for (variant, alpha) in [("lls", 20.0), ("lls-half", 10.0)] {
        let with = json!({"parameters": {"variant": variant}, "delayed_ack": false, "access_rate_bps": 1e9});
        let one = vec![flow("1", "fast", 0.1, with)];
        let done = run(&plan(link(100e6, 2000, lossless()), one, vec![], (60.0, 120.0)));
        let bottleneck = &done.summary.links[0];
        // the packet on the wire does not wait, but its sender counts it
        let kept = bottleneck.queue_mean_packets + 1.0;
        assert!(off(kept, alpha) < 0.03, "{variant}: {kept:.2} packets kept, alpha is {alpha}");
        assert!(bottleneck.utilization > 0.999, "{variant}: utilization {:.4}", bottleneck.utilization);
        assert!(bottleneck.queue_std_packets < 1.5, "{variant}: {:.2}", bottleneck.queue_std_packets);
    }
}

#[test]
fn h_tcp_backs_off_to_the_ratio_of_least_to_greatest_round_trip_time() {
    let (rate_bps, rtt_s) = (100e6, 0.1);
    // a full buffer of q BDP makes the round-trip time 1 + q times as long; beta is held within .5 and .8
    for (share, expected) in [(0.1, 0.8), (0.4, 1.0 / 1.4), (0.6, 1.0 / 1.6), (0.8, 1.0 / 1.8), (1.5, 0.5)] {
        let bdp = bdp_packets(rate_bps, rtt_s);
        let with = json!({"initial_ssthresh": bdp, "access_rate_bps": 1e9});
        let bottleneck = link(rate_bps, (share * bdp).round() as u64, lossless());
        let done = run(&plan(bottleneck, vec![flow("1", "htcp", rtt_s, with)], vec![], (60.0, 110.0)));
        let settled: Vec<_> = done.events.iter().filter(|e| e.time_s > 60.0).collect();
        let mut backoffs = 0;
        for pair in settled.windows(2).filter(|w| w[0].what == "loss" && w[1].what == "recovered") {
            let beta = pair[1].cwnd / pair[0].cwnd;
            assert!(
                off(beta, expected) < 0.02,
                "{share} BDP of buffer, at {:.1} s: beta {beta:.4}, expected {expected:.4}",
                pair[0].time_s
            );
            backoffs += 1;
        }
        assert!(backoffs >= 5, "{share} BDP of buffer: {backoffs} backoffs");
    }
}

/// Independent short transfers, each a request for a connection of 60 bytes and one data packet of about 13.5
/// kB.
fn short_transfers(load: f64, rate_bps: f64) -> Value {
    let page_bytes = 13_453.0;
    let pages_per_s = load * rate_bps / (8.0 * (page_bytes + 52.0 + 60.0));
    let sessions = 1000;
    // different round-trip times: otherwise requests that waited together would send their data together
    let with = json!({"mss": 14_948, "access_rate_bps": 1e12, "rtt_s": {"uniform": [0.05, 0.25]}});
    let background = json!({"name": "web", "kind": "web", "sessions": sessions, "shape": 100.0,
        "gap_s": f64::from(sessions) / pages_per_s, "page_bytes": page_bytes,
        "flow": connection("reno", 0.1, with)});
    let pages = 200_000.0;
    let until_s = pages / pages_per_s;
    let first = flow("1", "reno", 0.1, json!({"bytes": 1}));
    plan(link(rate_bps, ENDLESS, lossless()), vec![first], vec![background], (0.05 * until_s, until_s))
}

#[test]
fn poisson_arrivals_wait_as_pollaczek_and_khinchine_say() {
    for load in [0.3, 0.6, 0.8] {
        let done = run(&short_transfers(load, 100e6));
        let bottleneck = &done.summary.links[0];
        let busy = bottleneck.utilization;
        assert!(off(busy, load) < 0.01, "load {load}: utilization {busy:.4}");
        // M/D/1: rho^2 / (2 (1 - rho)) data packets wait; as many requests wait equally long, and are
        // negligibly small
        let expected = load * load / (1.0 - load);
        let waiting = bottleneck.queue_mean_packets;
        assert!(off(waiting, expected) < 0.04, "load {load}: {waiting:.3} wait, theory says {expected:.3}");
    }
}
