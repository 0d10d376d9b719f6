//! Quick-Start from end to end: transfers with and without it; requests that are granted, lowered and denied;
//! and a router that does not support it.

use crate::common::{assert_same_series, column, dumbbell, flow, refusal_of, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

const RATE_BPS: f64 = 100e6;
const ROUTER: &str = "quickstart";

/// A transfer over 100 ms that requests this rate, or none.
fn transfer(name: &str, algorithm: &str, bytes: u64, asked_bps: Option<f64>) -> Value {
    let mut one = with(flow(name, algorithm), json!({"rtt_s": 0.1, "bytes": bytes}));
    one["quick_start"] = json!(asked_bps);
    one
}

/// 100 Mbit/s, a buffer of a tenth of a BDP.
fn plan(duration_s: f64, router: Option<&str>, flows: Vec<Value>) -> Value {
    let mut plan = dumbbell(RATE_BPS, 83, duration_s, flows);
    plan["links"][0]["router"] = router.map_or(Value::Null, |kind| json!({"kind": kind}));
    plan["events"] = json!(true);
    plan
}

/// When this first happened to this flow, seconds.
fn when(outcome: &Outcome, name: &str, what: &str) -> Option<f64> {
    outcome.events.iter().find(|e| *e.flow == *name && e.what == what).map(|e| e.time_s)
}

fn completion_s(outcome: &Outcome, name: &str) -> f64 {
    when(outcome, name, "done").unwrap_or_else(|| panic!("{name} is not complete"))
}

/// The window that was approved, segments.
fn approved(outcome: &Outcome, name: &str) -> Option<f64> {
    outcome.events.iter().find(|e| *e.flow == *name && e.what == "quick-start").map(|e| e.cwnd)
}

#[test]
fn a_transfer_that_slow_start_needs_seven_round_trips_for_takes_little_more_than_two() {
    // 500 kB are 346 segments, at the initial window of 3: 3 + 6 + ... + 192 = 381, so seven flights after
    // the handshake. 40.96 Mbit/s over 100 ms are 341 segments, sent within one round trip, and 5 after it
    let alone = |asked| run(&plan(3.0, Some(ROUTER), vec![transfer("a", "reno", 500_000, asked)]));
    let (without, asking) = (alone(None), alone(Some(41e6)));
    let slow = completion_s(&without, "a");
    assert!((0.8..0.9).contains(&slow), "{slow}");
    let quick = completion_s(&asking, "a");
    assert!((0.29..0.31).contains(&quick), "{quick}");
    assert_eq!(approved(&asking, "a"), Some(341.0));
    assert_eq!(asking.summary.flows[0].retransmits, 0);
}

#[test]
fn a_router_that_does_not_take_part_leaves_the_transfer_as_it_is_without() {
    let times = [None, Some(41e6)].map(|asked| {
        let outcome = run(&plan(3.0, None, vec![transfer("a", "reno", 500_000, asked)]));
        assert_eq!(approved(&outcome, "a"), None);
        assert_eq!(when(&outcome, "a", "quick-start-refused").is_some(), asked.is_some());
        completion_s(&outcome, "a")
    });
    // apart from 16 bytes of options, at 100 Mbit/s and on the hosts' links of 1 Gbit/s
    assert!(times[1] >= times[0] && times[1] - times[0] < 5e-6, "{times:?}");
}

#[test]
fn a_busy_link_lowers_requests_and_denies_them() {
    // 60 of 85 Mbit/s leave 25: 20.48 Mbit/s over 100 ms are 170 segments; 84.9 leave .1: .08 Mbit/s are none
    for (busy_mbps, expected) in [(60.0, Some(170.0)), (84.9, None), (95.0, None)] {
        let cbr = with(flow("cbr", "cbr"), json!({"parameters": {"rate": busy_mbps}}));
        let late = with(transfer("a", "reno", 500_000, Some(82e6)), json!({"start_s": 2.0}));
        let outcome = run(&plan(8.0, Some(ROUTER), vec![cbr, late]));
        assert_eq!(approved(&outcome, "a"), expected, "{busy_mbps}");
        assert_eq!(when(&outcome, "a", "quick-start-refused").is_some(), expected.is_none(), "{busy_mbps}");
    }
}

#[test]
fn requests_at_one_time_share_what_is_free() {
    // 40.96 and again 40.96 of 85 Mbit/s, then 2.56
    let flows = ["a", "b", "c"].map(|name| transfer(name, "reno", 2_000_000, Some(41e6)));
    let outcome = run(&plan(8.0, Some(ROUTER), flows.to_vec()));
    let windows = ["a", "b", "c"].map(|name| approved(&outcome, name));
    assert_eq!(windows, [Some(341.0), Some(341.0), Some(21.0)]);
    let dropped = column(&outcome.links, "bottleneck", "packets_dropped");
    let before_growth = dropped.get(2).copied(); // at 0.2 s, when the windows have been sent
    assert_eq!(before_growth, Some(0.0));
}

#[test]
fn any_algorithm_starts_from_what_was_approved() {
    for algorithm in
        ["reno-classic", "newreno", "hstcp", "cubic", "htcp", "vegas", "fast", "bic", "westwood+"]
    {
        let outcome = run(&plan(2.0, Some(ROUTER), vec![transfer("a", algorithm, 500_000, Some(41e6))]));
        assert_eq!(approved(&outcome, "a"), Some(341.0), "{algorithm}");
        let took = completion_s(&outcome, "a");
        assert!((0.29..0.32).contains(&took), "{algorithm}: {took}");
    }
}

#[test]
fn a_way_back_without_a_router_does_not_matter_but_one_of_two_routers_that_does_not_take_part_does() {
    let mut plan = plan(3.0, Some(ROUTER), vec![transfer("a", "reno", 500_000, Some(41e6))]);
    plan["flows"][0]["forward"] = json!([1]);
    plan["flows"][0]["reverse"] = json!([0]);
    let against = run(&plan);
    assert_eq!(approved(&against, "a"), None, "its data cross the link without a router");
    plan["links"][1]["router"] = json!({"kind": ROUTER});
    plan["links"][0]["router"] = Value::Null;
    assert_eq!(approved(&run(&plan), "a"), Some(341.0));
}

#[test]
fn a_loss_in_the_approved_window_is_repaired_from_the_initial_one() {
    let mut plan = plan(6.0, Some(ROUTER), vec![transfer("a", "reno", 500_000, Some(41e6))]);
    plan["links"][0]["loss"] = json!({"kind": "every", "packets": 200});
    let outcome = run(&plan);
    let lost = outcome.events.iter().find(|e| e.what == "loss").expect("one loss");
    assert!(lost.time_s < 0.3, "{}", lost.time_s);
    let windows = column(&outcome.flows, "a", "cwnd");
    assert!(windows[1] > 300.0 || windows[2] > 300.0, "{:?}", &windows[..4]);
    assert!(windows[4] < 100.0, "{:?}", &windows[..5]);
    assert_eq!(outcome.summary.flows[0].timeouts, 0);
    let took = completion_s(&outcome, "a");
    assert!((0.3..0.9).contains(&took), "{took}");
}

#[test]
fn the_router_leaves_flows_that_do_not_ask_as_they_are() {
    let tcp = |router| {
        let flows = vec![flow("a", "reno"), with(flow("b", "htcp"), json!({"start_s": 1.0}))];
        run(&plan(8.0, router, flows))
    };
    let (without, with) = (tcp(None), tcp(Some(ROUTER)));
    assert_same_series(&without.flows, &with.flows);
    assert!(with.summary.flows.iter().all(|f| f.throughput_bps > 0.0));
}

#[test]
fn both_drivers_give_the_same_bytes_and_another_seed_the_same_windows() {
    let flows = vec![
        transfer("a", "reno", 900_000, Some(41e6)),
        transfer("b", "fast", 900_000, Some(1e9)),
        with(transfer("c", "cubic", 900_000, Some(5e6)), json!({"start_s": 0.5, "host_tick": 0.01})),
    ];
    let plan = plan(6.0, Some(ROUTER), flows);
    let fast = run_by_both(&plan);
    // nonces and times-to-live are drawn at random, and results do not depend on them
    let other = run(&with(plan, json!({"seed": 7})));
    // except through the phase of the third flow's tick, which shows in its window
    assert_eq!(["a", "b"].map(|name| approved(&fast, name)), ["a", "b"].map(|name| approved(&other, name)));
    assert!(approved(&fast, "a").is_some() && approved(&fast, "b").is_some());
}

#[test]
fn plans_that_ask_for_what_the_option_cannot_say_are_refused() {
    let refusal = |asked_bps: f64, algorithm: &str| {
        let plan = plan(1.0, None, vec![transfer("a", algorithm, 1000, Some(asked_bps))]);
        refusal_of(&plan).map(|e| e.to_string())
    };
    let range = "the rate is too small; accepted: from 80 kbit/s to 1.31072 Gbit/s";
    assert_eq!(refusal(79e3, "reno"), Some(format!("flows[0].transport.quick_start: {range}")));
    let guided = "it does not go with \"xcp\", which its routers guide from the start; accepted: one of them";
    assert_eq!(refusal(1e6, "xcp"), Some(format!("flows[0].transport.quick_start: {guided}")));
}
