//! CADPC behind PTP's router, end to end: the shares of n flows, what it does to TCP and TCP to it, and why
//! the friendliness mechanism changes nothing about that.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{assert_same_series, column, dumbbell, flow, link, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

const CAPACITY_BPS: f64 = 50e6;

/// CADPC flows with these round-trip times, and other flows, on 50 Mbit/s behind PTP's router; the buffer is
/// a BDP of 40 ms.
fn plan(rtts_s: &[f64], others: &[&str], duration_s: f64) -> Value {
    let cadpc = rtts_s
        .iter()
        .enumerate()
        .map(|(i, rtt_s)| with(flow(&format!("cadpc{i}"), "cadpc"), json!({"rtt_s": rtt_s})));
    let others = others.iter().enumerate().map(|(i, algorithm)| {
        with(flow(&format!("other{i}"), algorithm), json!({"rtt_s": 0.04, "start_s": 0.1 * i as f64}))
    });
    let mut plan = dumbbell(CAPACITY_BPS, 167, duration_s, cadpc.chain(others).collect());
    plan["links"][0]["router"] = json!({"kind": "ptp"});
    plan["window_s"][0] = json!(0.5 * duration_s);
    plan
}

/// Each flow's part of the capacity.
fn shares(outcome: &Outcome) -> Vec<f64> {
    outcome.summary.flows.iter().map(|f| f.throughput_bps / CAPACITY_BPS).collect()
}

#[test]
fn n_flows_get_one_part_in_n_plus_one_each_and_leave_one() {
    for n in [1, 2, 4, 9] {
        let outcome = run(&plan(&vec![0.04; n], &[], 80.0));
        let each = 1.0 / (n as f64 + 1.0);
        for share in shares(&outcome) {
            assert!((share / each - 1.0).abs() < 0.02, "{n} flows: {share} of {each}");
        }
        let link = &outcome.summary.links[0];
        assert_eq!(link.packets_dropped, 0);
        assert!((link.utilization - n as f64 * each).abs() < 0.02, "{n} flows: {}", link.utilization);
        assert!(link.queue_mean_packets < 5.0, "{n} flows: {}", link.queue_mean_packets);
    }
}

#[test]
fn shares_do_not_depend_on_round_trip_times() {
    let rates = shares(&run(&plan(&[0.02, 0.04, 0.16], &[], 160.0)));
    assert!(rates.iter().all(|share| (share / 0.25 - 1.0).abs() < 0.03), "{rates:?}");
}

#[test]
fn alone_the_rate_grows_by_half_in_four_round_trips_until_it_nears_half_of_the_link() {
    // from a packet per round trip, .3 Mbit/s, to a quarter of 50 Mbit/s: ln(12.5 / .3) / ln 1.5 = 9.2
    // updates, somewhat more since a falls short of a near the end, and two queries before the first
    let outcome = run(&plan(&[0.04], &[], 5.0));
    let (times, sent) =
        (column(&outcome.flows, "cadpc0", "time_s"), column(&outcome.flows, "cadpc0", "packets_sent"));
    let fast = sent.windows(2).position(|w| (w[1] - w[0]) * 12_000.0 / 0.1 > 12.5e6).expect("it gets there");
    assert!((1.6..2.4).contains(&times[fast]), "{}", times[fast]);
}

#[test]
fn a_path_of_two_links_is_limited_by_the_one_with_less_unused() {
    // 20 Mbit/s to itself: half of it; the wider link, 15 of 50 Mbit/s of which are taken, would leave more
    let mut plan = plan(&[0.04], &["cbr"], 60.0);
    plan["flows"][1]["parameters"] = json!({"rate": 15.0});
    let mut narrow = link("narrow", 20e6, 167);
    narrow["router"] = json!({"kind": "ptp"});
    plan["links"].as_array_mut().expect("a list").push(narrow);
    plan["flows"][0]["forward"] = json!([0, 2]);
    let share = shares(&run(&plan))[0];
    assert!((share * CAPACITY_BPS / 10e6 - 1.0).abs() < 0.02, "{share}");
}

#[test]
fn beside_tcp_each_flow_rests_at_what_the_link_has_unused() {
    // 1 - x - traffic = 0 on average, whoever sends the traffic; 33 packets are a fifth of the BDP, so
    // standard TCP leaves some of the link unused
    for n in [1, 4, 9] {
        let mut plan = plan(&vec![0.04; n], &["reno"], 200.0);
        plan["links"][0]["queue"]["limit_packets"] = json!(33);
        let outcome = run(&plan);
        let unused = 1.0 - outcome.summary.links[0].utilization;
        let (tcp, cadpc) =
            shares(&outcome).split_last().map(|(last, rest)| (*last, rest.to_vec())).expect("flows");
        assert!(unused > 0.02, "{n} flows: {unused}");
        for share in cadpc {
            assert!((share / unused - 1.0).abs() < 0.15, "{n} flows: {share} of {unused}");
        }
        assert!(tcp > 1.5 / (n as f64 + 1.0), "{n} flows: standard TCP has {tcp}");
    }
}

#[test]
fn the_friendliness_mechanism_neither_protects_it_nor_limits_it() {
    // Lopez Pacheco 2008, section 7.4: a queue in front of PTP's link, with the mechanism around it or
    // without
    let behind = |router: Value| {
        let mut plan = plan(&[0.04], &["reno"], 60.0);
        let mut front = link("front", CAPACITY_BPS, 167);
        front["router"] = router;
        plan["links"].as_array_mut().expect("a list").push(front);
        (0..2).for_each(|i| plan["flows"][i]["forward"] = json!([2, 0]));
        run(&plan)
    };
    let (plain, friendly) = (behind(Value::Null), behind(json!({"kind": "friendly", "update": "packet"})));
    assert_same_series(&plain.flows, &friendly.flows);
    let rates = shares(&friendly);
    assert!(rates[0] < 0.1 && rates[1] > 0.8, "its fair share is a half: {rates:?}");
}

#[test]
fn both_drivers_give_the_same_bytes() {
    let mut mixed = plan(&[0.02, 0.05], &["reno", "udt"], 6.0);
    mixed["links"][0]["loss"] = json!({"kind": "random", "probability": 0.003});
    mixed["window_s"] = json!([1.0, 5.5]);
    let outcome = run_by_both(&mixed);
    assert!(outcome.summary.links[0].utilization > 0.5);
}
