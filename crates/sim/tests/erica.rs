//! ERICA from end to end: its target utilization and the band above it, how fast rates converge, max-min over
//! a parking lot, and what it does beside traffic that ignores it.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::explicit::{self, assert_near, dropped, parking_lot, rates, speaking};
use crate::common::{flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// The router's default target, and how far above it overload may rest: 1 + delta.
const TARGET: f64 = 0.9;
const BAND: f64 = 1.1;

/// ERICA flows with these round-trip times and starts over one bottleneck with an ERICA router.
fn plan(rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    speaking(explicit::plan("xcp", rate_bps, packets, duration_s, flows), "erica")
}

fn over(plan: &Value, from_s: f64, to_s: f64) -> Outcome {
    run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})))
}

#[test]
fn a_flow_alone_has_the_target_utilization_whatever_the_link() {
    for rate_bps in [10e6, 100e6, 622e6] {
        let outcome = over(&plan(rate_bps, (rate_bps / 1.2e5) as u64, 6.0, &[(0.1, 0.0)]), 2.0, 6.0);
        let share = outcome.summary.links[0].utilization;
        assert!((share / TARGET - 1.0).abs() < 0.003, "{rate_bps}: {share}");
        assert!(outcome.summary.links[0].queue_mean_packets < 1.0 && dropped(&outcome) == 0.0);
    }
}

#[test]
fn several_flows_rest_between_the_target_and_delta_above_it_and_a_lesser_delta_is_closer() {
    for (delta, flows) in [(0.1, 2), (0.1, 5), (0.1, 20), (0.02, 5), (0.02, 20)] {
        let starts: Vec<_> = (0..flows).map(|i| (0.08, 0.2 * f64::from(i))).collect();
        let mut plan = plan(100e6, 660, 30.0, &starts);
        plan["links"][0]["router"]["delta"] = json!(delta);
        let share = over(&plan, 20.0, 30.0).summary.links[0].utilization / TARGET;
        assert!(share > 0.995 && share < 1.0 + delta + 0.005, "{delta}, {flows}: {share}");
    }
}

#[test]
fn rates_are_even_within_a_second_after_each_newcomer() {
    // four flows, 5 s apart
    let flows: Vec<_> = (0..4).map(|i| (0.08, 5.0 * f64::from(i))).collect();
    let plan = plan(50e6, 660, 20.0, &flows);
    for active in 1..=4 {
        let newest_s = 5.0 * (active - 1) as f64;
        let rates = &rates(&plan, newest_s + 1.5, newest_s + 5.0)[..active];
        let even = vec![rates.iter().sum::<f64>() / active as f64; active];
        assert_near(rates, &even, 0.02, &format!("{active} flows"));
        let share = even[0] * active as f64 / (TARGET * 50e6);
        assert!(share > 0.99 && share < BAND + 0.01, "{active} flows: {share}");
    }
}

#[test]
fn twenty_flows_that_begin_together_share_the_target_after_ten_round_trips_without_a_loss() {
    // within 0.1 s, an averaging interval, which the round trips are as long as or longer
    for rtt_s in [0.1, 0.2] {
        let flows: Vec<_> = (0..20).map(|i| (rtt_s, 0.005 * f64::from(i))).collect();
        let plan = plan(100e6, (rtt_s * 100e6 / 12e3) as u64, 0.1 + 20.0 * rtt_s, &flows);
        let outcome = over(&plan, 0.1 + 10.0 * rtt_s, 0.1 + 20.0 * rtt_s);
        let share_bps = TARGET * 100e6 / 20.0;
        for flow in &outcome.summary.flows {
            let share = flow.throughput_bps / share_bps;
            assert!(share > 0.95 && share < BAND + 0.05 && flow.timeouts == 0, "{rtt_s} s: {flow:?}");
        }
        assert_eq!(dropped(&outcome), 0.0, "{rtt_s} s");
    }
}

