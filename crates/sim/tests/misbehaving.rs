//! Receivers and routers that break the rules, with both drivers.
#![allow(clippy::expect_used, reason = "a test may panic")]

use crate::common::{and, dumbbell, flow, refusal_of, run_by_both, short, web, with};
use longfat_sim::{FlowSummary, Outcome};
use serde_json::{Value, json};

const BUFFER: u64 = 40;

/// A flow of 40 ms on 10 Mbit/s, 33 packets in flight; `receiver` is what its receiver does.
fn plan(receiver: &Value, changes: &Value) -> Value {
    let connection = and(flow("1", "reno"), json!({"rtt_s": 0.04, "receiver": receiver}));
    dumbbell(10e6, BUFFER, 20.0, vec![and(connection, changes.clone())])
}

fn alone(outcome: &Outcome) -> &FlowSummary {
    &outcome.summary.flows[0]
}

#[test]
fn a_receiver_that_conceals_losses_takes_away_the_senders_only_reason_to_slow_down() {
    let [honest, lying] = [json!(null), json!({"conceal_losses": true})]
        .map(|receiver| run_by_both(&plan(&receiver, &json!({}))));
    let (a, b) = (alone(&honest), alone(&lying));
    assert!(a.retransmits > 0 && b.retransmits == 0, "{} {}", a.retransmits, b.retransmits);
    assert!(b.cwnd_mean > 10.0 * a.cwnd_mean, "{} {}", a.cwnd_mean, b.cwnd_mean);
    assert!(b.packets_lost > b.packets_sent / 2, "{} of {}", b.packets_lost, b.packets_sent);
    // the link is full, and what it carries is all that is delivered
    assert!(honest.summary.links[0].utilization < 1.01 && lying.summary.links[0].utilization > 0.9);
    assert!(b.goodput_bps < 10e6);
}

#[test]
fn a_concealed_segment_is_a_whole_one_for_the_short_last_one_has_come() {
    let transfer = json!({"bytes": 600_060, "initial_window": 200});
    let outcome = run_by_both(&plan(&json!({"conceal_losses": true}), &transfer));
    let flow = alone(&outcome);
    assert!(flow.packets_lost > 0, "{}", flow.packets_lost);
    let delivered = flow.goodput_bps * flow.completed_s.expect("the transfer ends") / 8.0;
    let missing = (600_060.0 - delivered) / 1448.0;
    // those that were lost behind the highest segment were sent again
    assert!(missing > 0.0 && missing <= flow.packets_lost as f64, "{missing} of {}", flow.packets_lost);
    assert!((missing - missing.round()).abs() < 1e-6, "{missing} segments");
}

#[test]
fn acks_that_run_ahead_shorten_the_round_trip_that_the_window_counts() {
    let limit = json!({"max_window": 20});
    let [honest, lying] =
        [json!(null), json!({"ack_ahead": 10})].map(|receiver| run_by_both(&plan(&receiver, &limit)));
    // 20 segments a round trip; 10 more are under way when their acknowledgements are on the way already
    let ratio = alone(&lying).throughput_bps / alone(&honest).throughput_bps;
    assert!((1.4..1.6).contains(&ratio), "{ratio}");
}

#[test]
fn acks_that_run_too_far_ahead_are_ignored_and_the_transfer_still_ends() {
    let small = json!({"bytes": 1_000_000, "max_window": 20});
    let outcome = run_by_both(&plan(&json!({"ack_ahead": 1000}), &small));
    let flow = alone(&outcome);
    assert!(flow.completed_s.is_some() && flow.timeouts > 0, "{:?}", flow.completed_s);
}

#[test]
fn divided_acks_speed_up_only_a_sender_that_counts_acks() {
    let growth = |byte_counting: bool, parts: u64| {
        let changes = json!({"byte_counting": byte_counting, "initial_ssthresh": 4.0, "max_window": 1000.0});
        let plan = with(
            plan(&json!({"divide_acks": parts}), &changes),
            json!({"duration_s": 1.0, "window_s": [0.0, 1.0]}),
        );
        alone(&run_by_both(&plan)).cwnd_mean
    };
    let (bytes, acks) = (growth(true, 8) / growth(true, 1), growth(false, 8) / growth(false, 1));
    assert!((0.95..1.05).contains(&bytes) && acks > 2.0, "{bytes} {acks}");
}

