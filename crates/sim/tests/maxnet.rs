//! TCP MaxNet from end to end: max-min fair over a parking lot, at its target without a queue, stable where
//! its law is, and what it does beside traffic that ignores prices.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::explicit::{self, assert_near, dropped, parking_lot, rates, speaking};
use crate::common::{column, flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// The router's default target.
const TARGET: f64 = 0.95;

/// MaxNet flows with these round-trip times and starts over one bottleneck with a MaxNet router.
fn plan(rate_bps: f64, packets: u64, duration_s: f64, flows: &[(f64, f64)]) -> Value {
    speaking(explicit::plan("xcp", rate_bps, packets, duration_s, flows), "maxnet")
}

fn over(plan: &Value, from_s: f64, to_s: f64) -> Outcome {
    run(&with(plan.clone(), json!({"window_s": [from_s, to_s]})))
}

#[test]
fn a_parking_lot_is_shared_max_min() {
    // the second link is the narrowest for its three flows: 38 / 3 = 12.67 each. The flow of the first link
    // has the rest of 57, that of the third the rest of 76
    let lot = parking_lot("maxnet", 30.0);
    let expected = [12.667e6, 44.333e6, 12.667e6, 12.667e6, 63.333e6];
    assert_near(&rates(&lot, 20.0, 30.0), &expected, 0.005, "rates");
    let outcome = over(&lot, 20.0, 30.0);
    for link in &outcome.summary.links[..3] {
        assert!((link.utilization - TARGET).abs() < 0.003, "{link:?}");
        assert!(link.queue_mean_packets < 2.0 && link.packets_dropped == 0, "{link:?}");
    }
}

#[test]
fn a_flow_moves_on_when_its_bottleneck_does() {
    // the first link falls from 60 to 20 Mbit/s: its two flows have 9.5 each, the second link's 14.25 each,
    // and the third's 66.5
    let mut lot = parking_lot("maxnet", 60.0);
    lot["links"][0]["capacity"] = json!({"steps": [[0.0, 60e6], [20.0, 20e6], [40.0, 60e6]]});
    let narrow = [9.5e6, 9.5e6, 14.25e6, 14.25e6, 66.5e6];
    assert_near(&rates(&lot, 32.0, 40.0), &narrow, 0.01, "narrow");
    let wide = [12.667e6, 44.333e6, 12.667e6, 12.667e6, 63.333e6];
    assert_near(&rates(&lot, 52.0, 60.0), &wide, 0.01, "wide");
}

#[test]
fn flows_of_unlike_round_trip_times_share_evenly_and_no_queue_stands() {
    for variant in ["stable", "static"] {
        let flows: Vec<_> =
            [0.02, 0.04, 0.08, 0.16, 0.32].into_iter().zip([0.0, 1.0, 2.0, 3.0, 4.0]).collect();
        let mut plan = plan(50e6, 700, 40.0, &flows);
        for i in 0..5 {
            plan["flows"][i]["parameters"] = json!({"variant": variant});
        }
        assert_near(&rates(&plan, 30.0, 40.0), &[TARGET * 10e6; 5], 0.01, variant);
        assert!(over(&plan, 30.0, 40.0).summary.links[0].queue_mean_packets < 1.0, "{variant}");
    }
}

#[test]
fn the_link_is_at_its_target_whatever_its_rate_and_number_of_flows() {
    for (rate_bps, flows) in [(10e6, 1), (100e6, 1), (622e6, 2), (100e6, 20)] {
        let plan = plan(rate_bps, (rate_bps / 1.2e5) as u64, 30.0, &vec![(0.1, 0.0); flows]);
        let outcome = over(&plan, 20.0, 30.0);
        let share = outcome.summary.links[0].utilization;
        assert!((share / TARGET - 1.0).abs() < 0.005, "{rate_bps}, {flows}: {share}");
    }
}

#[test]
fn on_a_long_path_only_the_variant_with_scaled_gains_is_stable() {
    // the static law is stable up to a round trip of (pi / 2) 0.4 s = 0.63 s. A flow alone would rest at the
    // least price
    let swing = |variant: &str, rtt_s: f64| {
        let mut plan = plan(20e6, 4000, 120.0, &[(rtt_s, 0.0); 2]);
        for i in 0..2 {
            plan["flows"][i]["parameters"] = json!({"variant": variant});
        }
        let outcome = run(&plan);
        // the window is twice what is in flight at the rate
        let windows = &column(&outcome.flows, "0", "cwnd")[800..];
        let (least, most) = windows.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), &w| (l.min(w), m.max(w)));
        (most - least) / (2.0 * TARGET * 10e6 / 12_000.0 * rtt_s)
    };
    let swings = [("static", 0.3), ("static", 0.9), ("stable", 0.9)].map(|(v, rtt_s)| swing(v, rtt_s));
    assert!(swings[0] < 0.05 && swings[1] > 0.5 && swings[2] < 0.05, "{swings:.3?}");
}

#[test]
fn weights_divide_the_link() {
    let mut plan = plan(60e6, 400, 40.0, &[(0.04, 0.0), (0.08, 0.0), (0.08, 1.0)]);
    for (i, weight) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        plan["flows"][i]["parameters"] = json!({"weight": weight});
    }
    assert_near(&rates(&plan, 30.0, 40.0), &[9.5e6, 19e6, 28.5e6], 0.01, "weights 1, 2, 3");
}

#[test]
fn flows_share_evenly_what_traffic_without_prices_leaves_and_take_it_back() {
    let mut plan = plan(50e6, 660, 60.0, &[(0.08, 0.0), (0.04, 0.0)]);
    let udp =
        with(flow("udp", "cbr"), json!({"parameters": {"rate": 20.0}, "start_s": 20.0, "stop_s": 40.0}));
    plan["flows"].as_array_mut().expect("a list").push(udp);
    for (from_s, to_s, each_bps) in [(12.0, 20.0, 23.75e6), (32.0, 40.0, 13.75e6), (52.0, 60.0, 23.75e6)] {
        let rates = rates(&plan, from_s, to_s);
        assert_near(&rates[..2], &[each_bps; 2], 0.01, &format!("from {from_s} s"));
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
    let mut lot = parking_lot("maxnet", 6.0);
    lot["links"][0]["capacity"] = json!({"steps": [[0.0, 20e6], [2.0, 6e6], [4.5, 12e6]]});
    lot["flows"][1]["parameters"] = json!({"variant": "static"});
    run_by_both(&with(lot, json!({"window_s": [1.0, 5.5]})));
}
