//! Hosts that look at acknowledgements only at the ticks of their clocks.

mod common;

use common::{dumbbell, flow, run, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// One flow whose receiver's window limits it to half of 100 Mbit/s x 40 ms.
fn half_rate(tick_s: f64) -> Outcome {
    let flow = with(flow("1", "sack"), json!({"rtt_s": 0.04, "max_window": 167.0, "host_tick_s": tick_s}));
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
        let flow = with(flow("1", algorithm), json!({"rtt_s": 0.1, "host_tick_s": tick_s}));
        let mut plan = dumbbell(1e9, 100_000, 200.0, vec![flow]);
        plan["links"][0]["loss"] = json!({"kind": "every", "packets": 5000});
        plan["window_s"] = Value::from(vec![50.0, 200.0]);
        run(&plan).summary.flows[0].cwnd_mean
    };
    for algorithm in ["sack", "stcp", "hstcp"] {
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
    let ticked = |name: &str| with(flow(name, "sack"), json!({"host_tick_s": 0.001}));
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
