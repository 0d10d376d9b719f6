//! `loss_detection` gives a flow another way to find losses than its algorithm's own.

use crate::common::{assert_same_series, dumbbell, flow, run, run_by_both};
use serde_json::{Value, json};

/// One flow that overflows a short buffer and loses a thousandth of its packets at random.
fn plan(algorithm: &str, chosen: Option<&str>) -> Value {
    let mut plan = dumbbell(20e6, 30, 30.0, vec![flow("a", algorithm)]);
    if let Some(chosen) = chosen {
        plan["flows"][0]["loss_detection"] = json!(chosen);
    }
    plan["links"][0]["loss"] = json!({"kind": "random", "probability": 1e-3});
    plan
}

#[test]
fn a_chosen_loss_detection_does_what_the_algorithm_of_that_name_does() {
    for own in ["reno", "newreno", "reno-classic", "tahoe"] {
        for chosen in ["sack", "newreno", "reno-classic", "tahoe"] {
            let (named, chose) = (run(&plan(chosen, None)), run(&plan(own, Some(chosen))));
            assert_same_series(&chose.flows, &named.flows);
            assert_same_series(&chose.links, &named.links);
        }
    }
}

#[test]
fn every_loss_detection_gives_the_same_bytes_by_both_drivers() {
    for chosen in ["rack", "sack", "newreno", "reno-classic", "tahoe"] {
        let outcome = run_by_both(&plan("htcp", Some(chosen)));
        assert!(outcome.summary.flows[0].congestion_events > 5, "{chosen}");
    }
}

#[test]
fn probes_spare_short_transfers_that_lose_their_tail_the_timeout() {
    // one packet in ten is lost: many of the transfers lose their last one, which nothing but a timer or a
    // probe finds
    let timeouts = |chosen: &str| {
        let mut transfers = Vec::new();
        for i in 0..50 {
            let mut one = flow(&i.to_string(), "reno");
            one["start_s"] = json!(f64::from(i));
            one["bytes"] = json!(20_000);
            one["loss_detection"] = json!(chosen);
            transfers.push(one);
        }
        let mut plan = dumbbell(20e6, 100, 70.0, transfers);
        plan["links"][0]["loss"] = json!({"kind": "random", "probability": 0.1});
        let flows = run_by_both(&plan).summary.flows;
        assert!(flows.iter().all(|f| f.completed_s.is_some()), "{chosen}");
        flows.iter().map(|f| f.timeouts).sum::<u64>()
    };
    let (by_time, by_count) = (timeouts("rack"), timeouts("sack"));
    assert!(2 * by_time < by_count, "{by_time} {by_count}");
}
