//! Algorithms for background traffic, at 10 Mbit/s and 40 ms. The path holds 33.3 packets of 1500 bytes; the
//! buffer takes 300 more, which is a queueing delay of 360 ms.

use crate::common::{column, dumbbell, flow, run, with};
use serde_json::{Value, json};

const PACKETS_PER_S: f64 = 10e6 / 12_000.0;

fn one(name: &str, algorithm: &str, start_s: f64) -> Value {
    with(flow(name, algorithm), json!({"rtt_s": 0.04, "start_s": start_s}))
}

/// The flows' throughput in bit/s from `from_s` to `to_s`.
fn rates(flows: Vec<Value>, from_s: f64, to_s: f64) -> Vec<f64> {
    let plan = with(dumbbell(10e6, 300, to_s, flows), json!({"window_s": [from_s, to_s]}));
    run(&plan).summary.flows.iter().map(|f| f.throughput_bps).collect()
}

/// The window of a flow alone in the last 30 of 120 s, in segments.
fn settled(algorithm: &str, parameters: Value) -> Vec<f64> {
    let mut flow = one("1", algorithm, 0.0);
    flow["parameters"] = parameters;
    let outcome = run(&dumbbell(10e6, 300, 120.0, vec![flow]));
    assert_eq!(outcome.summary.flows[0].packets_lost, 0, "{algorithm}");
    let cwnd = column(&outcome.flows, "1", "cwnd");
    cwnd[3 * cwnd.len() / 4..].to_vec()
}

#[test]
fn ledbat_alone_settles_at_its_target_delay_without_a_loss() {
    for slow_start in ["off", "on"] {
        for cwnd in settled("ledbat", json!({"slow_start": slow_start})) {
            // 40 ms of path and 100 ms of queue
            let delay_s = cwnd / PACKETS_PER_S - 0.04;
            assert!((0.097..0.104).contains(&delay_s), "{slow_start}: {delay_s}");
        }
    }
}

#[test]
fn a_latecomer_takes_the_link_from_a_ledbat_flow() {
    // it counts the first flow's queue to the path: Carofiglio et al. 2010
    let rates = rates(vec![one("first", "ledbat", 0.0), one("second", "ledbat", 40.0)], 110.0, 190.0);
    assert!(rates[1] > 10.0 * rates[0], "{rates:?}");
}

#[test]
fn a_latecomer_shares_the_link_with_a_ledbat_plus_plus_flow() {
    let rates = rates(vec![one("first", "ledbat++", 0.0), one("second", "ledbat++", 40.0)], 80.0, 280.0);
    let share = rates[1] / (rates[0] + rates[1]);
    assert!((0.35..0.65).contains(&share), "{rates:?}");
}

#[test]
fn ledbat_plus_plus_alone_keeps_its_queue_below_the_target_and_uses_nine_tenths_of_the_link() {
    let outcome = run(&with(
        dumbbell(10e6, 300, 120.0, vec![one("1", "ledbat++", 0.0)]),
        json!({"window_s": [30.0, 120.0]}),
    ));
    assert_eq!(outcome.summary.flows[0].packets_lost, 0);
    let utilization = outcome.summary.links[0].utilization;
    assert!(utilization > 0.9, "{utilization}");
    let cwnd = column(&outcome.flows, "1", "cwnd");
    let greatest = cwnd[cwnd.len() / 4..].iter().fold(0.0_f64, |a, &b| a.max(b));
    // 40 ms of path, 60 ms of queue, and the growth of a round trip
    assert!(greatest < 0.105 * PACKETS_PER_S, "{greatest}");
}

#[test]
fn background_traffic_leaves_a_standard_flow_nine_tenths_of_the_link() {
    for algorithm in ["ledbat", "ledbat++", "lp"] {
        let rates =
            rates(vec![one("background", algorithm, 0.0), one("standard", "reno", 20.0)], 40.0, 160.0);
        assert!(rates[1] > 9e6, "{algorithm}: {rates:?}");
    }
}

#[test]
fn tcp_lp_alone_uses_most_of_the_link() {
    let rates = rates(vec![one("1", "lp", 0.0)], 30.0, 120.0);
    assert!(rates[0] > 7e6, "{rates:?}");
}
