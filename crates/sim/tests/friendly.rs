//! XCP beside TCP on one link, end to end: an XCP router alone, the friendliness mechanism, and ns-2's two
//! queues.

use crate::common::explicit::speaking;
use crate::common::{assert_same_series, dumbbell, flow, run, run_by_both, with};
use longfat_sim::Outcome;
use serde_json::{Value, json};

/// XCP flows and others that start at `others_start_s`, all with this round-trip time, on 200 Mbit/s behind a
/// router.
fn plan(
    router: Value,
    (xcp, others): (usize, &[&str]),
    rtt_s: f64,
    others_start_s: f64,
    duration_s: f64,
) -> Value {
    let common = json!({"rtt_s": rtt_s, "mss": 1428, "access_rate_bps": 2e9});
    let own = json!({"header_bytes": 72});
    let explicit = (0..xcp).map(|i| with(with(flow(&format!("xcp{i}"), "xcp"), common.clone()), own.clone()));
    let others = others.iter().enumerate().map(|(i, algorithm)| {
        let flow = with(flow(&format!("other{i}"), algorithm), common.clone());
        with(flow, json!({"start_s": others_start_s + 0.5 * i as f64}))
    });
    let mut plan = dumbbell(200e6, 1000, duration_s, explicit.chain(others).collect());
    plan["links"][0]["router"] = router;
    plan
}

/// The share of the link that the XCP flows have from this time on.
fn explicit_share(mut plan: Value, from_s: f64, xcp: usize) -> (f64, Outcome) {
    plan["window_s"][0] = json!(from_s);
    let outcome = run(&plan);
    let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.throughput_bps).collect();
    (rates[..xcp].iter().sum::<f64>() / rates.iter().sum::<f64>(), outcome)
}

#[test]
fn beside_two_tcp_flows_an_xcp_flow_keeps_a_share_that_a_plain_router_does_not_leave_it() {
    let share =
        |router: Value| explicit_share(plan(router, (1, &["reno", "reno"]), 0.02, 3.0, 50.0), 20.0, 1);
    let (alone, _) = share(json!({"kind": "xcp"}));
    assert!(alone < 0.1, "an XCP router alone leaves it {alone:.3}");
    let (kept, outcome) = share(json!({"kind": "friendly", "update": "packet"}));
    // its fair share is a third; the standard flows take long to return to theirs after each drop
    assert!((0.3..0.8).contains(&kept), "{kept:.3}");
    assert!(outcome.summary.links[0].utilization > 0.9, "{}", outcome.summary.links[0].utilization);
    let (half, _) = share(json!({"kind": "dqw"}));
    assert!((half - 0.5).abs() < 0.05, "two queues: {half:.3}");
}

#[test]
fn it_protects_maxnet_too_and_erica_only_where_it_acts_below_erica_s_target() {
    // section 7.4. Two flows of each kind: half of the link each. ERICA keeps the link at 90 %, where the
    // mechanism with its threshold of 97 % does nothing
    let share = |protocol: &str, load: f64| {
        let router = json!({"kind": "friendly", "protocol": protocol, "update": "packet", "load": load});
        let plan = speaking(plan(router, (2, &["reno", "reno"]), 0.02, 3.0, 60.0), protocol);
        explicit_share(plan, 20.0, 2).0
    };
    let alone = |protocol: &str| {
        let plan = plan(json!({"kind": "xcp"}), (2, &["reno", "reno"]), 0.02, 3.0, 60.0);
        explicit_share(speaking(plan, protocol), 20.0, 2).0
    };
    for (protocol, kept, lower) in [("maxnet", 0.45..0.65, 0.45..0.7), ("erica", 0.1..0.3, 0.5..0.75)] {
        let (is, with_lower) = (share(protocol, 0.97), share(protocol, 0.85));
        assert!(kept.contains(&is) && lower.contains(&with_lower), "{protocol}: {is:.3}, {with_lower:.3}");
        assert!(alone(protocol) < 0.05, "{protocol}: {:.3}", alone(protocol));
    }
}

