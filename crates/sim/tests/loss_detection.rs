//! `loss_detection` gives a flow another way to find losses than its algorithm's own.

mod common;

use common::{assert_same_series, dumbbell, flow, run, run_by_both};
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
    for own in ["sack", "newreno", "reno", "tahoe"] {
        for chosen in ["sack", "newreno", "reno", "tahoe"] {
            let (named, chose) = (run(&plan(chosen, None)), run(&plan(own, Some(chosen))));
            assert_same_series(&chose.flows, &named.flows);
            assert_same_series(&chose.links, &named.links);
        }
    }
}

#[test]
fn a_chosen_loss_detection_wins_over_the_older_key() {
    let mut both = plan("newreno", Some("reno"));
    both["flows"][0]["sack"] = json!(true);
    assert_same_series(&run(&both).flows, &run(&plan("reno", None)).flows);
}

#[test]
fn every_loss_detection_gives_the_same_bytes_by_both_drivers() {
    for chosen in ["sack", "newreno", "reno", "tahoe"] {
        let outcome = run_by_both(&plan("htcp", Some(chosen)));
        assert!(outcome.summary.flows[0].congestion_events > 5, "{chosen}");
    }
}
