//! A run asks now and then whether to go on, however much happens at one moment, and ends at once if not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{assert_same, dumbbell, flow, run_by_both, sound, web, with};
use longfat_sim::{RunError, Simulation};
use longfat_transport::cc::{Ack, Congestion, CongestionControl, Controller, Properties, Window};
use serde_json::{Value, json};

/// How often a run of this plan asks whether to go on, at most `most` times: then the answer is no.
fn asked(plan: &Value, most: u64) -> u64 {
    let plan = sound(plan);
    let mut asked = 0;
    let outcome = Simulation::new(plan, &mut |_| None).unwrap().run(&mut || {
        asked += 1;
        asked < most
    });
    assert_eq!(asked == most, matches!(outcome, Err(RunError::Interrupted)));
    asked
}

/// Asserts that both drivers end the run at the third question.
fn assert_ends(plan: &Value) {
    for fast in [true, false] {
        assert_eq!(asked(&with(plan.clone(), json!({"fast": fast})), 3), 3, "fast: {fast}");
    }
}

#[test]
fn a_window_of_a_billion_segments_does_not_leave_in_one_go() {
    for access_rate_bps in [1e9, 1e14] {
        let greedy = json!({"initial_window": 1e9, "access_rate_bps": access_rate_bps});
        assert_ends(&dumbbell(1e7, 100, 10.0, vec![with(flow("a", "reno"), greedy)]));
    }
}

#[test]
fn many_windows_that_reach_a_queue_at_one_moment_are_taken_piece_by_piece() {
    let greedy = json!({"initial_window": 40_000.0, "access_rate_bps": 1e14});
    let flows = (0..10).map(|i| with(flow(&i.to_string(), "reno"), greedy.clone())).collect();
    let mut plan = dumbbell(1e7, 1_000_000, 0.1, flows);
    plan["links"][0]["queue"]["kind"] = json!("codel");
    // 400 000 packets, and a question for each thousand of them
    assert!(asked(&plan, 1000) > 300);
}

#[test]
fn sessions_that_open_connections_all_the_time_do_not_keep_the_run_from_asking() {
    let mut plan = dumbbell(1e7, 100, 60.0, vec![flow("a", "reno")]);
    let mut pages = web("web", 20_000);
    pages["gap_s"] = json!(1e-3);
    plan["background"] = json!([pages]);
    assert_ends(&plan);
}

#[test]
fn an_idle_run_asks_at_each_sample() {
    let late = json!({"start_s": 99.0});
    assert!(asked(&dumbbell(1e7, 100, 98.0, vec![with(flow("a", "reno"), late)]), 1000) > 900);
}

#[test]
fn a_burst_that_leaves_in_pieces_gives_the_same_results_with_both_drivers() {
    // each is longer than the longest piece, and all together are more than are sorted at once
    let greedy = |i: u32| {
        let burst = json!({"initial_window": 70_000.0 + f64::from(i), "access_rate_bps": 1e14});
        with(flow(&i.to_string(), "reno"), burst)
    };
    let outcome = run_by_both(&dumbbell(1e9, 300_000, 3.0, (0..5).map(greedy).collect()));
    let sent: u64 = outcome.summary.flows.iter().map(|flow| flow.packets_sent).sum();
    assert!(sent > 350_000, "{sent}");
    assert_eq!(outcome.summary.links[0].queue_max_packets, 300_000);
}

#[test]
fn a_burst_within_a_limit_of_its_own_waits_for_acknowledgements() {
    // the limit is as long as the longest piece: what is left does not leave at once
    let limited = json!({"initial_window": 200_000.0, "access_rate_bps": 1e14});
    let mut greedy = with(flow("a", "reno"), limited);
    greedy["max_burst"] = json!(65_536.0);
    let outcome = run_by_both(&dumbbell(1e9, 300_000, 0.08, vec![greedy]));
    assert_eq!(outcome.summary.flows[0].packets_sent, 65_536);
}

/// An algorithm that opens its window at the first acknowledgement.
struct Greedy(f64);

impl CongestionControl for Greedy {
    fn on_ack(&mut self, _: &Ack, window: &mut Window) {
        window.cwnd = self.0;
    }

    fn on_congestion(&mut self, _: &Congestion, _: &mut Window) {}
}

/// Flows of that algorithm; the connection requests and the first windows meet a fast link.
fn greedy_plan(flows: u32) -> Value {
    let flows = (0..flows).map(|i| with(flow(&i.to_string(), "reno"), json!({"access_rate_bps": 1e14})));
    let mut plan = dumbbell(1e9, 100_000, 1.0, flows.collect());
    for flow in plan["flows"].as_array_mut().unwrap() {
        flow["algorithm"] = json!("custom");
    }
    plan
}

fn start(plan: &Value, window: f64) -> Simulation {
    let plan = sound(plan);
    Simulation::new(plan, &mut |_| Some(Controller::custom(Properties::CUSTOM, Greedy(window)))).unwrap()
}

#[test]
fn a_window_that_an_algorithm_opens_in_the_midst_of_a_run_does_not_leave_in_one_go_either() {
    for fast in [true, false] {
        let mut asked = 0;
        let ended = start(&with(greedy_plan(1), json!({"fast": fast})), 1e9).run(&mut || {
            asked += 1;
            asked < 20
        });
        assert!(matches!(ended, Err(RunError::Interrupted)), "fast: {fast}");
    }
}

#[test]
fn acknowledgements_behind_a_long_burst_are_taken_in_their_order() {
    let outcomes = [true, false].map(|fast| {
        start(&with(greedy_plan(2), json!({"fast": fast})), 300_000.0).run(&mut || true).unwrap()
    });
    assert_same(&outcomes[0], &outcomes[1]);
    assert!(outcomes[0].summary.flows.iter().all(|flow| flow.packets_sent > 300_000));
}
