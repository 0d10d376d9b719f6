//! Transports over UDP on a bottleneck: how much they use, how much they leave to others, and that their
//! counters add up.
#![allow(clippy::expect_used, reason = "a test may panic")]

mod common;

use common::{column, dumbbell, flow, refusal_of, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

fn over_udp(name: &str, algorithm: &str, parameters: Value) -> Value {
    with(flow(name, algorithm), json!({"parameters": parameters}))
}

/// 100 Mbit/s, 42 ms and a buffer of one BDP, measured from 20 s on.
fn on_100_mbit(flows: Vec<Value>) -> Outcome {
    run(&with(dumbbell(100e6, 350, 60.0, flows), json!({"window_s": [20.0, 60.0]})))
}

#[test]
fn udt_alone_fills_nine_tenths_of_a_path_whatever_its_length() {
    for variant in ["thesis", "draft"] {
        for rtt_s in [0.01, 0.042, 0.2] {
            let one = over_udp("1", "udt", json!({"variant": variant}));
            let outcome = on_100_mbit(vec![with(one, json!({"rtt_s": rtt_s}))]);
            let share = outcome.summary.links[0].utilization;
            assert!(share > 0.9, "{variant}, {rtt_s} s: {share}");
        }
    }
}

#[test]
fn two_flows_of_udt_share_evenly_whatever_their_round_trip_times() {
    // the rate control interval is the same for all (Gu, Grossman 2007)
    let one = |name: &str, rtt_s: f64| {
        with(over_udp(name, "udt", json!({"variant": "draft"})), json!({"rtt_s": rtt_s}))
    };
    let plan = dumbbell(100e6, 350, 200.0, vec![one("1", 0.02), one("2", 0.1)]);
    let outcome = run(&with(plan, json!({"window_s": [100.0, 200.0]})));
    let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.goodput_bps).collect();
    let ratio = rates[0].min(rates[1]) / rates[0].max(rates[1]);
    assert!(ratio > 0.6, "{rates:?}");
    assert!(outcome.summary.links[0].utilization > 0.9);
}

/// Goodput of an established flow of `algorithm` after another one has joined, bit/s, on 250 Mbit/s and 100
/// ms.
fn beside(algorithm: &str, other: Value) -> f64 {
    let old = with(flow("old", algorithm), json!({"rtt_s": 0.1}));
    let other = with(other, json!({"rtt_s": 0.1, "start_s": 20.0}));
    let plan = with(dumbbell(250e6, 1000, 90.0, vec![old, other]), json!({"window_s": [30.0, 90.0]}));
    run(&plan).summary.flows[0].goodput_bps
}

#[test]
fn udt_takes_more_from_standard_tcp_and_bic_than_their_own_kind_does() {
    for (algorithm, left) in [("sack", 0.5), ("bic", 1.0)] {
        let own = beside(algorithm, flow("new", algorithm));
        for variant in ["thesis", "draft"] {
            let udt = beside(algorithm, over_udp("new", "udt", json!({"variant": variant})));
            assert!(udt < left * own, "{algorithm}, {variant}: {udt} beside udt, {own} beside its own kind");
        }
    }
}

#[test]
fn runat_climbs_until_it_loses_and_comes_back() {
    let outcome = on_100_mbit(vec![over_udp("1", "runat", json!({}))]);
    let summary = &outcome.summary.flows[0];
    assert!(outcome.summary.links[0].utilization > 0.7, "{}", outcome.summary.links[0].utilization);
    assert!(summary.loss_ratio < 0.1 && summary.congestion_events > 5, "{summary:?}");
    // each retransmission was lost before; no acknowledgement is lost, so nothing arrives twice
    assert_eq!(summary.spurious_retransmits, 0);
}

