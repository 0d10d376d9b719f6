//! Hosts that look at acknowledgements only at the ticks of their clocks, take packets at interrupts that are
//! some time apart, or delay what they send.

use crate::common::{dumbbell, flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// One flow whose receiver's window limits it to half of 100 Mbit/s x 40 ms.
fn half_rate(tick_s: f64) -> Outcome {
    let flow = with(flow("1", "reno"), json!({"rtt_s": 0.04, "max_window": 167.0, "host_tick": tick_s}));
    let mut plan = dumbbell(100e6, 10_000, 20.0, vec![flow]);
    plan["window_s"] = json!([5.0, 20.0]);
    run(&plan)
}

#[test]
fn a_tick_answers_its_acknowledgements_in_one_burst() {
    // half of 100 Mbit/s is 4.2 packets a millisecond; a tick of 10 ms releases 42 at 1 Gbit/s, which takes
    // .5 ms, and meanwhile the bottleneck takes 4 of them
    let queue = |tick_s| half_rate(tick_s).summary.links[0].queue_max_packets;
    assert!(queue(0.0) <= 3, "{}", queue(0.0));
    assert!(queue(0.01) >= 34, "{}", queue(0.01));
}

#[test]
fn a_tick_costs_half_of_itself_in_round_trip_time() {
    let srtt = |tick_s| half_rate(tick_s).summary.flows[0].srtt_mean_s;
    let more = srtt(0.01) - srtt(0.0);
    // on average 5 ms of waiting for the tick, and some in the queue that the bursts build
    assert!((0.004..0.010).contains(&more), "{more}");
}

#[test]
fn a_tick_does_not_change_what_random_losses_do_to_the_window() {
    let cwnd = |algorithm: &str, tick_s: f64| {
        let flow = with(flow("1", algorithm), json!({"rtt_s": 0.1, "host_tick": tick_s}));
        let mut plan = dumbbell(1e9, 100_000, 200.0, vec![flow]);
        plan["links"][0]["loss"] = json!({"kind": "every", "packets": 5000});
        plan["window_s"] = Value::from(vec![50.0, 200.0]);
        run(&plan).summary.flows[0].cwnd_mean
    };
    for algorithm in ["reno", "stcp", "hstcp"] {
        let (without, ticked) = (cwnd(algorithm, 0.0), cwnd(algorithm, 0.001));
        assert!(
            (ticked / without - 1.0).abs() < 0.03,
            "{algorithm}: {without} without, {ticked} with a tick"
        );
    }
}

#[test]
fn two_hosts_with_ticks_share_a_drop_tail_queue_evenly_in_the_long_run() {
    // if the two clocks kept their distance forever, one of the hosts would take nearly all the losses
    let ticked = |name: &str| with(flow(name, "reno"), json!({"host_tick": 0.001}));
    let mut ratios: Vec<f64> = (1..=3)
        .map(|seed| {
            let mut plan = dumbbell(50e6, 35, 1200.0, vec![ticked("1"), ticked("2")]);
            plan["seed"] = json!(seed);
            let rates = run(&plan).summary.flows.iter().map(|f| f.throughput_bps).collect::<Vec<_>>();
            rates[0].min(rates[1]) / rates[0].max(rates[1])
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    assert!(ratios[1] > 0.9, "{ratios:?}");
}

/// As `half_rate`, with one more key.
fn half_rate_with(key: &str, value: f64) -> Outcome {
    let mut flow = with(flow("1", "reno"), json!({"rtt_s": 0.04, "max_window": 167.0}));
    flow[key] = json!(value);
    let mut plan = dumbbell(100e6, 10_000, 20.0, vec![flow]);
    plan["window_s"] = json!([5.0, 20.0]);
    run_by_both(&plan)
}

#[test]
fn moderated_interrupts_make_bursts_and_cost_up_to_one_period_at_each_host() {
    // at half of 100 Mbit/s 42 packets come in 10 ms; the receiver answers them at once, and so does the
    // sender
    let (plain, moderated) = (half_rate(0.0), half_rate_with("interrupt_moderation", 0.01));
    let [few, many] = [&plain, &moderated].map(|outcome| outcome.summary.links[0].queue_max_packets);
    assert!(few <= 3 && many >= 25, "{few} {many}");
    let more = moderated.summary.flows[0].srtt_mean_s - plain.summary.flows[0].srtt_mean_s;
    assert!((0.003..0.02).contains(&more), "{more}");
    let none = half_rate_with("interrupt_moderation", 0.0);
    crate::common::assert_same(&none, &plain);
}

#[test]
fn a_full_link_stays_full_when_interrupts_are_moderated() {
    let outcome = |moderation_s: f64| {
        let mut one = with(flow("1", "reno"), json!({"rtt_s": 0.02}));
        one["interrupt_moderation"] = json!(moderation_s);
        run_by_both(&with(dumbbell(250e6, 420, 20.0, vec![one]), json!({"window_s": [5.0, 20.0]})))
    };
    let [plain, e1000] = [0.0, 125e-6].map(|s| outcome(s).summary.links[0].utilization);
    assert!(plain > 0.99 && (e1000 / plain - 1.0).abs() < 0.01, "{plain} {e1000}");
}

#[test]
fn jitter_costs_half_of_itself_and_differs_from_seed_to_seed() {
    // the window lets packets leave one by one, so that hardly two of them share a delay
    let outcome = |seed: u64, jitter_s: f64| {
        let mut one = with(flow("1", "reno"), json!({"rtt_s": 0.1, "max_window": 2.0, "delayed_ack": false}));
        one["send_jitter"] = json!(jitter_s);
        let plan = with(dumbbell(100e6, 100, 100.0, vec![one]), json!({"seed": seed}));
        run_by_both(&plan).summary.flows.remove(0)
    };
    let more = outcome(1, 0.01).srtt_mean_s - outcome(1, 0.0).srtt_mean_s;
    assert!((0.004..0.0065).contains(&more), "{more}");
    assert_ne!(outcome(1, 0.01).srtt_mean_s, outcome(2, 0.01).srtt_mean_s);
    assert_eq!(outcome(1, 0.0).srtt_mean_s, outcome(2, 0.0).srtt_mean_s);
}
