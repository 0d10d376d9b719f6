//! What a summary states of a flow besides its rates, and that what has no value has none.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{and, column, dumbbell, flow, run_by_both, with};
use serde_json::{Value, json};

#[test]
fn what_was_never_measured_is_undefined_and_not_zero() {
    let source = with(flow("source", "cbr"), json!({"parameters": {"rate": 1.0}}));
    // 3 segments: done before the first sample, whose period is 100 ms
    let short = with(flow("short", "reno"), json!({"bytes": 3 * 1448, "rtt_s": 0.002}));
    let late = with(flow("late", "reno"), json!({"start_s": 4.5}));
    let mut plan = with(dumbbell(2e7, 60, 5.0, vec![source, short, late]), json!({"window_s": [0.0, 4.0]}));
    plan["links"][1]["queue"]["limit_packets"] = json!(100);
    let outcome = run_by_both(&plan);
    let flows = &outcome.summary.flows;
    for flow in flows {
        assert!(flow.srtt_mean_s.is_nan(), "{}: {}", flow.name, flow.srtt_mean_s);
    }
    let late = &flows[2];
    for value in [late.throughput_bps, late.goodput_bps, late.loss_ratio, late.cwnd_mean] {
        assert!(value.is_nan(), "it runs after the window: {late:?}");
    }
    for (name, series) in &outcome.flows {
        let srtt_s = series.column("srtt_s").expect("a column");
        assert!(srtt_s[0].is_nan(), "{name}");
        assert_eq!(srtt_s.iter().any(|srtt_s| !srtt_s.is_nan()), name != "source", "{name}");
        assert!(srtt_s.iter().all(|&srtt_s| srtt_s != 0.0), "{name}");
    }
}

#[test]
fn a_link_without_packets_has_no_loss_ratio() {
    let late = with(flow("late", "reno"), json!({"start_s": 4.5}));
    let plan = with(dumbbell(2e7, 60, 5.0, vec![late]), json!({"window_s": [0.0, 4.0]}));
    for link in &run_by_both(&plan).summary.links {
        assert!(link.loss_ratio.is_nan() && link.utilization == 0.0, "{link:?}");
    }
}

#[test]
fn delivery_does_not_wait_for_the_last_acknowledgement_which_the_receiver_delays() {
    // the last segment is the first of a pair: the receiver waits 40 ms before it acknowledges it
    let short =
        with(flow("1", "reno"), json!({"bytes": 40 * 1448, "start_s": 0.3, "delayed_ack_timeout": 0.04}));
    let mut plan = dumbbell(2e7, 60, 5.0, vec![and(short, json!({"quick_acks": 0}))]);
    let outcome = run_by_both(&plan);
    let flow = &outcome.summary.flows[0];
    let [delivered_s, completed_s] = [flow.delivered_s, flow.completed_s].map(|at| at.expect("it ends"));
    let [delivery_s, completion_s] =
        [flow.delivery_time_s, flow.completion_time_s].map(|at| at.expect("it ends"));
    // back to the sender in 21 ms, after 40 ms of waiting; the ACK's transmissions take some microseconds
    assert!((completed_s - delivered_s - 0.061).abs() < 1e-4, "{delivered_s} and {completed_s}");
    assert!((delivered_s - 0.3 - delivery_s).abs() < 1e-9 && (completed_s - 0.3 - completion_s).abs() < 1e-9);
    let series = &outcome.flows[0].1;
    let delivered = series.column("delivered_bytes").expect("a column");
    let first = delivered.iter().position(|&bytes| bytes == 40.0 * 1448.0).expect("all is delivered");
    let at = series.column("time_s").expect("a column");
    assert!(at[first - 1] < delivered_s && delivered_s <= at[first], "{delivered_s}");
    // what ends within the run counts only once it has ended
    plan["window_s"] = json!([0.0, 0.5 * (delivered_s + completed_s)]);
    let before = &run_by_both(&plan).summary.flows[0];
    assert_eq!((before.delivered_s, before.completed_s), (Some(delivered_s), None));
    plan["window_s"] = json!([0.0, delivered_s]);
    assert_eq!(run_by_both(&plan).summary.flows[0].delivered_s, None);
}

#[test]
fn a_flow_connects_once_its_request_is_answered() {
    let flows = ["reno", "xcp", "udt", "cbr"].map(|name| {
        let rate = if name == "cbr" { json!({"rate": 1.0}) } else { json!({}) };
        with(flow(name, name), json!({"parameters": rate}))
    });
    let mut plan = dumbbell(2e7, 60, 5.0, flows.to_vec());
    let connected =
        |plan: &Value| run_by_both(plan).summary.flows.iter().map(|flow| flow.connected).collect::<Vec<_>>();
    assert_eq!(connected(&plan), [Some(true), Some(true), Some(true), None]);
    // the answers get lost: every packet of the way back is lost in an outage
    let outage = json!({"outages": [{"begin_s": 0.0, "length_s": 10.0, "drains": true}]});
    plan["links"][1] = and(plan["links"][1].clone(), json!({"disturbance": outage}));
    assert_eq!(connected(&plan), [Some(false), Some(false), Some(false), None]);
}

#[test]
fn an_algorithm_reports_nothing_that_it_does_not_know_yet() {
    for (name, quantity) in [
        ("bbr", "min_rtt_s"),
        ("bbr3", "min_rtt_s"),
        ("fast", "base_rtt_s"),
        ("htcp", "max_rtt_s"),
        ("illinois", "max_rtt_s"),
        ("westwood+", "bandwidth_pps"),
    ] {
        let mut plan = dumbbell(2e7, 60, 3.0, vec![flow("1", name)]);
        plan["sample"] = json!({"flows_s": 0.01, "links_s": 0.1, "internals": true});
        let outcome = run_by_both(&plan);
        let values = column(&outcome.internals[0].1, quantity, "value");
        assert!(values.len() > 100 && values.iter().all(|&value| value > 0.0), "{name}: {quantity}");
    }
}
