//! DCTCP from end to end: a queue that marks above K stays about K packets long while the link is full, and
//! the other kinds of feedback do as well as the receiver's two states.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{and, dumbbell, flow, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

const K: f64 = 20.0;
const RATE_BPS: f64 = 1e9;

/// Two flows of 200 us on 1 Gbit/s, 16 packets; the queue marks what finds more than 20 packets.
fn plan(algorithm: &str, changes: &Value) -> Value {
    let flows = (0..2).map(|i| {
        let flow = with(
            flow(&i.to_string(), algorithm),
            json!({"rtt_s": 2e-4, "access_rate_bps": 1e10, "ecn": true}),
        );
        and(with(flow, json!({"start_s": 0.05 * f64::from(i)})), changes.clone())
    });
    let mut plan = dumbbell(RATE_BPS, 300, 1.0, flows.collect());
    plan["links"][0]["queue"] = json!({"kind": "red", "limit_packets": 300, "min": K, "max": K + 1.0, "max_p": 1.0,
        "weight": 1.0, "ecn": "true", "harddrop": "false"});
    with(plan, json!({"window_s": [0.4, 1.0]}))
}

/// Utilisation, mean and standard deviation of the queue.
fn at_the_bottleneck(outcome: &Outcome) -> (f64, f64, f64) {
    let link = &outcome.summary.links[0];
    (link.utilization, link.queue_mean_packets, link.queue_std_packets)
}

#[test]
fn the_queue_stays_about_the_threshold_and_the_link_is_full() {
    for variant in ["rfc8257", "linux"] {
        let given = json!({"parameters": {"variant": variant}});
        let outcome = run_by_both(&plan("dctcp", &given));
        let (utilization, mean, deviation) = at_the_bottleneck(&outcome);
        let context = format!("{variant}: {utilization} {mean} +- {deviation}");
        assert!(utilization > 0.99, "{context}");
        assert!((0.6 * K..1.2 * K).contains(&mean) && deviation < 0.4 * K, "{context}");
        assert_eq!(outcome.summary.links[0].packets_dropped, 0, "{context}");
        let [a, b] = [0, 1].map(|i| outcome.summary.flows[i].throughput_bps);
        assert!((a / b - 1.0).abs() < 0.3, "{context}: {a} {b}");
    }
}

#[test]
fn standard_tcp_with_the_same_marks_lets_the_queue_run_empty() {
    let (dctcp, standard) = (run_by_both(&plan("dctcp", &json!({}))), run_by_both(&plan("reno", &json!({}))));
    let ((full, ..), (lost, mean, _)) = (at_the_bottleneck(&dctcp), at_the_bottleneck(&standard));
    assert!(lost < 0.99 && full - lost > 0.01, "{full} {lost}: a queue of {mean} packets");
}

#[test]
fn counters_and_ect_1_give_the_queue_of_the_two_states() {
    let (_, states, _) = at_the_bottleneck(&run_by_both(&plan("dctcp", &json!({}))));
    for ecn in ["accurate", "l4s"] {
        let (utilization, mean, _) = at_the_bottleneck(&run_by_both(&plan("dctcp", &json!({"ecn": ecn}))));
        assert!(
            utilization > 0.98 && (mean / states - 1.0).abs() < 0.25,
            "{ecn}: {utilization} {mean} {states}"
        );
    }
}

#[test]
fn an_incast_of_60_flows_loses_no_connection_request_to_marks() {
    // RFC 8257, section 3.6: requests, answers and what is sent again are ECN-capable, so the queue marks
    // them too. All requests come at once, and 39 of them find more than K packets waiting.
    let flows = (0..60).map(|i| {
        let short = json!({"rtt_s": 2e-4, "bytes": 100_000});
        with(flow(&i.to_string(), "dctcp"), short)
    });
    let mut incast = dumbbell(RATE_BPS, 300, 1.0, flows.collect());
    incast["links"][0]["queue"] = json!({"kind": "red", "limit_packets": 300, "min": K, "max": K + 1.0,
        "max_p": 1.0,
        "weight": 1.0, "ecn": "true", "harddrop": "false"});
    let outcome = run_by_both(&incast);
    assert_eq!(outcome.summary.links[0].packets_dropped, 0);
    for flow in &outcome.summary.flows {
        assert!(flow.completed_s.is_some_and(|at| at < 0.1), "{}: {:?}", flow.name, flow.completed_s);
    }
}

#[test]
fn dctcp_needs_no_key_to_negotiate_ecn() {
    let (with_key, without) = (json!({"ecn": true}), json!({"ecn": false}));
    let marked = |changes| run_by_both(&plan("dctcp", changes)).summary.links[0].packets_marked;
    assert!(marked(&without) > 0 && marked(&without) == marked(&with_key));
}

#[test]
fn both_drivers_give_the_same_with_losses_delayed_acknowledgements_and_interrupts() {
    for changes in [
        json!({"ecn": "accurate"}),
        json!({"ecn": "accurate", "interrupt_moderation": 1e-4}),
        json!({"ecn": true, "delayed_ack": false}),
    ] {
        let mut lossy = plan("dctcp", &changes);
        lossy["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-3});
        lossy["links"][0]["ack_loss"] = json!({"kind": "random", "probability": 1e-2});
        let outcome = run_by_both(&lossy);
        assert!(outcome.summary.flows.iter().all(|f| f.retransmits > 0), "{changes}");
    }
}