#[test]
fn constant_bit_rate_arrives_as_sent_below_the_capacity_and_loses_the_excess_above() {
    let at = |mbps: f64| {
        let outcome = on_100_mbit(vec![over_udp("1", "cbr", json!({"rate": mbps}))]);
        let f = &outcome.summary.flows[0];
        (f.throughput_bps / 1e6, f.goodput_bps / 1e6, f.loss_ratio)
    };
    let (throughput, goodput, loss) = at(60.0);
    assert!(
        (throughput - 60.0).abs() < 0.01 && (goodput - 60.0 * 1448.0 / 1500.0).abs() < 0.01 && loss == 0.0
    );
    let (throughput, _, loss) = at(150.0);
    assert!((throughput - 100.0).abs() < 0.01 && (loss - 1.0 / 3.0).abs() < 1e-3, "{throughput} {loss}");
}

#[test]
fn an_on_off_source_takes_its_rate_from_tcp_while_it_is_on() {
    let source = over_udp("off", "onoff", json!({"rate": 60.0, "on": 10.0, "off": 10.0}));
    let outcome = on_100_mbit(vec![flow("tcp", "sack"), source]);
    let received = |name: &str, from: usize, to: usize| {
        let bytes = column(&outcome.flows, name, "received_bytes");
        8.0 * (bytes[10 * to] - bytes[10 * from]) / (to - from) as f64 / 1e6
    };
    // on from 20 s and 40 s, off from 30 s and 50 s; a few seconds to settle
    assert!((received("off", 23, 30) - 60.0).abs() < 2.0, "{}", received("off", 23, 30));
    assert!(received("off", 31, 40) == 0.0);
    assert!((30.0..43.0).contains(&received("tcp", 25, 30)), "{}", received("tcp", 25, 30));
    assert!(received("tcp", 37, 40) > 75.0, "{}", received("tcp", 37, 40));
}

#[test]
fn what_a_source_sent_has_arrived_or_was_dropped() {
    let source = with(over_udp("1", "cbr", json!({"rate": 30.0})), json!({"stop_s": 5.0}));
    let outcome = run(&dumbbell(20e6, 20, 10.0, vec![source]));
    let f = &outcome.summary.flows[0];
    let arrived = column(&outcome.flows, "1", "received_bytes").last().expect("samples") / 1500.0;
    assert_eq!(f.packets_sent, 12_500);
    assert_eq!(f.packets_sent as f64, arrived + f.packets_lost as f64);
    assert_eq!(f.completed_s, Some(5.0));
}

#[test]
fn a_source_has_no_window_and_its_figures_say_so() {
    let outcome = on_100_mbit(vec![over_udp("1", "cbr", json!({})), over_udp("2", "udt", json!({}))]);
    let summary = serde_json::to_value(&outcome.summary).expect("it is JSON");
    assert!(summary["flows"][0]["cwnd_mean"].is_null());
    assert!(summary["flows"][1]["cwnd_mean"].as_f64().expect("a number") > 2.0);
}

#[test]
fn pages_over_udt_arrive_and_free_their_indices() {
    let mut plan = dumbbell(10e6, 50, 20.0, vec![flow("1", "sack")]);
    let mut pages = common::web("web", 10);
    pages["flow"]["algorithm"] = json!("udt");
    plan["background"] = json!([pages]);
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.02});
    plan["links"][1]["ack_loss"] = json!({"kind": "random", "probability": 0.2});
    let outcome = run(&plan);
    let web = &outcome.summary.background[0];
    assert!(web.transfers_completed > 100 && web.transfers_completed + 20 > web.transfers_started, "{web:?}");
    assert_eq!(
        serde_json::to_string(&outcome.summary).ok(),
        serde_json::to_string(&run(&with(plan, json!({"fast": false}))).summary).ok()
    );
}

#[test]
fn a_rate_above_the_host_s_own_link_is_refused_before_the_run() {
    let source = with(over_udp("1", "cbr", json!({"rate": 30.0})), json!({"access_rate_bps": 2e7}));
    let plan = dumbbell(1e7, 50, 5.0, vec![source]);
    let refused = refusal_of(&plan).expect("too fast").to_string();
    assert_eq!(
        refused,
        "flows[0].parameters: cbr.rate = 30 Mbit/s is not accepted; give at most the 20 Mbit/s of the host's own link"
    );
}