#[test]
fn hidden_marks_leave_a_sender_without_them() {
    let marking = |receiver| {
        let mut plan = plan(&receiver, &json!({"ecn": true}));
        plan["links"][0]["queue"] = json!({"kind": "red", "limit_packets": 400, "min": 10.0, "max": 20.0,
            "max_p": 1.0, "weight": 1.0, "ecn": "true", "harddrop": "false"});
        run_by_both(&plan).summary.links[0].queue_mean_packets
    };
    let (seen, hidden) = (marking(json!(null)), marking(json!({"hide_marks": true})));
    // RED marks everything above a mean of 20
    assert!(seen < 15.0 && hidden > 40.0, "{seen} {hidden}");
}

#[test]
fn a_router_that_marks_all_keeps_the_window_small_and_one_that_bleaches_makes_the_flow_blind() {
    let remarking = |remark: Value, algorithm: &str| {
        let mut plan = plan(&json!(null), &json!({"ecn": true, "algorithm": algorithm}));
        plan["links"][0]["disturbance"] = json!({"remark": remark});
        let outcome = run_by_both(&plan);
        let marked = outcome.summary.links[0].packets_marked;
        (alone(&outcome).cwnd_mean, marked, alone(&outcome).packets_sent)
    };
    let (plain, none, _) = remarking(json!(null), "reno");
    let (small, marked, sent) = remarking(json!("mark"), "reno");
    assert!(small < 4.0 && plain > 20.0 && none == 0, "{small} {plain} {none}");
    assert!(sent - marked <= BUFFER, "{marked} of {sent}");
    let (blind, unmarked, _) = remarking(json!("bleach"), "reno");
    assert!(unmarked == 0 && (blind / plain - 1.0).abs() < 0.01, "{blind} {plain}");
}

#[test]
fn several_habits_go_together_with_every_kind_of_receiver() {
    let all = json!({"conceal_losses": true, "ack_ahead": 5, "divide_acks": 3, "hide_marks": true});
    for changes in [
        json!({}),
        json!({"algorithm": "dctcp"}),
        json!({"algorithm": "bbr"}),
        json!({"algorithm": "prague", "interrupt_moderation": 1e-4}),
        json!({"loss_detection": "reno-classic", "byte_counting": false, "host_tick": 0.001}),
        json!({"loss_detection": "rack", "timestamps": false}),
    ] {
        let delivered = alone(&run_by_both(&plan(&all, &changes))).goodput_bps;
        assert!(delivered > 1e5, "{changes}: {delivered}");
    }
}

#[test]
fn a_receiver_that_still_has_an_acknowledgement_to_send_keeps_its_index() {
    // acknowledged ahead of its arrival, the last segment comes when the transfer is over, and is held back
    let receiver = json!({"ack_ahead": 5});
    let habits =
        json!({"rtt_s": 0.02, "delayed_ack_timeout": 0.04, "send_jitter": 1e-4, "receiver": receiver});
    for seed in 1..=6 {
        let mut pages = web("pages", 10);
        pages["gap_s"] = json!(0.1);
        pages["flow"] = and(pages["flow"].take(), habits.clone());
        let mut plan = and(dumbbell(10e6, 30, 10.0, vec![]), json!({"seed": seed, "background": [pages]}));
        plan["sample"]["flows_s"] = json!(0.05);
        let outcome = run_by_both(&plan);
        assert!(outcome.summary.background[0].transfers_completed > 100);
    }
}

#[test]
fn an_honest_receiver_tells_nothing_of_what_a_lying_one_before_it_at_its_index_told() {
    let mut divided = with(short("divided"), json!({"gap_s": 0.05}));
    divided["flow"] = and(divided["flow"].clone(), json!({"receiver": {"divide_acks": 2}}));
    let honest = with(short("honest"), json!({"gap_s": 0.05}));
    let mut plan = dumbbell(4e6, 10, 30.0, vec![]);
    plan["background"] = json!([divided, honest]);
    let lost = run_by_both(&plan).summary.background.iter().map(|b| b.packets_lost).sum::<u64>();
    assert!(lost > 500, "{lost}");
}

#[test]
fn habits_beyond_their_range_are_refused() {
    for (habits, said) in [
        (json!({"divide_acks": 0}), "divide_acks"),
        (json!({"divide_acks": 101}), "divide_acks"),
        (json!({"ack_ahead": 2_000_000_000_u64}), "ack_ahead"),
    ] {
        let error = refusal_of(&plan(&habits, &json!({}))).expect("a refusal");
        assert_eq!(error.at, format!("flows[0].transport.receiver.{said}"));
    }
}
