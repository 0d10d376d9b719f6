//! PCC Vivace in the simulator: equal shares (theorem 1 of the paper), a latency near that of the path
//! (theorem 2), and random loss.

use crate::common::{dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// 100 Mbit/s, 30 ms and a buffer of 75 kB: the path of the paper's figure on convergence.
const RATE_BPS: f64 = 100e6;
const BUFFER_PACKETS: u64 = 50;
const RTT_S: f64 = 0.03;

fn one(name: &str, start_s: f64, variant: &str) -> Value {
    with(
        flow(name, "vivace"),
        json!({"rtt_s": RTT_S, "start_s": start_s, "access_rate_bps": 1e10, "parameters": {"variant": variant}}),
    )
}

fn outcome(flows: Vec<Value>, (from_s, to_s): (f64, f64), changes: Value) -> Outcome {
    run(&with(
        with(dumbbell(RATE_BPS, BUFFER_PACKETS, to_s, flows), json!({"window_s": [from_s, to_s]})),
        changes,
    ))
}

#[test]
fn two_flows_converge_to_equal_shares() {
    for (variant, from_s, to_s) in [("latency", 40.0, 60.0), ("latency", 60.0, 120.0), ("loss", 120.0, 240.0)]
    {
        let flows = vec![one("1", 0.0, variant), one("2", 20.0, variant)];
        let done = outcome(flows, (from_s, to_s), json!({}));
        let [first, second] = [0, 1].map(|i| done.summary.flows[i].throughput_bps);
        let share = second / (first + second);
        let context =
            format!("{variant} {from_s} s: {share}, {} of the link", done.summary.links[0].utilization);
        assert!((0.45..0.55).contains(&share), "{context}");
        assert!(done.summary.links[0].utilization > 0.9, "{context}");
    }
}

#[test]
fn random_loss_of_2_percent_leaves_a_flow_several_times_the_rate_of_cubic() {
    // up to 0.9 C^-0.1 / 11.35, 5 % at 100 Mbit/s, a higher rate pays; short intervals see more or less than
    // the 2 %, so that single runs have between 6 and 15 times
    let [vivace, cubic] = ["vivace", "cubic"].map(|algorithm| {
        let flow = with(flow("1", algorithm), json!({"rtt_s": RTT_S, "access_rate_bps": 1e10}));
        let mut plan = dumbbell(RATE_BPS, BUFFER_PACKETS, 60.0, vec![flow]);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.02});
        let of_seed = |seed: u64| {
            let plan = with(plan.clone(), json!({"window_s": [20.0, 60.0], "seed": seed}));
            run(&plan).summary.flows[0].throughput_bps
        };
        (1..=10).map(of_seed).sum::<f64>()
    });
    assert!(vivace > 5.0 * cubic, "{vivace} {cubic}");
}

#[test]
fn the_queue_stays_short_with_latency_in_the_utility_and_full_without() {
    let queues = ["latency", "loss"].map(|variant| {
        let done = outcome(vec![one("1", 0.0, variant)], (20.0, 60.0), json!({}));
        done.summary.links[0].queue_mean_packets
    });
    assert!(queues[0] < 0.2 * BUFFER_PACKETS as f64 && queues[1] > 2.0 * queues[0], "{queues:?}");
}
