//! BBR v3 on whole paths, beside version 1. The draft's own test cases are in
//! `crates/transport/src/cc/bbr3/tests.rs`.

use crate::common::{column, dumbbell, flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// The packets of 1500 bytes that 100 Mbit/s and 40 ms hold.
const BDP: f64 = 100e6 * 0.04 / 12_000.0;
const VARIANTS: [&str; 2] = ["draft", "google"];

fn flows(algorithm: &str, variant: Option<&str>, count: u32) -> Vec<Value> {
    let parameters = variant.map_or(json!({}), |word| json!({"variant": word}));
    let one = |i: u32| {
        let start_s = 0.1 * f64::from(i);
        with(
            flow(&i.to_string(), algorithm),
            json!({"rtt_s": 0.04, "start_s": start_s, "parameters": parameters}),
        )
    };
    (0..count).map(one).collect()
}

/// These flows with a buffer of so many BDP, measured from 10 s on.
fn shared(flows: Vec<Value>, buffer: f64, duration_s: f64) -> Value {
    with(dumbbell(100e6, (buffer * BDP) as u64, duration_s, flows), json!({"window_s": [10.0, duration_s]}))
}

/// Packets lost of those sent.
fn lost(outcome: &Outcome) -> f64 {
    let flows = &outcome.summary.flows;
    let (lost, sent) =
        flows.iter().fold((0, 0), |(lost, sent), f| (lost + f.packets_lost, sent + f.packets_sent));
    lost as f64 / sent as f64
}

#[test]
fn one_flow_fills_a_path_with_hardly_any_queue_and_halves_its_window_each_five_seconds() {
    for variant in VARIANTS {
        let outcome = run_by_both(&shared(flows("bbr3", Some(variant), 1), 4.0, 40.0));
        let link = &outcome.summary.links[0];
        assert!(link.utilization > 0.95, "{variant}: {}", link.utilization);
        assert_eq!(link.packets_dropped, 0, "{variant}");
        assert!(link.queue_mean_packets < 0.2 * BDP, "{variant}: {}", link.queue_mean_packets);
        let least = column(&outcome.flows, "0", "cwnd").iter().skip(20).fold(f64::INFINITY, |a, &b| a.min(b));
        assert!((0.45 * BDP..0.55 * BDP).contains(&least), "{variant}: {least} in ProbeRTT");
    }
}

#[test]
fn six_flows_in_half_a_bdp_of_buffer_lose_less_than_those_of_version_1() {
    let v1 = lost(&run(&shared(flows("bbr", None, 6), 0.5, 60.0)));
    for variant in VARIANTS {
        let outcome = run(&shared(flows("bbr3", Some(variant), 6), 0.5, 60.0));
        let (v3, used) = (lost(&outcome), outcome.summary.links[0].utilization);
        assert!(v3 < 0.5 * v1 && used > 0.9, "{variant}: {v3} beside {v1}, {used} used");
    }
}

#[test]
fn random_losses_below_the_threshold_cost_little_and_those_above_it_much() {
    // LossThresh is 2 %
    for variant in VARIANTS {
        let lossy = |probability: f64| {
            let mut plan = shared(flows("bbr3", Some(variant), 1), 1.0, 40.0);
            plan["links"][0]["loss"] = json!({"kind": "random", "probability": probability});
            run_by_both(&plan).summary.links[0].utilization
        };
        let (few, many) = (lossy(0.005), lossy(0.08));
        assert!(few > 0.85 && many < 0.7 * few, "{variant}: {few} {many}");
    }
}

#[test]
fn flows_that_meet_share_the_path() {
    for variant in VARIANTS {
        let mut all = flows("bbr3", Some(variant), 3);
        for (i, flow) in all.iter_mut().enumerate() {
            flow["start_s"] = json!(3.0 * i as f64);
        }
        let plan = with(shared(all, 2.0, 90.0), json!({"window_s": [30.0, 90.0]}));
        let rates: Vec<f64> = run_by_both(&plan).summary.flows.iter().map(|f| f.throughput_bps).collect();
        let sum: f64 = rates.iter().sum();
        let jain = sum * sum / (3.0 * rates.iter().map(|r| r * r).sum::<f64>());
        assert!(jain > 0.85 && sum > 0.9 * 100e6, "{variant}: {rates:?}");
    }
}

#[test]
fn every_way_to_find_losses_serves_it() {
    for found in ["sack", "rack", "newreno", "reno-classic", "tahoe"] {
        let mut one = with(flow("0", "bbr3"), json!({"rtt_s": 0.04}));
        one["loss_detection"] = json!(found);
        let mut plan = dumbbell(20e6, 60, 30.0, vec![one]);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-3});
        let utilization = run_by_both(&plan).summary.links[0].utilization;
        assert!(utilization > 0.3, "{found}: {utilization}");
    }
}