#[test]
fn a_newcomer_has_its_share_ten_round_trips_after_it_joins_nineteen_others() {
    for rtt_s in [0.1, 0.2] {
        let mut flows: Vec<_> = (0..19).map(|i| (rtt_s, 0.005 * f64::from(i))).collect();
        flows.push((rtt_s, 5.0));
        let plan = plan(100e6, (rtt_s * 100e6 / 12e3) as u64, 5.0 + 20.0 * rtt_s, &flows);
        let outcome = over(&plan, 5.0 + 10.0 * rtt_s, 5.0 + 20.0 * rtt_s);
        let rates: Vec<_> = outcome.summary.flows.iter().map(|flow| flow.throughput_bps).collect();
        let even = rates.iter().sum::<f64>() / 20.0;
        assert_near(&rates, &[even; 20], 0.03, &format!("{rtt_s} s"));
        let share = even * 20.0 / (TARGET * 100e6);
        assert!(share > 0.99 && share < BAND + 0.01 && dropped(&outcome) == 0.0, "{rtt_s} s: {share}");
    }
}

#[test]
fn flows_of_unlike_round_trip_times_share_evenly() {
    let flows: Vec<_> = [0.02, 0.04, 0.08, 0.16].into_iter().zip([0.0, 1.0, 2.0, 3.0]).collect();
    let rates = rates(&plan(50e6, 700, 20.0, &flows), 12.0, 20.0);
    let even = vec![rates.iter().sum::<f64>() / 4.0; 4];
    assert_near(&rates, &even, 0.02, "rates");
}

#[test]
fn a_parking_lot_is_shared_max_min_within_delta() {
    // max-min of 54, 36 and 72 Mbit/s: 12 for the flows of the second link, 42 and 60 for those of the others
    let lot = parking_lot("erica", 30.0);
    let rates = rates(&lot, 15.0, 30.0);
    assert_near(&[rates[0], rates[2], rates[3]], &[rates[0]; 3], 0.01, "the narrow link's flows are even");
    for (rate, max_min) in rates.iter().zip([12e6, 42e6, 12e6, 12e6, 60e6]) {
        assert!(rate / max_min > 0.96 && rate / max_min < BAND + 0.005, "{rates:.0?}");
    }
    for link in &over(&lot, 15.0, 30.0).summary.links[..3] {
        assert!(link.utilization > 0.995 * TARGET && link.utilization < BAND * TARGET, "{link:?}");
        assert_eq!(link.packets_dropped, 0);
    }
}

#[test]
fn the_target_leaves_out_what_traffic_without_headers_takes() {
    let mut plan = plan(50e6, 660, 30.0, &[(0.08, 0.0), (0.04, 0.0)]);
    let udp =
        with(flow("udp", "cbr"), json!({"parameters": {"rate": 20.0}, "start_s": 10.0, "stop_s": 20.0}));
    plan["flows"].as_array_mut().expect("a list").push(udp);
    for (from_s, to_s, target_bps) in [(5.0, 10.0, 45e6), (12.0, 20.0, 25e6), (22.0, 30.0, 45e6)] {
        let rates = rates(&plan, from_s, to_s);
        let share = (rates[0] + rates[1]) / target_bps;
        assert!(share > 0.98 && share < BAND + 0.01, "from {from_s} s: {rates:.0?}");
        assert_near(&rates[..1], &rates[1..2], 0.02, "even");
    }
}

#[test]
fn behind_a_plain_queue_it_is_standard_tcp() {
    let mut plan = plan(50e6, 333, 120.0, &[(0.08, 0.0), (0.08, 1.0)]);
    plan["links"][0]["router"] = Value::Null;
    let outcome = over(&plan, 20.0, 120.0);
    assert!(outcome.summary.links[0].utilization > 0.98 && dropped(&outcome) > 0.0);
}

#[test]
fn both_drivers_give_the_same_bytes() {
    let mut lot = parking_lot("erica", 6.0);
    lot["links"][0]["capacity"] = json!({"steps": [[0.0, 20e6], [2.0, 6e6], [4.5, 12e6]]});
    run_by_both(&with(lot, json!({"window_s": [1.0, 5.5]})));
}