#[test]
fn two_queues_give_maxnet_and_erica_their_target_of_half_of_the_link() {
    for (protocol, target) in [("maxnet", 0.95), ("erica", 0.9)] {
        let router = json!({"kind": "dqw", "protocol": protocol});
        let plan = speaking(plan(router, (2, &["reno", "reno"]), 0.02, 3.0, 40.0), protocol);
        let (_, outcome) = explicit_share(plan, 20.0, 2);
        for flow in &outcome.summary.flows[..2] {
            assert!((flow.throughput_bps / (target * 50e6) - 1.0).abs() < 0.01, "{protocol}: {flow:?}");
        }
    }
}

#[test]
fn a_law_that_believes_in_the_whole_link_holds_back_what_others_send_by_a_standing_queue() {
    // phi = alpha d (C - y) - beta Q = 0 with y = C - U and d = rtt + Q / y: of C = 12.5e6 bytes/s others
    // send U = 1.25e6, which the law does not see. Q = alpha U d / beta is 110 000 bytes with rtt = 40 ms
    let standing_bytes = |controls: &str, weight: f64| {
        let router = json!({"kind": "dqw", "controls": controls, "weight": weight});
        let mut plan = plan(router, (2, &[]), 0.04, 0.0, 30.0);
        plan["links"][0]["rate_bps"] = json!(100e6);
        let cbr = json!({"parameters": {"rate": 10.0}, "rtt_s": 0.04, "access_rate_bps": 2e9});
        plan["flows"].as_array_mut().expect("a list").push(with(flow("cbr", "cbr"), cbr));
        plan["window_s"][0] = json!(15.0);
        let outcome = run(&plan);
        let rates: Vec<f64> = outcome.summary.flows.iter().map(|f| f.throughput_bps).collect();
        assert!((rates[2] / 10e6 - 1.0).abs() < 0.02, "{rates:?}");
        1500.0 * outcome.summary.links[0].queue_mean_packets
    };
    let queue = standing_bytes("link", 0.5);
    assert!((queue / 110e3 - 1.0).abs() < 0.1, "{queue:.0} bytes");
    let queue = standing_bytes("weight", 0.9);
    assert!(queue < 0.2 * 110e3, "what others send is not the law's: {queue:.0} bytes");
}

#[test]
fn where_the_fair_window_is_small_its_least_drop_probability_is_not_enough() {
    // at 50 Mbit/s and 20 ms a third of the link is 28 segments, which standard TCP has at a loss rate of
    // about 1.5 / 28^2 = 0.002; p starts again at 0.001 whenever the link was not full, as after each drop
    let mut plan =
        plan(json!({"kind": "friendly", "update": "packet"}), (1, &["reno", "reno"]), 0.02, 3.0, 40.0);
    plan["links"][0]["rate_bps"] = json!(50e6);
    let (kept, _) = explicit_share(plan, 15.0, 1);
    assert!(kept < 0.2, "{kept:.3}");
}

#[test]
fn counting_half_of_the_packets_keeps_the_same_share() {
    let share = |inspect: f64| {
        let router = json!({"kind": "friendly", "update": "packet", "inspect": inspect});
        explicit_share(plan(router, (3, &["reno"; 3]), 0.02, 2.0, 50.0), 20.0, 3).0
    };
    let (all, half) = (share(1.0), share(0.5));
    assert!((all - half).abs() < 0.1 && (0.45..0.8).contains(&half), "{all:.3} and {half:.3}");
}

#[test]
fn without_other_flows_xcp_runs_as_on_its_own_router() {
    let run_with = |kind: &str| run(&plan(json!({"kind": kind}), (3, &[]), 0.04, 0.0, 5.0));
    let (own, friendly) = (run_with("xcp"), run_with("friendly"));
    assert_same_series(&own.flows, &friendly.flows);
}

#[test]
fn both_drivers_give_the_same_bytes_with_these_routers() {
    for kind in ["friendly", "dqw"] {
        for queue in ["droptail", "codel"] {
            let mut plan = plan(json!({"kind": kind}), (2, &["reno", "cubic"]), 0.03, 1.0, 6.0);
            plan["links"][0]["queue"] = json!({"kind": queue, "limit_packets": 60});
            plan["window_s"] = json!([1.0, 5.5]);
            let fast = run_by_both(&plan);
            assert!(fast.summary.links[0].utilization > 0.5, "{kind} {queue}");
        }
    }
}
