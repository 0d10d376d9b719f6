//! BBR v1 on whole paths: what Cardwell et al. 2016 say of it, and what later papers found.

use crate::common::{column, dumbbell, flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// The packets of 1500 bytes that 100 Mbit/s and 40 ms hold.
const BDP: f64 = 100e6 * 0.04 / 12_000.0;

fn flows(algorithm: &str, count: u32) -> Vec<Value> {
    let one =
        |i: u32| with(flow(&i.to_string(), algorithm), json!({"rtt_s": 0.04, "start_s": 0.1 * f64::from(i)}));
    (0..count).map(one).collect()
}

/// These flows with a buffer of so many BDP, measured from 10 s on.
fn shared(flows: Vec<Value>, buffer: f64, duration_s: f64) -> Value {
    with(dumbbell(100e6, (buffer * BDP) as u64, duration_s, flows), json!({"window_s": [10.0, duration_s]}))
}

fn throughputs(outcome: &Outcome) -> Vec<f64> {
    outcome.summary.flows.iter().map(|f| f.throughput_bps).collect()
}

#[test]
fn one_flow_fills_a_path_with_hardly_any_queue_and_empties_it_to_look_at_the_round_trip_time() {
    let outcome = run_by_both(&shared(flows("bbr", 1), 4.0, 40.0));
    let link = &outcome.summary.links[0];
    assert!(link.utilization > 0.95, "{}", link.utilization);
    assert_eq!(link.packets_dropped, 0);
    // phases of 1.25 send a quarter of a BDP too much, in one round trip of eight
    assert!(link.queue_mean_packets < 0.1 * BDP, "{}", link.queue_mean_packets);
    // the buffer would hold four BDP; standard TCP fills it
    let standard = run(&shared(flows("cubic", 1), 4.0, 40.0)).summary.links[0].queue_mean_packets;
    assert!(standard > 10.0 * link.queue_mean_packets, "{standard} beside {}", link.queue_mean_packets);
    let least = column(&outcome.flows, "0", "cwnd").iter().skip(20).fold(f64::INFINITY, |a, &b| a.min(b));
    assert_eq!(least, 4.0, "PROBE_RTT");
}

#[test]
fn startup_doubles_the_delivery_rate_in_each_round_trip() {
    let mut plan = shared(flows("bbr", 1), 4.0, 20.0);
    plan["sample"] = json!({"flows_s": 0.04, "links_s": 0.04});
    let outcome = run(&plan);
    let bytes = column(&outcome.flows, "0", "received_bytes");
    let rates: Vec<f64> = bytes.windows(2).map(|w| w[1] - w[0]).take_while(|&r| r < 150e3).collect();
    let grown: Vec<f64> = rates.windows(2).skip(3).map(|w| w[1] / w[0]).collect();
    assert!(grown.len() >= 3, "{rates:?}");
    assert!(grown.iter().all(|g| (1.5..3.0).contains(g)), "{grown:?}");
}

#[test]
fn random_losses_of_one_percent_cost_it_little_and_cubic_nearly_everything() {
    // Cardwell et al. 2016, figure 8: CUBIC's throughput collapses at 0.1 %, BBR's stays near the link rate
    // up to 5 %
    let lossy = |algorithm: &str| {
        let mut plan = shared(flows(algorithm, 1), 1.0, 40.0);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.01});
        run_by_both(&plan).summary.links[0].utilization
    };
    let (bbr, cubic) = (lossy("bbr"), lossy("cubic"));
    assert!(bbr > 0.9 && cubic < 0.2, "{bbr} {cubic}");
}

#[test]
fn six_flows_in_half_a_bdp_of_buffer_lose_packets_all_the_time() {
    // RFC 9743, section 5.1.3: high packet loss. Several flows overestimate their bandwidths, since each
    // takes the maximum of what it measured, two BDPs do not fit, and nothing reacts to the losses
    let lost = |algorithm: &str| {
        let outcome = run(&shared(flows(algorithm, 6), 0.5, 60.0));
        let flows = &outcome.summary.flows;
        let (lost, sent) =
            flows.iter().fold((0, 0), |(lost, sent), f| (lost + f.packets_lost, sent + f.packets_sent));
        lost as f64 / sent as f64
    };
    let (bbr, cubic) = (lost("bbr"), lost("cubic"));
    assert!(bbr > 3.0 * cubic, "{bbr} beside {cubic}");
    assert!(bbr > 0.01, "{bbr}");
}

#[test]
fn flows_that_meet_share_the_path() {
    // Cardwell et al. 2016, figure 6: late flows get their share within some PROBE_RTTs
    let mut all = flows("bbr", 3);
    for (i, flow) in all.iter_mut().enumerate() {
        flow["start_s"] = json!(3.0 * i as f64);
    }
    let plan = with(shared(all, 2.0, 90.0), json!({"window_s": [30.0, 90.0]}));
    let rates = throughputs(&run_by_both(&plan));
    let sum: f64 = rates.iter().sum();
    let jain = sum * sum / (3.0 * rates.iter().map(|r| r * r).sum::<f64>());
    assert!(jain > 0.9 && sum > 0.95 * 95e6, "{rates:?}");
}

#[test]
fn transfers_of_any_size_end() {
    for bytes in [1, 1448, 14_480, 14_481, 1_000_000] {
        let one = with(flow("0", "bbr"), json!({"rtt_s": 0.04, "bytes": bytes}));
        let outcome = run_by_both(&dumbbell(20e6, 30, 20.0, vec![one]));
        assert!(outcome.summary.flows[0].completed_s.is_some_and(|s| s < 3.0), "{bytes}");
    }
}

#[test]
fn every_way_to_find_losses_serves_it() {
    for found in ["sack", "rack", "newreno", "reno-classic", "tahoe"] {
        let mut one = with(flow("0", "bbr"), json!({"rtt_s": 0.04}));
        one["loss_detection"] = json!(found);
        let mut plan = dumbbell(20e6, 60, 30.0, vec![one]);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-3});
        let outcome = run_by_both(&plan);
        let utilization = outcome.summary.links[0].utilization;
        assert!(utilization > 0.5, "{found}: {utilization}");
    }
}
